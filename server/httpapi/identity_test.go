package httpapi_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/amber-memory/amber"
)

// TestAnIdentityWithoutAScopeIsTheScope writes with each identity and no scope,
// alone and in a batch: the memory is of that identity, and a reader with
// another one is not shown it.
func TestAnIdentityWithoutAScopeIsTheScope(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, scope := range amber.Scopes()[:4] {
		field := string(scope) + "_id"
		one := r.ask(call{method: "POST", path: "memories", body: fmt.Sprintf(`{"content":"a comet, of %s","%s":"u1"}`, scope, field)}).want(http.StatusCreated)
		if got := one.text("scope"); got != string(scope) {
			t.Errorf("a memory with %s alone has the scope %s", field, got)
		}
		many := r.ask(call{method: "POST", path: "memories/batch", body: fmt.Sprintf(`{"items":[{"content":"a comet, in a batch of %s","%s":"u1"}]}`, scope, field)}).want(http.StatusOK)
		if got := many.text("items.0.scope"); got != string(scope) {
			t.Errorf("a memory of a batch with %s alone has the scope %s", field, got)
		}
		r.ingestWith(scope, field)
		for reader, want := range map[string]int{"u1": 3, "u2": 0} {
			list := r.ask(call{method: "GET", path: "memories?" + field + "=" + reader}).want(http.StatusOK)
			if n := len(list.field("items").([]any)); n != want {
				t.Errorf("a reader with %s %s lists %d memories, want %d", field, reader, n, want)
			}
			found := r.ask(call{method: "POST", path: "recall", body: fmt.Sprintf(`{"text":"comet","%s":%q}`, field, reader)}).want(http.StatusOK)
			if n := len(found.field("hits").([]any)); n != want {
				t.Errorf("a reader with %s %s finds %d memories, want %d", field, reader, n, want)
			}
		}
	}
}

// ingestWith takes over a stretch of a journal with a memory of one identity.
func (r *rig) ingestWith(scope amber.Scope, field string) {
	r.t.Helper()
	r.ask(call{method: "POST", path: "journal/ingest", body: fmt.Sprintf(
		`{"journal":"%032x","host":"claude","session_id":"host-%[2]s","through":1,"steps":[{"start":{"id":"host-%[2]s"},"memories":[{"content":"a comet, in a journal of %[2]s","%[3]s":"u1"}]}]}`,
		len(scope)*100+int(scope[0]), scope, field)}).want(http.StatusOK)
}
