package web_test

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/web"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// forged is a form that a page of another site, or a program, makes a browser send.
type forged struct {
	name   string
	header []string                               // names and values
	value  func(b, other *browser) string         // of the field csrf; nil: that of the page
	body   func(form url.Values) (kind, s string) // nil: as forms are sent
	query  bool                                   // the value is in the address
}

func nothing(*browser, *browser) string { return "" }

// reversed is another value of the same length, as the values are random.
func reversed(value string) string {
	b := []byte(value)
	slices.Reverse(b)
	return string(b)
}

func encoded(form url.Values) (string, string) {
	return "application/x-www-form-urlencoded", form.Encode()
}

// parts is a form with parts that says nothing of a value, or says it wrong.
func parts(form url.Values) (string, string) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, k := range append([]string{"csrf"}, slices.DeleteFunc(slices.Sorted(maps.Keys(form)), func(k string) bool { return k == "csrf" })...) { // the value comes first
		for _, v := range form[k] {
			_ = w.WriteField(k, v) // a buffer takes everything
		}
	}
	_ = w.Close()
	return w.FormDataContentType(), b.String()
}

var forgeries = []forged{
	{name: "without a value", value: nothing},
	{name: "with a wrong value", value: func(b, _ *browser) string { return reversed(b.csrf) }},
	{name: "with the value of another session", value: func(_, other *browser) string { return other.csrf }},
	{name: "with the id as value", value: func(b, _ *browser) string { return b.sessionOf() }},
	{name: "with a foreign origin", header: []string{"Origin", "https://evil.example"}},
	{name: "with origin null", header: []string{"Origin", "null"}},
	{name: "with the origin of another port", header: []string{"Origin", "http://127.0.0.1:1"}},
	{name: "from another site", header: []string{"Sec-Fetch-Site", "cross-site"}},
	{name: "from another site that navigates", header: []string{"Sec-Fetch-Site", "cross-site", "Sec-Fetch-Mode", "navigate", "Sec-Fetch-Dest", "document"}},
	{name: "from the same site", header: []string{"Sec-Fetch-Site", "same-site", "Origin", ""}},
	{name: "from the same site with an origin", header: []string{"Sec-Fetch-Site", "same-site"}},
	{name: "as text", body: func(f url.Values) (string, string) { return "text/plain", f.Encode() }},
	{name: "as JSON", body: func(url.Values) (string, string) { return "application/json", `{"csrf":"x"}` }},
	{name: "without a type", body: func(f url.Values) (string, string) { return "", f.Encode() }},
	{name: "in parts without a value", value: nothing, body: parts},
	{name: "in parts with a wrong value", value: func(_, other *browser) string { return other.csrf }, body: parts},
	{name: "in parts of nothing", body: func(url.Values) (string, string) { return "multipart/form-data; boundary=x", "--x--" }},
	{name: "in parts without a boundary", body: func(f url.Values) (string, string) { return "multipart/form-data", f.Encode() }},
	{name: "with the value in the address", value: nothing, query: true},
}

// send sends the form.
func (f forged) send(b, other *browser, path string) page {
	b.r.t.Helper()
	value := b.csrf
	if f.value != nil {
		value = f.value(b, other)
	}
	form := url.Values{"token": {eve}, "word": {"yes"}}
	if value != "" {
		form.Set("csrf", value)
	}
	if f.query {
		path += "?csrf=" + url.QueryEscape(b.csrf)
	}
	body := encoded
	if f.body != nil {
		body = f.body
	}
	kind, text := body(form)
	req := must.Get(http.NewRequestWithContext(b.r.t.Context(), http.MethodPost, b.r.url+path, strings.NewReader(text)))(b.r.t)
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Origin", b.r.url)
	for i := 0; i+1 < len(f.header); i += 2 {
		if req.Header.Set(f.header[i], f.header[i+1]); f.header[i+1] == "" {
			req.Header.Del(f.header[i])
		}
	}
	return b.do(req)
}

// state is everything that a form could have changed, and the audit log.
func (r *rig) state() string {
	r.t.Helper()
	var b strings.Builder
	b.WriteString(r.stored())
	for _, e := range r.audited() {
		fmt.Fprintln(&b, e.Seq, e.Action)
	}
	return b.String()
}

