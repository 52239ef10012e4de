package snapshot_test

import (
	"slices"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
	"github.com/amber-memory/amber/internal/test/must"
)

// Entries that the journal held at the instant of the snapshot are in the agent
// that comes back. Later ones are parked, none is lost, and none is there twice.
func TestJournalEntriesOfTheInstantComeBackAndLaterOnesAreParked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.remember("x")
	w.say(1, "prompt 1") // not drained when the snapshot is taken
	meta := w.snapshot()
	w.drain(w.agent.SpoolDir())
	w.say(2, "prompt 2") // drained into the generation that goes
	w.drain(w.agent.SpoolDir())
	w.say(3, "prompt 3") // parked
	if got := w.said(); !slices.Equal(got, []string{"prompt 1", "prompt 2"}) {
		t.Fatalf("before the restore it says %q", got)
	}
	report := w.restore(meta.ID)
	if report.ParkedFrames != 1 || report.ParkedGeneration != 1 {
		t.Errorf("%d entries of generation %d are parked, want 1 of generation 1", report.ParkedFrames, report.ParkedGeneration)
	}
	w.drain(w.agent.SpoolDir())
	must.Equal(t, "said after the restore", w.said(), []string{"prompt 1"})
	w.say(4, "prompt 4") // belongs to the new generation
	w.drain(w.agent.SpoolDir())
	w.drain(w.agent.ParkedDir(1))
	w.drain(w.agent.ParkedDir(1))
	must.Equal(t, "said after all", w.said(), []string{"prompt 1", "prompt 3", "prompt 4"})
}

// drain drains a journal into the live store.
func (w *world) drain(dir string) {
	w.t.Helper()
	j := must.Get(journal.Open(dir, journal.Options{Clock: time.Now}))(w.t)
	worker := must.Get(drain.New(drain.Options{Journal: j, Store: w.store, Clock: time.Now}))(w.t)
	if report := must.Get(worker.Once(w.t.Context()))(w.t); report.Err() != nil {
		w.t.Fatal(report.Err())
	}
}

// said returns the turns of the session of say, sorted.
func (w *world) said() []string {
	w.t.Helper()
	turns := must.Get(amber.LastTurns(w.t.Context(), w.store, "s-1", 100))(w.t)
	var texts []string
	for _, turn := range turns {
		texts = append(texts, turn.Content)
	}
	slices.Sort(texts)
	return texts
}
