package openviking

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestFeedFollowsWritesEditsDeletesAndErasures(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		next func(*world) // between feeds
	}{
		{"same process", func(*world) {}},
		{"new process", func(w *world) { w.open() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ctx := t.Context()
			kept, edited, deleted, erased := w.say("kept"), w.say("edited"), w.say("deleted"), w.say("erased")
			w.feed()
			w.equal("first feed")
			tc.next(w)
			w.edit(edited.ID, "edited once")
			w.edit(edited.ID, "edited twice")
			must.Do(t, w.Delete(ctx, deleted.ID))
			must.Get(w.primary.Erase(ctx, erased.ID))(t) // past the composite: the log alone tells
			born := w.say("born and gone")
			must.Do(t, w.Delete(ctx, born.ID))
			kind := amber.Constraint
			must.Get(w.primary.Edit(ctx, amber.EditRequest{ID: kept.ID, Kind: &kind}))(t)
			w.feed()
			w.equal("second feed")
			tc.next(w)
			w.server.set(nil)
			w.feed()
			must.Equal(t, "writes of a feed without changes", w.server.count("batch")+w.server.count("delete")+w.server.count("mkdir"), 0)
		})
	}
}

// A batch costs the server as much as many files do, so it holds files of all folders.
func TestFeedTakesManyMemoriesInBatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	kinds, projects := amber.MemoryKinds(), []string{"p", "q", "r"}
	for _, what := range []string{"by comparison", "by the log"} {
		for i := range 450 {
			w.write(amber.WriteRequest{
				Content: fmt.Sprint(what, i), Kind: kinds[i%len(kinds)], Scope: amber.ScopeProject,
				Identities: amber.Identities{ProjectID: projects[i%len(projects)]},
			})
		}
		w.server.set(nil)
		must.Equal(t, "written "+what, w.feed().Written, 450)
		w.equal(what)
		must.Equal(t, "batches and deletions "+what, []int{w.server.count("batch"), w.server.count("delete")}, []int{3, 0})
	}
	must.Equal(t, "folders that were made for the second feed", w.server.count("mkdir"), 0)
}

func TestLargeBodiesAreSentInSeveralBatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, what := range []string{"by comparison", "by the log"} {
		for i := range 20 {
			w.say(what + strings.Repeat(fmt.Sprint(i%10, "&"), 450_000+i))
		}
		w.feed()
		w.equal(what)
	}
}

// TestFeedAfterACrashAtEveryCall fails at each call of a feed, before or after the server did its
// work, and feeds again, in the same process or in a new one.
func TestFeedAfterACrashAtEveryCall(t *testing.T) {
	t.Parallel()
	for mode := range 8 {
		first, after, again := mode&1 == 0, mode&2 == 0, mode&4 == 0
		for n := 1; ; n++ {
			if !crashAt(t, n, first, after, again) {
				must.Hold(t, n > 6, "only %d calls were tried", n)
				break
			}
		}
	}
}

// crashAt reports whether there is an nth call.
func crashAt(t *testing.T, n int, first, after, again bool) (failed bool) {
	t.Helper()
	w := newWorld(t)
	edited, deleted := w.say("edited"), w.say("deleted")
	if !first {
		w.feed()
		w.open()
	}
	w.edit(edited.ID, "edited since")
	must.Do(t, w.Delete(t.Context(), deleted.ID))
	w.write(amber.WriteRequest{Content: "of a project", Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "p"}})
	w.server.set(func(op, _ string, call int) (error, bool) {
		if call < n {
			return nil, false
		}
		failed = true
		return unreachable(op), after
	})
	_, err := w.Feed(t.Context(), Budget{})
	if failed {
		must.Kind(t, fmt.Sprint("call ", n), err, amber.KindUnreachable)
	}
	w.server.set(nil)
	w.edit(edited.ID, "edited after the crash")
	if again {
		w.open()
	}
	w.now.pass(time.Hour)
	w.feed()
	w.equal(fmt.Sprintf("after a crash at call %d (first %t, after %t)", n, first, after))
	return failed
}

func TestFeedAfterARestoreComparesListings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(130)
	w.feed()
	strange := folderOf(w.uris()[0]) + "/note.md"
	w.server.files[strange] = "somebody's note"
	restored := newPrimary(t, w.now, 2)
	for i := range 110 {
		must.Get(restored.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprint("restored ", i), Topic: fmt.Sprint(i)}))(t)
	}
	w.primary = restored
	w.open()
	st := must.Get(w.Status(t.Context()))(t)
	must.Hold(t, st.Compare, "the status does not say that a comparison is due: %+v", st)
	r := w.feed()
	must.Hold(t, r.Compared, "the listings were not compared: %+v", r)
	delete(w.server.files, strange)
	w.equal("after a restore")
	must.Hold(t, !w.feed().Compared, "compared again without a reason")
}

func TestChangedSettingsCompareThereAndBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("the password is hunter2")
	w.say("harmless")
	w.feed()
	redacting := func(o *Options) {
		o.Rules, o.Redact = "2", func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") }
	}
	w.open(redacting)
	w.feed()
	w.equal("with redaction")
	for _, text := range w.server.files {
		must.Hides(t, "file", text, "hunter2")
	}
	w.open()
	must.Hold(t, w.feed().Compared, "not compared after the settings changed back")
	w.equal("without redaction")
}

func TestPrivateScopesStayOnThisMachine(t *testing.T) {
	t.Parallel()
	ids := amber.Identities{SessionID: "s", UserID: "u", ProjectID: "p", WorkspaceID: "w"}
	for _, tc := range []struct {
		url     string
		include []amber.Scope
		want    int
	}{
		{"http://127.0.0.1:1933", nil, 5},
		{"http://[::1]:1933/", nil, 5},
		{"http://localhost:1933", nil, 5},
		{"https://viking.example.com", nil, 3},
		{"https://localhost.example.com", nil, 3},
		{"https://127.0.0.1.example.com", nil, 3},
		{"https://viking.example.com", []amber.Scope{amber.ScopeUser}, 4},
		{"https://viking.example.com", []amber.Scope{amber.ScopeUser, amber.ScopeSession}, 5},
	} {
		w := newWorld(t, func(o *Options) { o.URL, o.Include = tc.url, tc.include })
		for i, s := range amber.Scopes() {
			m := w.write(amber.WriteRequest{Content: string(s), Scope: s, Identities: ids})
			if i%2 == 0 {
				w.feed()
				w.edit(m.ID, "again "+string(s))
			}
		}
		w.feed()
		w.equal(tc.url)
		must.Equal(t, tc.url, len(w.server.files), tc.want)
	}
	w := newWorld(t)
	w.write(amber.WriteRequest{Content: "mine", Scope: amber.ScopeUser, Identities: ids})
	w.feed()
	w.open(func(o *Options) { o.URL = "https://viking.example.com" })
	w.server.files = map[string]string{}
	w.feed()
	must.Equal(t, "files", len(w.server.files), 0)
}

func TestRefusedRecordIsQuarantinedAndTheOthersAreWritten(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(20)
	bad := w.say("UNSPEAKABLE")
	r := w.feed()
	must.Equal(t, "quarantined", r.Quarantined, 1)
	must.Equal(t, "files", len(w.server.files), 20)
	st := must.Get(w.Status(t.Context()))(t)
	must.Equal(t, "quarantine", len(st.Quarantined), 1)
	must.Hold(t, st.Quarantined[0].ID == bad.ID && strings.Contains(st.Quarantined[0].Reason, "not to be written"), "got %+v", st.Quarantined)
	must.Equal(t, "tried again without a reason", w.feed().Quarantined, 0)
	must.Equal(t, "forced", must.Get(w.Feed(t.Context(), Budget{Force: true}))(t).Quarantined, 1)
	w.edit(bad.ID, "harmless")
	w.feed()
	w.equal("after the edit")
	must.Equal(t, "quarantine", len(must.Get(w.Status(t.Context()))(t).Quarantined), 0)
}

// A memory that the server refuses stops a feed, and does not stop a forced one: other memories get their turn.
func TestForcedFeedPutsAsideWhatIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.feed()
	for i := range 5 {
		w.say(fmt.Sprint("UNSPEAKABLE ", i))
	}
	_, err := w.Feed(t.Context(), Budget{})
	must.Kind(t, "feed", err, amber.KindInvalid)
	r := must.Get(w.Feed(t.Context(), Budget{Force: true}))(t)
	must.Hold(t, r.Done && r.Quarantined == 5, "the forced feed did %+v", r)
}

