package web

import (
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

// maxSecret bounds what is taken for a token.
const maxSecret = 1 << 10

// loginScreen is how a visitor logs in and out, and the theme.
type loginScreen struct{ *visit }

func loginRoutes(p *Page) {
	p.handle("GET "+Root+"/-/login", false, func(v *visit) error {
		if v.known {
			return v.redirect(Root + "/")
		}
		return v.askToLogIn(v.query("next"), "")
	})
	p.handle("POST "+Root+"/-/login", false, on(loginScreen.logIn))
	p.handle("POST "+Root+"/-/logout", false, on(loginScreen.logOut))
	p.handle("POST "+Root+"/-/theme", false, on(loginScreen.setTheme))
}

// loginData is what the form for a token shows.
type loginData struct {
	Next, Problem string
	Kept          []pair // what a visitor typed whose log-in has ended
}

// askToLogIn shows the form for a token.
func (v *visit) askToLogIn(next, problem string) error {
	d := loginData{Next: localPath(next), Problem: problem}
	if v.r.Method == http.MethodPost && v.r.URL.Path != Root+"/-/login" {
		d.Kept = v.typed()
	}
	status := http.StatusUnauthorized
	if v.r.URL.Path == Root+"/-/login" && problem == "" {
		status = http.StatusOK
	}
	return v.renderStatus(status, "login", screen{Title: "Log in"}, d)
}

// typed are the texts of a form that was sent, so that no visitor loses a text because a log-in has ended.
func (v *visit) typed() (kept []pair) {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if site := v.r.Header.Get("Sec-Fetch-Site"); site != "" && site != "same-origin" || v.r.ParseForm() != nil {
		return nil
	}
	left := maxEdited
	for _, name := range slices.Sorted(maps.Keys(v.r.PostForm)) {
		text := v.text(name)
		if name == "csrf" || !strings.ContainsAny(text, " \n") {
			continue
		}
		short := fitted(text, left)
		left -= inPage(short.Text)
		kept = append(kept, pair{name, short.Text})
	}
	return kept
}

// localPath is a path of the page; Root for anything else, so that a link cannot send a visitor to another site.
func localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || strings.TrimSuffix(u.Path, "/") != path.Clean(u.Path) || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, Root+"/") || strings.ContainsAny(next, "\\\r\n") || strings.HasPrefix(u.Path, Root+"/-/log") {
		return Root + "/"
	}
	return u.RequestURI()
}

// logIn takes a token and gives the browser an id in its place.
func (v loginScreen) logIn() error {
	secret := v.field("token")
	if secret == "" || len(secret) > maxSecret || strings.ContainsFunc(secret, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return v.askToLogIn(v.field("next"), "This is no token: a token is one word, as amber token create prints it.")
	}
	if _, err := v.p.o.Authenticator.Grant(v.r.Context(), secret); err != nil {
		if amber.KindOf(err) != amber.KindRefused {
			return err
		}
		return v.askToLogIn(v.field("next"), "The token is not known here, was revoked, or has run out.")
	}
	v.p.sessions.end(v.session)
	v.session = v.p.sessions.begin(secret)
	v.p.setCookie(v.w, v.r, cookieSession, v.session, 0)
	return v.redirect(localPath(v.field("next")))
}

func (v loginScreen) logOut() error {
	v.p.sessions.end(v.session)
	v.p.setCookie(v.w, v.r, cookieSession, "", -1)
	return v.redirect(Root + "/-/login")
}

// setTheme remembers light, dark, or as the system has it.
func (v loginScreen) setTheme() error {
	theme := v.field("theme")
	if theme != "light" && theme != "dark" {
		theme = ""
	}
	v.p.setCookie(v.w, v.r, cookieTheme, theme, 365*24*60*60)
	return v.redirect(localPath(v.field("next")))
}
