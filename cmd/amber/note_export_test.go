//go:build linux

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/memory"
	"github.com/amber-memory/amber/internal/test/must"
)

// inRepository runs git in a folder.
func (s *setting) inRepository(dir string, args ...string) string {
	s.Helper()
	cmd := exec.CommandContext(s.Context(), "git", append([]string{"-C", dir}, args...)...)
	cmd.Env = s.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		s.Fatalf("git %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Notes become a repository that git takes for whole, with the commits that their log tells, wherever the
// agent lives.
func TestNotesAsARepository(t *testing.T) {
	t.Parallel()
	for where, live := range map[string]func(*setting){
		"home": func(*setting) {}, "database": func(s *setting) { s.database() },
	} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			s := newSetting(t, false)
			live(s)
			must.Equal(t, "no notes", s.exit("note", "export", "--git", s.path("none")), "exit 3")
			must.Equal(t, "repository of no notes", s.exists("..", "none", ".git"), false)
			s.does("note", "write", "plan", "one")
			s.does("note", "write", "plan", "two")
			s.does("note", "write", "decisions/database", "PostgreSQL")
			shell := slices.Clone(s.env)
			s.env = append(s.env, "CODEX_THREAD_ID=t7") // the shell of an agent
			s.does("note", "write", "scratch", "three")
			must.Equal(t, "an agent changes a note of the owner", s.exit("note", "write", "plan", "three"), "exit 6")
			s.env = shell
			s.does("note", "write", "scratch", "four")
			log := strings.Split(strings.TrimSpace(s.does("note", "log", "scratch")), "\n")
			must.Says(t, "change of an agent", log[1], "write  by an agent in Codex, session t7")
			must.Hides(t, "change of the owner", log[0], "by ")
			s.does("note", "write", "gone", "soon")
			s.does("note", "delete", "gone")
			out := told[memory.ExportedNotes](s, "note", "export", "--git", s.path("copy"))
			must.Equal(t, "notes", out.Notes, 3)
			must.Equal(t, "fsck", s.inRepository(out.Dir, "fsck", "--strict", "--full"), "")
			must.Equal(t, "status", s.inRepository(out.Dir, "status", "--porcelain"), "")
			must.Equal(t, "plan", string(must.Get(os.ReadFile(filepath.Join(out.Dir, "plan.md")))(t)), "two")
			must.Equal(t, "decision", string(must.Get(os.ReadFile(filepath.Join(out.Dir, "decisions", "database.md")))(t)), "PostgreSQL")
			var want []string
			for _, c := range told[amber.Page[amber.NoteCommit]](s, "note", "log", "plan").Items {
				want = append(want, c.Commit)
			}
			must.Equal(t, "commits of a note", strings.Fields(s.inRepository(out.Dir, "log", "--format=%H", "--", "plan.md")), want)
			must.Equal(t, "commits", s.inRepository(out.Dir, "rev-list", "--count", "HEAD"), "7")
			must.Equal(t, "a folder that holds something", s.exit("note", "export", "--git", s.path("copy")), "exit 4")
			must.Equal(t, "no folder", s.exit("note", "export"), "exit 2")
		})
	}
}