// A server that takes none of many files, all for one reason, does not like the request: no
// memory is put into quarantine for that. Where it takes others, those it refuses are.
func TestRequestThatIsRefusedQuarantinesNothing(t *testing.T) {
	t.Parallel()
	invalid := func(op, why string) error { return amber.Errorf(amber.KindInvalid, op, "", "%s", why) }
	for name, c := range map[string]struct {
		texts       []string
		fault       func(op string, n int) error
		kind        amber.Kind
		quarantined int
		batches     int // at most
	}{
		"the request":       {slices.Repeat([]string{"fine"}, 200), func(op string, _ int) error { return invalid(op, "unknown field") }, amber.KindInvalid, 0, 12},
		"three of three":    {slices.Repeat([]string{"fine"}, 3), func(op string, _ int) error { return invalid(op, "unknown field") }, amber.KindInvalid, 0, 5},
		"different reasons": {slices.Repeat([]string{"fine"}, 8), func(op string, n int) error { return invalid(op, fmt.Sprint("reason ", n)) }, "", 8, 15},
		"two of two":        {slices.Repeat([]string{"UNSPEAKABLE"}, 2), nil, "", 2, 3},
		"the first ones":    {append(slices.Repeat([]string{"UNSPEAKABLE"}, 10), slices.Repeat([]string{"fine"}, 30)...), nil, "", 10, 100},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.feed()
			for i, text := range c.texts {
				w.say(fmt.Sprint(text, " ", i))
			}
			w.server.set(func(op, _ string, n int) (error, bool) {
				if op != "batch" || c.fault == nil {
					return nil, false
				}
				return c.fault(op, n), false
			})
			r, err := w.Feed(t.Context(), Budget{})
			must.Kind(t, "feed", err, c.kind)
			must.Equal(t, "quarantined", r.Quarantined, c.quarantined)
			st := must.Get(w.Status(t.Context()))(t)
			must.Hold(t, len(st.Quarantined) == c.quarantined && st.Stopped == (c.kind != ""), "the status is %+v", st)
			must.Hold(t, w.server.count("batch") <= c.batches, "%d batches", w.server.count("batch"))
			w.server.set(nil)
			must.Hold(t, must.Get(w.Feed(t.Context(), Budget{Force: true}))(t).Done, "a forced feed is not done")
			must.Equal(t, "files", len(w.server.files), len(slices.DeleteFunc(c.texts, func(s string) bool { return s == "UNSPEAKABLE" })))
		})
	}
}

func TestQuarantineIsBounded(t *testing.T) {
	t.Parallel()
	var n notes
	for i := range 2 * maxQuarantined {
		n.quarantine(amber.MemoryID(fmt.Sprint(i)), strings.Repeat("\x00<\xff", 1000))
	}
	b := must.Get(n.bytes())(t)
	must.Hold(t, len(b) < amber.MaxIndexNotes && len(n.Quarantine) == maxQuarantined && n.Uncounted == maxQuarantined, "%d bytes, %d listed, %d more", len(b), len(n.Quarantine), n.Uncounted)
	must.Hold(t, readNotes([]byte("{")).Compare, "notes that cannot be read do not ask for a comparison")
}

func TestOutagesAreTriedLaterAndLater(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.feed()
	w.say("during the outage")
	w.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), false })
	var waits []time.Duration
	for range 12 {
		r, err := w.Feed(t.Context(), Budget{})
		must.Kind(t, "feed", err, amber.KindUnreachable)
		waits = append(waits, r.Again.Round(time.Second))
		calls := w.server.count("")
		_, err = w.Feed(t.Context(), Budget{})
		must.Kind(t, "too early", err, amber.KindUnreachable, "next attempt")
		must.Equal(t, "calls before the next attempt", w.server.count(""), calls)
		w.open() // a new process keeps to it
		w.Store.user = "default"
		w.now.pass(r.Again)
	}
	must.Equal(t, "waits", waits[:4], []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second})
	must.Equal(t, "the longest wait", waits[11], lastDelay)
	w.server.set(nil)
	w.feed()
	w.equal("after the outage")
	st := must.Get(w.Status(t.Context()))(t)
	must.Hold(t, !st.Stopped && st.RetryAt.IsZero(), "the status still says %+v", st)
}

func TestServerMayAskToBeLeftAlone(t *testing.T) {
	t.Parallel()
	s := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Retry-After", "40")
		rw.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(s.Close)
	client := must.Get(api.New(api.Options{URL: s.URL}))(t)
	w := newWorld(t, func(o *Options) { o.Server = client })
	r, err := w.Feed(t.Context(), Budget{})
	must.Kind(t, "feed", err, amber.KindUnreachable)
	must.Equal(t, "again", r.Again.Round(time.Second), 40*time.Second)
}

func TestBusyPathsAreTriedAgainSoon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("a memory")
	left := 4
	w.server.set(func(op, _ string, _ int) (error, bool) {
		if op != "batch" || left == 0 {
			return nil, false
		}
		left--
		return amber.Errorf(amber.KindBusy, op, "", "path_busy"), false
	})
	w.feed()
	w.equal("after a busy path")
	ms := time.Millisecond
	must.Equal(t, "waits", w.waited, []time.Duration{100 * ms, 200 * ms, 400 * ms, 800 * ms})
}

