package web_test

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/serve/web"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// bearer is a visitor with a kind of token.
type bearer struct {
	name  string
	b     *browser
	grant wire.Grant // the zero value: none that is good
}

// reads reports whether the visitor may read what an agent has stored.
func (w bearer) reads(n server.AgentName) bool {
	return w.grant.Reaches(n.Tenant, n.Agent) && w.grant.Has(wire.TokenRead)
}

// bearers are visitors with every kind of token.
func (r *rig) bearers() []bearer {
	r.t.Helper()
	r.keys.mu.Lock()
	r.keys.grants["adawrite"] = wire.Grant{Token: "t-write", Name: "writer", Tenant: "acme", Agent: "ada", Scopes: []wire.TokenScope{wire.TokenWrite, wire.TokenErase, wire.TokenSnapshot}}
	r.keys.grants["bob"] = wire.Grant{Token: "t-bob", Name: "bob", Tenant: "acme", Agent: "bob", Scopes: wire.TokenScopes()}
	r.keys.grants["gone"] = wire.Grant{Token: "t-gone", Name: "gone", Scopes: wire.TokenScopes()}
	grants := r.keys.grants
	r.keys.mu.Unlock()
	out := []bearer{{name: "nobody", b: r.visitor("")}, {name: "gone", b: r.visitor("gone")}}
	r.keys.revoke("gone")
	unknown := bearer{name: "unknown id", b: r.visitor("")}
	at := must.Get(url.Parse(r.url + "/ui"))(r.t)
	unknown.b.http.Jar.SetCookies(at, []*http.Cookie{{Name: "amber-session-" + at.Port(), Value: strings.Repeat("A", 24), Path: "/ui"}})
	out = append(out, unknown)
	for _, secret := range []string{adaRead, "adawrite", ada, acme, root, eve, "bob"} {
		out = append(out, bearer{name: secret, b: r.visitor(secret), grant: grants[secret]})
	}
	return out
}

// agentsOf are the agents of a rig in order.
func agentsOf(places map[server.AgentName]*place) []server.AgentName {
	var out []server.AgentName
	for n := range places {
		out = append(out, n)
	}
	slices.SortFunc(out, func(a, b server.AgentName) int {
		return strings.Compare(string(a.Tenant+"/")+string(a.Agent), string(b.Tenant+"/")+string(b.Agent))
	})
	return out
}

// leaks fails for what an answer says of agents that the visitor may not read. The ids that the visitor
// asked with are no secret.
func (w bearer) leaks(t testing.TB, what string, asked string, a page, places map[server.AgentName]*place) {
	t.Helper()
	var seen strings.Builder
	must.Do(t, a.header.Write(&seen))
	seen.WriteString(a.body)
	for _, n := range agentsOf(places) {
		if w.reads(n) {
			continue
		}
		must.Hides(t, w.name+": "+what, seen.String(), canary(n)+" ")
		for _, id := range []string{string(places[n].memory), string(places[n].snapshots[0])} {
			if !strings.Contains(asked, id) {
				must.Hides(t, w.name+": "+what, seen.String(), id)
			}
		}
	}
}

// Every screen with every kind of token, for every agent: what a visitor may not read is not shown, nor
// passed on as JSON.
func TestNoScreenShowsWhatItsVisitorMayNotRead(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	places := r.everyPlace()
	shown := 0
	for _, w := range r.bearers() {
		for _, n := range agentsOf(places) {
			for _, pattern := range r.page.Routes() {
				method, path := places[n].fill(t, pattern)
				if method != http.MethodGet || isStream(pattern) {
					continue
				}
				for _, query := range []string{"", "?as=json", "?q=" + canary(n), "?place=" + syncPlace, "?a=" + string(places[n].snapshots[0]) + "&b=" + string(places[n].snapshots[1])} {
					a := w.b.get(path + query)
					w.leaks(t, "GET "+path+query, path+query, a, places)
					must.Hold(t, a.status < 500, "%s: GET %s: status %d: %s", w.name, path+query, a.status, a.text())
					if w.reads(n) && strings.Contains(a.body, canary(n)) {
						shown++
					}
					if strings.Contains(pattern, "{tenant}") && !w.grant.Reaches(n.Tenant, n.Agent) {
						must.Hold(t, a.status == http.StatusUnauthorized || a.status == http.StatusNotFound, "%s: GET %s: status %d", w.name, path, a.status)
					}
				}
			}
		}
	}
	must.Hold(t, shown > 50, "the texts were shown %d times to those who may read them", shown)
}

// form is a form that a screen has drawn.
type form struct {
	fields url.Values
	parts  bool
}

// forms are the forms of every screen of an agent, by where they are sent to.
func (b *browser) forms(p *place) map[string]form {
	b.r.t.Helper()
	out := map[string]form{}
	for _, pattern := range b.r.page.Routes() {
		method, path := p.fill(b.r.t, pattern)
		if method != http.MethodGet || isStream(pattern) {
			continue
		}
		for _, query := range []string{"", "?place=" + syncPlace} {
			for f := range b.get(path + query).all("form") {
				if strings.EqualFold(attribute(f, "method"), "post") {
					f, to := formFields(f), attribute(f, "action")
					if _, ok := out[to]; !ok || len(f.fields) > len(out[to].fields) {
						out[to] = f
					}
				}
			}
		}
	}
	return out
}

