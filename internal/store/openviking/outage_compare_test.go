package openviking

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// The server carries out a write behind the deletion of its file, when the feeder does not wait for the answer any
// more.
func TestLateWriteIsTakenBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.say("one")
	w.feed()
	uri, text := w.uris()[0], "one"
	w.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	w.say("two")
	_, _ = w.Feed(t.Context(), Budget{})
	w.server.set(nil)
	r := must.Get(w.Erase(t.Context(), m.ID))(t)
	must.Says(t, "remaining", strings.Join(r.Remaining, "\n"), "may yet write the file once more")
	w.now.pass(firstDelay)
	w.feed()
	w.server.files[uri] = text
	must.Equal(t, "unchecked", must.Get(w.Status(t.Context()))(t).Unchecked, true)
	w.feed()
	w.now.pass(compareAfter)
	w.feed()
	w.equal("after the comparison")
	r = must.Get(w.Erase(t.Context(), m.ID))(t)
	must.Hides(t, "remaining", strings.Join(r.Remaining, "\n"), "may yet write")
}

// A server that comes back from a power cut has lost files that it had acknowledged.
func TestFilesThatAServerLostComeBackAfterAnOutage(t *testing.T) {
	t.Parallel()
	for _, force := range []bool{false, true} {
		w := newWorld(t)
		w.say("one")
		w.say("two")
		w.feed()
		w.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
		w.say("three")
		_, _ = w.Feed(t.Context(), Budget{})
		w.server.set(nil)
		delete(w.server.files, w.uris()[0])
		if !force {
			w.now.pass(compareAfter)
		}
		must.Get(w.Feed(t.Context(), Budget{Force: force}))(t)
		w.equal("after the outage")
	}
}