// stored is everything that a form could have changed: the stores and the tokens.
func (r *rig) stored() string {
	r.t.Helper()
	var b strings.Builder
	ctx := context.Background()
	for _, n := range [][2]string{{"acme", "ada"}, {"acme", "bob"}, {"umbrella", "eve"}} {
		tenant, agent := amber.TenantID(n[0]), amber.AgentID(n[1])
		a := r.agent(tenant, agent)
		st := a.Served()
		fmt.Fprintln(&b, must.Get(st.Changes.Head(ctx))(r.t), must.Get(st.ControlChanges.Head(ctx))(r.t), must.Get(st.Stats.Stats(ctx))(r.t).Changes)
		for _, note := range must.Get(st.Notes.ListNotes(ctx))(r.t) {
			fmt.Fprintln(&b, note.Name, note.Commit)
		}
		for _, d := range must.Get(st.Documents.ListDocuments(ctx))(r.t) {
			fmt.Fprintln(&b, d.Name, d.Revision)
		}
		engine := must.Get(a.Snapshots(ctx))(r.t)
		for _, s := range must.Get(engine.ListSnapshots(ctx, wire.SnapshotQuery{Tenant: tenant, Agent: agent}))(r.t).Items {
			fmt.Fprintln(&b, s.ID, s.Pinned)
		}
		fmt.Fprintln(&b, len(must.Get(a.HeldEntries(ctx, ""))(r.t)))
	}
	for _, t := range must.Get(r.ledger.ListTokens(ctx, ""))(r.t) {
		fmt.Fprintln(&b, t.ID, t.RevokedAt)
	}
	return b.String()
}

// audited is the audit log, newest first.
func (r *rig) audited() []wire.AuditEntry {
	r.t.Helper()
	return must.Get(r.ledger.ListAudit(context.Background(), wire.AuditQuery{Limit: amber.MaxPageSize}))(r.t).Items
}

// Every change of the page, sent in every way but from a page of its session: it is refused, and nothing
// has changed.
func TestForgedFormsChangeNothing(t *testing.T) {
	t.Parallel()
	for _, open := range []bool{false, true} { // where no visitor logs in, the page checks forms as well
		r := newRigIn(t, t.TempDir(), open)
		p := r.furnish("acme", "ada", func(field string) string { return field })
		secret := root
		if open {
			secret = ""
		}
		b, other := r.visitor(secret), r.visitor("")
		b.get("/ui/acme/ada/recall")
		other.get("/ui/-/login")
		other.get("/ui/acme/ada/recall")
		must.Hold(t, b.csrf != "" && other.csrf != "" && b.csrf != other.csrf, "values %q and %q", b.csrf, other.csrf)
		id, value := b.sessionOf(), b.csrf
		before := r.state()
		for _, pattern := range r.page.Routes() {
			method, path := p.fill(t, pattern)
			if method != http.MethodPost {
				continue
			}
			for _, f := range forgeries {
				what := pattern + " " + f.name
				a := f.send(b, other, path)
				must.Hold(t, a.status == http.StatusForbidden || a.status == http.StatusBadRequest, "%s: status %d: %s", what, a.status, a.text())
				must.Hold(t, cookieOf(a, "amber-theme") == nil, "%s: sets the theme", what)
				must.Hold(t, b.sessionOf() == id, "%s: the id changed", what)
				b.csrf = value
				checkFramed(t, what, a)
			}
			must.Equal(t, "state after "+pattern, r.state(), before)
		}
	}
}

// checkFramed fails for an answer that a page of another site can show in a frame.
func checkFramed(t testing.TB, what string, a page) {
	t.Helper()
	policy := a.header.Values("Content-Security-Policy")
	if len(policy) != 1 || !strings.Contains(policy[0], "frame-ancestors 'none'") || a.header.Get("X-Frame-Options") != "DENY" {
		t.Errorf("%s: status %d, policy %q, X-Frame-Options %q", what, a.status, policy, a.header.Get("X-Frame-Options"))
	}
	if a.header.Get("X-Content-Type-Options") != "nosniff" {
		t.Errorf("%s: X-Content-Type-Options %q", what, a.header.Get("X-Content-Type-Options"))
	}
}

// Every answer forbids frames, and a page runs no code but the files of the server.
func TestEveryAnswerIsLocked(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	p := r.furnish("acme", "ada", func(field string) string { return field })
	b, stranger := r.visitor(root), r.visitor("")
	paths := []string{"/", "/ui", "/ui/nothing", "/ui/acme", "/ui/acme/ada/nothing", "/ui/acme/nobody/recall", "/ui/%00/x/recall", "/ui/-/static/app.js", "/ui/-/static/style.css", "/ui/-/static/icon.svg", "/ui/-/static/nothing", "/ui/-/static/../x", "/ui//x", "/ui/./x", "/ui/../x"}
	for _, pattern := range r.page.Routes() {
		if method, path := p.fill(t, pattern); method == http.MethodGet && !isStream(pattern) {
			paths = append(paths, path, path+"?as=json")
		}
	}
	for _, path := range paths {
		for who, v := range map[string]*browser{"root": b, "a stranger": stranger} {
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPut, http.MethodDelete, http.MethodOptions, "TRACE"} {
				req := must.Get(http.NewRequestWithContext(t.Context(), method, r.url+path, nil))(t)
				a := v.do(req)
				what := who + ": " + method + " " + path
				checkFramed(t, what, a)
				must.Hold(t, a.status < 500, "%s: status %d", what, a.status)
				if method != http.MethodGet && method != http.MethodHead {
					must.Hold(t, a.status >= 300, "%s: status %d", what, a.status)
				}
				if strings.HasPrefix(path, "/ui/acme/ada/") && a.header.Get("Cache-Control") != "no-store" {
					t.Errorf("%s: Cache-Control %q", what, a.header.Get("Cache-Control"))
				}
				checkPolicy(t, what, a)
			}
		}
	}
}