// formFields are what a form sends, every box ticked and every button pressed; fields that are empty are
// filled.
func formFields(n *html.Node) form {
	f := form{fields: url.Values{}, parts: strings.HasPrefix(attribute(n, "enctype"), "multipart")}
	for c := range n.Descendants() {
		name := attribute(c, "name")
		if c.Type != html.ElementNode || name == "" || name == "csrf" || f.fields.Has(name) {
			continue
		}
		value := attribute(c, "value")
		if c.Data == "textarea" && c.FirstChild != nil {
			value = c.FirstChild.Data
		}
		if c.Data == "select" {
			value = ""
			for o := range c.Descendants() {
				if v := attribute(o, "value"); o.Data == "option" && value == "" {
					value = v
				}
			}
		}
		f.fields.Set(name, value)
	}
	return f
}

// sendForm sends a form with the value of the visitor's session.
func (b *browser) sendForm(path string, f form) page {
	b.r.t.Helper()
	values := url.Values{"csrf": {b.csrf}}
	for k, v := range f.fields {
		values[k] = v
	}
	kind, text := encoded(values)
	if f.parts {
		kind, text = parts(values)
	}
	req := must.Get(http.NewRequestWithContext(b.r.t.Context(), http.MethodPost, b.r.url+path, strings.NewReader(text)))(b.r.t)
	req.Header.Set("Content-Type", kind)
	req.Header.Set("Origin", b.r.url)
	return b.do(req)
}

// outsider reports whether a visitor may change nothing of acme/ada.
func (w bearer) outsider() bool {
	return w.name == adaRead || !w.grant.Reaches("acme", "ada")
}

// Every change, with every kind of token that may not make it: nothing changes, and an attempt is in
// the audit log where the API writes it there.
func TestNoFormChangesWhatItsVisitorMayNot(t *testing.T) {
	t.Parallel()
	r := newRigWith(t, t.TempDir(), false, func(o *httpapi.Options, _ *web.Options) {
		o.Desk.Clock = servertest.NewClock(time.Now(), 2*time.Minute).Read // what is tried again within a minute is written down once
	})
	places := r.everyPlace()
	p := places[server.AgentName{Tenant: "acme", Agent: "ada"}]
	bearers := r.bearers()
	drawn := r.visitor(root).forms(p)
	refused := 0
	for _, w := range bearers {
		if !w.outsider() {
			continue
		}
		w.b.get("/ui/-/login")
		w.b.get("recall") // for the value of its forms
		before, book := r.stored(), len(r.audited())
		for _, pattern := range r.page.Routes() {
			method, path := p.fill(t, pattern)
			if method != http.MethodPost || !strings.Contains(pattern, "{tenant}") {
				continue
			}
			what, told, denied := w.name+": "+pattern, 0, ""
			for _, f := range []form{{}, drawn[path], withWord(drawn[path], p)} {
				for range 3 { // some ask again first
					a := w.b.sendForm(path, f)
					w.leaks(t, what, path, a, places)
					must.Hold(t, a.status < 500 && (w.name == adaRead || a.status >= 400), "%s: status %d: %s", what, a.status, a.text())
					entries := r.audited()
					fresh := entries[:len(entries)-book]
					book = len(entries)
					for _, e := range fresh {
						must.Hold(t, w.name == adaRead && e.Outcome == string(amber.KindRefused) && e.Actor == "t-read" && e.Tenant == "acme" && e.Agent == "ada", "%s: the audit log says %+v", what, e)
						refused++
						told++
					}
					if a.status == http.StatusForbidden {
						denied = a.text()
					}
					next, asks := a.formTo(path)
					if !asks {
						break
					}
					f = withWord(next, p)
				}
			}
			if w.name == adaRead && denied != "" && !onlyReads(pattern) { // a form that is not whole may not get as far as the API
				must.Hold(t, told > 0, "%s: it was refused, and the audit log has no entry of it: %s", what, denied)
			}
			must.Equal(t, w.name+": stored after "+pattern, r.stored(), before)
		}
	}
	must.Hold(t, refused > 5, "%d refusals are in the audit log", refused)
}

// onlyReads reports whether a form asks the API for nothing that it writes down: a check of a snapshot, and
// what a restore would do.
func onlyReads(pattern string) bool {
	return strings.HasSuffix(pattern, "/verify") || strings.HasSuffix(pattern, "/plan")
}

// formTo is the form of a page that is sent to a path.
func (p page) formTo(path string) (form, bool) {
	for f := range p.all("form") {
		if attribute(f, "action") == path && strings.EqualFold(attribute(f, "method"), "post") {
			return formFields(f), true
		}
	}
	return form{}, false
}

// withWord is a form in which every empty field says what a careful visitor would type.
func withWord(f form, p *place) form {
	out := form{fields: url.Values{}, parts: f.parts}
	for k, v := range f.fields {
		if out.fields[k] = v; len(v) == 1 && v[0] == "" {
			out.fields.Set(k, string(p.memory))
		}
	}
	return out
}