// A person mends a key, a version or a proxy, and feeding goes on by itself, without a command.
func TestRefusalsStopUntilTheyAreMended(t *testing.T) {
	t.Parallel()
	for _, kind := range []amber.Kind{amber.KindRefused, amber.KindUnsupported, amber.KindDamaged} {
		w := newWorld(t)
		w.feed()
		w.say("a memory")
		broken := func(op, _ string, _ int) (error, bool) {
			return amber.Errorf(kind, op, "", "no"), op == "never"
		}
		w.server.set(broken)
		must.Fail(w.Feed(t.Context(), Budget{}))(t, "first", kind)
		w.server.set(nil)
		must.Kind(t, "at once", must.Err(w.Feed(t.Context(), Budget{})), kind, "stopped", "amber index sync")
		must.Equal(t, "calls", w.server.count(""), 0)
		h := must.Get(w.Health(t.Context()))(t)
		must.Hold(t, h.Status == amber.Degraded, "health is %+v", h)
		w.server.set(broken)
		w.now.pass(stopLook)
		r, err := w.Feed(t.Context(), Budget{})
		must.Kind(t, "a minute later", err, kind)
		must.Hold(t, r.Again > stopLook-time.Second && r.Again <= stopLook, "the next attempt is in %v", r.Again)
		w.server.set(nil)
		must.Get(w.Feed(t.Context(), Budget{Force: true}))(t)
		w.equal("forced: " + string(kind))

		w.say("another memory")
		w.server.set(broken)
		must.Fail(w.Feed(t.Context(), Budget{}))(t, "again", kind)
		w.server.set(nil)
		w.now.pass(stopLook)
		must.Get(w.Feed(t.Context(), Budget{}))(t)
		w.equal("by itself: " + string(kind))
	}
}

func TestUntestedVersionIsNotFed(t *testing.T) {
	t.Parallel()
	for version, want := range map[string]amber.Kind{
		"0.5": "", "0.5.2": "", "0.5.99": "", "0.5.10.dev3+g1": "", "v0.5.0": "", "0.6.0": amber.KindUnsupported, "0.6.0rc1": amber.KindUnsupported,
		"0.4.16": amber.KindUnsupported, "0.50.1": amber.KindUnsupported, "1.5.0": amber.KindUnsupported, "5": amber.KindUnsupported,
		"unknown": amber.KindUnsupported, "": amber.KindUnsupported,
	} {
		w := newWorld(t)
		w.server.version = version
		must.Fail(w.Feed(t.Context(), Budget{}))(t, version, want)
		w = newWorld(t, func(o *Options) { o.AnyVersion = true })
		w.server.version = version
		w.feed()
	}
}

func TestVectorsThatFailedAreMadeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.deaf = true // the server reports no failure: writes do not wait for vectors
	w.many(mendPerRound + 8)
	w.feed()
	must.Equal(t, "files without a vector", len(w.server.blind), mendPerRound+8)
	w.server.deaf = false
	must.Equal(t, "asked at once", w.server.count("missing"), 0)
	w.now.pass(mendAfter)
	must.Equal(t, "mended", w.feed().Mended, mendPerRound)
	must.Equal(t, "mended", w.feed().Mended, 8)
	must.Equal(t, "files without a vector", len(w.server.blind), 0)
	for want := range 3 { // once to be sure, and then no more
		w.server.set(nil)
		w.now.pass(time.Hour)
		w.feed()
		must.Equal(t, "asked again", w.server.count("missing"), max(1-want, 0))
	}
	must.Equal(t, "files of others", w.server.count("reindex viking://user/other"), 0)
}

func TestVectorsThatCannotBeMadeDoNotHoldUpOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(maxMend + 50)
	w.feed()
	uris := w.uris()
	for _, uri := range uris {
		w.server.blind[uri] = true
	}
	last := uris[maxMend+40]
	w.server.stubborn = func(uri string) bool { return uri < last }
	for range 20 {
		w.now.pass(lastDelay)
		w.feed()
	}
	must.Equal(t, "files without a vector", len(w.server.blind), maxMend+40)
	must.Hold(t, w.server.count("reindex") < 3*len(uris), "%d attempts", w.server.count("reindex"))
}

func TestMissingVectorsAreToldInParts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(25)
	w.feed()
	for _, uri := range w.uris() {
		w.server.blind[uri] = true
	}
	w.server.part = 10
	w.now.pass(lastDelay)
	must.Equal(t, "mended", w.feed().Mended, 25)
	must.Equal(t, "files without a vector", len(w.server.blind), 0)
}

func TestMendingInPartsIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(80)
	w.feed()
	for _, uri := range w.uris() {
		w.server.blind[uri] = true
	}
	w.server.part = 5
	w.now.pass(lastDelay)
	must.Equal(t, "mended", w.feed().Mended, 5*mendLooks)
	w.at("reindex", func() error {
		w.now.pass(time.Second)
		return nil
	})
	w.now.pass(lastDelay)
	r := must.Get(w.Feed(t.Context(), Budget{Time: 8 * time.Second}))(t)
	must.Equal(t, "mended within the budget", r.Mended, 8)
}

