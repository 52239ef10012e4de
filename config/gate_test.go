package config_test

import (
	"slices"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/recall/policy"
	"github.com/amber-memory/amber/internal/test/must"
)

// answers calls every gated method and returns the kind of each answer.
func answers(t *testing.T, s amber.Store) map[string]amber.Kind {
	t.Helper()
	ctx := t.Context()
	_, recall := s.LongTerm.Recall(ctx, amber.Query{})
	_, write := s.LongTerm.Write(ctx, amber.WriteRequest{})
	_, batch := s.Batch.WriteBatch(ctx, make([]amber.WriteRequest, 2))
	_, edit := s.Editor.Edit(ctx, amber.EditRequest{})
	_, erase := s.Eraser.Erase(ctx, "m")
	_, list := s.Memories.List(ctx, amber.ListQuery{})
	return map[string]amber.Kind{
		"recall": amber.KindOf(recall), "write": amber.KindOf(write), "write batch": amber.KindOf(batch),
		"edit": amber.KindOf(edit), "delete": amber.KindOf(s.LongTerm.Delete(ctx, "m")),
		"erase": amber.KindOf(erase), "list": amber.KindOf(list),
	}
}

func TestSwitches(t *testing.T) {
	t.Parallel()
	const yes, no = amber.Kind(""), amber.KindRefused
	on := amber.Decision{Requested: true, Effective: true}
	off := func(requested bool, why string) amber.Decision {
		return amber.Decision{Requested: requested, BlockedReason: why}
	}
	tests := []struct {
		name          string
		flags         map[string]string
		want          map[string]amber.Kind
		calls         []string // that reach the backend
		recall, write amber.Decision
	}{
		{
			"all on", nil,
			map[string]amber.Kind{"recall": yes, "write": yes, "write batch": yes, "edit": yes, "delete": yes, "erase": yes, "list": yes},
			[]string{"delete", "edit", "erase", "recall", "write", "write batch"},
			on, on,
		},
		{
			"recall off",
			map[string]string{"memory.recall.enabled": "off"},
			map[string]amber.Kind{"recall": no, "write": yes, "write batch": yes, "edit": yes, "delete": yes, "erase": yes, "list": yes},
			[]string{"delete", "edit", "erase", "write", "write batch"},
			off(false, "memory.recall.enabled is false"), on,
		},
		{
			"write off",
			map[string]string{"memory.write.enabled": "off"},
			map[string]amber.Kind{"recall": yes, "write": no, "write batch": no, "edit": no, "delete": yes, "erase": yes, "list": yes},
			[]string{"delete", "erase", "recall"},
			on, off(false, "memory.write.enabled is false"),
		},
		{
			"both off",
			map[string]string{"memory.recall.enabled": "off", "memory.write.enabled": "off"},
			map[string]amber.Kind{"recall": no, "write": no, "write batch": no, "edit": no, "delete": yes, "erase": yes, "list": yes},
			[]string{"delete", "erase"},
			off(false, "memory.recall.enabled is false"), off(false, "memory.write.enabled is false"),
		},
		{
			"memory off",
			map[string]string{"memory.enabled": "off", "memory.write.enabled": "off"},
			map[string]amber.Kind{"recall": yes, "write": no, "write batch": no, "edit": no, "delete": no, "erase": no, "list": yes},
			nil, off(true, "memory.enabled is false"), off(false, "memory.enabled is false"),
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			r := h.resolve(t, tt.flags)
			must.Equal(t, "answers", answers(t, r.Store), tt.want)
			slices.Sort(h.sqlite.calls)
			must.Equal(t, "calls of the backend", h.sqlite.calls, tt.calls)
			must.Equal(t, "recall", r.Report.Recall, tt.recall)
			must.Equal(t, "write", r.Report.Write, tt.write)
			m := load(t, config.Input{Flags: tt.flags}).Config.Memory
			must.Equal(t, "whether memory may be searched", m.CheckRecall() == nil, tt.recall.Effective)
			must.Equal(t, "whether memory may be written", m.CheckWrite() == nil, tt.write.Effective)
		})
	}
}

// TestRefusalHelps checks that a refusal names the key and how to turn it.
func TestRefusalHelps(t *testing.T) {
	t.Parallel()
	r := newHouse(t).resolve(t, map[string]string{"memory.recall.enabled": "0", "memory.write.enabled": "0"})
	_, recall := r.Store.LongTerm.Recall(t.Context(), amber.Query{})
	wantError(t, "recall", recall, amber.KindRefused, "memory.recall.enabled")
	const wantHint = "set memory.recall.enabled: true in the configuration, or AMBER_MEMORY__RECALL__ENABLED=true"
	must.Equal(t, "hint", amber.HintOf(recall), wantHint)
	_, write := r.Store.LongTerm.Write(t.Context(), amber.WriteRequest{})
	wantError(t, "write", write, amber.KindRefused, "memory.write.enabled")
}

