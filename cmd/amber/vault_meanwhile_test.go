package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
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
		{6, []string{"restore", "--dir", "out"}}, // nobody said that it may be replaced
	} {
		if code, _, stderr := u.amber(append([]string{"vault"}, c.args...)...); code != c.code || len(seen()) > 0 {
			t.Errorf("%v: exit code %d, seen %v: %s", c.args, code, seen(), stderr)
		}
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
	code, _, stderr := u.amber("vault", "prune", "--keep", "1")
	if code != 4 || !strings.Contains(stderr, "would go as well") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	for _, name := range before {
		if _, err := os.Lstat(filepath.Join(u.vault, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	u.asked = func() string { return "y\n" }
	if code, _, stderr := u.amber("vault", "prune", "--keep", "1"); code != 0 {
		t.Errorf("again: exit code %d: %s", code, stderr)
	}
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
	if code, _, stderr := u.amber("vault", "restore"); code != 4 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if text := other.must("note", "show", "plan"); text != "of this minute\n" {
		t.Errorf("note: %q", text)
	}
}