func TestMendingThatFailsWaitsAndRefusalsStop(t *testing.T) {
	t.Parallel()
	for _, op := range []string{"missing", "reindex"} {
		w := newWorld(t)
		w.server.deaf = true
		w.say("a memory")
		w.feed()
		w.server.deaf = false
		w.at(op, func() error { return unreachable(op) })
		w.now.pass(mendAfter)
		for range 3 {
			w.say(fmt.Sprint("memory at ", w.now.read()))
			w.feed()
			w.equal("files during the outage")
		}
		must.Equal(t, "calls before the next attempt", w.server.count(op), 1)
		must.Says(t, "last error", must.Get(w.Status(t.Context()))(t).LastError, "connection refused")
		w.at(op, func() error { return amber.Errorf(amber.KindRefused, op, "", "bad key") })
		w.now.pass(lastDelay)
		must.Fail(w.Feed(t.Context(), Budget{}))(t, op, amber.KindRefused)
		w.server.set(nil)
		must.Equal(t, "mended", must.Get(w.Feed(t.Context(), Budget{Force: true}))(t).Mended, 1)
	}
}

func TestEmbedderThatStaysAwayHoldsNothingUp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.deaf = true
	w.say("a memory")
	w.feed()
	for i := range 20 {
		w.now.pass(mendAfter)
		w.say(fmt.Sprint("memory ", i))
		w.feed()
		w.equal("files")
	}
	w.server.deaf = false
	for range 10 {
		w.now.pass(lastDelay)
		w.feed()
	}
	must.Equal(t, "files without a vector", len(w.server.blind), 0)
}

func TestOutageThatARecallSawIsMended(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("a memory about tabs")
	w.feed()
	w.now.pass(time.Hour)
	w.feed()
	for uri := range w.server.files {
		w.server.blind[uri] = true
	}
	w.server.set(func(op, _ string, _ int) (error, bool) { return unreachable(op), op == "none" })
	must.Get(w.Recall(t.Context(), amber.Query{Text: "tabs"}))(t)
	w.server.set(nil)
	must.Equal(t, "mended", w.feed().Mended, 1)
}

func TestAnnouncedVectorFailureIsNoted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("a memory")
	w.server.set(func(op, _ string, _ int) (error, bool) {
		if op == "batch" {
			return amber.Errorf(amber.KindUnreachable, op, "", "%w", api.ErrNoVector), true
		}
		return nil, false
	})
	r := w.feed()
	must.Hold(t, r.Written == 1 && r.Mended == 1, "got %+v", r)
}

func TestOneFeederAtATime(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(300)
	var lock sync.Mutex
	inside, most := 0, 0
	locked := func(o *Options) {
		o.Lock = func(context.Context) (func() error, error) {
			if !lock.TryLock() {
				return nil, amber.Errorf(amber.KindBusy, "lock", "", "held")
			}
			inside++
			most = max(most, inside)
			return func() error { inside--; lock.Unlock(); return nil }, nil
		}
		o.Wait = func(context.Context, time.Duration) error { return nil }
	}
	var group sync.WaitGroup
	for range 6 {
		w.open(locked) // another process
		s := w.Store
		for range 2 {
			group.Go(func() {
				for range 20 {
					if _, err := s.Feed(t.Context(), Budget{}); err != nil && amber.KindOf(err) != amber.KindBusy {
						t.Error(err)
					}
				}
			})
		}
	}
	group.Wait()
	must.Equal(t, "feeders at once", most, 1)
	w.feed()
	w.equal("after all feeders")
}

// TestFeedersWithoutALockDoNotOvertakeEachOther has only the fence of the cursor.
func TestFeedersWithoutALockDoNotOvertakeEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.say("a memory")
	w.feed()
	w.edit(m.ID, "a memory that changed")
	other := newWorld(t)
	other.primary, other.server, other.cursors, other.now = w.primary, w.server, w.cursors, w.now
	other.open()
	w.at("batch", func() error {
		w.server.fault = nil
		w.server.mu.Unlock()
		defer w.server.mu.Lock()
		other.feed()
		return nil
	})
	must.Kind(t, "the slower one", must.Err(w.Feed(t.Context(), Budget{})), amber.KindBusy, "another feeder")
	w.feed()
	w.equal("after both")
}

