package httpapi_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestNeighboursOverHTTP(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	store := r.store("acme/ada")
	hub := r.remember("hub").ID
	for i := range amber.MaxNeighbours + 1 {
		id := r.remember(fmt.Sprint("spoke ", i)).ID
		must.Get(store.Relations.Relate(context.Background(), amber.Relation{From: hub, To: id, Type: "related", Strength: 1}))(t)
	}
	users := must.Get(store.LongTerm.Write(context.Background(), amber.WriteRequest{Content: "u", Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "u1"}}))(t).ID
	must.Get(store.Relations.Relate(context.Background(), amber.Relation{From: hub, To: users, Type: "about"}))(t)
	path := "memories/" + string(hub) + "/neighbours"
	near := func(query string) (n amber.Neighbourhood) {
		t.Helper()
		must.Do(t, json.Unmarshal(r.ask(call{method: "GET", path: path + query, token: adaRead}).want(200).body, &n))
		return n
	}
	for query, want := range map[string]struct {
		memories int
		more     bool
	}{
		"": {amber.MaxNeighbours, true}, "?limit=999999999": {amber.MaxNeighbours, true}, "?limit=3&depth=1": {3, true},
		"?type=about": {1, false}, "?type=about&all=true": {2, false}, "?type=about&user_id=u1": {2, false}, "?type=about&user_id=u2": {1, false},
		"?type=nothing&type=about&all=true": {2, false},
	} {
		n := near(query)
		must.Hold(t, len(n.Memories) == want.memories && n.More == want.more && n.Memories[0].ID == hub && len(n.Relations) == want.memories-1,
			"%s: %d memories, %d relations, more %v", query, len(n.Memories), len(n.Relations), n.More)
	}
	for _, query := range []string{
		"?depth=0", "?depth=3", "?depth=-1", "?limit=0", "?limit=-1", "?limit=99999999999999999999", "?type=", "?type=" + strings.Repeat("x", 5000), "?all=maybe", "?cursor=x",
	} {
		r.ask(call{method: "GET", path: path + query, token: adaRead}).failed(amber.KindInvalid)
	}
	r.ask(call{method: "GET", path: "memories/x/neighbours"}).failed(amber.KindInvalid)
	r.ask(call{method: "GET", path: "memories/00000000-0000-7000-8000-000000000001/neighbours"}).failed(amber.KindNotFound)
	r.ask(call{method: "GET", path: "/v1/tenants/acme/agents/bob/" + path}).failed(amber.KindNotFound)
	r.ask(call{method: "GET", path: "/v1/tenants/acme/agents/bob/" + path, token: ada}).failed(amber.KindNotFound)
}
