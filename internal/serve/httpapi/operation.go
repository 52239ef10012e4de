package httpapi

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/op"
)

// request is one request for an operation.
type request struct {
	*op.Row
	api  *API
	w    http.ResponseWriter
	r    *http.Request
	who  op.Caller
	in   any
	body []byte // of a request whose body is a document
}

// add puts an operation into the router.
func (a *API) add(o *op.Row) {
	a.ops = append(a.ops, o)
	a.mux.HandleFunc(o.Method()+" "+o.Path(), func(w http.ResponseWriter, r *http.Request) {
		note(w, o.Path())
		caller, err := a.caller(r)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		introduce(w, caller)
		q := &request{Row: o, api: a, w: w, r: r, who: caller}
		if err := q.allow(caller); err != nil {
			if amber.KindOf(err) == amber.KindRefused {
				err = q.do(r.Context(), q.job(), nil) // the desk refuses it too, and writes that down
			}
			a.fail(w, r, err) // nothing of the request was looked at
			return
		}
		leave, err := q.enter()
		if err != nil {
			a.fail(w, r, err)
			return
		}
		defer leave()
		if err := q.read(); err != nil {
			a.fail(w, r, err)
			return
		}
		q.serve()
	})
}

// read binds the request to the input of the operation. Errors: invalid.
func (q *request) read() error {
	in := reflect.New(q.In)
	body, err := q.api.bind(q.r, q.Row, in.Elem())
	if err != nil {
		return err
	}
	q.in, q.body = in.Elem().Interface(), body
	_, none := q.in.(interface{ MayBeNone() bool })
	if p, paged := op.PageOf(q.in); paged && !none && p.Limit == 0 && q.r.URL.Query().Has("limit") {
		return op.Invalid("limit is 0, want 1 or more; leave limit out for the default")
	}
	if q.Is(op.Uploaded) {
		return q.api.house.Exchange.CheckImport(q.in.(op.ImportIn)) // before anything is received
	}
	return op.Check(q.in)
}

// serve answers in the form that the operation has.
func (q *request) serve() {
	switch {
	case q.Is(op.Streamed):
		q.stream()
	case q.Is(op.Downloaded):
		q.download()
	case q.Is(op.Uploaded):
		q.upload()
	case q.Is(op.Listed) && wantsLines(q.r):
		q.lines()
	default:
		q.once(q.body, func(ctx context.Context, again bool) (response, error) { return q.perform(ctx, again, nil) })
	}
}

// perform does the operation through the desk and makes the answer. File is what was uploaded.
func (q *request) perform(ctx context.Context, again bool, file *op.File) (response, error) {
	var out any
	var call *op.Call
	job := q.job()
	job.Mutates = q.ChangesBy(q.in)
	if aim, ok := op.AimOf(ctx, q.api.house, q.who, q.in); ok {
		job.Tenant, job.Agent = aim.Tenant, aim.Agent
		if aim.Subject != "" {
			job.Subject = aim.Subject
		}
	}
	did := false
	err := q.do(ctx, job, func(ctx context.Context, c *op.Call) (err error) {
		call, c.House, c.Again, c.File = c, q.api.house, again, file
		out, err = q.Answer(ctx, c, q.in)
		did = err == nil
		return err
	})
	if err != nil && did && call.Undo != nil {
		call.Undo(context.WithoutCancel(ctx))
	}
	switch {
	case err != nil && (did || call != nil && call.Unrecorded):
		return response{}, unrecorded{err}
	case err != nil:
		return response{}, err
	}
	return q.respond(call, out)
}

// job is the operation as the desk knows it.
func (q *request) job() server.Job {
	j := server.Job{
		Scope: q.Scope, Reads: q.Is(op.Shows), Action: q.ID, Mutates: q.Is(op.Changes), Closed: q.Is(op.Closed),
		Existing: q.Is(op.Streamed) || q.Is(op.Downloaded), Home: q.Is(op.OfHome), Within: q.Is(op.Bound),
	}
	j.Tenant, j.Agent = q.place(q.who)
	if !j.Home { // the path of a token may hold its secret by mistake
		j.Subject = q.subject()
	}
	return j
}

// place is the tenant and the agent that a request is about.
func (q *request) place(c op.Caller) (amber.TenantID, amber.AgentID) {
	if !q.Is(op.OfHome) {
		return amber.TenantID(q.r.PathValue("tenant")), amber.AgentID(q.r.PathValue("agent"))
	}
	query := q.r.URL.Query() // one that cannot be read is refused when it is bound
	return c.Part(amber.TenantID(query.Get("tenant")), amber.AgentID(query.Get("agent")))
}

// do does a job through the desk, within the time that the operation has.
func (q *request) do(ctx context.Context, j server.Job, fn func(ctx context.Context, c *op.Call) error) error {
	limit := q.api.o.Timeout
	if q.Is(op.Long) || q.Is(op.Listed) && wantsLines(q.r) { // the whole of a listing takes more time than a page
		limit = LongTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return q.api.o.Desk.Do(ctx, q.who, j, fn)
}

// subject is the last id in the path that is not the agent's.
func (q *request) subject() string {
	names := pathNames(q.Path())
	if n := len(names); n > 0 && names[n-1] != "agent" && names[n-1] != "tenant" {
		return pathValue(q.r, names[n-1])
	}
	return ""
}

// pathNames returns the names of the variables in a path.
func pathNames(path string) (names []string) {
	for element := range strings.SplitSeq(path, "/") {
		if name, ok := strings.CutPrefix(element, "{"); ok {
			names = append(names, strings.TrimSuffix(name, "}"))
		}
	}
	return names
}

// allow says whether a caller may ask for the operation. Errors: those of [op.Caller.Allow], or of [op.Caller.AllowPart].
func (q *request) allow(c op.Caller) error {
	j := server.Job{Scope: q.Scope, Reads: q.Is(op.Shows), Home: q.Is(op.OfHome), Within: q.Is(op.Bound)}
	j.Tenant, j.Agent = q.place(c)
	return j.Allowed(c)
}
