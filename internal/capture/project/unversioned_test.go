package project_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/capture/project"
	"github.com/amber-memory/amber/internal/test/must"
)

func nothing(context.Context) (project.Evidence, error) { return nil, nil }

// Outside of git, a folder of the user is a project after its path; what lies in it has no say in the name.
func TestFoldersOutsideOfGit(t *testing.T) {
	t.Parallel()
	user := tree(t)
	r := &project.Registry{Home: tree(t), Clock: time.Now, UserHome: user, Evidence: nothing}
	of := func(dir string) project.Grant { return must.Get(r.Of(t.Context(), dir))(t) }
	in := func(parts ...string) string {
		dir := filepath.Join(append([]string{user}, parts...)...)
		must.Do(t, os.MkdirAll(dir, 0o700))
		return dir
	}
	put(t, filepath.Join(in("site"), "package.json"), "{}")
	put(t, filepath.Join(in("notes"), "AGENTS.md"), "# github.com/acme/shop")
	put(t, filepath.Join(in("site", "vendor", "other"), "CLAUDE.md"), "x")
	site := of(in("site"))
	if !strings.HasPrefix(site.ID, "site-") || site.Source != project.Path || site.Asks != "" {
		t.Fatalf("%+v", site)
	}
	must.Equal(t, "below it", of(in("site", "src", "deep")).ID, site.ID)
	if other := of(in("site", "vendor", "other")); other.ID == site.ID || !strings.HasPrefix(other.ID, "other-") {
		t.Errorf("a project in the project: %+v", other)
	}
	if g := of(in("notes")); !strings.HasPrefix(g.ID, "notes-") {
		t.Errorf("with AGENTS.md: %+v", g)
	}
	bare := of(in("bare", "deep"))
	if !strings.HasPrefix(bare.ID, "deep-") {
		t.Errorf("the working folder: %+v", bare)
	}
	put(t, filepath.Join(user, "AGENTS.md"), "x")
	for _, dir := range []string{user, filepath.Dir(user), "/"} {
		must.Equal(t, "the project of "+dir, of(dir).ID, "")
	}
	shared := in("shared")
	must.Do(t, os.Chmod(shared, 0o777))
	must.Equal(t, "a folder that all write to", of(shared).ID, "")
	put(t, filepath.Join(shared, "AGENTS.md"), "x")
	if g := of(in("shared", "own")); !strings.HasPrefix(g.ID, "own-") {
		t.Errorf("below a folder that all write to: %+v", g)
	}
	r.UserHome = ""
	must.Equal(t, "without a home folder", of(in("fresh")).ID, "")
}

// A folder that a stranger packed gets a name that is new, whatever it holds and wherever it is unpacked.
func TestAForeignFolderGetsNothing(t *testing.T) {
	t.Parallel()
	user := tree(t)
	r := &project.Registry{Home: tree(t), Clock: time.Now, UserHome: user, Evidence: nothing}
	put(t, filepath.Join(user, "work", "go.mod"), "module work")
	mine := must.Get(r.Of(t.Context(), filepath.Join(user, "work")))(t).ID
	hostile := filepath.Join(user, "work", "downloads", "work")
	put(t, filepath.Join(hostile, "AGENTS.md"), mine)
	put(t, filepath.Join(hostile, "go.mod"), "module "+mine)
	if g := must.Get(r.Of(t.Context(), hostile))(t); g.ID == mine || g.Asks != "" {
		t.Errorf("unpacked: %+v", g)
	}
	put(t, filepath.Join(hostile, ".amber", "project"), mine)
	if g := must.Get(r.Of(t.Context(), hostile))(t); g.ID == mine {
		t.Errorf("with a name: %+v", g)
	}
}
