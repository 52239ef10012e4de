package web

import (
	"cmp"
	"context"
	"embed"
	"html/template"
	"io"
	"log/slog"
	"net/http"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/wire"
)

// Root is where the page lies.
const Root = "/ui"

// maxForm bounds a form that is sent to the page, an import excepted.
const maxForm = 4 << 20

//go:embed static templates
var files embed.FS

// Authenticator finds out who asks.
type Authenticator interface {
	// Grant returns what the bearer of a secret may do; the secret is "" for a visitor who shows none. Errors:
	// refused.
	Grant(ctx context.Context, secret string) (wire.Grant, error)
}

// Options say what the page shows. API, Authenticator, Clock and Random are
// required.
type Options struct {
	API           http.Handler // is asked for everything
	Authenticator Authenticator
	Ask           Ask            // nil: no visitor asks everything
	Budget        *server.Budget // bounds the screens that are drawn and not taken yet; nil: nothing does
	Clock         amber.Clock
	Random        io.Reader
	Log           *slog.Logger // nil: silent
	Version       string
	// Insecure says that browsers reach the page over plain HTTP on this machine, so cookies
	// cannot be bound to TLS.
	Insecure bool
	// Secret lets a program of the same user find out that this server is the one whose secret it has read
	// in the home; "": it cannot.
	Secret string
	// Beat makes open tabs show that they are open, see [Page.Visitors].
	Beat bool
}

// Page serves the screens. Safe for concurrent use.
type Page struct {
	o        Options
	mux      *http.ServeMux
	sessions *sessions
	jobs     *jobs
	screens  map[string]*template.Template
	static   map[string]asset
	routes   []string
	uploads  map[string]bool // the patterns of routes that take files
	visits   visits
	ending   context.Context // of the streams of tabs
	end      context.CancelFunc
	samples  samples
}

// New returns the page.
func New(o Options) *Page {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	p := &Page{o: o, mux: http.NewServeMux(), uploads: map[string]bool{}, sessions: newSessions(o.Clock, o.Random), jobs: newJobs(o.Clock, o.Random)}
	p.visits.clock = o.Clock
	p.ending, p.end = context.WithCancel(context.Background())
	p.static = readAssets()
	p.screens = p.parse()
	p.table()
	return p
}

// Close ends what the page does in the background and waits until it has ended, or
// ctx ends.
func (p *Page) Close(ctx context.Context) error {
	p.end()
	return p.jobs.close(ctx)
}

// Routes returns the pattern of every route.
func (p *Page) Routes() []string { return p.routes }

// ServeHTTP implements [http.Handler] for every path below Root, and for Root.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	headers(w.Header())
	if name, ok := strings.CutPrefix(r.URL.Path, Root+"/-/static/"); ok {
		p.serveAsset(w, r, name)
		return
	}
	if strayed(r) {
		p.hop(w)
		return
	}
	v, err := p.visitor(w, r)
	if err != nil {
		p.fail(v, err)
		return
	}
	defer p.visits.enter()()
	p.mux.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), visitKey{}, v)))
}

// policy lets the page load its own files, send forms to itself, and nothing else.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

// headers are those of every answer.
func headers(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "same-origin") // without one, browsers send forms with the origin "null"
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}
