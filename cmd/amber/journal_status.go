package main

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/journal"
)

// journalState is the JSON of journal status.
type journalState struct {
	Sessions []amber.JournalStatus `json:"sessions"`
	Losses   journal.Losses        `json:"losses"`
	Parked   []parkedState         `json:"parked"` // by restores, generation by generation
	// StoreError says why nobody knows what is drained.
	StoreError string `json:"store_error,omitempty"`
}

func (a *app) journalStatusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show what the journal holds, session by session",
		Long: `Show what the journal holds of every session, read from disk, and how many events could
not be kept at all. Nothing is changed.

Undrained entries wait for "amber journal drain". A gap is tool output that was
dropped for space. Parked entries are those that were not drained before a restore.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := a.openJournal()
			if err != nil {
				return err
			}
			state, err := a.journalState(cmd.Context(), j)
			if err != nil {
				return err
			}
			return a.out.show(state, func(w io.Writer) { a.printJournalState(w, state) })
		},
	}
}

// journalState looks at the disk, and asks the store how far it has come.
func (a *app) journalState(ctx context.Context, j *journal.Journal) (journalState, error) {
	var state journalState
	cursors, err := a.openCursors(ctx)
	if err != nil {
		state.StoreError = err.Error()
	}
	defer cursors.Close()
	if state.Sessions, err = j.List(ctx, func(k journal.Key) (int64, error) { return cursors.of(ctx, j, k) }); err != nil {
		return state, err
	}
	for i, s := range state.Sessions {
		if s.LastSync.IsZero() { // everything is drained and cleared
			state.Sessions[i].LastSync = cursors.lastAt(ctx, j, journal.Key(s.Key))
		}
	}
	if state.Sessions == nil {
		state.Sessions = []amber.JournalStatus{}
	}
	if state.Losses, err = j.Losses(); err != nil {
		return state, err
	}
	state.Parked, err = a.parked(ctx, cursors)
	return state, err
}

// parked returns what restores have parked.
func (a *app) parked(ctx context.Context, c *cursors) ([]parkedState, error) {
	agent, err := a.lookAtAgent()
	if err != nil {
		return nil, err
	}
	loaded, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	var store amber.Ingester
	if c.store != nil {
		store = c.store.Store.Ingest
	}
	states, err := parked(ctx, agent, loaded.Config.Journal, a.clock, store)
	if err != nil && ctx.Err() == nil { // a broken CURRENT; the store has said so already
		return states, nil
	}
	return states, err
}

// cursors tells how far the journal is drained.
type cursors struct {
	store  *opened // nil: there is no store yet, or none that opens
	failed error   // why it does not
}

// openCursors opens the store of an agent that is there; none is made.
func (a *app) openCursors(ctx context.Context) (*cursors, error) {
	agent, err := a.lookAtAgent()
	if err == nil {
		_, err = agent.Current()
	}
	if amber.KindOf(err) == amber.KindNotFound {
		return &cursors{}, nil
	}
	c := &cursors{failed: err}
	if err == nil {
		config, err := a.loadConfig()
		if err != nil {
			return &cursors{failed: err}, err
		}
		if c.store, c.failed = a.look(ctx, config); c.failed != nil {
			c.store = nil
		}
	}
	return c, c.failed
}

// of returns the cursor of a session. Where there is no store nothing was ever
// drained.
func (c *cursors) of(ctx context.Context, j *journal.Journal, key journal.Key) (int64, error) {
	if c.store == nil {
		return 0, c.failed
	}
	return cursorSeq(ctx, j, c.store.Store.Ingest, key)
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

// lastAt returns when the host of a session was last heard of, as the store
// knows.
func (c *cursors) lastAt(ctx context.Context, j *journal.Journal, key journal.Key) amber.Time {
	if c.store == nil {
		return amber.Time{}
	}
	origin, err := j.Origin(key)
	if err != nil {
		return amber.Time{}
	}
	cursor, err := c.store.Store.Ingest.JournalCursor(ctx, origin.Cursor)
	if err != nil {
		return amber.Time{}
	}
	return cursor.LastAt
}

func (c *cursors) Close() error {
	if c.store == nil {
		return nil
	}
	return c.store.Close()
}

func (a *app) printJournalState(w io.Writer, state journalState) {
	if len(state.Sessions) == 0 {
		a.out.note("the journal is empty")
	} else {
		rows := make([][]string, len(state.Sessions))
		for i, s := range state.Sessions {
			rows[i] = []string{
				s.Host, string(s.SessionID), strconv.FormatInt(s.Entries, 10), strconv.FormatInt(s.Undrained, 10),
				a.oldest(s), strconv.FormatInt(s.Bytes, 10), a.out.when(s.LastSync), troubles(s),
			}
		}
		table(w, []string{"HOST", "SESSION", "ENTRIES", "UNDRAINED", "OLDEST", "BYTES", "LAST SYNC", "TROUBLE"}, rows)
	}
	if state.Losses.Count > 0 {
		fmt.Fprintf(w, "%d events could not be kept, the last one %s\n", state.Losses.Count, a.out.when(state.Losses.Last))
	}
	for _, p := range state.Parked {
		fmt.Fprintf(w, "%d entries of generation %d are parked: amber journal drain --from-generation %d\n", p.Entries, p.Generation, p.Generation)
		if p.Error != "" {
			fmt.Fprintf(w, "not all of them can be read: %s\n", oneLine(p.Error, 200))
		}
	}
	if state.StoreError != "" {
		a.out.note("nobody knows what is drained: %s", oneLine(state.StoreError, 400))
	}
}

func (a *app) oldest(s amber.JournalStatus) string {
	if s.Undrained == 0 {
		return "-"
	}
	return a.out.when(s.Oldest)
}

// troubles says what is not as it should be with a session.
func troubles(s amber.JournalStatus) string {
	text := ""
	for _, t := range []struct {
		n    int64
		what string
	}{{s.Damaged, "damaged"}, {s.Quarantined, "quarantined"}, {s.Gaps, "gaps"}} {
		if t.n > 0 {
			text += fmt.Sprintf("%d %s ", t.n, t.what)
		}
	}
	return oneLine(text+s.LastError, 80)
}
