//go:build unix

package gitobj_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestContains compares histories whose commits lie in files of their own, and the same in packs.
func TestContains(t *testing.T) {
	t.Parallel()
	for _, packed := range []bool{false, true} {
		dir := sourceRepo(t, "sha1")
		if packed {
			notestest.Git(t, dir, "gc", "-q")
		}
		refs, _, err := gitobj.ReadRefs(fsx.OS(), dir)
		must.Do(t, err)
		at := func(rev string) gitobj.Refs {
			oid := strings.TrimSpace(notestest.Git(t, dir, "rev-parse", rev))
			return gitobj.Refs{Head: "refs/heads/main", OID: oid, Refs: []gitobj.Ref{{Name: "refs/heads/main", OID: oid}}}
		}
		without := func(name string) gitobj.Refs {
			r := refs
			r.Refs = slices.DeleteFunc(slices.Clone(r.Refs), func(r gitobj.Ref) bool { return r.Name == name })
			return r
		}
		unknown := at("main")
		unknown.OID = strings.Repeat("12", 20)
		unknown.Refs[0].OID = unknown.OID
		for _, tt := range []struct {
			name       string
			want, have gitobj.Refs
			contained  bool
		}{
			{"the same", refs, refs, true},
			{"nothing", refs, gitobj.Refs{}, true},
			{"before there was anything", gitobj.Refs{Head: "refs/heads/main"}, refs, false},
			{"an ancestor", at("main"), at("main~2"), true},
			{"a merged branch", at("main"), at("side"), true},
			{"a descendant", at("main~1"), at("main"), false},
			{"another branch", at("main^1"), at("side"), false},
			{"a merged branch removed", without("refs/heads/side"), refs, true},
			{"an annotated tag removed", without("refs/tags/v1"), refs, false},
			{"a ref nobody knows", at("main"), unknown, false},
		} {
			got, err := gitobj.Contains(t.Context(), gitobj.Options{Dir: dir, Git: "no-such-program"}, tt.want, tt.have)
			must.Hold(t, err == nil && got == tt.contained, "packed %v, %s: got %v, %v", packed, tt.name, got, err)
		}
	}
}
