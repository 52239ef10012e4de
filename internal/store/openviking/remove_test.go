package openviking

import (
	"context"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// Everything of the agent goes, and nothing of others, although the files are busy first, and a
// write that was called off arrives after they were deleted.
func TestRemoveGoesOnUntilNothingIsThere(t *testing.T) {
	t.Parallel()
	const other = "viking://user/default/memories/amber/default.coder2/global-0/note/x.md"
	w := newWorld(t)
	w.say("one")
	must.Do(t, w.Remove(t.Context()))
	must.Equal(t, "calls before anything was sent", w.server.count(""), 0)
	w.feed()
	w.server.files[other] = "of somebody else"
	uri, deletions, listings := w.uris()[0], 0, 0
	w.server.set(func(op, _ string, _ int) (error, bool) {
		switch op {
		case "delete":
			if deletions++; deletions == 1 {
				return amber.Errorf(amber.KindBusy, op, "", "the path is busy"), false
			}
		case "list":
			if listings++; listings == 1 {
				w.server.files[uri] = "one"
			}
		}
		return nil, false
	})
	must.Do(t, w.Remove(t.Context()))
	must.Equal(t, "deletions", deletions, 3)
	must.Hold(t, len(w.server.files) == 1 && w.server.files[other] != "", "files are %v", w.server.files)
}

func TestRemoveNamesWhatStays(t *testing.T) {
	t.Parallel()
	const root = "viking://user/default/memories/amber/default.coder"
	var ended error
	w := newWorld(t, func(o *Options) { o.Wait = func(context.Context, time.Duration) error { return ended } })
	w.say("one")
	w.feed()
	fails := func(what string, kind amber.Kind, says string) {
		t.Helper()
		err := w.Remove(t.Context())
		must.Kind(t, what, err, kind)
		must.Says(t, what, err.Error(), root, says)
	}
	w.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	fails("away", amber.KindUnreachable, "connection refused")

	ended = context.DeadlineExceeded
	w.server.set(func(op, _ string, _ int) (error, bool) {
		return amber.Errorf(amber.KindBusy, op, "", "the path is busy"), false
	})
	fails("busy to the end", amber.KindBusy, "busy")
	w.server.set(func(op, uri string, _ int) (error, bool) {
		if op == "list" {
			w.server.files[root+"/x.md"] = "again and again"
		}
		return nil, false
	})
	fails("there to the end", amber.KindBusy, "files are listed")
}
