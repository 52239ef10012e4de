package agent

import (
	"context"
	"errors"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/wire"
)

// Index is what the questions to an agent are answered from.
type Index struct {
	a *Agent
}

// Index returns the index. Errors: unsupported where the store has none, or is not open.
func (a *Agent) Index() (Index, error) {
	if a.core == nil {
		return Index{}, amber.Errorf(amber.KindUnsupported, "use index", "", "no layer of this agent is on SQLite or PostgreSQL")
	}
	return Index{a}, nil
}

// IndexStatus says how far the index is.
func (x Index) IndexStatus(ctx context.Context) (wire.IndexStatus, error) {
	return x.status(ctx, x.a.core.IndexStatus)
}

// IndexBacklog says how many passages there are and what is not in the index yet, without
// reading all of it: segments, tail and vectors are 0.
func (x Index) IndexBacklog(ctx context.Context) (wire.IndexStatus, error) {
	return x.status(ctx, x.a.core.IndexBacklog)
}

func (x Index) status(ctx context.Context, count func(context.Context) (sqlcore.IndexStatus, error)) (wire.IndexStatus, error) {
	s, err := count(ctx)
	if err != nil {
		return wire.IndexStatus{}, err
	}
	if x.a.notes != nil && !x.a.absent {
		s.Waiting += waitingNotes(ctx, x.a.notes, x.a.core)
	}
	return wire.IndexStatus{
		Passages: s.Passages, Segments: s.Segments, Tail: s.Tail, Waiting: s.Waiting, Model: s.Model, Note: modelNote(x.a.config.Search, x.a.o.Home),
		Vectors: s.Vectors, Pending: s.Pending,
	}, nil
}

// SyncIndex brings everything into the index that is not in it yet, and makes vectors until ctx ends or all are
// there. Progress, if it is not nil, is called with how many were made. Pause, if it is not nil, is called
// before each vector that is made in this process; without, they are made on all processors. Vectors that were
// made stay. Errors: those of the model; that of ctx.
func (x Index) SyncIndex(ctx context.Context, progress func(made int), pause func()) error {
	return errors.Join(x.a.FollowNotes(ctx), x.a.core.SyncIndex(ctx, progress, pause))
}

// RebuildIndex makes the index anew of the records, without vectors: SyncIndex makes them.
func (x Index) RebuildIndex(ctx context.Context) error {
	if err := x.a.core.RebuildIndex(ctx); err != nil {
		return err
	}
	return noteIndex(x).renew(ctx)
}

// VerifyIndex compares all of the index with the records. The error is of kind damaged.
func (x Index) VerifyIndex(ctx context.Context) error {
	return errors.Join(x.a.core.VerifyIndex(ctx), noteIndex(x).check(ctx))
}

// CompleteIndex makes the vectors that are missing, until ctx ends. The others are made later: nothing that was
// written depends on them. Errors: those of the model and of the store, not the end of ctx.
func (a *Agent) CompleteIndex(ctx context.Context) error {
	if a.core == nil || a.isReadOnly() || a.absent {
		return nil
	}
	err := errors.Join(a.FollowNotes(ctx), a.core.SyncIndex(ctx, nil, nil))
	if err == nil || ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded) {
		return nil
	}
	return &amber.Error{Op: "complete index", Kind: amber.KindOf(err), Err: err, Hint: "amber index sync"}
}

// SyncWithin makes vectors for what was written, for as long as it may take. A failure is a
// warning.
func (a *Agent) SyncWithin(ctx context.Context, budget time.Duration) {
	within, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	if err := a.CompleteIndex(within); err != nil {
		a.o.Warn("the index is not complete: " + err.Error() + "; amber index sync goes on")
	}
}
