//go:build unix

package home_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

func TestCurrentThatIsNoFile(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		mangle func(t *testing.T, path string, good []byte)
	}{
		{"link to a good one", func(t *testing.T, path string, good []byte) {
			replaceWith(good)(t, path+".real", nil)
			symlink(t, path+".real", path)
		}},
		{"link to nothing", func(t *testing.T, path string, _ []byte) { symlink(t, path+".none", path) }},
		// A reader that waited for the other end would never come back.
		{"fifo", func(t *testing.T, path string, _ []byte) {
			must.Do(t, syscall.Mkfifo(path, 0o600))
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			checkBroken(t, tt.mangle, amber.KindDamaged, "CURRENT")
		})
	}
}

func symlink(t *testing.T, target, link string) {
	t.Helper()
	must.Do(t, os.Symlink(target, link))
}

func TestLockThatIsNoFile(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"gate", "lock", "turn-memory"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := madeHome(t)
			victim := filepath.Join(t.TempDir(), "victim")
			path := filepath.Join(agentDir(dir), name)
			must.Do(t, os.RemoveAll(path))
			symlink(t, victim, path)
			err := handle(t, dir, options(nil)).Write(t.Context(), "memory", func(home.Current) error { return nil })
			must.Kind(t, "write", err, amber.KindDamaged)
			if _, err := os.Lstat(victim); err == nil {
				t.Error("a file was made at the other end of the link")
			}
		})
	}
}

// TestLinkAmongTheGenerations is data in a folder without CURRENT, wherever the link leads.
func TestLinkAmongTheGenerations(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, agentDir(dir), "gen/1/")
	symlink(t, t.TempDir(), filepath.Join(agentDir(dir), "gen", "1", "memdir"))
	for door, err := range everyDoor(t, handle(t, dir, options(nil))) {
		must.Kind(t, door, err, amber.KindDamaged)
	}
}

// TestRebuildFollowsNoLink begins a creation again where a half-built folder holds a link.
func TestRebuildFollowsNoLink(t *testing.T) {
	t.Parallel()
	dir, outside := t.TempDir(), t.TempDir()
	put(t, outside, "precious")
	put(t, agentDir(dir), "CREATING", "gen/1/")
	symlink(t, outside, filepath.Join(agentDir(dir), "gen", "1", "memdir"))
	before := listing(t, outside)
	a := handle(t, dir, options(nil))
	makeAgent(t, fsx.OS(), a)
	checkClean(t, fsx.OS(), a)
	must.Equal(t, "folder outside", listing(t, outside), before)
}

func TestOpenFollowsTheUsersLink(t *testing.T) {
	t.Parallel()
	disk := t.TempDir()
	real := must.Get(filepath.EvalSymlinks(disk))(t)
	link := filepath.Join(t.TempDir(), "home")
	symlink(t, disk, link)
	h, created, err := home.Open(link, options(nil))
	must.Do(t, err)
	if created || h.Dir() != real {
		t.Errorf("got %s, made now %v; want %s", h.Dir(), created, real)
	}
	a := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	c := makeAgent(t, fsx.OS(), a)
	// The same agent, reached without the link.
	must.Equal(t, "generation", must.Get(handle(t, disk, options(nil)).Current())(t), c)
}

func TestOpenRefusesAUselessLink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	put(t, dir, "file")
	tests := []struct{ name, target string }{
		{"to a file", filepath.Join(dir, "file")},
		{"to nothing", filepath.Join(dir, "none")},
		{"to something below a file", filepath.Join(dir, "file", "home")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			link := filepath.Join(t.TempDir(), "home")
			symlink(t, tt.target, link)
			_, _, err := home.Open(link, options(nil))
			must.Kind(t, "open", err, amber.KindInvalid)
		})
	}
}

func TestAgentsLeavesLinksOut(t *testing.T) {
	t.Parallel()
	dir, _ := madeHome(t)
	symlink(t, agentDir(dir), filepath.Join(filepath.Dir(agentDir(dir)), "alias"))
	h, _, err := home.Open(dir, options(nil))
	must.Do(t, err)
	got, err := h.Agents(amber.DefaultTenant)
	if diff := cmp.Diff([]amber.AgentID{amber.DefaultAgent}, got); diff != "" || err != nil {
		t.Errorf("agents (-want +got):\n%s%v", diff, err)
	}
}
