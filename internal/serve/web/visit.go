package web

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// visitKey is the key of the visit in a context.
type visitKey struct{}

// visit is one request to the page.
type visit struct {
	p *Page
	w http.ResponseWriter
	r *http.Request

	session string          // the id in the cookie
	secret  string          // the token; "" where none is needed, or none was given
	over    context.Context // ends with the log-in
	grant   wire.Grant
	known   bool // the grant is good: the visitor is logged in, or no visitor needs to be

	tenant amber.TenantID
	agent  amber.AgentID
	api    *client.Client // of this process, with the token of the visitor
	remote *client.Agent  // the agent over that API; nil for a screen of no agent
	log    *calls
}

// visitor finds out who asks. Errors: those of the authenticator, refused
// excepted: a visitor who must log in is not known.
func (p *Page) visitor(w http.ResponseWriter, r *http.Request) (*visit, error) {
	v := &visit{p: p, w: w, r: r, session: cookie(r, cookieSession), log: &calls{}}
	if !isID(v.session) {
		v.session = newID(p.o.Random)
		p.setCookie(w, r, cookieSession, v.session, 0)
	}
	v.secret, v.over = p.sessions.use(v.session)
	var err error
	v.grant, err = p.o.Authenticator.Grant(r.Context(), v.secret)
	switch {
	case err == nil:
		v.known = true
	case amber.KindOf(err) != amber.KindRefused:
		return v, err
	case v.secret != "": // revoked, or its time is over
		p.sessions.end(v.session)
		v.secret = ""
	}
	return v, nil
}

// get adds a screen of an agent.
func (p *Page) get(path string, show func(*visit) error) {
	p.handle("GET "+Root+"/{tenant}/{agent}"+path, true, show)
}

// post adds a change of an agent. Do answers with a redirect, or a screen that
// asks again.
func (p *Page) post(path string, do func(*visit) error) {
	p.handle("POST "+Root+"/{tenant}/{agent}"+path, true, do)
}

// upload adds a change of an agent whose form may have files. Do reads the parts of such a form
// itself, the value first, see checkValue.
func (p *Page) upload(path string, do func(*visit) error) {
	p.uploads["POST "+Root+"/{tenant}/{agent}"+path] = true
	p.post(path, do)
}

// on makes a route's function of a function of a screen: a type that holds the visit and nothing else.
func on[S ~struct{ *visit }](do func(S) error) func(*visit) error {
	return func(v *visit) error { return do(S{v}) }
}

// withStore is on for a function that works with what the agent remembers.
func withStore[S ~struct{ *visit }](do func(S, context.Context, amber.Store) error) func(*visit) error {
	return func(v *visit) error {
		store, err := v.remote.Store(v.r.Context())
		if err != nil {
			return err
		}
		return do(S{v}, v.r.Context(), store)
	}
}

// handle adds a route. Known says that only visitors who are known may use it, as for everything about an agent or
// about things that belong to no agent.
func (p *Page) handle(pattern string, known bool, fn func(*visit) error) {
	p.routes = append(p.routes, pattern)
	p.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		v := r.Context().Value(visitKey{}).(*visit)
		v.r = r
		if err := v.enter(known, fn); err != nil {
			p.fail(v, err)
		}
	})
}

// enter looks whether the visitor may come in, and does what was asked for.
func (v *visit) enter(known bool, fn func(*visit) error) error {
	if known && !v.known {
		return v.askToLogIn(v.here(), "")
	}
	if v.r.Method == http.MethodPost {
		if err := v.checkForm(); err != nil {
			return err
		}
	}
	v.tenant, v.agent = amber.TenantID(v.r.PathValue("tenant")), amber.AgentID(v.r.PathValue("agent"))
	if err := v.connect(); err != nil {
		return err
	}
	if v.tenant != "" && !v.grant.Reaches(v.tenant, v.agent) {
		return op.NotThere() // for any other agent, the API decides what the visitor may do with it
	}
	return fn(v)
}