// A token that has every scope but admin sees neither tokens nor the audit log.
func TestOnlyAdminsSeeTokensAndTheAuditLog(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	places := r.everyPlace()
	p := places[server.AgentName{Tenant: "acme", Agent: "ada"}]
	drawn := r.visitor(root).forms(p)
	for _, w := range r.bearers() {
		if w.grant.Has(wire.TokenAdmin) && w.grant.Reaches("acme", "ada") {
			continue
		}
		w.b.get("/ui/-/login")
		w.b.get("recall")
		before := r.tokens()
		for _, pattern := range r.page.Routes() {
			method, path := p.fill(t, pattern)
			if !strings.Contains(pattern, "/tokens") && !strings.Contains(pattern, "/audit") {
				continue
			}
			var a page
			if method == http.MethodPost {
				a = w.b.sendForm(path, drawn[path])
			} else {
				a = w.b.get(path)
			}
			must.Hold(t, a.status >= 400 && a.status < 500, "%s: %s: status %d", w.name, pattern, a.status)
			must.Hides(t, w.name+": "+pattern, a.text(), "audit.subject", "token.name", "memory.write", p.token)
		}
		must.Equal(t, "tokens after "+w.name, r.tokens(), before)
	}
}

func (r *rig) tokens() []wire.Token {
	r.t.Helper()
	return must.Get(r.ledger.ListTokens(r.t.Context(), ""))(r.t)
}

// told is what a visitor reads of an answer, without names of the address and the request.
func told(a page, names ...string) string {
	text := itsRequest.ReplaceAllString(a.text(), "")
	if a.root == nil {
		text = itsID.ReplaceAllString(a.body, "")
	}
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) })
	for _, n := range names {
		if n != "" {
			text = strings.ReplaceAll(text, n, "NAME")
			text = strings.ReplaceAll(text, url.PathEscape(n), "NAME")
			text = strings.ReplaceAll(text, url.QueryEscape(n), "NAME")
		}
	}
	return http.StatusText(a.status) + " " + text
}

var (
	itsRequest = regexp.MustCompile(`Request [0-9a-zA-Z_.-]+`)
	itsID      = regexp.MustCompile(`"request_id":"[^"]*"`)
)

// names are everything of a place that may be in an address.
func (p *place) names() []string {
	return []string{
		string(p.tenant), string(p.agent), string(p.memory), string(p.other), string(p.session), string(p.turn), p.note, p.commit, string(p.snapshots[0]), string(p.snapshots[1]),
		p.task, p.node, p.approval, p.dead, p.held, p.key, p.token, p.before, p.imported,
	}
}

// nowhere is a place of which nothing is there.
func nowhere(tenant amber.TenantID, agent amber.AgentID) *place {
	const id = "00000000-0000-7000-8000-00000000000"
	return &place{
		tenant: tenant, agent: agent, memory: id + "1", other: id + "2", session: "absent session", turn: "absent turn", note: "absent note", commit: strings.Repeat("0", 40), snapshots: [2]amber.SnapshotID{id + "3", id + "4"},
		task: "absent task", node: "absent node", approval: id + "5", dead: "absent entry", held: "00000000000000000009.entry", key: strings.Repeat("0", 32), token: "absenttoken", before: strings.Repeat("1", 40), imported: id + "6",
	}
}

// Records of others are not there: the answer is in the same words as for a record that does not exist.
func TestWhatOthersHaveIsNotThere(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	places := r.everyPlace()
	theirs, bobs := *places[server.AgentName{Tenant: "umbrella", Agent: "eve"}], *places[server.AgentName{Tenant: "acme", Agent: "bob"}]
	b := r.visitor(ada)
	b.get("recall")
	before := r.stored()
	for _, pattern := range r.page.Routes() {
		if !strings.Contains(pattern, "{tenant}") || isStream(pattern) {
			continue
		}
		ask := func(p *place) string {
			method, path := p.fill(t, pattern)
			var a page
			if method == http.MethodPost {
				a = b.sendForm(path, form{fields: url.Values{"revision": {"1"}, "live": {"1"}}})
			} else {
				a = b.get(path)
			}
			return told(a, p.names()...)
		}
		// A foreign tenant, a foreign agent, and an agent that does not exist.
		want := ask(nowhere("nosuch", "nobody"))
		must.Hold(t, strings.HasPrefix(want, "Not Found"), "%s: %s", pattern, want)
		for _, p := range []*place{&theirs, &bobs, nowhere("umbrella", "eve"), nowhere("acme", "bob"), nowhere("acme", "nobody")} {
			must.Equal(t, pattern+" of "+string(p.tenant)+"/"+string(p.agent), ask(p), want)
		}
		// Foreign ids below one's own agent.
		if strings.Count(pattern, "{") == 2 {
			continue
		}
		want = ask(nowhere("acme", "ada"))
		for _, p := range []place{theirs, bobs} {
			p.tenant, p.agent = "acme", "ada"
			must.Equal(t, pattern+" with foreign ids", ask(&p), want)
		}
	}
	must.Equal(t, "stored", r.stored(), before)
}
