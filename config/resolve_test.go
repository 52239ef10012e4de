package config_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestResolveDefaults(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := h.resolve(t, nil)
	want := map[amber.Layer]string{
		amber.LayerLongTerm: "sqlite", amber.LayerTurns: "sqlite", amber.LayerLoops: "sqlite",
		amber.LayerSessions: "sqlite", amber.LayerNotes: "git", amber.LayerControl: "sqlite",
	}
	must.Equal(t, "served by", servedBy(t, r.Store), want)
	if got := r.Store.Capabilities(); !got.Control || !got.Notes || !got.Batch {
		t.Errorf("capabilities are %+v, want everything", got)
	}
	if len(h.sqlite.configs) != 1 || len(h.git.configs) != 1 || len(h.other.configs) != 0 {
		t.Errorf("opened sqlite %d, git %d, other %d times, want 1, 1, 0",
			len(h.sqlite.configs), len(h.git.configs), len(h.other.configs))
	}
}

func TestResolveMixesBackends(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := h.resolve(t, map[string]string{
		"memory.layers.turns.backend":   "other",
		"memory.layers.control.backend": "other",
	})
	want := map[amber.Layer]string{
		amber.LayerLongTerm: "sqlite", amber.LayerTurns: "other", amber.LayerLoops: "sqlite",
		amber.LayerSessions: "sqlite", amber.LayerNotes: "git", amber.LayerControl: "other",
	}
	must.Equal(t, "served by", servedBy(t, r.Store), want)
	must.Equal(t, "how often other was opened, for two layers", len(h.other.configs), 1)
}

func TestReport(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := h.resolve(t, map[string]string{
		"memory.layers.turns.backend": "other", "memory.recall.top_k": "100", "memory.write.enabled": "off",
	})
	got := must.Get(json.MarshalIndent(r.Report, "", "  "))(t)
	const want = `{
  "enabled": true,
  "layers": [
    {
      "layer": "long_term",
      "requested": "sqlite",
      "resolved": "sqlite",
      "reason": "memory.backend is sqlite"
    },
    {
      "layer": "turns",
      "requested": "other",
      "resolved": "other",
      "reason": "memory.layers.turns.backend is other"
    },
    {
      "layer": "loops",
      "requested": "sqlite",
      "resolved": "sqlite",
      "reason": "memory.backend is sqlite"
    },
    {
      "layer": "sessions",
      "requested": "sqlite",
      "resolved": "sqlite",
      "reason": "memory.backend is sqlite"
    },
    {
      "layer": "notes",
      "requested": "git",
      "resolved": "git",
      "reason": "memory.layers.notes.backend is git"
    },
    {
      "layer": "control",
      "requested": "sqlite",
      "resolved": "sqlite",
      "reason": "memory.backend is sqlite"
    }
  ],
  "clamped": [
    {
      "key": "memory.recall.top_k",
      "requested": 100,
      "effective": 64
    }
  ],
  "recall": {
    "requested": true,
    "effective": true
  },
  "write": {
    "requested": false,
    "effective": false,
    "blocked_reason": "memory.write.enabled is false"
  }
}`
	must.Equal(t, "report", string(got), want)
}

// TestResolveHoldsTheCaps checks a configuration that did not come from Load.
func TestResolveHoldsTheCaps(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := config.Default()
	c.Memory.Recall.TopK = 1000
	c.Control.Queue.MaxAttempts = 101
	r, err := h.Resolve(t.Context(), c)
	must.Do(t, err)
	want := []amber.Clamp{
		{Key: "control.queue.max_attempts", Requested: 101, Effective: 100},
		{Key: "memory.recall.top_k", Requested: 1000, Effective: 64},
	}
	must.Equal(t, "clamped", r.Report.Clamped, want)
	must.Equal(t, "attempts the backend was opened with", h.sqlite.configs[0].Control.Queue.MaxAttempts, 100)
	c.Memory.Recall.TopK = 0
	_, err = h.Resolve(t.Context(), c)
	wantError(t, "zero", err, amber.KindInvalid, "memory.recall.top_k")
	wantError(t, "Check of zero", h.Check(c), amber.KindInvalid, "memory.recall.top_k")
	_, err = h.Resolve(t.Context(), config.Config{})
	wantError(t, "zero value", err, amber.KindInvalid, "memory.backend")
}

func TestResolveMissingBackend(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		flags map[string]string
		kind  amber.Kind
		words []string
	}{
		{"openviking", map[string]string{"memory.backend": "openviking"}, amber.KindUnsupported, []string{"memory.backend", "not built in"}},
		{"inmem", map[string]string{"memory.backend": "inmem"}, amber.KindUnsupported, []string{"memory.backend", "keeps nothing", "for tests"}},
		{"postgres", map[string]string{"memory.backend": "postgres"}, amber.KindUnsupported, []string{"memory.backend", "not built in"}},
		{"postgres for a layer", map[string]string{"memory.layers.control.backend": "postgres"}, amber.KindUnsupported, []string{"memory.layers.control.backend"}},
		{"unknown", map[string]string{"memory.backend": "sqlte"}, amber.KindInvalid, []string{"memory.backend", `"sqlte"`}},
		{"unknown for a layer", map[string]string{"memory.layers.turns.backend": "sqlte"}, amber.KindInvalid, []string{"memory.layers.turns.backend"}},
		{"of another layer", map[string]string{"memory.layers.turns.backend": "git"}, amber.KindUnsupported, []string{"memory.layers.turns.backend", "turns"}},
		{"memory off, control unknown", map[string]string{"memory.enabled": "no", "memory.layers.control.backend": "sqlte"}, amber.KindInvalid, []string{"memory.layers.control.backend"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			c := load(t, config.Input{Flags: tt.flags}).Config
			_, err := h.Resolve(t.Context(), c)
			wantError(t, "Resolve", err, tt.kind, tt.words...)
			if amber.HintOf(err) == "" {
				t.Error("there is no hint")
			}
			wantError(t, "Check", h.Check(c), tt.kind, tt.words...)
			must.Equal(t, "backends that were opened", len(h.sqlite.configs)+len(h.git.configs), 0)
		})
	}
}