// connect makes the clients of the API of this process. The error is of kind invalid, for what is no id of a tenant or an agent.
func (v *visit) connect() (err error) {
	v.api, err = client.New(client.Options{
		URL: "http://localhost", Token: client.Token(v.secret), Attempts: 1, HTTP: &http.Client{Transport: inside{v: v}}, Random: v.p.o.Random,
	})
	if err == nil && v.tenant != "" {
		v.remote, err = v.api.Agent(v.tenant, v.agent)
	}
	return err
}

// may reports whether the visitor has a scope, so that a button is worth drawing.
func (v *visit) may(scope wire.TokenScope) bool { return v.grant.Has(scope) }

// checkForm refuses a form that was not sent from a page of this session.
func (v *visit) checkForm() error {
	const op = "check form"
	if site := v.r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" {
		return amber.Errorf(amber.KindRefused, op, "", "a page of another site sent this form")
	}
	if v.p.uploads[v.r.Pattern] && strings.HasPrefix(v.r.Header.Get("Content-Type"), "multipart/form-data") {
		return nil // the value is checked where the parts are read
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if err := v.r.ParseForm(); err != nil {
		return amber.Errorf(amber.KindInvalid, op, "", "the form cannot be read: %s", err)
	}
	return v.checkValue(v.r.PostForm.Get("csrf"))
}

// checkValue compares the value that every form carries.
func (v *visit) checkValue(got string) error {
	if !same(got, v.csrf()) {
		return amber.Errorf(amber.KindRefused, "check form", "", "the form is not from a page of this session").WithHint("open the page again and repeat what you did")
	}
	return nil
}

func (v *visit) csrf() string  { return derived(v.session, "form") }
func (v *visit) nonce() string { return derived(v.session, "nonce") }

// field is a field of the form, text one of several lines with the ends of lines that people mean.
func (v *visit) field(name string) string { return strings.TrimSpace(v.r.PostForm.Get(name)) }

func (v *visit) text(name string) string {
	return strings.ReplaceAll(v.r.PostForm.Get(name), "\r\n", "\n")
}

// query is a value in the address.
func (v *visit) query(name string) string { return v.r.URL.Query().Get(name) }

// path is the address of a screen of the agent; elements are escaped.
func (v *visit) path(elements ...string) string {
	return agentPath(v.tenant, v.agent, elements...)
}

func agentPath(tenant amber.TenantID, agent amber.AgentID, elements ...string) string {
	b := Root + "/" + url.PathEscape(string(tenant)) + "/" + url.PathEscape(string(agent))
	for _, e := range elements {
		b += "/" + url.PathEscape(e)
	}
	return b
}

// redirect sends the browser to a screen after a change.
func (v *visit) redirect(to string) error {
	http.Redirect(v.w, v.r, to, http.StatusSeeOther)
	return nil
}

// visits knows whether visitors look at the page now, and when the last one did. Safe for concurrent use.
type visits struct {
	clock amber.Clock

	mu   sync.Mutex
	now  int
	last time.Time
}

func (s *visits) enter() (leave func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.now--
		s.last = s.clock()
	}
}

// Visitors returns, as one number, how many requests are being answered, streams among them, and how many jobs go
// on that visitors began here; and when the last of that ended, the zero time when none has.
func (p *Page) Visitors() (now int, last time.Time) {
	running, ended := p.jobs.running()
	p.visits.mu.Lock()
	defer p.visits.mu.Unlock()
	last = p.visits.last
	if ended.After(last) {
		last = ended
	}
	return p.visits.now + running, last
}

// addQuery is an address with values put into its query; an empty value takes a name
// out.
func addQuery(address string, pairs ...string) string {
	path, raw, _ := strings.Cut(address, "?")
	q, _ := url.ParseQuery(raw) // what cannot be read is left out
	q.Del("as")
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			q.Del(pairs[i])
		} else {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	if len(q) == 0 {
		return path
	}
	return path + "?" + q.Encode()
}
