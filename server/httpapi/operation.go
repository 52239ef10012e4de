package httpapi

import (
	"context"
	"net/http"
	"reflect"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/wire"
)

// The beginnings of paths.
const (
	tenantPath = "/v1/tenants/{tenant}"
	agentPath  = tenantPath + "/agents/{agent}"
	auditPath  = "/v1/audit"
	tokenPath  = "/v1/tokens"
	namesPath  = "/v1/agents"
)

// operation is one row of the table of routes.
type operation struct {
	id      string // "memory.write": in the audit log, the OpenAPI document and metrics
	method  string
	path    string
	summary string
	scope   wire.TokenScope
	status  int  // when it went well; 0: 200, or 204 where there is no answer
	mutates bool // something is changed, so it is written down
	reads   bool // it shows what is stored while it changes something: see [server.Job]
	long    bool // it may take as long as a snapshot does
	// echo names fields of the answer that only repeat the request, so that a
	// caller who may not read is told them, too.
	echo []string
	// repeatable says that doing it twice is the same as doing it once, so a
	// request whose end nobody knows may be done again. An input that knows
	// better implements repeats.
	repeatable bool
	// lasting says that nobody undoes what it did, so that doing it again undoes
	// nothing of others: it may be done again also where its answer is not kept.
	lasting bool
	// ownKey says that the store itself remembers the Idempotency-Key.
	ownKey bool
	// closed says that the store of the agent is not opened: see [server.Job].
	closed bool
	// home says that it concerns a part of the home: see [server.Job]. The query
	// names the part, or the input does, see aims.
	home bool
	// bound says that a bound caller may ask for it and reaches its own part: see [server.Job].
	bound bool
	// kept returns the form of an answer that is kept for a key; nil: the answer.
	kept func(response) (response, error)

	in, out reflect.Type // structs; out may be any type
	list    bool         // out is a page of it
	stream  bool         // out comes as server-sent events; an agent that is not there is not made
	upload  bool         // the body is a file of any size
	file    bool         // out is told in a trailer, after the bytes of a file
	serve   func(a *API, o *operation, w http.ResponseWriter, r *http.Request)
}

// repeats is implemented by inputs of which some may be done twice.
type repeats interface{ repeats() bool }

// mayRepeat reports whether doing it twice with an input is the same as doing
// it once.
func (o *operation) mayRepeat(in any) bool {
	if r, ok := in.(repeats); ok {
		return r.repeats()
	}
	return o.repeatable
}

// looks is implemented by inputs of operations that change something, of which
// some only ask what would be changed. Those are not in the audit log: nothing
// was done.
type looks interface{ looks() bool }

// changes reports whether the operation changes something with an input.
func (o *operation) changes(in any) bool {
	l, ok := in.(looks)
	return o.mutates && !(ok && l.looks())
}

// aims is implemented by inputs that know more of the job than the path says.
type aims interface {
	aim(ctx context.Context, a *API, j *server.Job)
}

// pattern is what the router knows the operation by.
func (o *operation) pattern() string { return o.method + " " + o.path }

// answer is what an operation answers.
type answer[T any] struct {
	body    T
	status  int    // 0: that of the operation
	etag    string // of the thing, without quotes; "" for none
	subject string // the id it was about; "": the last one in the path
	// each are the ids of everything that was changed, where that may be
	// several: each is an entry of the audit log, also when something failed
	// after them.
	each []string
	// redacted says what the operation itself took out of the request, by rule; nil:
	// what the store took out counts.
	redacted map[string]int
	// undo takes back what was done and could not be written down; nil: it stays.
	undo func(ctx context.Context)
}

// got is the plain answer.
func got[T any](body T, err error) (answer[T], error) { return answer[T]{body: body}, err }

// tagged is the answer about one thing with a revision.
func tagged[T any](body T, tag string, err error) (answer[T], error) {
	return answer[T]{body: body, etag: tag}, err
}

// nothing is the body of answers that have none.
type nothing struct{}

// done is the answer of an operation that has nothing to say.
func done(err error) (answer[nothing], error) {
	return answer[nothing]{status: http.StatusNoContent}, err
}