// checkPolicy fails for a page that may run or load anything but the files of the server.
func checkPolicy(t testing.TB, what string, a page) {
	t.Helper()
	if a.root == nil || a.status == http.StatusSeeOther { // what is sent on is no page
		return
	}
	policy := a.header.Get("Content-Security-Policy")
	for _, want := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "base-uri 'none'", "form-action 'self'"} {
		must.Says(t, what, policy, want)
	}
	must.Hides(t, what, policy, "unsafe", "*", "data:", "http:", "https:")
	for n := range a.root.Descendants() {
		for _, attr := range n.Attr {
			if strings.HasPrefix(attr.Key, "on") || attr.Key == "style" || strings.HasPrefix(strings.ToLower(strings.TrimSpace(attr.Val)), "javascript:") {
				t.Errorf("%s: <%s %s=%q>", what, n.Data, attr.Key, attr.Val)
			}
		}
		if n.Data == "script" && n.FirstChild != nil || n.Data == "style" {
			t.Errorf("%s: <%s> in the page", what, n.Data)
		}
	}
}

// A name of another site that leads to this machine is not answered.
func TestForeignNamesAreNotServed(t *testing.T) {
	t.Parallel()
	r := newRigWith(t, t.TempDir(), true, func(o *httpapi.Options, _ *web.Options) { o.Hosts = []string{"localhost", "127.0.0.1"} })
	r.remember("canary")
	for _, host := range []string{"evil.example", "evil.example:80", "127.0.0.1.evil.example", "localhost.evil.example", "", "[::2]:1"} {
		for _, path := range []string{"/", "/ui", "/ui/", "/ui/-/login", adaHome + "/recall", "/ui/-/static/app.js"} {
			req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+path, nil))(t)
			if req.Host = host; host == "" {
				req.Host = "x"
			}
			a := r.visitor("").do(req)
			must.Equal(t, "status of "+host+path, a.status, http.StatusForbidden)
			must.Hides(t, host+path, a.body, "canary", "<html")
			must.Equal(t, "cookies", len(a.header.Values("Set-Cookie")), 0)
			checkFramed(t, host+path, a)
		}
	}
	must.Equal(t, "status", r.visitor("").get("recall").status, http.StatusOK)
}

// A link of another site opens the page in a window of its own and does nothing more; nothing of the page
// can be built into another site.
func TestLinksOfOtherSitesOpenThePageAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	p := r.furnish("acme", "ada", func(field string) string { return field })
	before := r.state()
	paths := []string{"/", "/ui/-/static/app.js"}
	for _, pattern := range r.page.Routes() {
		if method, path := p.fill(t, pattern); method == http.MethodGet {
			paths = append(paths, path)
		}
	}
	for _, path := range paths {
		for _, c := range []struct {
			mode, dest string
			site       string
			welcome    bool
		}{
			{"navigate", "document", "cross-site", true},
			{"navigate", "document", "same-site", true},
			{"navigate", "iframe", "cross-site", false},
			{"navigate", "embed", "cross-site", false},
			{"navigate", "object", "cross-site", false},
			{"no-cors", "image", "cross-site", false},
			{"no-cors", "script", "cross-site", false},
			{"no-cors", "style", "cross-site", false},
			{"cors", "empty", "cross-site", false},
			{"cors", "empty", "same-site", false},
			{"websocket", "websocket", "cross-site", false},
		} {
			if c.welcome && strings.HasSuffix(path, "/beat") || c.welcome && isStream("GET "+path) {
				continue // it would not end
			}
			for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
				req := must.Get(http.NewRequestWithContext(t.Context(), method, r.url+path, http.NoBody))(t)
				req.Header.Set("Sec-Fetch-Site", c.site)
				req.Header.Set("Sec-Fetch-Mode", c.mode)
				req.Header.Set("Sec-Fetch-Dest", c.dest)
				a := r.visitor("").do(req)
				what := fmt.Sprint(method, " ", path, " ", c)
				if welcome := c.welcome && method == http.MethodGet; welcome == (a.status == http.StatusForbidden) {
					t.Errorf("%s: status %d", what, a.status)
				}
				checkFramed(t, what, a)
			}
		}
	}
	must.Equal(t, "state", r.state(), before)
}
