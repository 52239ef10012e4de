package openviking

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestVerifyFindsAndTheNextFeedMends(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		deep   bool
		damage func(w *world, uri string)
		count  func(v Verification) Names
	}{
		{"missing", false, func(w *world, uri string) { delete(w.server.files, uri) }, func(v Verification) Names { return v.Missing }},
		{"stale", false, func(w *world, uri string) {
			w.server.files[strings.Replace(uri, ".md", "", 1)[:len(uri)-15]+"0123456789ab.md"] = "old"
		}, func(v Verification) Names { return v.Stale }},
		{"no vector", false, func(w *world, uri string) { w.server.blind[uri] = true }, func(v Verification) Names { return v.NoVector }},
		{"torn", true, func(w *world, uri string) { w.server.files[uri] = w.server.files[uri][:5] }, func(v Verification) Names { return v.Torn }},
		{"empty", true, func(w *world, uri string) { w.server.files[uri] = "" }, func(v Verification) Names { return v.Torn }},
	} {
		for _, again := range []bool{true, false} {
			w := newWorld(t)
			for i := range 120 {
				w.say(fmt.Sprint("memory number ", i))
			}
			w.feed()
			v := must.Get(w.Verify(t.Context(), true))(t)
			must.Hold(t, v.Clean() && v.Live == 120 && v.Files == 120 && v.Vectors && v.Behind == 0, "%s: before: %+v", tc.name, v)
			tc.damage(w, w.uris()[17])
			v = must.Get(w.Verify(t.Context(), tc.deep))(t)
			must.Hold(t, tc.count(v).Count == 1 && !v.Clean() && v.Noted, "%s: got %+v", tc.name, v)
			if again {
				w.open() // the one who mends is another process
			}
			w.feed()
			w.equal(tc.name)
			v = must.Get(w.Verify(t.Context(), true))(t)
			must.Hold(t, v.Clean(), "%s: after: %+v", tc.name, v)
		}
	}
}

func TestVerifyReportsStrangeNamesAndLeavesThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("a memory")
	w.feed()
	strange := folderOf(w.uris()[0]) + "/note.md"
	w.server.files[strange] = "somebody's note"
	w.server.files[folderOf(strange)+"/.overview.md"] = "the server's own"
	v := must.Get(w.Verify(t.Context(), true))(t)
	must.Equal(t, "strange", v.Strange, Names{1, []string{strange}})
	must.Hold(t, v.Missing.Count+v.Stale.Count+v.Torn.Count == 0, "got %+v", v)
	w.feed()
	must.Hold(t, w.server.files[strange] != "", "a note of somebody is gone")
}

func TestVerifyForgetsNothingThatAnotherFound(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(5)
	w.feed()
	uris := w.uris()
	for i, deep := range []bool{true, false} {
		w.server.files[uris[i]] = ""
		w.server.blind[uris[2+i]] = true
		v := must.Get(w.Verify(t.Context(), deep))(t)
		must.Hold(t, v.Noted && (v.Torn.Count == 1) == deep, "deep %t: got %+v", deep, v)
	}
	w.feed()
	v := must.Get(w.Verify(t.Context(), true))(t)
	must.Equal(t, "torn", v.Torn.First, uris[1:2]) // that one was never looked at
}

func TestVerifySaysWhenNotAllIsNoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(maxRewrite + 1)
	w.feed()
	for uri := range w.server.files {
		w.server.files[uri] = ""
	}
	for _, left := range []int{maxRewrite + 1, 1} {
		v := must.Get(w.Verify(t.Context(), true))(t)
		must.Hold(t, v.Torn.Count == left && v.Noted == (left == 1), "noted is %t with %d torn files, want %d", v.Noted, v.Torn.Count, left)
		w.feed()
	}
	v := must.Get(w.Verify(t.Context(), true))(t)
	must.Hold(t, v.Clean(), "%d files are still torn", v.Torn.Count)
}

func TestVerifyWhileAFeederIsAtWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("a memory")
	w.feed()
	clear(w.server.files)
	w.feeding.Lock()
	v := must.Get(w.Verify(t.Context(), false))(t)
	w.feeding.Unlock()
	must.Hold(t, v.Missing.Count == 1 && !v.Noted, "got %+v", v)
	must.Hold(t, must.Get(w.Verify(t.Context(), false))(t).Noted, "not noted without a feeder")
}

func TestRebuildBeginsAnew(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(30)
	w.say("UNSPEAKABLE")
	w.feed()
	w.server.files[folderOf(w.uris()[0])+"/note.md"] = "strange"
	r := must.Get(w.Rebuild(t.Context()))(t)
	must.Hold(t, r.Done && r.Written == 30 && r.Quarantined == 1, "got %+v", r)
	must.Equal(t, "files", len(w.server.files), 30)
	st := must.Get(w.Status(t.Context()))(t)
	must.Hold(t, len(st.Quarantined) == 1 && st.Behind == 0, "got %+v", st)
}

func TestRebuildThatIsCutShortGoesOn(t *testing.T) {
	t.Parallel()
	for n := 1; n < 8; n++ {
		w := newWorld(t)
		w.say("a memory")
		w.feed()
		w.server.set(func(op, _ string, call int) (error, bool) {
			if call >= n {
				return unreachable(op), true
			}
			return nil, false
		})
		_, _ = w.Rebuild(t.Context())
		w.server.set(nil)
		w.open()
		must.Get(w.Feed(t.Context(), Budget{Force: true}))(t)
		w.equal(fmt.Sprint("after call ", n))
	}
}

func TestProbeTriesTheServerAndLeavesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("a memory")
	w.feed()
	names := func(steps []Step) (said string) {
		for _, s := range steps {
			said += s.Name + " "
			if s.Err != nil {
				said += "(" + s.Err.Error() + ") "
			}
		}
		return said
	}
	must.Equal(t, "probe", names(w.Probe(t.Context())), "health write find delete ")
	w.equal("after a probe")
	w.server.deaf = true
	must.Says(t, "no vectors", names(w.Probe(t.Context())), "find (", "not among")
	w.equal("after a probe that failed")
	w.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	w.forgetVersion()
	must.Equal(t, "away", names(w.Probe(t.Context())), "health (health: connection refused) ")
}

func TestCalibrationTellsPairsFromOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 20 {
		w.write(amber.WriteRequest{Title: fmt.Sprintf("title%02d", i), Content: fmt.Sprint("content ", i)})
	}
	w.feed()
	c := must.Get(w.Calibrate(t.Context()))(t)
	must.Hold(t, c.Known.Count == 20 && c.Others.Count == 20*19 && c.Lost == 0, "got %+v", c)
	must.Hold(t, c.Known.P10 == 1 && c.Others.P90 == 0.5 && c.MinScore == 0.75, "got %+v", c)
	w.server.rank = func(text, uri, content string) float64 { // as a model that finds everything a little alike
		if strings.Contains(content, text) {
			return 0.9
		}
		return 0.5 + float64(uri[len(uri)-len(".md")-1]%10)/50
	}
	c = must.Get(w.Calibrate(t.Context()))(t)
	must.Hold(t, c.MinScore == c.Others.Median && c.Others.Min < c.MinScore && c.MinScore < c.Others.P90, "got %+v", c)
	w.server.rank = near
	must.Equal(t, "min score", must.Get(w.Calibrate(t.Context()))(t).MinScore, 0)
	empty := newWorld(t)
	must.Equal(t, "empty", must.Get(empty.Calibrate(t.Context()))(t), Calibration{})
}
