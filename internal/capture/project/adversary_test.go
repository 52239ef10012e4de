package project_test

import (
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/capture/project"
	"github.com/amber-memory/amber/internal/test/must"
)

var histories = flag.Int("histories", 10, "how many histories an adversary plays")

const ownedName = "host.invalid/acme/secret"

// A stranger who makes folders, claims, links, pointers and moves of every kind is given the owner's project in none of
// them, and the owner's folder keeps it.
func TestNoFolderOfAStrangerIsGivenTheOwnersProject(t *testing.T) {
	t.Parallel()
	given, asked, lost := 0, 0, 0
	for seed := range uint64(*histories) {
		s := newStranger(t, seed)
		for range 40 {
			s.acts()
			g, a, l := s.looks()
			given, asked, lost = given+g, asked+a, lost+l
		}
	}
	t.Logf("%d histories: %d folders of the stranger given the project, %d asked, %d times the owner's folder lost it", *histories, given, asked, lost)
	must.Equal(t, "folders of the stranger that were given the project", given, 0)
	must.Equal(t, "times the owner's folder lost the project", lost, 0)
	if asked == 0 {
		t.Error("no folder of the stranger claimed the project: the histories show nothing")
	}
}

// stranger makes folders beside one of the owner's.
type stranger struct {
	t     *testing.T
	rng   *rand.Rand
	top   string
	owner string
	r     *project.Registry
}

func newStranger(t *testing.T, seed uint64) *stranger {
	s := &stranger{t: t, rng: rand.New(rand.NewPCG(seed, 2)), top: tree(t)}
	s.r = registry(tree(t), held{ownedName: true, "acme/secret": true})
	s.owner = repository(t, filepath.Join(tree(t), "secret"), "https://"+ownedName)
	if g := must.Get(s.r.Of(t.Context(), s.owner))(t); g.Asks != "" {
		_, _, err := s.r.Trust(t.Context(), s.owner, g.Asks)
		must.Do(t, err)
	}
	return s
}

// folder is one of a few places, so that what was there before matters.
func (s *stranger) folder() string { return filepath.Join(s.top, string(rune('a'+s.rng.IntN(5)))) }

func (s *stranger) one(of ...string) string { return of[s.rng.IntN(len(of))] }

// put writes a file where the stranger can; where another thing is in the way, nothing happens.
func (s *stranger) put(path, text string) {
	_ = os.MkdirAll(filepath.Dir(path), 0o700)
	if in, err := filepath.EvalSymlinks(filepath.Dir(path)); err != nil || !strings.HasPrefix(in, s.top) {
		return // through a link into the owner's folder
	}
	_ = os.WriteFile(path, []byte(text), 0o600)
}

// acts does one thing at random, in folders of the stranger alone.
func (s *stranger) acts() {
	dir := s.folder()
	git := filepath.Join(dir, ".git")
	name := s.one(ownedName, "acme/secret", "unconfirmed/secret-0123456789ab", "secret-0123456789ab", "evil.invalid/a/b", ownedName+"\n"+ownedName, "HOST.invalid/acme/secret")
	switch s.rng.IntN(10) {
	case 0:
		s.put(filepath.Join(dir, ".amber", "project"), name+"\n")
	case 1:
		s.put(filepath.Join(git, "amber-project"), name+"\n")
	case 2, 3:
		remote := s.one("https://host.invalid/acme/secret.git", "git@host.invalid:acme/secret", "ssh://x@host.invalid:22/acme/secret", "https://evil.invalid/acme/secret", "https://HOST.invalid./acme/secret", s.owner)
		s.put(filepath.Join(git, "config"), "[remote \"origin\"]\n\turl = "+remote+"\n")
	case 4:
		_ = os.RemoveAll(git)
		s.put(git, "gitdir: "+s.one(filepath.Join(s.owner, ".git"), "../../secret/.git", filepath.Join(s.top, "b", ".git"))+"\n")
	case 5: // a git folder of the stranger's that says that it shares the owner's
		_ = os.RemoveAll(git)
		target := filepath.Join(dir, "g", "worktrees", "w")
		s.put(git, "gitdir: "+target+"\n")
		s.put(filepath.Join(target, "commondir"), filepath.Join(s.owner, ".git")+"\n")
		s.put(filepath.Join(target, "gitdir"), git+"\n")
		s.put(filepath.Join(target, "config"), "[core]\n\tworktree = "+dir+"\n")
	case 6:
		_ = os.RemoveAll(git)
		_ = os.MkdirAll(dir, 0o700)
		_ = os.Symlink(filepath.Join(s.owner, ".git"), git)
	case 7:
		_ = os.RemoveAll(filepath.Join(dir, ".amber"))
		_ = os.MkdirAll(dir, 0o700)
		_ = os.Symlink(filepath.Join(s.owner, ".amber"), filepath.Join(dir, ".amber"))
	case 8:
		_ = os.Rename(dir, s.folder())
	case 9:
		_ = os.RemoveAll(dir)
	}
}

// looks asks for each folder, as its hooks would.
func (s *stranger) looks() (given, asked, lost int) {
	for c := 'a'; c <= 'e'; c++ {
		g := must.Get(s.r.Of(s.t.Context(), filepath.Join(s.top, string(c))))(s.t)
		if g.ID == ownedName || g.ID == "acme/secret" {
			given++
			s.t.Errorf("%c: %+v", c, g)
		}
		if g.Asks == ownedName {
			asked++
		}
	}
	if g := must.Get(s.r.Of(s.t.Context(), s.owner))(s.t); g.ID != ownedName {
		lost++
	}
	return given, asked, lost
}
