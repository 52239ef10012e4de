package web_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/serve/web"
	"github.com/amber-memory/amber/internal/test/must"
)

// cookieOf is the cookie that an answer sets, nil for none.
func cookieOf(p page, name string) *http.Cookie {
	for _, c := range (&http.Response{Header: p.header}).Cookies() {
		if strings.HasPrefix(c.Name, name) {
			return c
		}
	}
	return nil
}

// sessionOf is the id that a browser keeps.
func (b *browser) sessionOf() string {
	for _, c := range b.http.Jar.Cookies(must.Get(url.Parse(b.r.url + "/ui/"))(b.r.t)) {
		if strings.HasPrefix(c.Name, "amber-session") {
			return c.Value
		}
	}
	return ""
}

func TestTheCookieOfALogIn(t *testing.T) {
	t.Parallel()
	for _, insecure := range []bool{true, false} {
		r := newRigWith(t, t.TempDir(), false, func(_ *httpapi.Options, w *web.Options) { w.Insecure = insecure })
		res := must.Get(http.Get(r.url + "/ui/-/login"))(t)
		must.Do(t, res.Body.Close())
		p := page{header: res.Header}
		c := cookieOf(p, "amber-session")
		port := r.url[strings.LastIndex(r.url, ":")+1:]
		must.Hold(t, c != nil && c.HttpOnly && c.SameSite == http.SameSiteStrictMode && c.Path == "/ui" && c.Domain == "" && c.MaxAge == 0 && c.Expires.IsZero(), "the cookie is %+v", c)
		must.Equal(t, "secure", c.Secure, !insecure)
		must.Equal(t, "name", c.Name, "amber-session-"+port)
	}
}

// The id is another one after a log-in, and an id that another person may know is never a log-in.
func TestLogInChangesTheID(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	b := r.visitor("")
	b.get("/ui/-/login")
	before := b.sessionOf()
	must.Equal(t, "status", b.post("/ui/-/login", "token", ada).status, http.StatusSeeOther)
	first := b.sessionOf()
	b.get("recall")
	b.post("/ui/-/logout")
	b.get("/ui/-/login")
	b.post("/ui/-/login", "token", ada)
	second := b.sessionOf()
	must.Hold(t, before != "" && first != before && second != first && second != before, "ids %q, %q and %q", before, first, second)
	must.Equal(t, "with the id", r.withID(second).status, http.StatusOK)
	for _, id := range []string{before, first, "", "x", strings.Repeat("A", 24)} {
		must.Equal(t, "status with the id "+id, r.withID(id).status, http.StatusUnauthorized)
	}
}

// withID opens a screen with an id that the caller knows.
func (r *rig) withID(id string) page {
	r.t.Helper()
	req := must.Get(http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.url+adaHome+"/recall", nil))(r.t)
	req.AddCookie(&http.Cookie{Name: "amber-session-" + r.url[strings.LastIndex(r.url, ":")+1:], Value: id})
	return r.visitor("").do(req)
}

func TestLogOutEndsTheLogIn(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	b := r.visitor(ada)
	id := b.sessionOf()
	b.get("recall")
	p := b.post("/ui/-/logout")
	c := cookieOf(p, "amber-session")
	must.Hold(t, p.status == http.StatusSeeOther && c != nil && c.MaxAge < 0, "status %d, cookie %+v", p.status, c)
	must.Equal(t, "afterwards", b.get("recall").status, http.StatusUnauthorized)
	must.Equal(t, "with the old id", r.withID(id).status, http.StatusUnauthorized)
}

func TestRevokingATokenEndsItsLogInsAndStreams(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	p := r.furnish("acme", "ada", func(field string) string { return field })
	b, other := r.visitor(ada), r.visitor(adaRead)
	ids := []string{b.sessionOf(), r.visitor(ada).sessionOf()}
	ended := make(chan string, 8)
	open := 0
	for _, pattern := range r.page.Routes() {
		method, path := p.fill(t, pattern)
		if method != http.MethodGet || !isStream(pattern) || strings.HasSuffix(pattern, "/-/beat") {
			continue
		}
		open++
		res := must.Get(b.http.Do(must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+path, nil))(t)))(t)
		must.Equal(t, "status of "+path, res.StatusCode, http.StatusOK)
		go func() {
			_, _ = io.Copy(io.Discard, res.Body) // until it ends
			_ = res.Body.Close()
			ended <- path
		}()
	}
	r.keys.revoke(ada)
	for range open {
		select {
		case <-ended:
		case <-time.After(time.Minute):
			t.Fatal("a stream goes on without its token")
		}
	}
	for _, id := range ids {
		must.Equal(t, "status", r.withID(id).status, http.StatusUnauthorized)
	}
	must.Equal(t, "the log-in with another token", other.get("recall").status, http.StatusOK)
	// A token of the same secret that comes back does not bring the log-in back.
	r.keys.mu.Lock()
	r.keys.grants[ada] = newKeyring().grants[ada]
	r.keys.mu.Unlock()
	must.Equal(t, "status", r.withID(ids[0]).status, http.StatusUnauthorized)
}

