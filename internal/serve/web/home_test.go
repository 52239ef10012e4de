package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

var metricsAsked atomic.Int64

// metrics answers as a server does that has answered more requests each time.
func (r *rig) metrics(w http.ResponseWriter, _ *http.Request) {
	n := metricsAsked.Add(1)
	_, _ = fmt.Fprintf(w, "# HELP amber_http_requests_total x\namber_http_requests_total{route=\"/x\",status=\"2xx\"} %d\namber_http_requests_total{status=\"5xx\"} 3\namber_http_request_duration_seconds_sum 2.5\namber_queue_entries{state=\"queued\"} 4\namber_queue_entries{state=\"dead\"} 9\ngarbage\namber_http_requests_total NaN\n", 100*n)
}

func TestAuditShowsWhatTheVisitorMaySee(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	for i, e := range []wire.AuditEntry{
		{Tenant: "acme", Agent: "ada", Actor: "t-ada", Action: "memory.write", Subject: nasty, Outcome: "ok"},
		{Tenant: "acme", Agent: "bob", Actor: "t-bob", Action: "memory.edit", Subject: "subject-of-bob", Outcome: "refused"},
		{Tenant: "umbrella", Agent: "eve", Actor: "t-eve", Action: "memory.erase", Subject: "subject-of-eve", Outcome: "ok"},
	} {
		e.RequestID = fmt.Sprint(i)
		must.Do(t, r.ledger.Record(t.Context(), e))
	}
	all := r.visitor(root)
	p := all.get("audit")
	p.shows(t, nastySeen, "subject-of-bob", "subject-of-eve", "✗ refused", "✓ ok", "Verify the whole log")
	p.harmless(t)
	p = all.get("audit?part=agent")
	p.shows(t, "memory.write")
	p.lacks(t, "subject-of-bob", "subject-of-eve")
	p = all.get("audit?actor=t-bob")
	p.shows(t, "subject-of-bob", "amber audit list --actor t-bob")
	p.lacks(t, "subject-of-eve")
	p = all.get("audit?action=memory.erase")
	p.shows(t, "subject-of-eve")
	p.lacks(t, "subject-of-bob")
	all.get("audit?actor=nobody").shows(t, "No entry fits")

	tenant := r.visitor(acme)
	for _, part := range []string{"home", "nonsense"} {
		p = tenant.get("audit?part=" + part)
		must.Equal(t, "status of a part that is not offered", p.status, http.StatusBadRequest)
		p.lacks(t, "subject-of-")
	}
	p = tenant.get("audit?part=tenant")
	p.shows(t, "subject-of-bob", nastySeen)
	p.lacks(t, "subject-of-eve", adaHome+"/audit/verify")
	must.Equal(t, "verify with a token for a tenant", tenant.post("audit/verify").status, http.StatusForbidden)
	p = r.visitor(ada).get("audit")
	must.Equal(t, "status without admin", p.status, http.StatusForbidden)
	p.lacks(t, `data-go="a"`)
	all.get("audit")
	p = all.post("audit/verify")
	must.Equal(t, "status", p.status, http.StatusOK)
	p.shows(t, "Nothing damaged was found", "3 entries", "Checked")
}

func TestAnEmptyAuditLogSaysWhatItIsFor(t *testing.T) {
	t.Parallel()
	newRig(t).visitor("").get("audit").shows(t, "Nothing was changed through this server yet")
}

func TestAuditComesInPages(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for i := range 70 {
		must.Do(t, r.ledger.Record(t.Context(), wire.AuditEntry{Tenant: "acme", Agent: "ada", Actor: "t", Action: "memory.write", Subject: fmt.Sprintf("subject-%02d", i), Outcome: "ok"}))
	}
	b := r.visitor("")
	p := b.get("audit?action=memory.write")
	p.shows(t, "subject-69", "subject-20")
	p.lacks(t, "subject-19")
	for n := range p.all("a") {
		if attribute(n, "rel") == "next" {
			p = b.get(attribute(n, "href"))
		}
	}
	p.shows(t, "subject-19", "subject-00")
}

// secretIn is the secret that a page shows.
func secretIn(p page) string {
	for n := range p.all("code") {
		if strings.Contains(attribute(n, "class"), "secret") {
			return strings.TrimSpace(nodeText(n))
		}
	}
	return ""
}

