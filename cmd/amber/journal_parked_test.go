package main

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// switched moves a home to a copy of its live generation, as a restore does, and
// parks what its journal holds.
func (p *sickHome) switched() {
	p.t.Helper()
	h, err := home.At(p.home, home.Options{Clock: p.world.Clock, Random: p.world.Random})
	p.must(err)
	a, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	p.must(err)
	j, err := journal.Open(a.SpoolDir(), journal.Options{Clock: p.world.Clock})
	p.must(err)
	ctx := p.t.Context()
	p.must(a.Operate(ctx, func() error {
		r, err := a.BeginRestore(ctx, "019b7ccd-f1ae-7a1b-8c2d-3e4f5a6b7c8d")
		if err != nil {
			return err
		}
		return r.Switch(ctx, func(old home.Current) (amber.Stamp, error) {
			_, err := j.Park(ctx, a.ParkedDir(old.Generation), func(journal.Origin) (int64, error) { return 0, nil })
			return 0, errors.Join(err, os.CopyFS(r.Dir(), os.DirFS(a.GenDir(old))), os.RemoveAll(a.SpoolDir()))
		})
	}))
}

func (p *sickHome) status() (state agent.JournalState) {
	p.t.Helper()
	p.must(json.Unmarshal([]byte(p.run("journal", "status", "--json").line()), &state))
	return state
}

// TestParkedEntriesAreToldAndDrainedOnRequest goes the whole way of entries that
// were not drained before a restore.
func TestParkedEntriesAreToldAndDrainedOnRequest(t *testing.T) {
	p := newHome(t, [][]string{
		{"remember", "We chose PostgreSQL for JSONB"},
		{"journal", "append", "--session", "s-1", "--type", "prompt", "why not MySQL"},
		{"journal", "append", "--session", "s-2", "--type", "prompt", "what about SQLite"},
	})
	if state := p.status(); len(state.Parked) != 0 || len(state.Sessions) != 2 {
		t.Fatalf("before: %+v", state)
	}
	p.switched()
	state := p.status()
	if len(state.Parked) != 1 || len(state.Sessions) != 0 {
		t.Fatalf("after: %+v", state)
	}
	if got := state.Parked[0]; got.Generation != 1 || got.Sessions != 2 || got.Entries != 2 || got.Bytes == 0 || got.Error != "" {
		t.Errorf("parked is %+v", got)
	}
	p.run("journal", "status").exits(0).tells("2 parked entries of generation 1: amber journal drain --from-generation 1")
	p.finds(0, "spool.parked", wire.FindingWarning, "amber journal drain --from-generation 1")
	p.run("journal", "drain").exits(0).tells("0 events")
	for _, n := range []string{"2", "7", "0"} {
		p.run("journal", "drain", "--from-generation", n).exits(3).warns("amber journal status")
	}
	p.run("journal", "drain", "--from-generation", "1").exits(0).tells("2 events of 2 sessions: 2 applied")
	p.run("turn", "list", "--session", "s-1").exits(0).tells("why not MySQL")
	if state := p.status(); len(state.Parked) != 0 {
		t.Errorf("still parked: %+v", state.Parked)
	}
	if _, err := os.Lstat(p.agent("parked", "1")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the parked journal is left: %v", err)
	}
	p.run("journal", "drain", "--from-generation", "1").exits(3)
}

// TestParkedEntriesThatCannotBeStoredStay keeps what the store will not take.
func TestParkedEntriesThatCannotBeStoredStay(t *testing.T) {
	p := newHome(t, [][]string{
		{"remember", "We chose PostgreSQL for JSONB"},
		{"journal", "append", "--session", "s-1", "--type", "prompt", "why not MySQL"},
	})
	j, err := journal.Open(p.agent("spool"), journal.Options{Clock: p.world.Clock})
	p.must(err)
	_, err = j.Append(t.Context(), journal.Session{Host: "test", ID: "s-2"}, journal.Entry{Payload: []byte("no event")})
	p.must(err)
	p.switched()
	p.run("journal", "drain", "--from-generation", "1").exits(0).tells("1 event is in quarantine")
	state := p.status()
	if len(state.Parked) != 1 || state.Parked[0].Quarantined != 1 || state.Parked[0].Entries != 0 {
		t.Errorf("parked is %+v", state.Parked)
	}
}

// TestDoctorTellsOfAnInterruptedRestore looks at a folder whose restore was killed, and at one with a note that
// no program can read.
func TestDoctorTellsOfAnInterruptedRestore(t *testing.T) {
	p := newSickHome(t)
	h, err := home.At(p.home, home.Options{Clock: p.world.Clock, Random: p.world.Random})
	p.must(err)
	a, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	p.must(err)
	p.must(a.Operate(t.Context(), func() error {
		_, err := a.BeginRestore(t.Context(), "019b7ccd-f1ae-7a1b-8c2d-3e4f5a6b7c8d")
		p.finds(0, "restore", wire.FindingOK, "being built")
		return err
	}))
	p.finds(0, "restore", wire.FindingWarning, "undoes the restore")
	p.must(os.WriteFile(filepath.Join(a.Dir(), "RESTORING"), []byte("who knows"), 0o600))
	p.finds(5, "restore", wire.FindingFailed, "RESTORING")
	p.run("remember", "the agent works on").exits(0)
}
