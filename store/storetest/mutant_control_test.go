package storetest_test

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

func controlMutants() []mutant {
	return []mutant{
		{"saves a task over any version", "task/save-compares-versions", true, func(p *amber.Parts) {
			next := p.Tasks
			p.Tasks = taskFunc{next, func(ctx context.Context, t amber.Task, _ int64) (amber.Task, error) { return saveAnyTask(ctx, next, t) }}
		}},
		{"swallows a transition it refuses", "task/transitions", true, func(p *amber.Parts) {
			next := p.Tasks
			p.Tasks = taskFunc{next, func(ctx context.Context, t amber.Task, ifVersion int64) (amber.Task, error) {
				got, err := next.SaveTask(ctx, t, ifVersion)
				if amber.KindOf(err) == amber.KindInvalid && ifVersion > 0 {
					return t, nil
				}
				return got, err
			}}
		}},
		{"keeps the caller's sequence", "event/append-assigns-sequence-and-time", false, func(p *amber.Parts) {
			next := p.Events
			p.Events = eventLog{TaskEvents: next, append: func(ctx context.Context, e amber.TaskEvent) (amber.TaskEvent, error) {
				got, err := next.AppendEvent(ctx, e)
				if e.Seq != 0 {
					got.Seq = e.Seq
				}
				return got, err
			}}
		}},
		{"compacts everything", "event/compaction-keeps-the-last", true, func(p *amber.Parts) {
			next := p.Events
			p.Events = eventLog{TaskEvents: next, compact: func(ctx context.Context, id string, keep int) (amber.ReplaySnapshot, error) {
				return next.CompactEvents(ctx, id, min(keep, 0))
			}}
		}},
		{"decides as often as asked", "approval/decide-once", true, deciding(
			func(ctx context.Context, next amber.Approvals, d amber.ApprovalDecision) (amber.Approval, error) {
				got, err := next.DecideApproval(ctx, d)
				if amber.KindOf(err) == amber.KindConflict {
					return next.Approval(ctx, d.ID)
				}
				return got, err
			})},
		{"decides about another payload", "approval/other-digest-conflicts", true, deciding(
			func(ctx context.Context, next amber.Approvals, d amber.ApprovalDecision) (amber.Approval, error) {
				d.Digest = ""
				return next.DecideApproval(ctx, d)
			})},
		{"takes results under any fence", "result/old-fence-is-refused", true, takesAnyResult},
		{"takes results under fences from nowhere", "result/fence-never-issued-is-refused", true, takesAnyResult},
	}
}

func saveAnyTask(ctx context.Context, next amber.Tasks, t amber.Task) (amber.Task, error) {
	for {
		stored, err := next.Task(ctx, t.ID)
		if err != nil && amber.KindOf(err) != amber.KindNotFound {
			return stored, err
		}
		got, err := next.SaveTask(ctx, t, stored.Version)
		if amber.KindOf(err) != amber.KindConflict {
			return got, err
		}
	}
}

func deciding(f func(ctx context.Context, next amber.Approvals, d amber.ApprovalDecision) (amber.Approval, error)) func(*amber.Parts) {
	return func(p *amber.Parts) {
		next := p.Approvals
		p.Approvals = decideFunc{next, func(ctx context.Context, d amber.ApprovalDecision) (amber.Approval, error) { return f(ctx, next, d) }}
	}
}

// takesAnyResult accepts what it should refuse.
func takesAnyResult(p *amber.Parts) {
	next := p.Results
	p.Results = resultFunc{next, func(ctx context.Context, r amber.Result) (amber.Result, error) {
		got, err := next.SaveResult(ctx, r)
		if amber.KindOf(err) == amber.KindConflict {
			return r, nil
		}
		return got, err
	}}
}

