package ledger

import (
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/wire"
)

// TestAnOlderAmberGrantsABoundTokenNothing reads what is stored as versions did that knew no bound.
func TestAnOlderAmberGrantsABoundTokenNothing(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"bob", "x,admin,y", "admin", ",admin,", "a&scope=admin", "bound:read"} {
		stored := writeScopes(wire.TokenScopes(), wire.Bound{User: name, Project: name})
		for scope := range strings.SplitSeq(stored, ",") {
			if slices.Contains(wire.TokenScopes(), wire.TokenScope(scope)) {
				t.Errorf("%q is stored as %q, which holds the scope %s", name, stored, scope)
			}
		}
	}
	for _, text := range []string{"bound:", "bound:scope=read", "bound:%zz"} {
		if _, _, err := readScopes(text); err == nil {
			t.Errorf("%q is read", text)
		}
	}
}