func TestLoggingOutEndsStreams(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	b := r.visitor(ada)
	b.get("recall")
	res := must.Get(b.http.Do(must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+adaHome+"/events", nil))(t)))(t)
	must.Equal(t, "status", res.StatusCode, http.StatusOK)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, res.Body) // until it ends
		_ = res.Body.Close()
	}()
	must.Equal(t, "log-out", b.post("/ui/-/logout").status, http.StatusSeeOther)
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("a stream goes on after the log-out")
	}
}

func TestLogInsEndWithTime(t *testing.T) {
	t.Parallel()
	clock := servertest.NewClock(time.Now(), 0)
	r := newRigWith(t, t.TempDir(), false, func(_ *httpapi.Options, w *web.Options) { w.Clock = clock.Read })
	b := r.visitor(ada)
	clock.Forward(12*time.Hour - time.Second)
	must.Equal(t, "before 12 hours without use", b.get("recall").status, http.StatusOK)
	clock.Forward(12 * time.Hour)
	must.Equal(t, "after 12 hours without use", b.get("recall").status, http.StatusUnauthorized)
	b = r.visitor(ada)
	for range 15 {
		clock.Forward(11 * time.Hour)
		must.Equal(t, "in use", b.get("recall").status, http.StatusOK)
	}
	clock.Forward(3*time.Hour + time.Second) // 7 days since the log-in
	must.Equal(t, "after 7 days", b.get("recall").status, http.StatusUnauthorized)
}

// A token that logs in again and again ends its own log-ins, not those of others.
func TestAFloodOfLogInsEndsItsOwn(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	visitors := map[string]*browser{root: r.visitor(root), acme: r.visitor(acme), adaRead: r.visitor(adaRead)}
	first := r.visitor(eve)
	b := r.visitor("")
	b.get("/ui/-/login")
	for range 2500 {
		must.Equal(t, "status", b.postFresh("/ui/-/login", "token", eve).status, http.StatusSeeOther)
	}
	for who, v := range visitors {
		must.Equal(t, "the log-in of "+who, v.get("recall").status, http.StatusOK)
	}
	must.Equal(t, "the first log-in of the flood", first.get("/ui/umbrella/eve/recall").status, http.StatusUnauthorized)
}

// postFresh sends a form as a browser that has not logged in yet does.
func (b *browser) postFresh(path string, fields ...string) page {
	b.r.t.Helper()
	fresh := &browser{r: b.r, http: &http.Client{Transport: b.http.Transport, CheckRedirect: b.http.CheckRedirect}}
	form := url.Values{"csrf": {b.csrf}}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Add(fields[i], fields[i+1])
	}
	req := must.Get(http.NewRequestWithContext(b.r.t.Context(), http.MethodPost, b.r.url+path, strings.NewReader(form.Encode())))(b.r.t)
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	for _, c := range b.http.Jar.Cookies(req.URL) {
		req.AddCookie(c)
	}
	return fresh.do(req)
}

// Visitors without a token leave nothing behind.
func TestVisitorsWithoutATokenCostNoMemory(t *testing.T) {
	r := newLockedRig(t)
	visit := func(n int) {
		for range n {
			w := httptest.NewRecorder()
			r.page.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, adaHome+"/recall", nil))
			must.Equal(t, "status", w.Code, http.StatusUnauthorized)
		}
	}
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapObjects
	}
	visit(100)
	before := heap()
	visit(20_000)
	if after := heap(); after > before+5000 {
		t.Errorf("%d objects are left of 20 000 visitors", after-before)
	}
}

func TestNobodyIsSentAway(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	for _, next := range []string{
		"https://evil.example/", "//evil.example/", `/\evil.example`, `\\evil.example`, "/ui//evil.example", "/ui/../../evil", "/ui/%2e%2e//evil.example", "/ui/..;/x", "javascript:alert(1)", "data:text/html,x", "/ui", "/v1/x", "/ui\n/x", "/ui/\r\nSet-Cookie: a=b",
		"http:/ui/x", "/ui/x@evil.example", "@evil.example", "ui/x", "?x", "#x", "", " /ui/x", "\t//evil.example", "/ui/-/logout", "/ui/-/login?next=/ui/", strings.Repeat("/ui/", 5000), "/ui/\x00", "https:///ui/", "/ui/?next=//evil.example", "/ui/acme/ada/recall?q=a",
	} {
		b := r.visitor("")
		shown := b.get("/ui/-/login?next=" + url.QueryEscape(next))
		for n := range shown.all("a") {
			checkLocal(t, next, r.url, attribute(n, "href"))
		}
		checkLocal(t, next, r.url, shown.value("next"))
		p := b.post("/ui/-/login", "token", ada, "next", next)
		must.Equal(t, "status", p.status, http.StatusSeeOther)
		checkLocal(t, next, r.url, p.header.Get("Location"))
		must.Hold(t, len(p.header.Values("Set-Cookie")) == 1, "cookies %q", p.header.Values("Set-Cookie"))
		b.get("recall")
		checkLocal(t, next, r.url, b.post("/ui/-/theme", "theme", "dark", "next", next).header.Get("Location"))
	}
}

