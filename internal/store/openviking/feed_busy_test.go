package openviking

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

// A file whose vector cannot be made for a long time is busy as long. Others do not wait for it.
func TestBusyFilesHoldUpNoOthers(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"delete", "batch"} {
		w := newWorld(t)
		m := w.say("busy one")
		w.say("two")
		w.feed()
		w.edit(m.ID, "busy one, changed")
		old := w.uris()[slices.IndexFunc(w.uris(), func(uri string) bool { return strings.Contains(uri, string(m.ID)) })]
		w.server.busy = func(uri string) bool {
			return strings.Contains(uri, string(m.ID)) && (uri == old) == (op == "delete")
		}
		w.server.set(nil)
		w.say("three")
		for range 2 {
			r := must.Get(w.Feed(t.Context(), Budget{}))(t)
			must.Hold(t, !r.Done && r.Again > 0, "%s: report is %+v", op, r)
		}
		must.Hold(t, slices.ContainsFunc(slices.Collect(maps.Values(w.server.files)), func(text string) bool { return strings.HasPrefix(text, "three") }), "%s: others wait", op)
		st := must.Get(w.Status(t.Context()))(t)
		must.Hold(t, st.Behind == 0 && st.RetryAt.IsZero() && st.Busy == 1, "%s: status is %+v", op, st)
		before := w.server.count(op)
		must.Get(w.Feed(t.Context(), Budget{}))(t)
		must.Equal(t, op+": calls before the next attempt", w.server.count(op), before)
		w.server.busy = nil
		w.now.pass(lastDelay)
		w.feed()
		w.equal("after " + op)
		must.Equal(t, "busy", must.Get(w.Status(t.Context()))(t).Busy, 0)
	}
}
