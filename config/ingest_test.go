package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// stepsWithMemories are steps with something of everything.
func stepsWithMemories() []amber.IngestStep {
	return []amber.IngestStep{
		{
			Event: amber.EventRef{ID: "e", Native: true}, At: amber.UnixMilli(1), Start: amber.SessionStart{ID: "s"}, Reopen: true,
			Turns:      []amber.Turn{{ID: "t"}},
			Activity:   []amber.Activity{{Name: "a"}},
			Memories:   []amber.WriteRequest{{Content: "m"}},
			Links:      []amber.IngestLink{{To: "l", Type: "supersedes"}},
			Compaction: &amber.Compaction{ID: "c"},
			End:        &amber.SessionEnd{ID: "s"},
		},
		{Memories: []amber.WriteRequest{{Content: "n"}, {Content: "o"}}},
	}
}

// While writes are off, an ingestion leaves out the memories and nothing else.
func TestIngestionLeavesOutMemories(t *testing.T) {
	t.Parallel()
	without := stepsWithMemories()
	without[0].Memories, without[0].Links, without[1].Memories = nil, nil, nil
	for _, tt := range []struct {
		name  string
		flags map[string]string
		want  []amber.IngestStep
	}{
		{"all on", nil, stepsWithMemories()},
		{"recall off", map[string]string{"memory.recall.enabled": "off"}, stepsWithMemories()},
		{"write off", map[string]string{"memory.write.enabled": "off"}, without},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			r := h.resolve(t, tt.flags)
			in := amber.Ingestion{Journal: "j", Host: "h", Session: "s", After: 3, Through: 4, LastAt: amber.UnixMilli(2), Past: true, Steps: stepsWithMemories()}
			got, err := r.Store.Ingest.Ingest(t.Context(), in)
			if err != nil || got.Applied != 2 {
				t.Fatalf("got %v, %v, want two steps applied", got, err)
			}
			want := in
			want.Steps = tt.want
			must.Equal(t, "ingestion of the backend", h.sqlite.taken, want, cmp.AllowUnexported(amber.Time{}))
			must.Equal(t, "steps of the caller", in.Steps, stepsWithMemories(), cmp.AllowUnexported(amber.Time{}))
			if c, err := r.Store.Ingest.JournalCursor(t.Context(), "j"); err != nil || c.Host != "sqlite" {
				t.Errorf("cursor %v, %v, want that of sqlite", c, err)
			}
			if !r.Store.Capabilities().Ingest {
				t.Error("the store says that it cannot ingest")
			}
		})
	}
}

func TestIngestionIsRefusedWhileMemoryIsOff(t *testing.T) {
	t.Parallel()
	r := newHouse(t).resolve(t, map[string]string{"memory.enabled": "off"})
	_, err := r.Store.Ingest.Ingest(t.Context(), amber.Ingestion{})
	wantError(t, "ingest", err, amber.KindRefused, "memory.enabled")
	if r.Store.Capabilities().Ingest {
		t.Error("the store says that it can ingest")
	}
}

// An ingestion is one transaction over three layers, so one backend must
// serve them. Activity stays with sessions.
func TestIngestionNeedsOneBackend(t *testing.T) {
	t.Parallel()
	other := func(layers ...amber.Layer) map[string]string {
		flags := map[string]string{}
		for _, l := range layers {
			flags["memory.layers."+string(l)+".backend"] = "other"
		}
		return flags
	}
	for _, tt := range []struct {
		name       string
		flags      map[string]string
		ingests    bool
		activities string // who serves them
	}{
		{"one backend", nil, true, "sqlite"},
		{"another backend for the three", other(amber.LayerSessions, amber.LayerTurns, amber.LayerLongTerm), true, "other"},
		{"another for the rest", other(amber.LayerLoops, amber.LayerControl), true, "sqlite"},
		{"another for sessions", other(amber.LayerSessions), false, "other"},
		{"another for turns", other(amber.LayerTurns), false, "sqlite"},
		{"another for long-term memory", other(amber.LayerLongTerm), false, "sqlite"},
		{"another for all but sessions", other(amber.LayerTurns, amber.LayerLongTerm), false, "sqlite"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newHouse(t).resolve(t, tt.flags).Store
			_, err := s.Ingest.Ingest(t.Context(), amber.Ingestion{})
			want := amber.Kind("")
			if !tt.ingests {
				want = amber.KindUnsupported
			}
			if got := amber.KindOf(err); got != want {
				t.Errorf("got %q (%v), want %q", got, err, want)
			}
			must.Equal(t, "capability", s.Capabilities().Ingest, tt.ingests)
			did, err := s.Activities.ListActivity(t.Context(), "s", "")
			if err != nil || len(did) != 1 || did[0].Name != tt.activities {
				t.Errorf("activity %v, %v, want that of %s", did, err, tt.activities)
			}
		})
	}
}

// A chunk is applied in one transaction over the same layers, and brings
// memories.
func TestSyncNeedsOneBackendAndMayBeSwitchedOff(t *testing.T) {
	t.Parallel()
	apply := func(flags map[string]string) error {
		_, err := newHouse(t).resolve(t, flags).Store.Replica().Apply(t.Context(), amber.Incoming{})
		return err
	}
	wantError(t, "split", apply(map[string]string{"memory.layers.turns.backend": "other"}), amber.KindUnsupported, "")
	wantError(t, "write off", apply(map[string]string{"memory.write.enabled": "off"}), amber.KindRefused, "memory.write.enabled")
	wantError(t, "memory off", apply(map[string]string{"memory.enabled": "off"}), amber.KindRefused, "memory.enabled")
	// The backend of this test refuses in its own name.
	wantError(t, "on", apply(nil), amber.KindRefused, "sqlite")
}