func TestTopK(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := h.resolve(t, map[string]string{"memory.recall.top_k": "5"})
	for limit, want := range map[int]int{0: 5, 3: 3, 50: 50, 1000: 1000, -1: -1} {
		must.Do(t, must.Err(r.Store.LongTerm.Recall(t.Context(), amber.Query{Text: "x", Limit: limit})))
		// Limits that the caller gave are the backend's to judge.
		if got := h.sqlite.query; got.Limit != want || got.Text != "x" {
			t.Errorf("limit %d reaches the backend as %d, want %d", limit, got.Limit, want)
		}
	}
	if q, _ := r.Policy.Recall(amber.RecallInput{}); q.Limit != 5 {
		t.Errorf("the policy asks for %d, want 5", q.Limit)
	}
}

func TestMaxBatchSize(t *testing.T) {
	t.Parallel()
	r := newHouse(t).resolve(t, map[string]string{"memory.write.max_batch_size": "3"})
	for n, kind := range map[int]amber.Kind{0: "", 3: "", 4: amber.KindInvalid} {
		acks, err := r.Store.Batch.WriteBatch(t.Context(), make([]amber.WriteRequest, n))
		if kind == "" {
			if err != nil || len(acks) != n {
				t.Errorf("a batch of %d: got %d answers and %v", n, len(acks), err)
			}
			continue
		}
		wantError(t, "batch", err, kind, "memory.write.max_batch_size")
	}
}

// TestMemoryOff checks that the control plane works on while memory is off,
// and that nothing else is opened.
func TestMemoryOff(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	r := h.resolve(t, map[string]string{
		"memory.enabled": "false", "memory.backend": "other", "memory.layers.control.backend": "sqlite",
	})
	const off = "memory.enabled is false"
	want := map[amber.Layer]string{
		amber.LayerLongTerm: off, amber.LayerTurns: off, amber.LayerLoops: off,
		amber.LayerSessions: off, amber.LayerNotes: off, amber.LayerControl: "sqlite",
	}
	must.Equal(t, "served by", servedBy(t, r.Store), want)
	must.Equal(t, "capabilities", r.Store.Capabilities(), amber.Capabilities{Control: true, Documents: true})
	if len(h.other.configs) != 0 || len(h.git.configs) != 0 || len(h.sqlite.configs) != 1 {
		t.Errorf("opened other %d, git %d, sqlite %d times, want 0, 0, 1",
			len(h.other.configs), len(h.git.configs), len(h.sqlite.configs))
	}
	for _, lr := range r.Report.Layers {
		wantLayer := config.LayerReport{Layer: lr.Layer, Requested: "other", Resolved: "none", Reason: off}
		switch lr.Layer {
		case amber.LayerNotes:
			wantLayer.Requested = "git"
		case amber.LayerControl:
			wantLayer.Requested, wantLayer.Resolved, wantLayer.Reason = "sqlite", "sqlite", "memory.layers.control.backend is sqlite"
		}
		must.Equal(t, "report", lr, wantLayer)
	}
	if r.Report.Enabled {
		t.Error("the report says enabled")
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		flags map[string]string
		want  amber.Policy
	}{
		{"defaults", nil, policy.Conservative{Review: amber.ReviewAgents, MinScore: amber.RelevantScore, TopK: 8}},
		{"recall off", map[string]string{"memory.recall.enabled": "no"}, policy.Conservative{Review: amber.ReviewAgents, MinScore: amber.RelevantScore, TopK: 8, RecallDisabled: true}},
		{"cases on", map[string]string{"memory.write_back.cases": "yes"}, policy.Conservative{Review: amber.ReviewAgents, MinScore: amber.RelevantScore, TopK: 8, AutoWriteBack: true}},
		{"learnings off", map[string]string{"memory.write_back.learnings": "no"}, policy.Conservative{Review: amber.ReviewAgents, MinScore: amber.RelevantScore, TopK: 8, NoLearnings: true}},
		{"digests off", map[string]string{"memory.write_back.digests": "no"}, policy.Conservative{Review: amber.ReviewAgents, MinScore: amber.RelevantScore, TopK: 8, NoDigests: true}},
		{"write-back off", map[string]string{"memory.write_back.enabled": "no"}, policy.Conservative{Review: amber.ReviewAgents, MinScore: amber.RelevantScore, TopK: 8, NothingLearnt: true}},
		{"context of own memories", map[string]string{"context.trust": "own", "context.min_score": "0.7"}, policy.Conservative{Review: amber.ReviewAgents, TopK: 8, MinScore: 0.7, OwnOnly: true}},
		{"write off", map[string]string{"memory.write.enabled": "no"}, policy.Conservative{Review: amber.ReviewAgents, MinScore: amber.RelevantScore, TopK: 8, WriteDisabled: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			must.Equal(t, "policy", newHouse(t).resolve(t, tt.flags).Policy, tt.want)
		})
	}
}

func TestPolicyMemoryOff(t *testing.T) {
	t.Parallel()
	p := newHouse(t).resolve(t, map[string]string{"memory.enabled": "no"}).Policy
	_, recall := p.Recall(amber.RecallInput{Goal: "fix it"})
	_, write := p.WriteBack(amber.WriteBackInput{Goal: "fix it", Succeeded: true, Response: "done"})
	for what, d := range map[string]amber.Decision{"recall": recall, "write back": write} {
		if d.Effective || d.BlockedReason != "memory.enabled is false" {
			t.Errorf("%s: got %+v, want it blocked because memory is off", what, d)
		}
	}
}