// TestResolveLayerNotServed is about a backend that turns out, once open, to
// lack the layer.
func TestResolveLayerNotServed(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	c := config.Default()
	c.Memory.Layers.Notes = "sqlite"
	must.Do(t, h.Check(c))
	_, err := h.Resolve(t.Context(), c)
	wantError(t, "Resolve", err, amber.KindUnsupported, "memory.layers.notes.backend", "notes")
	if h.sqlite.closed != 1 {
		t.Errorf("sqlite was closed %d times, want once", h.sqlite.closed)
	}
}

func TestResolveBackendFails(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		kind amber.Kind
	}{
		{"damaged", &amber.Error{Op: "open notes", Kind: amber.KindDamaged, Hint: "amber doctor"}, amber.KindDamaged},
		{"foreign", errors.New("no space left"), amber.KindInternal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.git.fail = tt.err
			r, err := h.Resolve(t.Context(), config.Default())
			wantError(t, "Resolve", err, tt.kind, "memory.layers.notes.backend", "git")
			if !errors.Is(err, tt.err) {
				t.Errorf("%v does not wrap its cause", err)
			}
			if got, want := amber.HintOf(err), amber.HintOf(tt.err); got != want {
				t.Errorf("got hint %q, want %q", got, want)
			}
			if h.sqlite.closed != 1 || r.Close != nil {
				t.Errorf("sqlite was closed %d times, want once", h.sqlite.closed)
			}
		})
	}
}

func TestResolveBackendFailsAndCloseToo(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.git.fail, h.sqlite.shut = errors.New("no git"), errors.New("no sync")
	_, err := h.Resolve(t.Context(), config.Default())
	wantError(t, "Resolve", err, amber.KindInternal, "no git", "no sync")
	if !errors.Is(err, h.git.fail) {
		t.Errorf("%v does not wrap its cause", err)
	}
}

func TestResolveCancelled(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := h.Resolve(ctx, config.Default())
	wantError(t, "Resolve", err, amber.KindUnreachable, "memory.backend")
	if len(h.sqlite.configs) != 0 {
		t.Error("a backend was opened")
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	first := errors.New("git did not close")
	h.git.shut, h.sqlite.shut = first, errors.New("sqlite did not close")
	r := must.Get(h.Resolve(t.Context(), config.Default()))(t)
	for range 2 {
		if err := r.Close(); !errors.Is(err, first) {
			t.Errorf("Close: got %v, want %v", err, first)
		}
	}
	if h.git.closed != 1 || h.sqlite.closed != 1 {
		t.Errorf("closed git %d, sqlite %d times, want once each", h.git.closed, h.sqlite.closed)
	}
}

// TestNothingToClose is about a factory that leaves Close nil.
func TestNothingToClose(t *testing.T) {
	t.Parallel()
	r := config.New()
	err := r.Register("all", func(context.Context, config.Config) (config.Opened, error) {
		return config.Opened{Parts: amber.Disabled("all").Parts}, nil
	})
	must.Do(t, err)
	c := config.Default()
	c.Memory.Backend, c.Memory.Layers.Notes = "all", ""
	got := must.Get(r.Resolve(t.Context(), c))(t)
	must.NoError(t, got.Close())
}

func TestRegister(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	open := (&fake{}).open
	tests := []struct {
		name string
		err  error
		kind amber.Kind
	}{
		{"double", h.Register("sqlite", open), amber.KindConflict},
		{"double of a layer", h.RegisterLayer(amber.LayerNotes, "git", open), amber.KindConflict},
		{"no name", h.Register("", open), amber.KindInvalid},
		{"capitals", h.Register("SQLite", open), amber.KindInvalid},
		{"no factory", h.Register("empty", nil), amber.KindInvalid},
		{"no layer", h.RegisterLayer("dreams", "git", open), amber.KindInvalid},
	}
	for _, tt := range tests {
		wantError(t, tt.name, tt.err, tt.kind)
	}
	must.NoError(t, h.RegisterLayer(amber.LayerTurns, "git", open))
	must.NoError(t, h.Register("postgres", open))
}

// TestLayerFactoryComesFirst checks that a factory for one layer wins there
// and nowhere else.
func TestLayerFactoryComesFirst(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	fast := &fake{name: "fast turns"}
	must.Do(t, h.RegisterLayer(amber.LayerTurns, "sqlite", fast.open))
	got := servedBy(t, h.resolve(t, nil).Store)
	if got[amber.LayerTurns] != "fast turns" || got[amber.LayerLoops] != "sqlite" {
		t.Errorf("turns are served by %q, loops by %q", got[amber.LayerTurns], got[amber.LayerLoops])
	}
}