// checkLocal fails for an address that leads a browser anywhere but to the page.
func checkLocal(t testing.TB, next, base, to string) {
	t.Helper()
	u, err := must.Get(url.Parse(base + "/ui/-/login"))(t).Parse(to)
	if to == "/docs" || strings.HasPrefix(to, "#") {
		return
	}
	if err != nil || "http://"+u.Host != base || u.Path != "/ui" && !strings.HasPrefix(u.Path, "/ui/") || strings.HasPrefix(u.Path, "/ui/-/logout") || strings.Contains(to, `\`) {
		t.Errorf("next %.60q leads to %.60q", next, to)
	}
}

func TestWrongTokensDoNotLogIn(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	b := r.visitor("")
	b.get("/ui/-/login")
	before := b.sessionOf()
	for _, token := range []string{"", " ", "unknown", ada + "x", strings.ToUpper(ada), "Bearer " + ada, ada + "\n" + ada, ada + "\x00", "é", strings.Repeat("a", 1025), strings.Repeat("a", 3<<20)} {
		p := b.post("/ui/-/login", "token", token)
		must.Equal(t, "status", p.status, http.StatusUnauthorized)
		must.Hold(t, b.sessionOf() == before, "the id changed with %.20q", token)
		must.Equal(t, "screen", b.get("recall").status, http.StatusUnauthorized)
		must.Hold(t, token == "" || token == " " || len(token) == 1 || !strings.Contains(p.body, token), "the answer repeats %.20q", token)
	}
	if p := b.post("/ui/-/login", "token", strings.Repeat("a", 5<<20)); p.status < 400 || len(p.body) > maxPage {
		t.Errorf("a form of 5 MiB: status %d, %d bytes", p.status, len(p.body))
	}
	must.Equal(t, "and then", b.post("/ui/-/login", "token", " "+ada+"\n").status, http.StatusSeeOther)
}

// An attacker cannot log a visitor in: the form needs the value of a page that this visitor was sent.
func TestLogInNeedsAPageOfThisBrowser(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	b, attacker := r.visitor(""), r.visitor("")
	b.get("/ui/-/login")
	before := b.sessionOf()
	attacker.get("/ui/-/login")
	b.csrf = attacker.csrf
	must.Equal(t, "with the value of another browser", b.post("/ui/-/login", "token", eve).status, http.StatusForbidden)
	b.csrf = ""
	must.Equal(t, "without a value", b.post("/ui/-/login", "token", eve).status, http.StatusForbidden)
	must.Hold(t, b.sessionOf() == before, "the id changed")
	must.Equal(t, "screen", b.get("/ui/umbrella/eve/recall").status, http.StatusUnauthorized)
}

// lockedLog is a log that tests read. Safe for concurrent use.
type lockedLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lockedLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lockedLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// The token stays in the server: no answer, header, address or log has it.
func TestTheTokenIsNeverSeen(t *testing.T) {
	t.Parallel()
	const secret = "amber-SECRETSECRETSECRET"
	var log lockedLog
	logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	r := newRigWith(t, t.TempDir(), false, func(o *httpapi.Options, w *web.Options) { o.Log, w.Log = logger, logger })
	r.keys.grants[secret] = r.keys.grants[root]
	p := r.furnish("acme", "ada", func(field string) string { return field })
	b := r.visitor("")
	look := func(what string, a page) {
		var head strings.Builder
		must.Do(t, a.header.Write(&head))
		must.Hides(t, what, a.body+head.String(), "SECRETSECRET")
	}
	look("log-in", b.get("/ui/-/login?next=/ui/acme/ada/recall"))
	look("log-in with a problem", b.post("/ui/-/login", "token", secret+"x"))
	look("log-in", b.post("/ui/-/login", "token", secret))
	must.Hides(t, "cookie", b.sessionOf(), "SECRET")
	for _, pattern := range r.page.Routes() {
		method, path := p.fill(t, pattern)
		if isStream(pattern) || strings.Contains(path, "/-/log") {
			continue
		}
		if method == http.MethodPost {
			look(pattern, b.post(path))
			continue
		}
		look(pattern, b.get(path))
		look(pattern+" as JSON", b.get(path+"?as=json"))
	}
	look("log-out", b.post("/ui/-/logout"))
	must.Hides(t, "log", log.String(), "SECRETSECRET", secret[:12])
	must.Hold(t, strings.Contains(log.String(), "route=/ui"), "the log has nothing of the page")
}
