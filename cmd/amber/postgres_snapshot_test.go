//go:build linux

package main

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/wire"
)

// Snapshots of an agent in a database do what those of an agent in files do, and go from the one to the other.
func TestSnapshotsOnPostgres(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	s, other := newSetting(t, false), newSetting(t, false)
	dsn := server.DSN(server.Database(t))
	for _, one := range []*setting{s, other} {
		one.set("AMBER_MEMORY__BACKENDS__POSTGRES__DSN_FILE", one.onPostgres(dsn))
	}
	id := s.does("remember", "The staging database is called heron")
	s.does("note", "write", "plan", "# Plan: move to the new harbour")
	s.does("state", "set", "mood", `{"calm": true}`)
	first := s.snapshot("--label", "first")
	shown := told[wire.SnapshotDetail](s, "snapshot", "show", first)
	checks := map[string]string{}
	for _, c := range shown.Checks {
		must.Equal(t, "check "+c.Name+" of "+c.Part, c.OK, true)
		checks[c.Name+" "+c.Part] = c.Detail
	}
	must.Says(t, "check of rows", checks["source memory"], "every row compared with the database")
	must.Says(t, "check of rows", checks["source control"], "every row compared with the database")
	must.Says(t, "check of the journal", checks["journal journal"], "journals of edges: not captured")

	// The other machine changes the agent.
	other.does("edit", id, "The staging database is called egret")
	other.does("note", "write", "plan", "# Plan: stay")
	other.does("state", "set", "mood", `{"calm": false}`)
	second := s.snapshot("--label", "second")
	must.Says(t, "list", s.does("snapshot", "list"), "second")
	must.Says(t, "verify", s.does("snapshot", "verify", second, "--read-data"), "integrity")
	diff := told[wire.SnapshotDiff](s, "snapshot", "diff", first, second)
	must.Equal(t, "notes and state that changed", []int64{diff.Notes.Changed, diff.State.Changed}, []int64{1, 1})
	must.Says(t, "then", s.does("recall", "--at", first, "staging database"), "heron")
	must.Says(t, "now", s.does("recall", "staging database"), "egret")
	s.does("bundle", "export", first, "--output", s.path("first.tar.zst"))
	s.does("bundle", "verify", s.path("first.tar.zst"))
	s.does("bundle", "export", first, "--format", "nexo", "--output", s.path("nexo.tar.gz"))

	plan := told[wire.RestoreReport](s, "snapshot", "restore", first, "--dry-run")
	must.Equal(t, "notes that would change", plan.Plan.Notes.Changed, 1)
	must.Says(t, "nothing has changed", other.does("get", id), "egret")

	back := told[wire.RestoreReport](s, "snapshot", "restore", first, "--yes")
	must.Hold(t, back.SafetySnapshot != "" && back.Generation == 2 && back.OldGeneration == 0, "the report is %+v", back)
	must.Says(t, "memory, on the other machine", other.does("get", id), "heron")
	must.Says(t, "note", other.does("note", "show", "plan"), "new harbour")
	must.Says(t, "history of the note", other.does("note", "log", "plan"), "write")
	must.Says(t, "document", other.does("state", "get", "mood"), "true")
	must.Equal(t, "hits of the note", len(told[amber.RecallResult](other, "recall", "harbour").Hits), 1)
	other.does("remember", "after the restore")

	undone := told[wire.RestoreReport](s, "snapshot", "restore", string(back.SafetySnapshot), "--yes")
	must.Equal(t, "generation", undone.Generation, 3)
	must.Says(t, "undone", other.does("get", id), "egret")
	must.Says(t, "undone note", other.does("note", "show", "plan"), "stay")
	must.Equal(t, "what came after the restore", other.items("list"), "1")

	// A new agent of it, and one in files.
	s.does("snapshot", "restore", first, "--to-agent", "fork", "--yes")
	must.Says(t, "fork", other.does("get", id, "--agent", "fork"), "heron")
	files := newSetting(t, false)
	files.does("snapshot", "restore", s.path("first.tar.zst"), "--yes")
	must.Says(t, "in files", files.does("get", id), "heron")
	must.Says(t, "note in files", files.does("note", "show", "plan"), "new harbour")
	files.does("remember", "written in files")
	files.does("bundle", "export", files.snapshot(), "--output", files.path("back.tar.zst"))
	s.does("snapshot", "restore", files.path("back.tar.zst"), "--to-agent", "returned", "--yes")
	must.Equal(t, "memories that came back", other.items("list", "--agent", "returned"), "2")
	must.Says(t, "note that came back", other.does("note", "show", "plan", "--agent", "returned"), "new harbour")

	// Another tenant has neither the snapshots nor the agent.
	other.does("remember", "of somebody else", "--tenant", "foreign", "--new-agent")
	s.does("remember", "of somebody else, too", "--tenant", "foreign", "--new-agent")
	must.Equal(t, "snapshots of another tenant", s.items("snapshot", "list", "--tenant", "foreign"), "0")
	must.Equal(t, "restore by another tenant", s.exit("snapshot", "restore", first, "--tenant", "foreign", "--yes"), "exit 3")
	must.Equal(t, "an agent that is not there", s.exit("snapshot", "create", "--agent", "nobody"), "exit 3")
	s.does("snapshot", "gc", "--yes")
}
