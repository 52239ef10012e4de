package agent

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/wire"
)

// JournalState says what the crash journal of an agent holds.
type JournalState struct {
	Sessions []wire.JournalStatus `json:"sessions"`
	Losses   journal.Losses       `json:"losses"`
	Parked   []Parked             `json:"parked"` // by restores, generation by generation
	// StoreError says why it is not known what is drained.
	StoreError string `json:"store_error,omitempty"`
}

// JournalState looks at the disk, and asks the store how far it has come. The agent
// may be closed: its store is then opened to look.
func (a *Agent) JournalState(ctx context.Context) (JournalState, error) {
	var state JournalState
	j, err := a.Journal()
	if err != nil {
		return state, err
	}
	cursors, err := a.Cursors(ctx)
	if err != nil {
		state.StoreError = err.Error()
	}
	defer cursors.Close()
	state.Sessions, err = j.List(ctx, func(k journal.Key) (int64, error) { return cursors.Of(ctx, j, k) })
	if err != nil {
		return state, err
	}
	if cursors.isAway {
		state.StoreError = cursors.failed.Error()
	}
	for i, s := range state.Sessions {
		if s.LastSync.IsZero() { // everything is drained and cleared
			state.Sessions[i].LastSync = cursors.lastAt(ctx, j, journal.Key(s.Key))
		}
	}
	if state.Sessions == nil {
		state.Sessions = []wire.JournalStatus{}
	}
	if state.Losses, err = j.Losses(); err != nil {
		return state, err
	}
	var ingest amber.Ingester
	if cursors.store != nil {
		ingest = cursors.store.Ingest
	}
	if state.Parked, err = (parking{a}).states(ctx, ingest); ctx.Err() == nil {
		err = nil // CURRENT is broken, and StoreError says so
	}
	return state, err
}

// Cursors tell how far the journal is drained.
type Cursors struct {
	store  *amber.Store // nil: there is no store yet, or it does not open
	failed error        // why it does not
	isAway bool         // the server that has the store did not answer
	close  func() error
}

// Cursors asks the store of an agent that is there; none is made. The result is not
// nil, and is closed by the caller, also where there is an error.
func (a *Agent) Cursors(ctx context.Context) (*Cursors, error) {
	if a.open {
		return &Cursors{store: &a.plain}, nil
	}
	var err error
	if !a.config.IsEdge() {
		_, err = a.folder.Current()
	}
	if amber.KindOf(err) == amber.KindNotFound {
		return &Cursors{}, nil
	}
	var open *Agent
	if err == nil {
		open, err = Look(ctx, a.o)
	}
	if err != nil {
		return &Cursors{failed: err}, err
	}
	return &Cursors{store: &open.plain, close: open.Close}, nil
}

// Store is the store; nil where there is none yet.
func (c *Cursors) Store() *amber.Store { return c.store }

// Of returns the cursor of a session: 0 where there is no store, since nothing was ever
// drained.
func (c *Cursors) Of(ctx context.Context, j *journal.Journal, key journal.Key) (int64, error) {
	if c.store == nil {
		return 0, c.failed
	}
	seq, err := cursorSeq(ctx, j, c.store.Ingest, key)
	if c.isAway = amber.KindOf(err) == amber.KindUnreachable; c.isAway {
		c.store, c.failed = nil, err // it is not waited for with every session
	}
	return seq, err
}

// lastAt returns when the host of a session was last heard of, as the store knows.
func (c *Cursors) lastAt(ctx context.Context, j *journal.Journal, key journal.Key) amber.Time {
	if c.store == nil {
		return amber.Time{}
	}
	origin, err := j.Origin(key)
	if err != nil {
		return amber.Time{}
	}
	cursor, err := c.store.Ingest.JournalCursor(ctx, origin.Cursor)
	if err != nil {
		return amber.Time{}
	}
	return cursor.LastAt
}

// Close closes the store.
func (c *Cursors) Close() error {
	if c.close == nil {
		return nil
	}
	return c.close()
}

// cursorSeq asks a store how far a session of the journal is drained.
func cursorSeq(ctx context.Context, j *journal.Journal, store amber.Ingester, key journal.Key) (int64, error) {
	origin, err := j.Origin(key)
	if err != nil {
		return 0, nil // nothing was drained of it; its status says why
	}
	cursor, err := store.JournalCursor(ctx, origin.Cursor)
	return cursor.Seq, err
}
