//go:build unix

package gitobj_test

import (
	"crypto/sha1"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// commitOf is a commit with any parents and any time.
func commitOf(tree string, parents []string, seconds int64) gitobj.Object {
	var b strings.Builder
	fmt.Fprintf(&b, "tree %s\n", tree)
	for _, p := range parents {
		fmt.Fprintf(&b, "parent %s\n", p)
	}
	fmt.Fprintf(&b, "author A <a@b> %d +0000\ncommitter A <a@b> %[1]d +0000\n\nm\n", seconds)
	raw := fmt.Sprintf("commit %d\x00%s", b.Len(), b.String())
	return gitobj.Object{OID: fmt.Sprintf("%x", sha1.Sum([]byte(raw))), Type: "commit", Raw: []byte(raw)}
}

// Objects hands out all that another history lacks, whatever the clocks of commits said; where they were
// right, no commit comes that the other one has.
func TestObjectsThatAreNew(t *testing.T) {
	t.Parallel()
	for _, clock := range []string{"right", "equal", "wrong"} {
		t.Run(clock, func(t *testing.T) {
			t.Parallel()
			rnd := rand.New(rand.NewPCG(3, 4))
			disk := crashfs.New()
			must.Do(t, gitobj.Init(disk, "/repo/.git"))
			folder := gitobj.OpenFolder(disk, filepath.FromSlash("/repo/.git"))
			var commits []string
			for i := range 40 {
				blob := gitobj.NewBlob(fmt.Appendf(nil, "text %d", i%25)) // some come again
				tree, made, err := gitobj.PutFiles(nil, "", map[string]string{"a.md": blob.OID, fmt.Sprintf("f%d/b.md", i%7): blob.OID})
				must.Do(t, err)
				var parents []string
				for range min(i, rnd.IntN(3)) {
					parents = append(parents, commits[max(0, i-1-rnd.IntN(6))])
				}
				seconds := map[string]int64{"right": int64(i), "equal": 7, "wrong": rnd.Int64N(1000)}[clock]
				c := commitOf(tree, slices.Compact(parents), seconds)
				must.Do(t, folder.Put(append(made, blob, c)...))
				commits = append(commits, c.OID)
			}
			at := func(oid string) gitobj.Refs {
				return gitobj.Refs{Head: gitobj.MainBranch, OID: oid, Refs: []gitobj.Ref{{Name: gitobj.MainBranch, OID: oid}}}
			}
			o := gitobj.Options{Dir: "/repo", FS: disk}
			for range 60 {
				want, have := at(commits[rnd.IntN(40)]), at(commits[rnd.IntN(40)])
				all := must.Get(objectsOf(t, o, want, gitobj.Refs{}))(t)
				old := must.Get(objectsOf(t, o, have, gitobj.Refs{}))(t)
				got := must.Get(objectsOf(t, o, want, have))(t)
				for oid, raw := range all {
					is, had := got[oid] != nil, old[oid] != nil
					if !had && !is {
						t.Fatalf("%s is left out of what %s needs and %s has not", oid, want.OID, have.OID)
					}
					if is && had && clock != "wrong" && strings.HasPrefix(string(raw), "commit ") {
						t.Fatalf("the old commit %s comes for %s after %s", oid, want.OID, have.OID)
					}
				}
				for oid := range got {
					if all[oid] == nil {
						t.Fatalf("%s is none of %s", oid, want.OID)
					}
				}
				contained := must.Get(gitobj.Contains(t.Context(), o, want, have))(t)
				if contained && all[have.OID] == nil || !contained && all[have.OID] != nil && clock != "wrong" {
					t.Fatalf("%s contains %s: %v", want.OID, have.OID, contained)
				}
			}
		})
	}
}
