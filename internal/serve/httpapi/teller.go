package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/op"
)

// teller writes one event stream. It holds no agent, so that listeners keep none
// open, and it reads a change log only where the feed does not reach back to its
// place.
type teller struct {
	api    *API
	w      http.ResponseWriter
	rc     *http.ResponseController
	who    op.Caller
	job    server.Job
	at     place
	feed   *server.Feed
	leave  func() // lets go of the feed
	behind bool   // something could not be told yet
	whole  bool   // the caller may see the whole agent
}

// run sends events until ctx ends, or the reader is too slow.
func (t *teller) run(ctx context.Context) error {
	heard, lost, stop := t.listen(ctx)
	defer stop()
	t.headers()
	poll, beat := time.NewTicker(t.api.pace.poll), time.NewTicker(t.api.pace.beat)
	defer poll.Stop()
	defer beat.Stop()
	news := t.feed.News()
	err := t.catchUp(ctx)
	for err == nil {
		select {
		case <-ctx.Done():
			return nil
		case err = <-lost: // the reader comes back, and knows where it was
		case e := <-heard:
			err = t.tell(e)
		case <-beat.C:
			err = t.write(": \n\n")
		case <-news:
			news = t.feed.News()
			if err = t.catchUp(ctx); err == nil && amber.KindOf(t.feed.Err()) != amber.KindBusy {
				err = t.feed.Err()
			}
		case <-poll.C:
			if t.behind {
				err = t.catchUp(ctx)
			}
		}
	}
	return err
}

// listen hears what happens in this process until stop is called, which waits
// for that. Lost has an element once something was left out.
func (t *teller) listen(ctx context.Context) (heard <-chan events.Event, lost <-chan error, stop func()) {
	l := t.api.o.Listener
	if l == nil || !t.whole { // snapshots are of the whole agent
		return nil, nil, func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	queue, broken, over := make(chan events.Event, streamQueue), make(chan error, 1), make(chan struct{})
	fail := func(err error) {
		select {
		case broken <- err:
		default: // the first reason will do
		}
	}
	go func() {
		defer close(over)
		err := l.Listen(ctx, t.job.Tenant, t.job.Agent, func(e events.Event) {
			select {
			case queue <- e:
			default:
				fail(errSlow)
			}
		})
		switch {
		case amber.KindOf(err) == amber.KindBusy:
			fail(fmt.Errorf("%w: %w", errSlow, err))
		case err != nil:
			fail(err)
		}
	}()
	return queue, broken, func() { cancel(); <-over }
}

// begin finds the place to begin at, and whether the agent is there. A place in
// a history that a restore has replaced shows with the first look.
func (t *teller) begin(ctx context.Context) error {
	return t.look(ctx, func(ctx context.Context, ag *op.Agent) (err error) {
		if t.feed, t.leave, err = t.api.o.Feeds.Join(ctx, ag); err != nil {
			return err
		}
		if t.at == (place{}) {
			t.at.memory, _ = t.feed.Memory.Head()
			t.at.control, _ = t.feed.Control.Head()
		}
		return nil
	})
}

// look calls fn with the agent, for a moment.
func (t *teller) look(ctx context.Context, fn func(ctx context.Context, ag *op.Agent) error) error {
	return t.api.o.Desk.Do(ctx, t.who, t.job, func(ctx context.Context, c *op.Call) error { return fn(ctx, c.Agent) })
}

func (t *teller) headers() {
	h := t.w.Header()
	h.Set("Content-Type", typeEvents)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Accel-Buffering", "no")
	t.w.WriteHeader(http.StatusOK)
	_ = t.rc.Flush() // an error shows with the first event
}

// catchUp sends the changes that the change logs hold after the place of the stream. While changes are switched
// off, or too many agents are in use, it leaves the stream behind, and a later round tries again.
func (t *teller) catchUp(ctx context.Context) error {
	if off := t.api.o.MutationsOff; off != nil && off() {
		t.behind = true
		return nil
	}
	err := t.follow(ctx, &t.feed.Memory, func(ag *op.Agent) amber.ChangeLog { return ag.Store.Changes }, &t.at.memory)
	if err == nil {
		err = t.follow(ctx, &t.feed.Control, func(ag *op.Agent) amber.ChangeLog { return ag.Store.ControlChanges }, &t.at.control)
	}
	if t.behind = amber.KindOf(err) == amber.KindBusy; t.behind {
		return nil
	}
	return err
}

func (t *teller) follow(ctx context.Context, tail *events.Tail, log func(*op.Agent) amber.ChangeLog, at *amber.Position) error {
	for {
		changes, found := tail.Changes(*at, streamBatch)
		if !found {
			var restored bool
			var err error
			if changes, restored, err = t.read(ctx, log, at); err != nil {
				return err
			}
			if restored {
				return t.write("event: restored\nid: " + t.at.String() + "\ndata: {}\n\n")
			}
		}
		shown, err := t.shown(ctx, changes)
		if err != nil {
			return err
		}
		for _, c := range changes {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			*at = c.Position
			if !shown[c.Position] {
				continue
			}
			if err := t.tell(events.MutationEvent(t.api.o.MutationPrefix, t.job.Tenant, t.job.Agent, c)); err != nil {
				return err
			}
		}
		if len(changes) < streamBatch {
			return nil
		}
	}
}

// shown are the positions of the changes that the caller may see.
func (t *teller) shown(ctx context.Context, changes []amber.Change) (map[amber.Position]bool, error) {
	shown := map[amber.Position]bool{}
	mark := func(list []amber.Change) {
		for _, c := range list {
			shown[c.Position] = true
		}
	}
	if t.whole || len(changes) == 0 {
		mark(changes)
		return shown, nil
	}
	err := t.look(ctx, func(ctx context.Context, ag *op.Agent) error {
		own, err := ag.Shows(ctx, changes)
		mark(own)
		return err
	})
	return shown, err
}

// read reads what a log holds after a position. Where a restore has replaced the history of that position, read
// moves the position to the end of the log: the stream does not send again what came before.
func (t *teller) read(ctx context.Context, log func(*op.Agent) amber.ChangeLog, at *amber.Position) (changes []amber.Change, restored bool, err error) {
	err = t.look(ctx, func(ctx context.Context, ag *op.Agent) (err error) {
		changes, err = log(ag).Changes(ctx, *at, streamBatch)
		switch amber.KindOf(err) {
		case amber.KindUnsupported:
			return nil
		case amber.KindConflict:
			restored = true
			*at, err = log(ag).Head(ctx)
		}
		return err
	})
	return changes, restored, err
}

func (t *teller) tell(e events.Event) error {
	b, err := marshal(e)
	if err != nil {
		return err
	}
	return t.write("event: " + string(e.Name) + "\nid: " + t.at.String() + "\ndata: " + strings.TrimSuffix(string(b), "\n") + "\n\n")
}

// write sends a piece; a caller that does not read is cut off.
func (t *teller) write(s string) error {
	defer hurry(t.w, t.api.pace.beat)()
	_, err := t.w.Write([]byte(s))
	if err = errors.Join(err, t.rc.Flush()); err != nil {
		return gone(err)
	}
	return nil
}
