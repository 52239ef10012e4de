package config_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

// fake is a backend that records its calls. A layer that it does not watch refuses every mutation,
// and the error names the backend, so a test sees which backend serves the layer.
type fake struct {
	name string
	lack []amber.Layer // layers it has no parts for
	fail error         // what opening answers
	shut error         // what closing answers

	mu      sync.Mutex
	configs []config.Config // one per opening
	closed  int
	calls   []string
	query   amber.Query
	taken   amber.Ingestion
}

var (
	_ amber.LongTerm    = (*fake)(nil)
	_ amber.BatchWriter = (*fake)(nil)
	_ amber.Editor      = (*fake)(nil)
	_ amber.Eraser      = (*fake)(nil)
	_ amber.Ingester    = (*fake)(nil)
	_ amber.Activities  = (*fake)(nil)
)

func (f *fake) open(_ context.Context, c config.Config) (config.Opened, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.configs = append(f.configs, c)
	if f.fail != nil {
		return config.Opened{}, f.fail
	}
	all := amber.Disabled(f.name).Parts
	all.LongTerm, all.Batch, all.Editor, all.Eraser = f, f, f, f
	all.Ingest, all.Activities = f, f
	for _, l := range f.lack {
		all.Take(l, amber.Parts{})
	}
	return config.Opened{Parts: all, Close: f.close}, nil
}

func (f *fake) close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed++
	return f.shut
}

func (f *fake) called(what string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, what)
}

func (f *fake) Recall(_ context.Context, q amber.Query) (amber.RecallResult, error) {
	f.called("recall")
	f.query = q
	return amber.RecallResult{Hits: []amber.Hit{{Title: f.name}}}, nil
}

func (f *fake) Write(context.Context, amber.WriteRequest) (amber.WriteAck, error) {
	f.called("write")
	return amber.WriteAck{Memory: amber.Memory{Title: f.name}}, nil
}

func (f *fake) Delete(context.Context, amber.MemoryID) error {
	f.called("delete")
	return nil
}

func (f *fake) Health(context.Context) (amber.Health, error) {
	return amber.Health{Backend: f.name, Status: amber.Healthy}, nil
}

func (f *fake) WriteBatch(_ context.Context, rs []amber.WriteRequest) ([]amber.WriteAck, error) {
	f.called("write batch")
	return make([]amber.WriteAck, len(rs)), nil
}

func (f *fake) Edit(context.Context, amber.EditRequest) (amber.Memory, error) {
	f.called("edit")
	return amber.Memory{Title: f.name}, nil
}

func (f *fake) Erase(context.Context, amber.MemoryID) (amber.EraseReport, error) {
	f.called("erase")
	return amber.EraseReport{}, nil
}

func (f *fake) Ingest(_ context.Context, in amber.Ingestion) (amber.IngestResult, error) {
	f.called("ingest")
	f.taken = in
	return amber.IngestResult{Applied: len(in.Steps)}, nil
}

func (f *fake) JournalCursor(context.Context, string) (amber.JournalCursor, error) {
	return amber.JournalCursor{Host: f.name}, nil
}

func (f *fake) OpenJournals(context.Context) ([]amber.JournalCursor, error) {
	return []amber.JournalCursor{{Host: f.name}}, nil
}

func (f *fake) ActivityNamed(context.Context, amber.ActivityKind, string) ([]amber.Activity, error) {
	return []amber.Activity{{Name: f.name}}, nil
}

func (f *fake) ListActivity(context.Context, amber.SessionID, amber.ActivityKind) ([]amber.Activity, error) {
	return []amber.Activity{{Name: f.name}}, nil
}

// house is a registry with the backends that most tests need.
type house struct {
	*config.Registry
	sqlite, other, git *fake
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{
		Registry: config.New(),
		sqlite:   &fake{name: "sqlite", lack: []amber.Layer{amber.LayerNotes}},
		other:    &fake{name: "other"},
		git:      &fake{name: "git"},
	}
	err := errors.Join(
		h.Register("sqlite", h.sqlite.open),
		h.Register("other", h.other.open),
		h.RegisterLayer(amber.LayerNotes, "git", h.git.open),
	)
	must.Do(t, err)
	return h
}

// resolve resolves the defaults with some keys set.
func (h *house) resolve(t *testing.T, flags map[string]string) config.Resolved {
	t.Helper()
	r := must.Get(h.Resolve(t.Context(), load(t, config.Input{Flags: flags}).Config))(t)
	t.Cleanup(func() {
		must.NoError(t, r.Close())
	})
	return r
}

// servedBy asks every layer who serves it. A layer that is off answers with
// the reason.
func servedBy(t *testing.T, s amber.Store) map[amber.Layer]string {
	t.Helper()
	ctx := t.Context()
	health := must.Get(s.LongTerm.Health(ctx))(t)
	_, turns := s.Turns.AppendTurn(ctx, amber.Turn{})
	_, sessions := s.Sessions.StartSession(ctx, amber.SessionStart{})
	_, notes := s.Notes.WriteNote(ctx, amber.NoteWrite{Name: "a", Content: "b"})
	got := map[amber.Layer]string{amber.LayerLongTerm: health.Backend}
	if health.Status != amber.Healthy {
		got[amber.LayerLongTerm] = health.Detail
	}
	for l, err := range map[amber.Layer]error{
		amber.LayerTurns:    turns,
		amber.LayerSessions: sessions,
		amber.LayerNotes:    notes,
		amber.LayerLoops:    s.Loops.ClearLoop(ctx, "s", ""),
		amber.LayerControl:  s.Queue.Publish(ctx, amber.Envelope{}),
	} {
		cause := errors.Unwrap(err)
		if cause == nil {
			t.Fatalf("layer %s answers %v", l, err)
		}
		got[l] = cause.Error()
	}
	return got
}
