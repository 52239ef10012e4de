package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// TestWhatIsNotTakenIsNotSeen looks at a snapshot in every way that does not
// take it: the home does not hold later ones to it.
func TestWhatIsNotTakenIsNotSeen(t *testing.T) {
	t.Parallel()
	u := newVaultUser(t)
	put(t, "text", u.dir, "docs", "a.md")
	u.must("vault", "backup", "--dir", "docs")
	put(t, "mine", u.dir, "out", "a.md")
	u.environ[0] = "AMBER_HOME=" + filepath.Join(u.dir, "new")
	seen := func() (found []string) {
		for _, name := range below(t, filepath.Join(u.dir, "new")) {
			if strings.HasPrefix(name, "vaults/") {
				found = append(found, name)
			}
		}
		return found
	}
	for _, c := range []struct {
		code int
		args []string
	}{
		{0, []string{"restore", "--dry-run"}},
		{0, []string{"restore", "--dir", "out", "--dry-run"}},
		{6, []string{"restore", "--dir", "out"}}, // the user did not say that it may be replaced
	} {
		u.amber(append([]string{"vault"}, c.args...)...).exits(c.code)
		must.Equal(t, "seen", seen(), nil)
	}
	u.must("vault", "restore", "--dir", "out", "--yes")
	if len(seen()) == 0 {
		t.Error("what was taken is not remembered")
	}
}

// TestPruneDeletesWhatWasShown has another writer come while the question stands
// on the screen.
func TestPruneDeletesWhatWasShown(t *testing.T) {
	t.Parallel()
	u := newVaultUser(t)
	put(t, "text", u.dir, "docs", "a.md")
	for range 2 {
		u.must("vault", "backup", "--dir", "docs", "--force")
	}
	before := below(t, u.vault)
	other := *u
	u.asked = func() string {
		other.must("vault", "backup", "--dir", "docs", "--force")
		return "y\n"
	}
	u.amber("vault", "prune", "--keep", "1").exits(4).warns("would go as well")
	for _, name := range before {
		must.NoError(t, must.Err(os.Lstat(filepath.Join(u.vault, name))))
	}
	u.asked = func() string { return "y\n" }
	u.amber("vault", "prune", "--keep", "1").exits(0)
	if left := below(t, u.vault); len(left) != 3 {
		t.Errorf("left: %v", left)
	}
}

// TestANoteThatChangesMeanwhileStays edits a note while the question stands on
// the screen.
func TestANoteThatChangesMeanwhileStays(t *testing.T) {
	t.Parallel()
	u := newVaultUser(t)
	u.must("note", "write", "plan", "of the vault")
	u.must("vault", "backup")
	u.must("note", "write", "plan", "of today")
	other := *u
	u.asked = func() string {
		other.must("note", "write", "plan", "of this minute")
		return "y\n"
	}
	u.amber("vault", "restore").exits(4)
	must.Equal(t, "note", other.must("note", "show", "plan"), "of this minute\n")
}
