package snapshot

import (
	"context"
	"errors"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// instant is an agent as it was at one moment, held while it is captured.
type instant struct {
	at        amber.Time
	current   home.Current
	databases []wire.FrozenDatabase
	lost      map[string]error // databases that cannot be opened
	refs      gitobj.Refs
	git       bool // there is a repository
	unpin     func() error
	notes     *folder
	state     *folder
	spool     *spool
	borrowed  bool          // the journal is held by the caller
	fence     time.Duration // how long the writers stood still
	skipped   []wire.Skipped
}

// close lets go of everything. It may be called on a nil instant.
func (i *instant) close() error {
	if i == nil {
		return nil
	}
	var errs []error
	for _, d := range i.databases {
		errs = append(errs, d.Close())
	}
	i.databases = nil
	if i.unpin != nil {
		errs = append(errs, i.unpin())
		i.unpin = nil
	}
	return errors.Join(append(errs, i.letDrain())...)
}

// letDrain lets the journal be drained again.
func (i *instant) letDrain() error {
	if i.spool == nil || i.borrowed {
		return nil
	}
	err := i.spool.close()
	i.spool = nil
	return err
}

// under says what keeps others away while an agent is frozen.
type under struct {
	// fence keeps the writers out: [home.Agent.Exclusive], or nothing for a
	// caller that does so already.
	fence func(ctx context.Context, fn func(home.Current) error) error
	// spool is the journal of a caller that holds it already; nil takes it.
	spool *spool
	// state is what a copy was made of; nil where the folder is the agent.
	state *Refreshed
}

// held is for a caller that has the exclusive lock: nothing may be opened any
// more that might wait for it.
func held(c home.Current, spool *spool) under {
	return under{fence: func(_ context.Context, fn func(home.Current) error) error { return fn(c) }, spool: spool}
}

// freeze prepares at leisure, then stops the writers for as long as it takes
// to look at everything once. The caller closes the instant.
func (e *Engine) freeze(ctx context.Context, agent *home.Agent, rep *repository, w *repo.Writer, u under, last *instant) (*instant, error) {
	c, err := agent.Current()
	if err != nil {
		return nil, err
	}
	i := &instant{spool: u.spool, borrowed: u.spool != nil}
	if !i.borrowed {
		if i.spool, err = e.holdSpool(ctx, agent); err != nil {
			return nil, err
		}
	}
	err = i.prepare(ctx, e, agent, c, rep, w, last)
	if err == nil {
		err = u.fence(ctx, func(c home.Current) error {
			began := e.o.Clock()
			err := i.stop(ctx, e, agent.GenDir(c), c, w)
			i.fence = e.o.Clock().Sub(began)
			return err
		})
	}
	if err == nil {
		err = i.pin(e)
	}
	if err != nil {
		return nil, errors.Join(err, i.close())
	}
	return i, nil
}

// prepare does what need not be done while the writers wait.
func (i *instant) prepare(ctx context.Context, e *Engine, agent *home.Agent, c home.Current, rep *repository, w *repo.Writer, last *instant) error {
	p := places(agent.GenDir(c))
	now := e.o.Clock()
	i.notes = &folder{fs: e.o.FS, part: wire.PartNotes, root: p.Notes, skip: notTemporary, known: map[string]record{}, cached: e.book.loadRecords(agent, "notes"+rep.KeyID())}
	i.state = &folder{fs: e.o.FS, part: wire.PartState, root: p.State, skip: notTemporary, known: map[string]record{}, cached: e.book.loadRecords(agent, "state"+rep.KeyID())}
	if last != nil && last.notes.root == i.notes.root {
		i.notes.known, i.state.known = last.notes.known, last.state.known
	}
	for _, f := range []*folder{i.notes, i.state} {
		if err := f.warm(ctx, w, rep.Has, now); err != nil {
			return err
		}
	}
	return nil
}

// stop is the fence itself: everything in here costs the writers time.
func (i *instant) stop(ctx context.Context, e *Engine, dir string, c home.Current, w *repo.Writer) (err error) {
	now := e.o.Clock()
	i.at, i.current = amber.At(now), c
	if i.databases, i.lost, err = e.freezeDatabases(ctx, dir); err != nil {
		return err
	}
	if err := i.readRefs(e); err != nil {
		return err
	}
	for _, f := range []*folder{i.notes, i.state} {
		if err := f.freeze(ctx, w, now); err != nil {
			return err
		}
	}
	return i.spool.Mark(ctx)
}

// readRefs notes where the history of the notes stands. A repository that
// cannot be read does not keep the notes themselves from being captured.
func (i *instant) readRefs(e *Engine) (err error) {
	i.refs, i.git, err = gitobj.ReadRefs(e.o.FS, i.notes.root)
	if why := unfit(err); why != "" {
		i.git = false
		i.skipped = append(i.skipped, wire.Skipped{Part: partGit, Path: ".git", Reason: why, Detail: err.Error()})
		return nil
	}
	return err
}

// unfit says why a history is skipped; "" when the error is no matter of the
// history.
func unfit(err error) string {
	switch amber.KindOf(err) {
	case amber.KindDamaged:
		return wire.SkipUnreadable
	case amber.KindUnsupported:
		return wire.SkipUnsupported
	case amber.KindQuota:
		return wire.SkipTooLarge
	}
	return ""
}

// pin keeps the history from being collected while it is captured. It syncs, so
// it comes behind the fence: Amber itself never collects objects.
func (i *instant) pin(e *Engine) (err error) {
	if i.git && i.refs.OID != "" {
		i.unpin, err = gitobj.Pin(e.o.FS, i.notes.root, pinName, i.refs.OID)
	}
	return err
}

// pinName names the pin; there is one snapshot of an agent at a time.
const pinName = "capture"
