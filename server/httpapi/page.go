package httpapi

import (
	"embed"
	"net/http"
	"strconv"
)

//go:embed page
var page embed.FS

// pagePolicy lets the page of reference load what comes with it, and nothing
// else.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

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