// TestOtherFeedersFilesAreKnown has two processes feed in turns: what one remembers of the files
// does not hold after the other.
func TestOtherFeedersFilesAreKnown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m := w.say("a memory")
	w.feed()
	first := w.Store
	w.open()
	second := w.Store
	for i := range 6 {
		w.edit(m.ID, fmt.Sprint("a memory, changed ", i))
		w.Store = []*Store{second, first}[i%2]
		w.feed()
		w.equal(fmt.Sprint("turn ", i))
	}
}

func TestShortBudgetsGetThereInTheEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.feed()
	w.many(100)
	for i := 0; ; i++ {
		if i == 40 {
			t.Fatal("40 short feeds did not write 100 memories")
		}
		w.open()
		if must.Get(w.Feed(t.Context(), Budget{Time: 2 * time.Millisecond}))(t).Done {
			must.Hold(t, i >= 100/shortMemories, "100 memories within %d short budgets", i)
			break
		}
	}
	w.equal("after short feeds")
}

func TestErasedFilesWaitForALongBudgetWhenListingTakesTooLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(50)
	m := w.say("erased")
	w.feed()
	must.Get(w.primary.Erase(t.Context(), m.ID))(t)
	w.open()
	for range 3 {
		r := must.Get(w.Feed(t.Context(), Budget{Time: 3 * time.Millisecond}))(t)
		must.Hold(t, !r.Done, "a short feed says that it is done: %+v", r)
	}
	must.Equal(t, "listings", w.server.count("list"), 2) // of the first feed, and one that was too long
	w.feed()
	w.equal("after a long feed")
}

// The files of an erased memory wait for a listing. Changes behind the erasure in the log do not wait, and are sent
// once.
func TestErasedFilesDoNotHoldUpTheLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(50)
	erased := []amber.Memory{w.say("erased"), w.say("erased, too")}
	w.feed()
	for i, m := range erased {
		must.Get(w.primary.Erase(t.Context(), m.ID))(t)
		w.say(fmt.Sprint("behind it ", i))
	}
	w.server.set(nil)
	written := 0
	for range 4 {
		w.open()
		r := must.Get(w.Feed(t.Context(), Budget{Time: 20 * time.Millisecond}))(t)
		must.Hold(t, !r.Done, "a short feed says that it is done: %+v", r)
		written += r.Written
	}
	must.Equal(t, "written", written, 2)
	must.Equal(t, "behind", must.Get(w.Status(t.Context()))(t).Behind, 0)
	must.Equal(t, "listings", w.server.count("list"), 1)
	must.Equal(t, "files", len(w.server.files), 54)
	w.feed()
	w.equal("after a long feed")
	w.server.set(nil)
	w.feed()
	must.Equal(t, "deletions of a feed without changes", w.server.count("delete"), 0)
}

func TestManyFilesThatWaitAreFoundByAComparison(t *testing.T) {
	t.Parallel()
	r := round{}
	for i := range maxRewrite + 1 {
		must.Equal(t, "compare", r.notes.Compare, false)
		r.later([]amber.MemoryID{amber.MemoryID(fmt.Sprintf("%05d", i))})
	}
	must.Hold(t, r.notes.Compare && len(r.notes.Rewrite) == maxRewrite && r.dirty, "%d are noted, compare is %t", len(r.notes.Rewrite), r.notes.Compare)
}

func TestFolderThatWasDeletedIsMadeAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("a memory")
	w.feed()
	must.Do(t, w.server.Delete(t.Context(), w.known().root(), true))
	w.say("another memory")
	w.feed()
	must.Equal(t, "files", len(w.server.files), 1)
}

func TestUnreadableMemoryKeepsItsFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bad, good := w.say("damaged"), w.say("good")
	w.feed()
	parts := w.primary.Parts()
	parts.Memories = damagedReader{w.primary, bad.ID}
	w.open(func(o *Options) { o.Primary = parts })
	w.edit(bad.ID, "damaged and changed")
	must.Equal(t, "quarantined", w.feed().Quarantined, 1)
	w.open(func(o *Options) { o.Primary, o.Rules = parts, "compare" })
	w.edit(good.ID, "better")
	w.feed()
	must.Equal(t, "files", len(w.server.files), 2)
}

// damagedReader cannot read one memory.
type damagedReader struct {
	amber.MemoryReader
	id amber.MemoryID
}

func (d damagedReader) Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
	if id == d.id {
		return amber.Memory{}, amber.Errorf(amber.KindDamaged, "get memory", string(id), "bad row")
	}
	return d.MemoryReader.Get(ctx, id)
}

func (d damagedReader) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	p, err := d.MemoryReader.List(ctx, q)
	p.Items = slices.DeleteFunc(p.Items, func(m amber.Memory) bool { return m.ID == d.id })
	return p, err
}

func TestCallerWhoGivesUpIsNotAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("a memory")
	ctx, stop := context.WithCancel(t.Context())
	w.at("batch", func() error {
		stop()
		return amber.Errorf(amber.KindUnreachable, "batch", "", "%w", context.Canceled)
	})
	must.Error(t, "feed", must.Err(w.Feed(ctx, Budget{})))
	w.server.set(nil)
	w.feed()
	w.equal("after a caller gave up")
}

func TestCallerWhoGivesUpMendingIsNotAnOutage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.server.deaf = true
	w.say("a memory")
	w.feed()
	w.server.deaf = false
	w.now.pass(mendAfter)
	ctx, stop := context.WithCancel(t.Context())
	w.at("reindex", func() error {
		stop()
		return amber.Errorf(amber.KindUnreachable, "reindex", "", "%w", context.Canceled)
	})
	must.Error(t, "feed", must.Err(w.Feed(ctx, Budget{})))
	w.server.set(nil)
	must.Equal(t, "mended", w.feed().Mended, 1)
}

func TestPrimaryThatFailsIsNotAnOutageOfTheServer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("a memory")
	parts := w.primary.Parts()
	parts.Changes = brokenLog{}
	w.open(func(o *Options) { o.Primary = parts })
	must.Fail(w.Feed(t.Context(), Budget{}))(t, "feed", amber.KindInternal)
	w.open()
	w.feed()
	w.equal("after the primary is back")
}

type brokenLog struct{ amber.ChangeLog }

func (brokenLog) Changes(context.Context, amber.Position, int) ([]amber.Change, error) {
	return nil, errors.New("disk")
}
func (brokenLog) Head(context.Context) (amber.Position, error) { return "", errors.New("disk") }

// TestRandomHistories feeds at random times with random faults, and compares in the end.
func TestRandomHistories(t *testing.T) {
	t.Parallel()
	for seed := range int64(12) {
		w := newWorld(t)
		random := newRandom(seed)
		ids := []amber.MemoryID{}
		for i := range 120 {
			switch n := random.Intn(10); {
			case n < 4 || len(ids) == 0:
				ids = append(ids, w.write(randomRequest(random, fmt.Sprint("memory ", i))).ID)
			case n < 6:
				_, _ = w.primary.Edit(t.Context(), amber.EditRequest{ID: ids[random.Intn(len(ids))], Content: ptr(fmt.Sprint("edited ", i))})
			case n < 7:
				_ = w.Delete(t.Context(), ids[random.Intn(len(ids))])
			case n < 8:
				_, _ = w.Erase(t.Context(), ids[random.Intn(len(ids))])
			default:
				at, after := random.Intn(15), random.Intn(2) == 0
				w.server.set(func(op, _ string, call int) (error, bool) {
					if call > at {
						return unreachable(op), after
					}
					return nil, false
				})
				_, _ = w.Feed(t.Context(), Budget{Time: time.Duration(random.Intn(20)) * time.Millisecond, Force: random.Intn(3) == 0})
				if random.Intn(3) == 0 {
					w.open()
				}
				if random.Intn(2) == 0 {
					w.server.set(nil)
				}
			}
		}
		w.server.set(nil)
		must.Get(w.Feed(t.Context(), Budget{Force: true}))(t)
		w.equal(fmt.Sprint("history ", seed))
		v := must.Get(w.Verify(t.Context(), true))(t)
		must.Hold(t, v.Clean() && v.Files == len(w.server.files), "history %d: verify says %+v", seed, v)
	}
}

// TestChangesDuringAComparisonAreTaken changes the primary at each call of a comparison.
func TestChangesDuringAComparisonAreTaken(t *testing.T) {
	t.Parallel()
	for at := range 12 {
		w := newWorld(t)
		var ids []amber.MemoryID
		for i := range 250 {
			ids = append(ids, w.say(fmt.Sprint("memory ", i)).ID)
		}
		w.server.set(func(string, string, int) (error, bool) { return nil, false })
		w.server.fault = func(_, _ string, call int) (error, bool) {
			if call == at {
				w.edit(ids[3], "changed meanwhile")
				w.edit(ids[240], "changed meanwhile, too")
				must.Do(t, w.Delete(t.Context(), ids[5]))
				must.Do(t, w.Delete(t.Context(), ids[245]))
				must.Get(w.primary.Erase(t.Context(), ids[7]))(t)
				w.say("written meanwhile")
			}
			return nil, false
		}
		w.feed()
		w.equal(fmt.Sprint("changes at call ", at))
	}
}

