package config

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/policy"
)

// newStore puts the store together and places the switches of m before what
// reads and writes long-term memory.
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
	s.LongTerm = longTerm{s.LongTerm, m}
	s.Memories = memories{s.Memories, r}
	s.Batch = batchWriter{s.Batch, m.Write}
	s.Editor = editor{s.Editor, m.Write}
	if !m.Write.Enabled {
		s.Ingest = ingester{s.Ingest}
		s.Sync = replica{s.Sync}
	}
	return s
}

// longTerm refuses what is switched off and fills in the default limit.
type longTerm struct {
	amber.LongTerm
	memory Memory
}

// Recall searches unless memory.recall.enabled is off.
func (g longTerm) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	if !g.memory.Recall.Enabled {
		return amber.RecallResult{Hits: []amber.Hit{}}, refused("recall", recallEnabledPath)
	}
	if q.Limit == 0 {
		q.Limit = g.memory.Recall.TopK
	}
	return g.LongTerm.Recall(ctx, q)
}

// Write stores unless memory.write.enabled is off.
func (g longTerm) Write(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error) {
	if !g.memory.Write.Enabled {
		return amber.WriteAck{}, refused("write memory", writeEnabledPath)
	}
	return g.LongTerm.Write(ctx, r)
}

// memories knows which memories wait for the owner.
type memories struct {
	amber.MemoryReader
	review amber.Review
}

// List lists those that wait by write.review where q asks for such.
func (g memories) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	if q.Waiting != "" {
		q.Waiting = g.review
	}
	return g.MemoryReader.List(ctx, q)
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

// replica takes nothing in while memory.write.enabled is off.
type replica struct{ amber.Replica }

// Apply refuses the chunk.
func (replica) Apply(context.Context, amber.Incoming) (amber.Applied, error) {
	return amber.Applied{}, refused("apply chunk", writeEnabledPath)
}

// batchWriter refuses what is switched off and bounds the batch.
type batchWriter struct {
	amber.BatchWriter
	write Write
}

// WriteBatch stores unless memory.write.enabled is off or there are more than
// memory.write.max_batch_size.
func (g batchWriter) WriteBatch(ctx context.Context, rs []amber.WriteRequest) ([]amber.WriteAck, error) {
	const op = "write memories"
	if !g.write.Enabled {
		return nil, refused(op, writeEnabledPath)
	}
	if len(rs) > g.write.MaxBatchSize {
		return nil, invalid(op, "", fmt.Sprintf("the batch holds %d, %s is %d", len(rs), maxBatchPath, g.write.MaxBatchSize))
	}
	return g.BatchWriter.WriteBatch(ctx, rs)
}

// editor refuses what is switched off.
type editor struct {
	amber.Editor
	write Write
}

// Edit changes a memory unless memory.write.enabled is off.
func (g editor) Edit(ctx context.Context, r amber.EditRequest) (amber.Memory, error) {
	if !g.write.Enabled {
		return amber.Memory{}, refused("edit memory", writeEnabledPath)
	}
	return g.Editor.Edit(ctx, r)
}

// ingester drops the memories of an ingestion while memory.write.enabled is off.
// Rules extract those memories, so no caller waits for an error. The turns and
// events of the ingestion are still stored.
type ingester struct{ amber.Ingester }

// Ingest applies the steps without their memories.
func (g ingester) Ingest(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error) {
	in.Steps = slices.Clone(in.Steps) // the caller's stay as they are
	for i := range in.Steps {
		in.Steps[i].Memories, in.Steps[i].Links = nil, nil
	}
	return g.Ingester.Ingest(ctx, in)
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
