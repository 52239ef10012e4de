package web

import (
	"io"
	"net/http"
	"net/url"
)

// strayed reports whether a browser followed a link of another site. The cookie of a log-in does not come along
// then, and a new one would take its place.
func strayed(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	return (site == "cross-site" || site == "same-site") && r.Method != http.MethodPost && !isID(cookie(r, cookieSession))
}

// hop lets the browser ask again from a page of this site, so that the cookie comes along.
func (p *Page) hop(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = io.WriteString(w, `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="refresh" content="0"><title>Amber</title></head><body><main><h1>Amber</h1><p><a href="">Go on</a></p></main></body></html>`) // the visitor may be gone
}

// here is the address of the screen that the visitor looks at: of a form that was sent, the screen it was on.
func (v *visit) here() string {
	if v.r.Method == http.MethodGet || v.r.Method == http.MethodHead {
		return v.r.URL.RequestURI()
	}
	from, err := url.Parse(v.r.Header.Get("Referer"))
	if err != nil || from.Host != v.r.Host {
		if v.tenant != "" {
			return v.path()
		}
		return Root + "/"
	}
	return localPath(from.RequestURI())
}
