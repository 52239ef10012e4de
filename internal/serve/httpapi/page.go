package httpapi

import (
	"embed"
	"net/http"
	"strconv"
	"strings"
)

//go:embed page
var page embed.FS

// pagePolicy lets the page of reference load its own files, and nothing else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// pagePath is where the page for people lies.
const pagePath = "/ui"

// isPage reports whether a path belongs to the page for people.
func isPage(path string) bool {
	return path == "/" || path == pagePath || strings.HasPrefix(path, pagePath+"/")
}

// ServePage serves the page for people under /ui and leads there from /. It is called once,
// before the first request: the page asks this API. The page bounds the bodies it reads and the
// time its visitors take.
func (a *API) ServePage(page http.Handler) {
	a.opened = append(a.opened, pagePath)
	a.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		note(w, pagePath)
		http.Redirect(w, r, pagePath+"/", http.StatusSeeOther)
	})
	serve := func(w http.ResponseWriter, r *http.Request) {
		note(w, pagePath)
		if body, ok := r.Body.(*counter); ok {
			body.ReadCloser = body.raw
		}
		page.ServeHTTP(w, r)
	}
	a.mux.HandleFunc(pagePath, serve)
	a.mux.HandleFunc(pagePath+"/", serve)
}

// pages serve the reference.
func (a *API) pages() {
	for path, file := range map[string]struct{ name, kind string }{
		"/docs":           {"page/reference.html", "text/html; charset=utf-8"},
		"/docs/script.js": {"page/script.js", "text/javascript; charset=utf-8"},
		"/docs/style.css": {"page/style.css", "text/css; charset=utf-8"},
	} {
		b, err := page.ReadFile(file.name)
		if err != nil {
			panic("httpapi: " + err.Error()) // it is built in
		}
		a.open("GET "+path, a.o.Timeout, func(w http.ResponseWriter, _ *http.Request) {
			h := w.Header()
			h.Set("Content-Type", file.kind)
			h.Set("Content-Security-Policy", pagePolicy)
			h.Set("Referrer-Policy", "no-referrer")
			h.Set("Content-Length", strconv.Itoa(len(b)))
			_, _ = w.Write(b) // the caller may be gone
		})
	}
}
