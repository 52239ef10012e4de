package config

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/policy"
)

// newStore puts the store together and places the switches of m before what
// reads and writes memory.
func newStore(m Memory, r amber.Review, parts amber.Parts) amber.Store {
	s := amber.NewStore(parts)
	if !m.Enabled {
		// The parts are replaced after NewStore, so that Capabilities reports only the parts that
		// are really there: those of the control plane.
		off := amber.Disabled(isFalse(enabledPath))
		for _, l := range amber.Layers() {
			if l != amber.LayerControl {
				s.Take(l, off.Parts)
			}
		}
		return s
	}
	return amber.Around(s, gated, gate{m, r}.call)
}

// gated reports whether a switch may be about a method.
func gated(m amber.Method) bool {
	return m.Layer == amber.LayerLongTerm || m.Layer == amber.LayerJournal || m.Layer == amber.LayerSync
}

// gate refuses calls that are switched off, and fills in what the configuration says.
type gate struct {
	memory Memory
	review amber.Review
}

func (g gate) call(ctx context.Context, c *amber.Call) error {
	op, write := c.Method.Op, g.memory.Write
	switch in := c.In[0].(type) {
	case *amber.Query:
		if !g.memory.Recall.Enabled {
			c.Out.(*amber.RecallResult).Hits = []amber.Hit{}
			return refused(op, recallEnabledPath)
		}
		in.Limit = cmp.Or(in.Limit, g.memory.Recall.TopK)
	case *amber.ListQuery:
		if in.Waiting != "" {
			in.Waiting = g.review
		}
	case *amber.WriteRequest, *amber.EditRequest, *amber.Incoming:
		if !write.Enabled {
			return refused(op, writeEnabledPath)
		}
	case *[]amber.WriteRequest:
		if !write.Enabled {
			return refused(op, writeEnabledPath)
		}
		if len(*in) > write.MaxBatchSize {
			return invalid(op, "", fmt.Sprintf("the batch holds %d, %s is %d", len(*in), maxBatchPath, write.MaxBatchSize))
		}
	case *amber.Ingestion:
		if !write.Enabled {
			in.Steps = withoutMemories(in.Steps)
		}
	}
	return c.Next(ctx)
}

// withoutMemories drops the memories of an ingestion, which rules extract, so that no caller waits for an error. The
// turns and events are still stored.
func withoutMemories(steps []amber.IngestStep) []amber.IngestStep {
	steps = slices.Clone(steps) // the caller's stay as they are
	for i := range steps {
		steps[i].Memories, steps[i].Links = nil, nil
	}
	return steps
}

// CheckRecall reports whether long-term memory may be searched. Callers that search
// outside the store use it. The error is of kind refused.
func (m Memory) CheckRecall() error {
	switch {
	case !m.Enabled:
		return refused("recall", enabledPath)
	case !m.Recall.Enabled:
		return refused("recall", recallEnabledPath)
	}
	return nil
}

// CheckWrite reports whether long-term memory may be written. Callers use it to fail
// before they prepare a write. The error is of kind refused.
func (m Memory) CheckWrite() error {
	switch {
	case !m.Enabled:
		return refused("write memory", enabledPath)
	case !m.Write.Enabled:
		return refused("write memory", writeEnabledPath)
	}
	return nil
}

// refused is the answer to a call that a key switched off.
func refused(op, key string) error {
	return &amber.Error{
		Op: op, Kind: amber.KindRefused, Err: errors.New(isFalse(key)),
		Hint: fmt.Sprintf("set %s: true in the configuration, or %s=true", key, Key{Path: key}.Env()),
	}
}

func newPolicy(m Memory, c Context, r amber.Review) amber.Policy {
	if !m.Enabled {
		return offPolicy{}
	}
	return policy.Conservative{
		RecallDisabled: !m.Recall.Enabled,
		WriteDisabled:  !m.Write.Enabled,
		AutoWriteBack:  m.WriteBack.Cases,
		NothingLearnt:  !m.WriteBack.Enabled,
		NoLearnings:    !m.WriteBack.Learnings,
		NoDigests:      !m.WriteBack.Digests,
		TopK:           m.Recall.TopK,
		MinScore:       c.MinScore,
		OwnOnly:        c.Trust == ContextOwn,
		Review:         r,
	}
}

// offPolicy is the policy while memory is switched off.
type offPolicy struct{}

// Recall never recalls.
func (offPolicy) Recall(amber.RecallInput) (amber.Query, amber.Decision) {
	return amber.Query{}, amber.Decision{Requested: true, BlockedReason: isFalse(enabledPath)}
}

// WriteBack never writes.
func (offPolicy) WriteBack(amber.WriteBackInput) (amber.WriteRequest, amber.Decision) {
	return amber.WriteRequest{}, amber.Decision{BlockedReason: isFalse(enabledPath)}
}
