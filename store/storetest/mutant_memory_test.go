package storetest_test

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/amber-memory/amber"
)

// writing replaces Write.
func writing(f func(ctx context.Context, next amber.LongTerm, r amber.WriteRequest) (amber.WriteAck, error)) func(*amber.Parts) {
	return func(p *amber.Parts) {
		next := p.LongTerm
		p.LongTerm = longTerm{LongTerm: next, write: func(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error) { return f(ctx, next, r) }}
	}
}

// asking changes the request of a write.
func asking(f func(r *amber.WriteRequest)) func(*amber.Parts) {
	return writing(func(ctx context.Context, next amber.LongTerm, r amber.WriteRequest) (amber.WriteAck, error) {
		f(&r)
		return next.Write(ctx, r)
	})
}

// answering changes the answer to a write.
func answering(f func(ack *amber.WriteAck)) func(*amber.Parts) {
	return writing(func(ctx context.Context, next amber.LongTerm, r amber.WriteRequest) (amber.WriteAck, error) {
		ack, err := next.Write(ctx, r)
		f(&ack)
		return ack, err
	})
}

// editing replaces Edit.
func editing(f func(ctx context.Context, next amber.Editor, r amber.EditRequest) (amber.Memory, error)) func(*amber.Parts) {
	return func(p *amber.Parts) {
		next := p.Editor
		p.Editor = editFunc(func(ctx context.Context, r amber.EditRequest) (amber.Memory, error) { return f(ctx, next, r) })
	}
}

func memoryMutants() []mutant {
	return []mutant{
		{"drops metadata", "memory/write-keeps-every-field", true, asking(func(r *amber.WriteRequest) { r.Metadata = nil })},
		{"drops source refs", "memory/write-keeps-every-field", true, asking(func(r *amber.WriteRequest) { r.SourceRefs = nil })},
		{"drops the summary", "memory/write-keeps-every-field", true, asking(func(r *amber.WriteRequest) { r.Summary = "" })},
		{"widens an unknown scope to global", "memory/write-refuses-invalid", false, asking(func(r *amber.WriteRequest) {
			if !slices.Contains(amber.Scopes(), r.Scope) {
				r.Scope = amber.ScopeGlobal
			}
		})},
		{"widens a scope without identity to global", "memory/write-refuses-invalid", true, asking(func(r *amber.WriteRequest) {
			if r.Scope != amber.ScopeGlobal && r.For(r.Scope) == "" {
				r.Scope = amber.ScopeGlobal
			}
		})},
		{"takes no scope for global", "memory/write-without-scope-is-for-its-identity-alone", true, asking(func(r *amber.WriteRequest) {
			if r.Scope == "" {
				r.Scope = amber.ScopeGlobal
			}
		})},
		{"maps an unknown kind", "memory/write-refuses-invalid", true, asking(func(r *amber.WriteRequest) {
			if r.Kind != "" && !slices.Contains(amber.MemoryKinds(), r.Kind) {
				r.Kind = amber.UserPreference
			}
		})},
		{"trusts everything written", "memory/write-keeps-every-field", true, asking(func(r *amber.WriteRequest) { r.Trust = amber.TrustOwn })},
		{"does not say what is a duplicate", "memory/dedupe-equal-memory", true, answering(func(a *amber.WriteAck) { a.Deduplicated = false })},
		{"does not say what was added", "memory/dedupe-adds-tags-and-metadata-once", true, answering(func(a *amber.WriteAck) { a.Added = nil })},
		{"does not say what was not taken", "memory/dedupe-says-what-it-did-not-take", true, answering(func(a *amber.WriteAck) { a.NotTaken = nil })},
		{"takes titles for equal", "memory/dedupe-needs-every-field-equal", true, asking(func(r *amber.WriteRequest) { r.Title = "" })},
		{"stores duplicates", "memory/dedupe-equal-memory", true, writing(storeDuplicates)},
		{"ignores the topic", "topic/id-is-named", true, asking(func(r *amber.WriteRequest) { r.Topic = "" })},
		{"ignores the idempotency key", "idempotency/other-bytes-conflict", true, asking(func(r *amber.WriteRequest) { r.IdempotencyKey = "" })},
		{"answers a key with what is stored now", "idempotency/returns-the-first-answer", true, answersKeysAnew},
		{"stamps all alike", "memory/stamps-grow-when-the-clock-goes-back", true, answering(func(a *amber.WriteAck) { a.Origin.Clock = 1 })},
		{"keeps the request", "ownership/memories", false, keepsRequests},
		{"keeps what it hands out", "ownership/memories", false, keepsAnswers},
		{"does not look at the context", "cancel/memory-mutations", false, writing(
			func(ctx context.Context, next amber.LongTerm, r amber.WriteRequest) (amber.WriteAck, error) {
				return next.Write(context.WithoutCancel(ctx), r)
			})},
		{"edits whatever revision it is", "edit/wrong-revision-conflicts", true, editing(
			func(ctx context.Context, next amber.Editor, r amber.EditRequest) (amber.Memory, error) {
				r.IfRevision = 0
				return next.Edit(ctx, r)
			})},
		{"does not edit tags", "edit/changes-each-field-alone", true, editing(
			func(ctx context.Context, next amber.Editor, r amber.EditRequest) (amber.Memory, error) {
				r.Tags = nil
				return next.Edit(ctx, r)
			})},
		{"does not find a deleted memory to delete", "delete/twice-does-nothing", true, deletesOnce},
		{"erases by deleting", "erase/removes-the-memory-from-every-read", true, erasesByDeleting},
		{"writes batches one by one", "batch/all-or-nothing", true, func(p *amber.Parts) {
			next := p.LongTerm
			p.Batch = batchFunc(func(ctx context.Context, rs []amber.WriteRequest) ([]amber.WriteAck, error) {
				acks := make([]amber.WriteAck, len(rs))
				for i, r := range rs {
					var err error
					if acks[i], err = next.Write(ctx, r); err != nil {
						return nil, err
					}
				}
				return acks, nil
			})
		}},
		{"takes batches of any size", "batch/size-is-bounded", false, func(p *amber.Parts) {
			next := p.Batch
			p.Batch = batchFunc(func(ctx context.Context, rs []amber.WriteRequest) ([]amber.WriteAck, error) {
				return next.WriteBatch(ctx, rs[:min(len(rs), amber.MaxBatchSize)])
			})
		}},
	}
}

