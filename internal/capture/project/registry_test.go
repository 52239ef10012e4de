package project_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/project"
	"github.com/amber-memory/amber/internal/test/must"
)

// held is a home that holds records of some projects.
type held map[string]bool

func (h held) Holds(_ context.Context, name string) (bool, error) { return h[name], nil }

func (held) RanIn(context.Context, string, amber.Time) ([]string, error) { return nil, nil }

func (held) Close() error { return nil }

func registry(home string, h held) *project.Registry {
	return &project.Registry{Home: home, Clock: time.Now, Evidence: func(context.Context) (project.Evidence, error) { return h, nil }}
}

// of is what a folder has in a home.
func of(t *testing.T, r *project.Registry, dir string) project.Grant {
	t.Helper()
	return must.Get(r.Of(t.Context(), dir))(t)
}

// When many folders claim one new project at once, one gets it.
func TestOneOfManyFoldersHasANewProject(t *testing.T) {
	t.Parallel()
	home, top := tree(t), tree(t)
	const many = 12
	var wg sync.WaitGroup
	grants := make([]project.Grant, many)
	for i := range many {
		dir := repository(t, filepath.Join(top, string(rune('a'+i))), "https://host.invalid/acme/shop")
		wg.Go(func() {
			g, err := registry(home, nil).Of(context.Background(), dir)
			if grants[i] = g; err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	n := 0
	for _, g := range grants {
		if g.ID == "host.invalid/acme/shop" {
			n++
		} else if g.Asks != "host.invalid/acme/shop" || !strings.HasPrefix(g.ID, "unconfirmed/") {
			t.Errorf("%+v", g)
		}
	}
	must.Equal(t, "folders that have the project", n, 1)
	must.Equal(t, "folders that are known", len(must.Get(registry(home, nil).Folders())(t)), many)
}

// No folder can claim the name of a folder that waits, or a name that a path gives.
func TestNamesOfPathsAlwaysAsk(t *testing.T) {
	t.Parallel()
	home, top := tree(t), tree(t)
	victim := repository(t, filepath.Join(top, "secret"), "")
	name := project.Of(victim).ID
	put(t, filepath.Join(top, "archive", ".amber", "project"), name+"\n")
	if g := of(t, registry(home, nil), filepath.Join(top, "archive")); g.ID == name || g.Asks != name {
		t.Errorf("the archive: %+v", g)
	}
	must.Equal(t, "the repository", of(t, registry(home, nil), victim).ID, name)
}

// A home that does not answer gives nothing, and decides nothing.
func TestWithoutEvidenceNothingIsDecided(t *testing.T) {
	t.Parallel()
	r, dir := registry(tree(t), nil), repository(t, filepath.Join(tree(t), "shop"), "https://host.invalid/acme/shop")
	silent := *r
	silent.Evidence = func(context.Context) (project.Evidence, error) { return nil, errors.New("locked") }
	g, err := silent.Of(t.Context(), dir)
	if err == nil || !strings.HasPrefix(g.ID, "unconfirmed/") || g.Asks != "" {
		t.Errorf("%+v, %v", g, err)
	}
	must.Equal(t, "later", of(t, r, dir).ID, "host.invalid/acme/shop")
}

// Looking writes nothing.
func TestLookingWritesNothing(t *testing.T) {
	t.Parallel()
	home := filepath.Join(tree(t), "home")
	r := registry(home, nil)
	r.Look = true
	must.Equal(t, "project", of(t, r, repository(t, filepath.Join(tree(t), "shop"), "https://host.invalid/acme/shop")).ID, "host.invalid/acme/shop")
	if _, err := os.Lstat(home); err == nil {
		t.Error("a home was made")
	}
}

// A confirmation applies to the project that the user saw.
func TestTrustGivesWhatWasShown(t *testing.T) {
	t.Parallel()
	home, dir := tree(t), repository(t, filepath.Join(tree(t), "shop"), "https://host.invalid/acme/shop")
	r := registry(home, held{"host.invalid/acme/shop": true})
	g := of(t, r, dir)
	must.Equal(t, "asks", g.Asks, "host.invalid/acme/shop")
	_, _, err := r.Trust(t.Context(), dir, "host.invalid/acme/other")
	must.Kind(t, "another project", err, amber.KindConflict)
	now, was, err := r.Trust(t.Context(), dir, g.Asks)
	if err != nil || was != g.ID || now.ID != g.Asks || now.Asks != "" {
		t.Errorf("%+v %s %v", now, was, err)
	}
	must.Equal(t, "later", of(t, r, dir).ID, "host.invalid/acme/shop")
}

// An earlier name that no folder has is asked for, and the new one is the folder's own meanwhile.
func TestAnEarlierNameIsAskedFor(t *testing.T) {
	t.Parallel()
	r := registry(tree(t), held{"acme/shop": true})
	g := of(t, r, repository(t, filepath.Join(tree(t), "shop"), "https://host.invalid/acme/shop"))
	if g.ID != "host.invalid/acme/shop" || g.Asks != "acme/shop" {
		t.Errorf("%+v", g)
	}
}

// Another repository at the place of a known one is another folder.
func TestAnotherRepositoryAtAKnownPlace(t *testing.T) {
	t.Parallel()
	r, dir := registry(tree(t), nil), filepath.Join(tree(t), "work")
	of(t, r, repository(t, dir, "https://host.invalid/acme/shop"))
	must.Do(t, os.Rename(dir, dir+"-old")) // its inode is not given again while it is there
	g := of(t, r, repository(t, dir, "https://host.invalid/acme/other"))
	must.Equal(t, "project", g.ID, "host.invalid/acme/other")
}

// A folder that waits is trusted by the place that the home knows, as long as the folder is what it was and asks for that.
func TestFoldersAreTrustedByTheirPlace(t *testing.T) {
	t.Parallel()
	home, top := tree(t), tree(t)
	const name = "host.invalid/acme/shop"
	r := registry(home, nil)
	of(t, r, repository(t, filepath.Join(top, "first"), "https://"+name))
	dir := repository(t, filepath.Join(top, "second"), "https://"+name)
	own, place := of(t, r, dir).ID, filepath.Join(dir, ".git")
	for _, wrong := range [][2]string{{place, "host.invalid/acme/other"}, {place, ""}, {filepath.Join(top, "first", ".git"), name}, {filepath.Join(top, "none"), name}, {dir, name}} {
		must.Kind(t, wrong[0]+" "+wrong[1], must.Err(r.TrustAt(t.Context(), wrong[0], wrong[1])), amber.KindConflict)
	}
	must.Do(t, os.Rename(place, place+".kept"))
	must.Do(t, os.MkdirAll(place, 0o700)) // another repository took the place, with another remote
	must.Do(t, os.WriteFile(filepath.Join(place, "config"), []byte("[remote \"origin\"]\n\turl = https://evil.invalid/a/b\n"), 0o600))
	must.Kind(t, "another repository", must.Err(r.TrustAt(t.Context(), place, name)), amber.KindConflict)
	must.Do(t, os.RemoveAll(place))
	must.Do(t, os.Rename(place+".kept", place))
	must.Equal(t, "names of its own", must.Get(r.TrustAt(t.Context(), place, name))(t), []string{own})
	must.Equal(t, "project", of(t, r, dir).ID, name)
	must.Kind(t, "twice", must.Err(r.TrustAt(t.Context(), place, name)), amber.KindConflict)
}
