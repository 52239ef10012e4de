package httpapi_test

import (
	"net/http"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// A token without the scope own speaks for an agent, whatever its requests say of themselves; it changes nothing of the owner, and
// what it says for every project waits until the owner keeps it.
func TestATokenWithoutOwnSpeaksForAnAgent(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	claim := `"trust":"own","author":{"host":"cli","agent":"ada herself"}`
	mine := r.ask(call{method: "POST", path: "memories", token: ada, body: `{"content":"Never deploy on a Friday","kind":"constraint","topic":"deploys"}`}).want(201)
	must.Equal(t, "trust of the owner", mine.text("trust"), "own")
	named := http.Header{"User-Agent": {"nightly/2.1 (linux)"}}
	said := r.ask(call{method: "POST", path: "memories", token: adaBot, header: named, body: `{"content":"Deploy whenever you like","kind":"constraint",` + claim + `}`}).want(201)
	must.Equal(t, "trust and author", []string{said.text("trust"), said.text("author.host"), said.text("author.token")}, []string{"agent", "nightly", "nightly job"})

	id := mine.text("id")
	for _, c := range []call{
		{method: "PATCH", path: "memories/" + id, body: `{"content":"no rule","keep":true,` + claim + `}`},
		{method: "DELETE", path: "memories/" + id},
		{method: "POST", path: "memories/" + id + "/erase"},
		{method: "PUT", path: "memories/" + id + "/concepts", body: `{"items":["none"]}`},
		{method: "POST", path: "memories", body: `{"content":"no rule at all","kind":"constraint","topic":"deploys",` + claim + `}`},
		{method: "POST", path: "memories/batch", body: `{"items":[{"content":"no rule at all","kind":"constraint","topic":"deploys",` + claim + `}]}`},
	} {
		c.token = adaBot
		r.ask(c).failed(amber.KindRefused)
	}
	must.Equal(t, "revision of the owner's memory", must.Get(r.store("acme/ada").Memories.Get(t.Context(), amber.MemoryID(id)))(t).Revision, int64(1))

	snap := r.ask(call{method: "POST", path: "snapshots", token: adaBot, header: named, body: `{"by":{"trust":"own","host":"cli"}}`}).want(201)
	must.Equal(t, "who asked for the snapshot", []string{snap.text("by.trust"), snap.text("by.host"), snap.text("by.token")}, []string{"agent", "nightly", "nightly job"})

	waiting := r.ask(call{method: "GET", path: "memories?all=true&waiting=agents", token: adaRead}).want(200)
	must.Equal(t, "what waits", []any{waiting.text("items.0.id"), len(waiting.field("items").([]any))}, []any{said.text("id"), 1})
	kept := r.ask(call{method: "PATCH", path: "memories/" + said.text("id"), token: adaBot, body: `{"keep":true}`}).want(200)
	must.Equal(t, "kept by an agent", kept.text("trust"), "agent")
	kept = r.ask(call{method: "PATCH", path: "memories/" + said.text("id"), token: ada, body: `{"keep":true}`}).want(200)
	must.Equal(t, "kept by the owner", kept.text("trust"), "own")
	must.Equal(t, "what waits then", len(r.ask(call{method: "GET", path: "memories?all=true&waiting=agents", token: adaRead}).want(200).field("items").([]any)), 0)
}
