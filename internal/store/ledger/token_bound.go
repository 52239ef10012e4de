package ledger

import (
	"net/url"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// boundPrefix begins the scopes of a token that is bound. The column of the scopes then also holds
// what the token is bound to: "bound:project_id=shop&scope=read&scope=write&user_id=bob". An older
// Amber, which may serve the same database, takes that for one scope that it does not know, so
// there the token may do nothing. A column of its own would let an older Amber grant the whole
// agent. There is no comma in the text: an older Amber splits at commas.
const boundPrefix = "bound:"

// writeScopes returns scopes as they are stored: joined by commas where the token is not bound.
func writeScopes(scopes []wire.TokenScope, b wire.Bound) string {
	names := make([]string, len(scopes))
	for i, s := range scopes {
		names[i] = string(s)
	}
	if b.None() {
		return strings.Join(names, ",")
	}
	v := url.Values{"scope": names}
	for name, id := range map[string]string{"user_id": b.User, "project_id": b.Project, "workspace_id": b.Workspace} {
		if id != "" {
			v.Set(name, id)
		}
	}
	return boundPrefix + v.Encode()
}

// readScopes reads what writeScopes has written. Errors: damaged.
func readScopes(text string) (scopes []wire.TokenScope, b wire.Bound, err error) {
	names := strings.Split(text, ",")
	if bound, ok := strings.CutPrefix(text, boundPrefix); ok {
		v, err := url.ParseQuery(bound)
		b = wire.Bound{User: v.Get("user_id"), Project: v.Get("project_id"), Workspace: v.Get("workspace_id")}
		if err != nil || b.None() {
			return nil, b, amber.Errorf(amber.KindDamaged, "read token", "", "the scopes of a bound token cannot be read")
		}
		names = v["scope"]
	}
	for _, name := range names {
		scopes = append(scopes, wire.TokenScope(name))
	}
	return scopes, b, nil
}