func TestTheFirstTokenClosesTheServerAndLogsItsMakerIn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.keys.tokens = r.ledger
	b, other := r.visitor(""), r.visitor("")
	must.Equal(t, "another visitor before", other.get("tokens").status, http.StatusOK)
	p := b.get("tokens")
	p.shows(t, "everybody needs one", "There are no tokens")
	p.harmless(t)
	p = b.post("tokens", "name", "small", "part", "agent", "scope", "read", "days", "30")
	p.shows(t, "The first token closes this server")
	must.Equal(t, "name that was typed", p.value("name"), "small")
	must.Equal(t, "tokens", len(must.Get(r.ledger.ListTokens(t.Context(), ""))(t)), 0)

	p = b.post("tokens", "name", nasty, "part", "home", "scope", "admin", "days", "0")
	must.Equal(t, "status", p.status, http.StatusOK)
	p.shows(t, "It is not shown again", "You are logged in with this token", nastySeen)
	p.harmless(t)
	secret := secretIn(p)
	must.Get(r.ledger.Authenticate(t.Context(), secret))(t)
	for _, c := range p.header.Values("Set-Cookie") {
		if strings.Contains(c, secret) {
			t.Errorf("the secret is in the cookie %s", c)
		}
	}
	p = b.get("tokens")
	must.Equal(t, "its maker afterwards", p.status, http.StatusOK)
	p.shows(t, "yours", "✓ good", "every tenant", "Log out")
	p.lacks(t, secret)
	p.harmless(t)
	must.Equal(t, "another visitor afterwards", other.get("tokens").status, http.StatusUnauthorized)
	must.Equal(t, "a form of another visitor", other.post("tokens", "name", "x", "scope", "read").status, http.StatusUnauthorized)
}

func TestAFirstTokenThatCannotSeeThePageLogsNobodyIn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.keys.tokens = r.ledger
	b := r.visitor("")
	b.get("tokens")
	p := b.post("tokens", "name", "writer", "part", "agent", "scope", "write", "days", "0", "sure", "1")
	p.shows(t, "This token does not open this page")
	must.Equal(t, "afterwards", b.get("tokens").status, http.StatusUnauthorized)
}

func TestATokenMakesNoneThatIsBroader(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	r.keys.tokens = r.ledger
	mine := must.Get(r.ledger.CreateToken(t.Context(), wire.TokenRequest{Name: "acme admin", Tenant: "acme", Scopes: []wire.TokenScope{wire.TokenAdmin}}))(t)
	must.Get(r.ledger.CreateToken(t.Context(), wire.TokenRequest{Name: "of-umbrella", Tenant: "umbrella", Scopes: []wire.TokenScope{wire.TokenRead}}))(t)
	b := r.visitor(mine.Secret)
	p := b.get("tokens")
	p.shows(t, "acme admin", "yours")
	p.lacks(t, "of-umbrella", "everybody needs one")
	p = b.post("tokens", "name", "ci", "part", "tenant", "scope", "read", "scope", "write", "days", "90")
	p.shows(t, "It is not shown again", "every agent of acme", "read", "write")
	p.lacks(t, "You are logged in with this token")
	made := must.Get(r.ledger.ListTokens(t.Context(), "acme"))(t)[1]
	must.Hold(t, made.Name == "ci" && made.ExpiresAt.Time().After(time.Now().Add(89*24*time.Hour)), "the token is %+v", made)
	b.get("tokens")
	p = b.post("tokens", "name", "none", "part", "agent", "days", "7")
	p.shows(t, "no scope is given")
	must.Equal(t, "name that was typed", p.value("name"), "none")

	p = r.visitor(ada).get("tokens")
	must.Equal(t, "status without admin", p.status, http.StatusForbidden)
	p.lacks(t, `data-go="k"`)
	must.Equal(t, "status", r.visitor(ada).post("tokens", "name", "x", "scope", "read").status, http.StatusForbidden)
}

func TestATokenFormThatCannotBeReadMakesNoToken(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	r.keys.tokens = r.ledger
	mine := must.Get(r.ledger.CreateToken(t.Context(), wire.TokenRequest{Name: "acme admin", Tenant: "acme", Scopes: []wire.TokenScope{wire.TokenAdmin}}))(t)
	b := r.visitor(mine.Secret)
	b.get("tokens")
	for name, c := range map[string]struct{ part, days, says string }{
		"a part that is not offered": {"home", "30", "For"},
		"no part":                    {"", "30", "For"},
		"days in words":              {"agent", "<b>soon", "Ends after"},
		"days before today":          {"agent", "-1", "Ends after"},
		"no days":                    {"agent", "", "Ends after"},
		"too many days":              {"agent", "99999999999", "Ends after"},
	} {
		p := b.post("tokens", "name", "ci", "part", c.part, "days", c.days, "scope", "read")
		p.shows(t, "No token was made", c.says)
		must.Equal(t, name+": name that was typed", p.value("name"), "ci")
		must.Equal(t, name+": part that is chosen", p.chosen("part") == c.part || p.chosen("part") == "", true)
		must.Equal(t, name+": days that are chosen", p.chosen("days"), c.days)
		must.Equal(t, name+": tokens", len(must.Get(r.ledger.ListTokens(t.Context(), "acme"))(t)), 1)
	}
}

