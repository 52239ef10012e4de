package web

import (
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/amber-memory/amber"
)

// maxSecret bounds what is taken for a token.
const maxSecret = 1 << 10

func loginRoutes(p *Page) {
	p.handle("GET "+Root+"/-/login", false, func(v *visit) error {
		if v.known {
			return v.redirect(Root + "/")
		}
		return v.askToLogIn(v.query("next"), "")
	})
	p.handle("POST "+Root+"/-/login", false, (*visit).logIn)
	p.handle("POST "+Root+"/-/logout", false, (*visit).logOut)
	p.handle("POST "+Root+"/-/theme", false, (*visit).setTheme)
}

// loginData is what the form for a token shows.
type loginData struct {
	Next, Problem string
	Again         bool // somebody came by a link of another site: cookies did not come along
}

// askToLogIn shows the form for a token.
func (v *visit) askToLogIn(next, problem string) error {
	d := loginData{Next: localPath(next), Problem: problem, Again: v.r.Header.Get("Sec-Fetch-Site") == "cross-site"}
	status := http.StatusUnauthorized
	if v.r.URL.Path == Root+"/-/login" && problem == "" {
		status = http.StatusOK
	}
	return v.renderStatus(status, "login", screen{Title: "Log in"}, d)
}

// localPath is a path of the page; Root for anything else, so that nobody is sent away.
func localPath(next string) string {
	u, err := url.Parse(next)
	if err != nil || strings.TrimSuffix(u.Path, "/") != path.Clean(u.Path) || u.IsAbs() || u.Host != "" || !strings.HasPrefix(u.Path, Root+"/") || strings.ContainsAny(next, "\\\r\n") || strings.HasPrefix(u.Path, Root+"/-/log") {
		return Root + "/"
	}
	return u.RequestURI()
}

// logIn takes a token and gives the browser an id in its place.
func (v *visit) logIn() error {
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

func (v *visit) logOut() error {
	v.p.sessions.end(v.session)
	v.p.setCookie(v.w, v.r, cookieSession, "", -1)
	return v.redirect(Root + "/-/login")
}

// setTheme remembers light, dark, or as the system has it.
func (v *visit) setTheme() error {
	theme := v.field("theme")
	if theme != "light" && theme != "dark" {
		theme = ""
	}
	v.p.setCookie(v.w, v.r, cookieTheme, theme, 365*24*60*60)
	return v.redirect(localPath(v.field("next")))
}
