package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/journal"
	"github.com/amber-memory/amber/journal/drain"
	"github.com/amber-memory/amber/snapshot"
	"github.com/amber-memory/amber/store/sqlite"
)

// spool is the crash journal of agents.
type spool struct {
	fs    fsx.FS
	clock amber.Clock
	store sqlite.Options
	wait  time.Duration // for whoever drains
}

// Hold holds the journal of an agent. Where its store cannot be opened nobody
// knows what was drained: then only what was cleared counts as drained, and
// whoever drains the other entries again finds by their ids what is there
// already.
func (s spool) Hold(ctx context.Context, agent *home.Agent) (snapshot.SpoolHold, error) {
	j, err := journal.Open(agent.SpoolDir(), journal.Options{Clock: s.clock, FS: s.fs, Wait: s.wait})
	if err != nil {
		return nil, err
	}
	h := &hold{}
	var cursors amber.Ingester
	h.store, err = sqlite.Open(ctx, agent, s.store)
	switch {
	case err == nil:
		cursors = h.store
	case amber.KindOf(err) != amber.KindDamaged && amber.KindOf(err) != amber.KindConflict: // of an older schema
		return nil, err
	}
	if h.view, err = drain.NewSpool(j, cursors).Hold(ctx); err != nil {
		return nil, errors.Join(err, h.closeStore())
	}
	return h, nil
}

// hold is a journal while nobody drains it.
type hold struct {
	store *sqlite.Store // nil when it cannot be opened
	view  *drain.View
}

func (h *hold) Mark(ctx context.Context) error { return h.view.Mark(ctx) }

func (h *hold) Frames(ctx context.Context, fn func(snapshot.Mark, io.Reader) error) error {
	return h.view.Frames(ctx, func(m drain.Mark, r io.Reader) error { return fn(snapshot.Mark(m), r) })
}

func (h *hold) Unread() map[string]string {
	unread := map[string]string{}
	for key, why := range h.view.Unread() {
		unread[string(key)] = why
	}
	return unread
}

func (h *hold) Park(ctx context.Context, dir string, covered map[string]int64) (snapshot.Parked, error) {
	report, err := h.view.Park(ctx, dir, covered)
	p := snapshot.Parked{Frames: report.Frames, Cursors: report.Floors}
	for _, key := range slices.Sorted(maps.Keys(report.Failed)) {
		p.Warnings = append(p.Warnings, fmt.Sprintf("session %s of the journal could not be parked and stays where it is: %s", key, report.Failed[key]))
	}
	return p, err
}

func (h *hold) Close() error { return errors.Join(h.view.Close(), h.closeStore()) }

func (h *hold) closeStore() error {
	if h.store == nil {
		return nil
	}
	return h.store.Close()
}