// storeDuplicates makes each duplicate differ by spaces at the end, which a reader does not see.
func storeDuplicates(ctx context.Context, next amber.LongTerm, r amber.WriteRequest) (amber.WriteAck, error) {
	ack, err := next.Write(ctx, r)
	if err == nil && ack.Deduplicated {
		r.Content += strings.Repeat(" ", int(ack.DuplicateCount))
		r.Topic, r.IdempotencyKey = "", ""
		return next.Write(ctx, r)
	}
	return ack, err
}

func answersKeysAnew(p *amber.Parts) {
	next, memories := p.LongTerm, p.Memories
	p.LongTerm = longTerm{LongTerm: next, write: func(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error) {
		ack, err := next.Write(ctx, r)
		if now, gerr := memories.Get(ctx, ack.ID); err == nil && gerr == nil && r.IdempotencyKey != "" {
			ack.Memory = now
		}
		return ack, err
	}}
}

// keepsRequests shows the caller's own metadata instead of a copy.
func keepsRequests(p *amber.Parts) {
	var mu sync.Mutex
	kept := map[amber.MemoryID]map[string]string{}
	next, memories := p.LongTerm, p.Memories
	p.LongTerm = longTerm{LongTerm: next, write: func(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error) {
		ack, err := next.Write(ctx, r)
		mu.Lock()
		defer mu.Unlock()
		kept[ack.ID] = r.Metadata
		return ack, err
	}}
	p.Memories = reader{MemoryReader: memories, get: func(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
		m, err := memories.Get(ctx, id)
		mu.Lock()
		defer mu.Unlock()
		if m.Revision == 1 {
			m.Metadata = kept[id]
		}
		return m, err
	}}
}

// keepsAnswers hands out the same slices again.
func keepsAnswers(p *amber.Parts) {
	var mu sync.Mutex
	cache := map[amber.MemoryID]amber.Memory{}
	memories := p.Memories
	p.Memories = reader{MemoryReader: memories, get: func(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
		m, err := memories.Get(ctx, id)
		mu.Lock()
		defer mu.Unlock()
		if c, ok := cache[id]; ok && c.Revision == m.Revision && err == nil {
			return c, nil
		}
		cache[id] = m
		return m, err
	}}
}

func deletesOnce(p *amber.Parts) {
	next, memories := p.LongTerm, p.Memories
	p.LongTerm = longTerm{LongTerm: next, delete: func(ctx context.Context, id amber.MemoryID) error {
		if _, err := memories.Get(ctx, id); err != nil {
			return err
		}
		return next.Delete(ctx, id)
	}}
}

func erasesByDeleting(p *amber.Parts) {
	next := p.LongTerm
	p.Eraser = eraseFunc(func(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error) {
		return amber.EraseReport{ID: id, Removed: []string{"1 memory"}}, next.Delete(ctx, id)
	})
}