// chosen is what a list of choices sends: the one that is selected, otherwise the first.
func (p page) chosen(id string) (value string) {
	for n := range p.all("select") {
		if attribute(n, "id") != id {
			continue
		}
		first := true
		for o := range n.Descendants() {
			if o.Data != "option" {
				continue
			}
			for _, a := range o.Attr {
				if a.Key == "selected" {
					return attribute(o, "value")
				}
			}
			if first {
				value, first = attribute(o, "value"), false
			}
		}
	}
	return value
}

func TestATokenIsRevokedByItsName(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	r.keys.tokens = r.ledger
	made := must.Get(r.ledger.CreateToken(t.Context(), wire.TokenRequest{Name: "ci runner", Scopes: []wire.TokenScope{wire.TokenRead}}))(t)
	must.Get(r.ledger.CreateToken(t.Context(), wire.TokenRequest{Name: "old", Scopes: []wire.TokenScope{wire.TokenRead}, ExpiresAt: amber.At(time.Now().Add(100 * time.Millisecond))}))(t)
	b := r.visitor(root)
	at := "tokens/" + string(made.ID)
	b.get(at).shows(t, "ci runner", "Revoke this token", "✓ good")
	p := b.post(at+"/revoke", "name", "ci")
	p.shows(t, "Nothing was revoked")
	must.Get(r.ledger.Authenticate(t.Context(), made.Secret))(t)
	b.post(at+"/revoke", "name", "ci runner").leads(t, adaHome+"/tokens?revoked=1")
	must.Fail(r.ledger.Authenticate(t.Context(), made.Secret))(t, "a revoked token", amber.KindRefused)
	p = b.get("tokens?revoked=1")
	p.shows(t, "The token was revoked", "✗ revoked")
	p.lacks(t, made.Secret)
	b.get(at).lacks(t, "Revoke this token")
	must.Equal(t, "a token that is not there", b.get("tokens/nothing").status, http.StatusNotFound)
	must.Equal(t, "another's", r.visitor(acme).get(at).status, http.StatusNotFound)
}

func TestHealthShowsEverythingToThoseWhoMaySeeIt(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	r.remember("We chose PostgreSQL")
	b := r.visitor(root)
	p := b.get("health")
	p.shows(t, "The server is healthy", "Store", "memories", "on disk", "Check this agent", "Last restore", "never", "Requests per minute", "Lag")
	p.harmless(t)
	p = b.get("health?doctor=1")
	p.shows(t, "memory.integrity", "✓ ok", "amber doctor")
	p.harmless(t)
	must.Do(t, r.ledger.Record(t.Context(), wire.AuditEntry{Tenant: "acme", Agent: "ada", Actor: "t", Action: "snapshot.restore", Outcome: "ok"}))
	must.Equal(t, "restores that are told", strings.Contains(b.get("health").text(), "Last restore never"), false)

	reader := r.visitor(adaRead)
	p = reader.get("health")
	p.shows(t, "The server is healthy", "memories")
	p.lacks(t, "Doctor", "Requests per minute", "Last restore")
	p = reader.get("health?doctor=1")
	p.lacks(t, "memory.integrity", "Check this agent")
	p = r.visitor(acme).get("health?doctor=1")
	p.shows(t, "Doctor", "memory.integrity", "Details are for tokens that may see every tenant")
	p.lacks(t, r.home, "Requests per minute")
	must.Equal(t, "of another agent", r.visitor(eve).get("health").status, http.StatusNotFound)
}

func TestExportsAreFiles(t *testing.T) {
	t.Parallel()
	r := newLockedRig(t)
	r.remember("We chose PostgreSQL for JSONB")
	b := r.visitor(adaRead)
	p := b.get("export?to=amber")
	must.Equal(t, "status", p.status, http.StatusOK)
	must.Equal(t, "name", p.header.Get("Content-Disposition"), `attachment; filename="ada-amber.jsonl"`)
	must.Hold(t, strings.Contains(p.body, "PostgreSQL"), "the export is %s", p.body)
	p = b.get("export?to=basic-memory")
	must.Equal(t, "type", p.header.Get("Content-Type"), "application/zip")
	must.Equal(t, "name", p.header.Get("Content-Disposition"), `attachment; filename="ada-basic-memory.zip"`)
	must.Equal(t, "an unknown format", b.get("export?to=nothing").status, http.StatusBadRequest)
	p = b.get("export?to=amber&project=../../x%00")
	must.Equal(t, "a bad project", p.status, http.StatusBadRequest)
	must.Equal(t, "name of an error", p.header.Get("Content-Disposition"), "")
	must.Equal(t, "of another agent", r.visitor(eve).get("export?to=amber").status, http.StatusNotFound)
}
