package web

import (
	"bytes"
	"context"
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

// screen is what every screen gives to the frame around it.
type screen struct {
	Title   string
	Nav     string // the name of the entry in the navigation
	Command string // the command line that shows or does the same
	Refresh int    // seconds after which a browser without JavaScript asks again; 0: never
}

// frame is what templates see.
type frame struct {
	screen
	Data           any
	Tenant         amber.TenantID
	Agent          amber.AgentID
	Home           string // the address of the agent's screens, without a slash at its end
	Here           string // the address of this one
	CSRF, Nonce    string
	Theme, Version string
	Known          bool
	LoggedIn       bool // by a token
	Beat           bool // the tab shows that it is open
	Who            string
	API            *apiCall // what the screen asked; nil: nothing
	JSON           string   // the address of this screen as JSON
	Waiting        string   // how many memories wait for review; "": none

	grant wire.Grant
}

// May reports whether the visitor has a scope.
func (f frame) May(scope string) bool { return f.grant.Has(wire.TokenScope(scope)) }

// Path is the address of a screen of the agent.
func (f frame) Path(elements ...string) string { return agentPath(f.Tenant, f.Agent, elements...) }

// navigation lists the screens that have an entry, and the key that opens each.
var navigation = []struct{ Name, Path, Key, Scope string }{
	{"Timeline", "", "t", "read"},
	{"Recall", "recall", "r", "read"},
	{"Memories", "memories", "m", "read"},
	{"Sessions", "sessions", "s", "read"},
	{"Notes", "notes", "n", "read"},
	{"Snapshots", "snapshots", "p", "read"},
	{"Review", "review", "v", "read"},
	{"Conflicts", "conflicts", "c", "read"},
	{"Quarantine", "quarantine", "q", "read"},
	{"Work", "work", "w", "read"},
	{"Import", "import", "i", "write"},
	{"Audit", "audit", "a", "admin"},
	{"Tokens", "tokens", "k", "admin"},
	{"Health", "health", "h", "read"},
}

// parse reads the templates: each file is a screen in the frame of frame/frame.html.
func (p *Page) parse() map[string]*template.Template {
	names, err := fs.Glob(files, "templates/*.html")
	if err != nil {
		panic("web: " + err.Error()) // the pattern is a constant
	}
	base := template.Must(template.New("frame.html").Funcs(p.functions()).ParseFS(files, "templates/frame/*.html"))
	screens := map[string]*template.Template{}
	for _, name := range names {
		screens[strings.TrimSuffix(path.Base(name), ".html")] = template.Must(template.Must(base.Clone()).ParseFS(files, name))
	}
	return screens
}

// render answers with a screen.
func (v *visit) render(name string, s screen, data any) error {
	return v.renderStatus(http.StatusOK, name, s, data)
}

func (v *visit) renderStatus(status int, name string, s screen, data any) error {
	first, asked := v.log.first()
	if v.query("as") == "json" && v.r.Method == http.MethodGet && asked {
		return v.renderJSON(first)
	}
	f := frame{
		screen: s, Data: data, Tenant: v.tenant, Agent: v.agent, Here: v.here(), CSRF: v.csrf(), Nonce: v.nonce(),
		Theme: v.theme(), Version: v.p.o.Version, Known: v.known, LoggedIn: v.known && v.secret != "", Beat: v.p.o.Beat, Who: visible(v.grant.Name), grant: v.grant,
	}
	if v.tenant != "" {
		f.Home, f.Waiting = v.path(), reviewScreen{v}.badge()
	}
	if asked {
		f.API = &first
		if v.r.Method != http.MethodPost {
			f.JSON = v.jsonPath()
		}
	}
	var b bytes.Buffer
	if err := v.p.screens[name].Execute(&b, f); err != nil {
		return &amber.Error{Op: "draw screen", Kind: amber.KindInternal, ID: name, Err: err}
	}
	h := v.w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Length", strconv.Itoa(b.Len()))
	return v.send(status, b.Bytes())
}

// sendWithin is how long a screen waits until there is room for it, and how long a visitor may take to read it.
const sendWithin = 30 * time.Second

// send writes a screen, once the budget has room for it. Requests to the API hold their own part, and have given it
// back. Errors: busy.
func (v *visit) send(status int, b []byte) error {
	if v.p.o.Budget != nil {
		ctx, cancel := context.WithTimeout(v.r.Context(), sendWithin)
		defer cancel()
		held, err := v.p.o.Budget.Enter(ctx, v.grant.Tenant, op.Caller{Grant: v.grant}.Actor(), server.RequestBytes+int64(len(b)))
		if err != nil {
			v.w.Header().Del("Content-Length")
			http.Error(v.w, "too many requests are being answered; load the page again in a moment", http.StatusServiceUnavailable)
			return nil
		}
		defer held.Leave()
	}
	rc := http.NewResponseController(v.w)
	_ = rc.SetWriteDeadline(time.Time{}) // a recorder of a test has none
	slow := time.AfterFunc(sendWithin, func() { _ = rc.SetWriteDeadline(time.Unix(1, 0)) })
	defer slow.Stop()
	v.w.WriteHeader(status)
	_, _ = v.w.Write(b) // the visitor may be gone
	_ = rc.Flush()
	return nil
}

// renderJSON answers with what the API said.
func (v *visit) renderJSON(call apiCall) error {
	v.w.Header().Set("Content-Type", "application/json")
	return v.send(call.status, call.answer)
}

// jsonPath is the address of this screen as JSON.
func (v *visit) jsonPath() string {
	u := *v.r.URL
	q := u.Query()
	q.Set("as", "json")
	u.RawQuery = q.Encode()
	return u.RequestURI()
}

func (v *visit) theme() string {
	if t := cookie(v.r, cookieTheme); t == "light" || t == "dark" {
		return t
	}
	return ""
}

// failure is an error as a screen shows it.
type failure struct {
	Kind, Text, Hint, Request string
}

// fail answers with an error in the words of the API.
func (p *Page) fail(v *visit, err error) {
	kind := amber.KindOf(err)
	if v.secret != "" && kind == amber.KindRefused {
		if _, gone := p.o.Authenticator.Grant(v.r.Context(), v.secret); amber.KindOf(gone) == amber.KindRefused {
			p.sessions.end(v.session)
			v.known, v.secret, v.grant = false, "", wire.Grant{}
			err = v.askToLogIn(v.r.URL.RequestURI(), "The token was revoked, or has run out: the session has ended.")
			if err == nil {
				return
			}
		}
	}
	f := failure{Kind: string(kind), Text: err.Error(), Request: v.w.Header().Get("X-Request-Id")}
	var e *amber.Error
	if errors.As(err, &e) {
		f.Hint = e.Hint
	}
	if kind == amber.KindInternal || kind == amber.KindDamaged {
		p.o.Log.Error("page failed", "error", err, "request_id", f.Request)
	}
	if v.query("as") == "json" {
		if first, asked := v.log.first(); asked && first.status >= 400 {
			_ = v.renderJSON(first) // it returns nil
			return
		}
	}
	if err := v.renderStatus(kind.HTTPStatus(), "failure", screen{Title: "This did not work"}, f); err != nil {
		p.o.Log.Error("draw error", "error", err)
		http.Error(v.w, "the page failed; see the log of the server", http.StatusInternalServerError)
	}
}