func queueMutants() []mutant {
	return []mutant{
		{"acks under an old lease", "queue/lost-lease-conflicts", true, queueing(func(next amber.Queue) dispatch {
			return dispatch{ack: func(ctx context.Context, l amber.Lease) error {
				if err := next.Ack(ctx, l); amber.KindOf(err) != amber.KindConflict {
					return err
				}
				return nil
			}}
		})},
		{"acks once only", "queue/ack-twice-does-nothing", true, queueing(func(next amber.Queue) dispatch {
			acked := map[string]bool{}
			return dispatch{ack: func(ctx context.Context, l amber.Lease) error {
				if acked[l.Token] {
					return amber.Errorf(amber.KindConflict, "ack entry", l.EntryID, "acked already")
				}
				err := next.Ack(ctx, l)
				acked[l.Token] = err == nil
				return err
			}}
		})},
		{"ignores the priority", "queue/claim-highest-priority-first", true, publishing(func(e *amber.Envelope) { e.Priority = 0 })},
		{"ignores not before", "queue/claim-not-before", true, publishing(func(e *amber.Envelope) { e.NotBefore = amber.Time{} })},
		{"publishes other bytes silently", "queue/publish-other-bytes-conflict", true, queueing(func(next amber.Queue) dispatch {
			return dispatch{publish: func(ctx context.Context, e amber.Envelope) error {
				if err := next.Publish(ctx, e); amber.KindOf(err) != amber.KindConflict {
					return err
				}
				return nil
			}}
		})},
		{"drops what does not fit", "queue/publish-is-bounded", true, queueing(func(next amber.Queue) dispatch {
			return dispatch{publish: func(ctx context.Context, e amber.Envelope) error {
				if err := next.Publish(ctx, e); amber.KindOf(err) != amber.KindQuota {
					return err
				}
				return nil
			}}
		})},
		{"takes full for empty", "queue/claim-empty-and-full-differ", true, queueing(func(next amber.Queue) dispatch {
			return dispatch{claim: func(ctx context.Context, consumerID string) (amber.Claim, error) {
				c, err := next.Claim(ctx, consumerID)
				if errors.Is(err, amber.ErrQueueFull) {
					err = amber.ErrQueueEmpty
				}
				return c, err
			}}
		})},
		{"hands entries out twice", "concurrent/claims-hand-out-each-entry-once", true, queueing(func(next amber.Queue) dispatch {
			return dispatch{claim: func(ctx context.Context, consumerID string) (amber.Claim, error) {
				c, err := next.Claim(ctx, consumerID)
				if err == nil && strings.HasSuffix(c.Envelope.EntryID, "7") && c.Envelope.Attempt == 1 {
					n := amber.Nack{Lease: c.Lease, Reason: "twice", NotBefore: amber.UnixMilli(1)}
					return c, next.Nack(ctx, n)
				}
				return c, err
			}}
		})},
		{"gives out one fence", "queue/fences-grow", true, queueing(func(next amber.Queue) dispatch {
			real := map[string]int64{}
			return dispatch{
				claim: func(ctx context.Context, consumerID string) (amber.Claim, error) {
					c, err := next.Claim(ctx, consumerID)
					real[c.Lease.Token], c.Lease.Fence = c.Lease.Fence, 1
					return c, err
				},
				ack: func(ctx context.Context, l amber.Lease) error {
					l.Fence = real[l.Token]
					return next.Ack(ctx, l)
				},
			}
		})},
		{"drops reasons", "queue/attempts-then-dead", true, nacking(func(n *amber.Nack) { n.Reason = "" })},
		{"does not wait after a nack", "queue/nack-backs-off", true, nacking(func(n *amber.Nack) { n.NotBefore = amber.UnixMilli(1) })},
		{"shortens a lease by renewing", "queue/renew", true, keeping(func(next amber.QueueKeeper) keeper {
			return keeper{renew: func(ctx context.Context, l amber.Lease) (amber.Lease, error) {
				r, err := next.Renew(ctx, l)
				r.ExpiresAt = l.ExpiresAt.Add(-time.Millisecond)
				return r, err
			}}
		})},
		{"renews a lost lease", "queue/lost-lease-conflicts", true, keeping(func(next amber.QueueKeeper) keeper {
			return keeper{renew: func(ctx context.Context, l amber.Lease) (amber.Lease, error) {
				if r, err := next.Renew(ctx, l); amber.KindOf(err) != amber.KindConflict {
					return r, err
				}
				return l, nil
			}}
		})},
		{"counts dead entries as queued", "queue/backpressure", true, keeping(func(next amber.QueueKeeper) keeper {
			return keeper{pressure: func(ctx context.Context) (amber.Backpressure, error) {
				b, err := next.Backpressure(ctx)
				b.Queued += b.Dead
				return b, err
			}}
		})},
	}
}

func queueing(f func(next amber.Queue) dispatch) func(*amber.Parts) {
	return func(p *amber.Parts) {
		d := f(p.Queue)
		d.Queue = p.Queue
		p.Queue = d
	}
}

func publishing(f func(e *amber.Envelope)) func(*amber.Parts) {
	return queueing(func(next amber.Queue) dispatch {
		return dispatch{publish: func(ctx context.Context, e amber.Envelope) error {
			f(&e)
			return next.Publish(ctx, e)
		}}
	})
}

func nacking(f func(n *amber.Nack)) func(*amber.Parts) {
	return queueing(func(next amber.Queue) dispatch {
		return dispatch{nack: func(ctx context.Context, n amber.Nack) error {
			f(&n)
			return next.Nack(ctx, n)
		}}
	})
}

func keeping(f func(next amber.QueueKeeper) keeper) func(*amber.Parts) {
	return func(p *amber.Parts) {
		k := f(p.QueueKeeper)
		k.QueueKeeper = p.QueueKeeper
		p.QueueKeeper = k
	}
}
