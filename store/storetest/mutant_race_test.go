package storetest_test

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/amber-memory/amber"
)

// raceMutants look before they act, and let others act in between. Called by
// one at a time they keep every promise.
func raceMutants() []mutant {
	return []mutant{
		{"looks at the version of a task, then saves", "concurrent/tasks", false, func(p *amber.Parts) {
			next := p.Tasks
			p.Tasks = taskFunc{next, func(ctx context.Context, t amber.Task, ifVersion int64) (amber.Task, error) {
				if stored, err := next.Task(ctx, t.ID); err == nil && stored.Version != ifVersion {
					return next.SaveTask(ctx, t, ifVersion)
				}
				letOthersIn()
				return saveAnyTask(ctx, next, t)
			}}
		}},
		{"looks at the version of a state, then saves", "concurrent/states", false, func(p *amber.Parts) {
			next := p.States
			p.States = stateFunc{next, func(ctx context.Context, id amber.SessionID, doc json.RawMessage, ifVersion int64) (amber.SessionState, error) {
				if stored, err := next.LoadState(ctx, id); err == nil && stored.Version != ifVersion {
					return next.SaveState(ctx, id, doc, ifVersion)
				}
				letOthersIn()
				return saveAnyState(ctx, next, id, doc)
			}}
		}},
		{"looks at the revision, then edits", "concurrent/edits-of-one-revision", false, func(p *amber.Parts) {
			next, memories := p.Editor, p.Memories
			p.Editor = editFunc(func(ctx context.Context, r amber.EditRequest) (amber.Memory, error) {
				if m, err := memories.Get(ctx, r.ID); err == nil && m.Revision == r.IfRevision {
					letOthersIn()
					r.IfRevision = 0
				}
				return next.Edit(ctx, r)
			})
		}},
		{"looks whether it is decided, then decides", "approval/decide-once-of-eight-at-once", false, deciding(
			func(ctx context.Context, next amber.Approvals, d amber.ApprovalDecision) (amber.Approval, error) {
				a, err := next.Approval(ctx, d.ID)
				if err != nil || a.Status != amber.ApprovalPending || d.Digest != "" {
					return next.DecideApproval(ctx, d)
				}
				letOthersIn()
				got, err := next.DecideApproval(ctx, d)
				if amber.KindOf(err) == amber.KindConflict {
					return next.Approval(ctx, d.ID)
				}
				return got, err
			})},
		{"looks for the key, then writes", "concurrent/one-idempotency-key-one-answer", false, looksForKey},
		{"looks for an equal memory, then writes", "concurrent/equal-memories-are-stored-once", false, looksForEqual},
		{"looks for the turn, then appends", "concurrent/turns", false, func(p *amber.Parts) {
			next := p.Turns
			p.Turns = turnLog{Turns: next, append: func(ctx context.Context, t amber.Turn) (amber.Turn, error) {
				all, err := amber.LastTurns(ctx, next, t.SessionID, 1000)
				if err != nil {
					return t, err
				}
				for _, stored := range all {
					if stored.ID == t.ID {
						return stored, nil
					}
				}
				letOthersIn()
				if got, err := next.AppendTurn(ctx, t); err != nil || got.Content == t.Content {
					return got, err
				}
				t.ID = ""
				return next.AppendTurn(ctx, t)
			}}
		}},
	}
}

// letOthersIn gives every other goroutine time to come as far. How long they
// need is the scheduler's, so a mutant may get away with it now and then.
func letOthersIn() { time.Sleep(2 * time.Millisecond) }

func looksForKey(p *amber.Parts) {
	var mu sync.Mutex
	answers := map[string]amber.WriteAck{}
	writing(func(ctx context.Context, next amber.LongTerm, r amber.WriteRequest) (amber.WriteAck, error) {
		key := r.IdempotencyKey
		if key == "" {
			return next.Write(ctx, r)
		}
		mu.Lock()
		ack, known := answers[key]
		mu.Unlock()
		if known {
			return ack, nil
		}
		letOthersIn()
		r.IdempotencyKey = ""
		ack, err := next.Write(ctx, r)
		mu.Lock()
		defer mu.Unlock()
		answers[key] = ack
		return ack, err
	})(p)
}

// looksForEqual says that a memory is new when it saw no equal one before it
// wrote.
func looksForEqual(p *amber.Parts) {
	next, memories := p.LongTerm, p.Memories
	p.LongTerm = longTerm{LongTerm: next, write: func(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error) {
		page, err := memories.List(ctx, amber.ListQuery{All: true, Limit: amber.MaxPageSize})
		if err != nil {
			return amber.WriteAck{}, err
		}
		for _, m := range page.Items {
			if m.Content == r.Content {
				return next.Write(ctx, r)
			}
		}
		letOthersIn()
		ack, err := next.Write(ctx, r)
		ack.Deduplicated = false
		return ack, err
	}}
}
