package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/test/must"
)

// githubToken is a secret that the rules recognise by its form.
const githubToken = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"

// redacting is a rig whose desk takes secrets out.
func redacting(t testing.TB) *rig {
	t.Helper()
	rules := redact.New()
	return newRig(t, func(r *rig, o *httpapi.Options) {
		o.Desk.Redact = func() *redact.Redactor { return rules }
		o.Answers = newDoor(t, r.clock.Read)
	})
}

// TestSecretsAreTakenOutOfEveryRequest: what an operation stores has none; the
// answer says in a header what was taken, and never repeats it.
func TestSecretsAreTakenOutOfEveryRequest(t *testing.T) {
	t.Parallel()
	r := redacting(t)
	memory := r.ask(call{method: "POST", path: "memories", body: `{"content":"nothing secret"}`}).want(201)
	must.Equal(t, "what was taken", memory.header.Get("Amber-Redacted"), "")
	secret := "use " + githubToken
	for _, c := range []call{
		{method: "POST", path: "memories", body: `{"content":"SECRET","title":"SECRET","summary":"SECRET","topic":"SECRET","tags":["SECRET"],"metadata":{"k":"SECRET"},"source_refs":[{"kind":"u","value":"SECRET"}]}`},
		{method: "POST", path: "memories/batch", body: `{"items":[{"content":"SECRET batch"}]}`},
		{method: "PATCH", path: "memories/" + memory.text("id"), body: `{"content":"SECRET edited"}`},
		{method: "PUT", path: "memories/" + memory.text("id") + "/concepts", body: `{"items":["SECRET"]}`},
		{method: "POST", path: "sessions", body: `{"id":"s","directory":"/SECRET"}`},
		{method: "PATCH", path: "sessions/s", body: `{"name":"` + githubToken + `"}`},
		{method: "POST", path: "sessions/s/turns", body: `{"role":"user","content":"SECRET"}`},
		{method: "POST", path: "sessions/s/compactions", body: `{"summary":"SECRET","turns":1}`},
		{method: "PUT", path: "sessions/s/state", body: `{"document":{"k":"SECRET"}}`},
		{method: "PUT", path: "sessions/s/loop", body: `{"run_id":"r","state_json":{"k":"SECRET"}}`},
		{method: "POST", path: "sessions/s/end", body: `{"summary":"SECRET"}`},
		{method: "PUT", path: "notes/plan", body: `{"content":"SECRET"}`},
		{method: "PUT", path: "tasks/t", body: `{"goal":"SECRET","state":"queued","session_id":"s"}`},
		{method: "POST", path: "tasks/t/events", body: `{"from":"queued","to":"queued","reason":"SECRET"}`},
		{method: "POST", path: "approvals", body: `{"task_id":"t","node_id":"n","summary":"SECRET","payload":{"k":"SECRET"}}`},
		{method: "POST", path: "results", body: `{"task_id":"t","node_id":"n","producer":"p","status":"ok","payload":"SECRET"}`},
		{method: "POST", path: "queue", body: `{"entry_id":"e","task_id":"t","node_id":"n","payload":"SECRET"}`},
		{method: "POST", path: "snapshots", body: `{"label":"SECRET"}`},
		{method: "POST", path: "consolidations", body: `{"run":"` + githubToken + `"}`},
		{method: "PUT", path: "state/cursor", body: `{"document":{"k":"SECRET"}}`},
	} {
		c.body = strings.ReplaceAll(c.body, "SECRET", secret)
		a := r.ask(c)
		if a.status >= 300 || !strings.Contains(a.header.Get("Amber-Redacted"), "github-token=") {
			t.Errorf("%s %s: %d, %q: %s", c.method, c.path, a.status, a.header.Get("Amber-Redacted"), a.body)
		}
		must.Hides(t, c.method+" "+c.path, string(a.body)+a.header.Get("Amber-Redacted"), githubToken[4:])
	}
	for _, path := range []string{
		"memories", "memories/" + memory.text("id") + "/history", "memories/" + memory.text("id") + "/concepts", "sessions", "sessions/s/turns", "sessions/s/compactions", "sessions/s/state",
		"sessions/s/loop", "notes/plan", "tasks/t", "tasks/t/events", "approvals", "results?task_id=t", "queue", "snapshots",
	} {
		a := r.ask(call{method: "GET", path: path})
		must.Equal(t, path, a.status, 200)
		must.Hides(t, path, string(a.body), githubToken[4:])
	}
	r.ask(call{method: "POST", path: "memories", body: `{"content":"x","project_id":"` + githubToken + `","scope":"project"}`}).failed(amber.KindInvalid)
}

// TestAnAnswerThatIsRepeatedTellsTheSame: the answer to a second request with the same key names again the secrets
// that were taken out, in the body of a write and in the header.
func TestAnAnswerThatIsRepeatedTellsTheSame(t *testing.T) {
	t.Parallel()
	r := redacting(t)
	for path, body := range map[string]string{"notes/plan": `{"content":"` + githubToken + `"}`} {
		first := r.ask(call{method: "PUT", path: path, body: body, header: keyed("k")})
		again := r.ask(call{method: "PUT", path: path, body: body, header: keyed("k")})
		if first.header.Get("Amber-Redacted") != "github-token=1" || again.header.Get("Amber-Redacted") != "github-token=1" || again.header.Get("Idempotent-Replayed") != "true" {
			t.Errorf("%s: %v, then %v", path, first.header, again.header)
		}
	}
	for range 2 {
		a := r.ask(call{method: "POST", path: "memories", body: `{"content":"` + githubToken + `"}`, header: http.Header{"Idempotency-Key": {"m"}}}).want(201)
		must.Says(t, "the answer", string(a.body), `"redacted":{"github-token":1}`)
	}
}

// TestKindsHaveCommonNames: a decision is a fact of the project, here too.
func TestKindsHaveCommonNames(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	must.Equal(t, "kind",
		r.ask(call{method: "POST", path: "memories", body: `{"content":"blue","kind":"decision"}`}).want(201).text("kind"), "project_fact")
	must.Equal(t, "content", r.ask(call{method: "GET", path: "memories?kind=decision"}).want(200).text("items.0.content"), "blue")
	r.ask(call{method: "POST", path: "memories", body: `{"content":"blue","kind":"rumour"}`}).failed(amber.KindInvalid)
}
