package openviking

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestMoreBusyFilesThanCanBeNoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(maxRewrite + 50)
	w.server.busy = func(string) bool { return true }
	must.Get(w.Feed(t.Context(), Budget{}))(t)
	w.server.busy = nil
	for range 5 {
		w.now.pass(time.Hour)
		must.Get(w.Feed(t.Context(), Budget{}))(t)
	}
	must.Equal(t, "files", len(w.server.files), maxRewrite+50)
}

func TestOldVersionThatWasBusyIsFoundLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.say("the first text")
	w.feed()
	old := w.uris()[0]
	w.open()
	for i := range 6 {
		w.edit(m.ID, fmt.Sprint("text ", i))
	}
	w.server.busy = func(uri string) bool { return uri == old }
	must.Get(w.Feed(t.Context(), Budget{}))(t)
	w.server.busy = nil
	for range 3 {
		w.now.pass(time.Hour)
		w.feed()
	}
	must.Do(t, w.Delete(t.Context(), m.ID))
	w.feed()
	w.equal("after the deletion")
}

func TestShortFeedDoesNotWaitForBusyFilesEachTime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.say("busy one")
	w.feed()
	old := w.uris()[0]
	w.edit(m.ID, "busy one, changed")
	w.server.busy = func(uri string) bool { return uri == old }
	for i := range 4 {
		w.server.set(nil)
		r := must.Get(w.Feed(t.Context(), Budget{Time: 5 * time.Second}))(t)
		must.Hold(t, i == 0 || r.Again > 0, "feed %d is to be repeated at once", i)
		w.now.pass(time.Second)
	}
}

func TestClockThatWasSetBackDoesNotStopFeeding(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("one")
	w.feed()
	w.now.pass(240 * time.Hour) // a wrong clock
	w.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	w.say("two")
	_, _ = w.Feed(t.Context(), Budget{})
	w.server.set(nil)
	w.now.pass(-240 * time.Hour)
	for range 100 {
		w.now.pass(lastDelay)
		_, _ = w.Feed(t.Context(), Budget{})
	}
	w.equal("eight hours later")
}

// A feed whose caller gives up while a write is under way notes no doubt.
func TestWriteThatTheCallerGaveUpIsLookedAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("one")
	w.feed()
	m := w.say("the launch code is 0000")
	ctx, cancel := context.WithCancel(t.Context())
	w.at("batch", func() error {
		cancel()
		return unreachable("batch")
	})
	_, _ = w.Feed(ctx, Budget{})
	w.server.set(nil)
	uri := ""
	for _, u := range w.uris() {
		if strings.Contains(u, string(m.ID)) {
			uri = u
		}
	}
	must.Get(w.Erase(t.Context(), m.ID))(t)
	w.feed()
	w.server.files[uri] = "the launch code is 0000" // the request that was given up comes through
	for range 5 {
		w.now.pass(time.Hour)
		w.feed()
	}
	w.equal("hours later")
}

// The daemon feeds after an outage, with nothing to write.
func TestFeedAfterAnOutageSaysWhenToLook(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("one")
	w.feed()
	w.now.pass(testedFor)
	w.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	_, err := w.Feed(t.Context(), Budget{Time: 5 * time.Second})
	must.Kind(t, "feed", err, amber.KindUnreachable)
	w.server.set(nil)
	w.now.pass(firstDelay)
	r := must.Get(w.Feed(t.Context(), Budget{Time: 5 * time.Second}))(t)
	st := must.Get(w.Status(t.Context()))(t)
	must.Hold(t, st.Unchecked && r.Look > 0, "nothing tells when to feed again: %+v", r)
}