func TestComparisonWithShortBudgetsGetsFurther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(450)
	w.at("batch", func() error {
		w.now.pass(200 * time.Millisecond)
		return nil
	})
	for _, want := range []int{32, 64} {
		r := must.Get(w.Feed(t.Context(), Budget{Time: 300 * time.Millisecond}))(t)
		must.Hold(t, !r.Done && len(w.server.files) == want, "%d files, want %d: %+v", len(w.server.files), want, r)
		w.open()
	}
	w.at("list", func() error {
		w.now.pass(time.Second)
		return nil
	})
	for range 3 { // now the listing alone takes too long
		r := must.Get(w.Feed(t.Context(), Budget{Time: 300 * time.Millisecond}))(t)
		must.Hold(t, !r.Done && len(w.server.files) == 64, "%d files: %+v", len(w.server.files), r)
		w.open()
	}
	must.Equal(t, "listings", w.server.count("list"), 1)
	w.feed()
	w.equal("after a long feed")
}

// A server that does not answer within a hard budget counts as away: the next feed waits, and questions are not held
// up. A caller that gives up says nothing about the server.
func TestHardBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("one")
	w.feed()
	w.say("two")
	hang := func(ctx context.Context) {
		w.server.fault = func(op, _ string, _ int) (error, bool) {
			<-ctx.Done()
			return unreachable(op), false
		}
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	hang(gone)
	_, err := w.Feed(gone, Budget{Time: time.Hour, Hard: true})
	must.Kind(t, "a caller that gave up", err, amber.KindUnreachable)
	must.Equal(t, "failures that were noted", must.Get(w.Status(t.Context()))(t).LastError, "")

	w.server.fault = func(op, _ string, _ int) (error, bool) { return unreachable(op), false }
	_, err = w.Feed(t.Context(), Budget{Time: time.Millisecond, Hard: true})
	must.Kind(t, "a server that does not answer", err, amber.KindUnreachable)
	w.server.fault = nil
	must.Hold(t, must.Get(w.Status(t.Context()))(t).LastError != "", "the failure is not noted")
	r := must.Get(w.Recall(t.Context(), amber.Query{Text: "one"}))(t)
	must.Says(t, "degraded", r.Degraded, "OpenViking was not asked")
	w.now.pass(circuitRest)
	must.Equal(t, "degraded later", must.Get(w.Recall(t.Context(), amber.Query{Text: "one"}))(t).Degraded, "")
}

// A feed tries again after a refusal that came before the owner of the files was known: another process may have mended
// the reason.
func TestEarlyRefusalDoesNotLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.say("one")
	w.server.fault = func(op, _ string, _ int) (error, bool) {
		return amber.Errorf(amber.KindRefused, op, "", "the key is missing"), false
	}
	_, err := w.Feed(t.Context(), Budget{})
	must.Kind(t, "without a key", err, amber.KindRefused)
	w.server.fault = nil
	_, err = w.Feed(t.Context(), Budget{})
	must.Kind(t, "at once", err, amber.KindRefused)
	w.now.pass(stopLook)
	must.Equal(t, "done later", w.feed().Done, true)
}

// A listing that alone takes longer than the budget leaves time for some writes and deletions.
func TestComparisonGetsFurtherWhenListingTakesTheWholeBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids []amber.MemoryID
	for i := range 350 {
		ids = append(ids, w.say(fmt.Sprint("memory ", i)).ID)
	}
	w.at("list", func() error {
		w.now.pass(6 * time.Second)
		return nil
	})
	slice := func() Report {
		w.open()
		return must.Get(w.Feed(t.Context(), Budget{Time: shortBudget}))(t)
	}
	for want := 100; want <= 300; want += 100 {
		r := slice()
		must.Hold(t, !r.Done && len(w.server.files) == want, "%d files, want %d: %+v", len(w.server.files), want, r)
	}
	w.feed()
	w.equal("after the writes")
	w.primary = newPrimary(t, w.now, 2) // a restore of nothing
	for i := range ids {
		r := slice()
		must.Equal(t, "deleted", r.Deleted, 1)
		must.Equal(t, "files", len(w.server.files), len(ids)-1-i)
	}
}

func TestNamesAreKeptUntilAComparisonIsDone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.many(350)
	w.at("batch", func() error {
		w.now.pass(6 * time.Second)
		return nil
	})
	must.Get(w.Feed(t.Context(), Budget{Time: shortBudget}))(t)
	for i := range keptNames {
		w.files.names[amber.MemoryID(fmt.Sprint("another ", i))] = []string{fmt.Sprint("viking://user/default/", i)}
	}
	for range 2 {
		must.Hold(t, !must.Get(w.Feed(t.Context(), Budget{Time: shortBudget}))(t).Done, "a slice says that it is done")
	}
	must.Equal(t, "listings", w.server.count("list"), 1)
	w.feed()
	w.equal("in the end")
	must.Hold(t, !w.files.comparing, "the comparison has no end")
}