// handle adds an operation whose input is bound from path, query, header and
// body to the fields of In.
func handle[In, Out any](a *API, o operation, fn func(ctx context.Context, ag *server.Agent, in In) (answer[Out], error)) {
	o.in, o.out = reflect.TypeFor[In](), reflect.TypeFor[Out]()
	o.serve = func(a *API, o *operation, w http.ResponseWriter, r *http.Request) {
		var in In
		body, err := a.bind(r, o, &in)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		a.once(w, r, o, asked{body, o.mayRepeat(in)}, perform(a, r, o, in, fn))
	}
	a.add(o)
}

// perform returns what does an operation through the desk and makes the answer.
func perform[In, Out any](a *API, r *http.Request, o *operation, in In, fn func(ctx context.Context, ag *server.Agent, in In) (answer[Out], error)) func(ctx context.Context) (response, error) {
	return func(ctx context.Context) (response, error) {
		var out answer[Out]
		var redacted map[string]int
		did := false
		job := a.job(r, o)
		job.Mutates = o.changes(in)
		if in, ok := any(in).(aims); ok {
			in.aim(ctx, a, &job)
		}
		err := a.do(ctx, o, job, func(ctx context.Context, ag *server.Agent) (each []string, subject string, err error) {
			out, err = fn(ctx, ag, in)
			redacted = server.Redacted(ctx)
			did = err == nil
			return out.each, out.subject, err
		})
		if err != nil && did && out.undo != nil {
			out.undo(context.WithoutCancel(ctx))
		}
		if err != nil && did {
			return response{}, unrecorded{err}
		}
		if err != nil {
			return response{}, err
		}
		resp, err := respond(ctx, o, out)
		if out.redacted != nil {
			redacted = out.redacted
		}
		resp.Redacted = server.RedactedText(redacted)
		return resp, err
	}
}

// job is an operation as the desk knows it.
func (a *API) job(r *http.Request, o *operation) server.Job {
	j := server.Job{Scope: o.scope, Reads: o.reads, Action: o.id, Mutates: o.mutates, Closed: o.closed, Existing: o.stream || o.file, Home: o.home, Within: o.bound}
	j.Tenant, j.Agent = o.place(r, server.CallerOf(r.Context()))
	if !o.home { // the path of a token may hold its secret by mistake
		j.Subject = o.subject(r)
	}
	return j
}

// place is the tenant and the agent that a request is about.
func (o *operation) place(r *http.Request, c server.Caller) (amber.TenantID, amber.AgentID) {
	if !o.home {
		return amber.TenantID(r.PathValue("tenant")), amber.AgentID(r.PathValue("agent"))
	}
	q := r.URL.Query() // one that cannot be read is refused when it is bound
	return c.Part(amber.TenantID(q.Get("tenant")), amber.AgentID(q.Get("agent")))
}

// do does an operation through the desk.
func (a *API) do(ctx context.Context, o *operation, j server.Job, fn func(ctx context.Context, ag *server.Agent) ([]string, string, error)) error {
	limit := a.o.Timeout
	if o.long {
		limit = LongTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return a.o.Desk.DoEach(ctx, j, fn)
}

// subject is the last id in the path that is not the agent's.
func (o *operation) subject(r *http.Request) string {
	names := pathNames(o.path)
	if n := len(names); n > 0 && names[n-1] != "agent" && names[n-1] != "tenant" {
		return pathValue(r, names[n-1])
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

// allow says whether a caller may ask for the operation. Errors: those of
// [server.Caller.Allow], or of [server.Caller.AllowPart].
func (o *operation) allow(r *http.Request, c server.Caller) error {
	j := server.Job{Scope: o.scope, Reads: o.reads, Home: o.home, Within: o.bound}
	j.Tenant, j.Agent = o.place(r, c)
	return j.Allowed(c)
}

// add puts an operation into the table and the router.
func (a *API) add(o operation) {
	op := &o
	a.ops = append(a.ops, op)
	a.mux.HandleFunc(op.pattern(), func(w http.ResponseWriter, r *http.Request) {
		note(w, op.path)
		caller, err := a.caller(r)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		r = r.WithContext(server.WithCaller(r.Context(), caller))
		if err := op.allow(r, caller); err != nil {
			if amber.KindOf(err) == amber.KindRefused {
				err = a.do(r.Context(), op, a.job(r, op), nil) // the desk refuses it too, and writes that down
			}
			a.fail(w, r, err) // nothing of the request was looked at
			return
		}
		leave, err := a.enter(w, r, op)
		if err != nil {
			a.fail(w, r, err)
			return
		}
		defer leave()
		op.serve(a, op, w, r)
	})
}
