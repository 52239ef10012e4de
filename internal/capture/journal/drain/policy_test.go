package drain_test

import (
	"context"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/proc"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
	"github.com/amber-memory/amber/internal/recall/policy"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// lived keeps a session that could teach something of every kind.
func (w *world) lived() {
	w.keep(event(1, journal.HostSessionStart), prompt(2, "why do the tests fail?"),
		answer(3, "Fixed.\n\n## Key Learnings\n- Integration tests need PostgreSQL 16\n"), event(4, journal.HostSessionEnd))
}

// lessons counts the memories of a store by what they are.
func (w *world) lessons() map[amber.MemoryKind]int {
	w.t.Helper()
	page := must.Get(w.store.List(context.Background(), amber.ListQuery{All: true}))(w.t)
	n := map[amber.MemoryKind]int{}
	for _, m := range page.Items {
		n[m.Kind]++
	}
	return n
}

// The policy decides what a drain learns, and the turns are kept whatever it
// says.
func TestThePolicyDecidesWhatIsLearnt(t *testing.T) {
	t.Parallel()
	const learning, digest, kase = amber.WorkflowInsight, amber.SessionSummary, amber.HistoricalCase
	for name, c := range map[string]struct {
		policy amber.Policy
		want   map[amber.MemoryKind]int
	}{
		"none":         {nil, map[amber.MemoryKind]int{learning: 1, digest: 1}},
		"as it is":     {policy.Conservative{}, map[amber.MemoryKind]int{learning: 1, digest: 1}},
		"cases":        {policy.Conservative{AutoWriteBack: true}, map[amber.MemoryKind]int{learning: 1, digest: 1, kase: 1}},
		"no learnings": {policy.Conservative{NoLearnings: true}, map[amber.MemoryKind]int{digest: 1}},
		"no digests":   {policy.Conservative{NoDigests: true}, map[amber.MemoryKind]int{learning: 1}},
		"nothing":      {policy.Conservative{NothingLearnt: true, AutoWriteBack: true}, map[amber.MemoryKind]int{}},
		"no writes":    {policy.Conservative{WriteDisabled: true, AutoWriteBack: true}, map[amber.MemoryKind]int{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.lived()
			report := w.once(drain.Options{Policy: c.policy})
			must.Equal(t, "learnt", w.lessons(), c.want)
			if report.Applied != 4 || report.Quarantined != 0 || report.Decisions != nil {
				t.Errorf("%+v", report)
			}
			w.wantSaid("user: why do the tests fail?", "assistant: Fixed.\n\n## Key Learnings\n- Integration tests need PostgreSQL 16\n")
		})
	}
}

// Every decision is in the report of a drain that is asked to explain.
func TestDecisionsAreExplained(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.lived()
	var got []string
	for _, d := range w.once(drain.Options{Policy: policy.Conservative{NoDigests: true}, Explain: true}).Decisions {
		got = append(got, string(d.Lesson)+": "+d.BlockedReason)
		if d.SessionID != one.ID || d.EventID == "" || d.Text == "" {
			t.Errorf("%+v", d)
		}
	}
	want := []string{"learning: ", "case: memory.write_back.cases is false", "digest: memory.write_back.digests is false"}
	must.Equal(t, "", got, want)
}

// A session whose end is only noticed is decided about, too.
func TestTheDigestOfASilentSessionIsDecidedAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t, event(1, journal.HostSessionStart), prompt(2, "hello"))
	report := w.once(drain.Options{Policy: policy.Conservative{NoDigests: true}, Explain: true, Grace: -1, Alive: func(amber.HostProcess) proc.Liveness { return proc.Dead }})
	if len(report.Ended) != 1 || len(report.Decisions) != 1 || report.Decisions[0].Effective || len(w.lessons()) != 0 {
		t.Errorf("%+v, %v", report, w.lessons())
	}
}

// The summary that a host makes of dropped turns is found by recall, the newest
// one of a session, unless the policy says no.
func TestCompactionsAreRecalled(t *testing.T) {
	t.Parallel()
	for policy, want := range map[policy.Conservative]int{{}: 1, {NoDigests: true}: 0} {
		w := newWorld(t)
		for n, text := range []string{"We looked at zebras.", "We chose lighthouses, see the harbour."} {
			ev := event(n+1, journal.HostCompactAfter)
			ev.Message = text
			w.keep(ev)
		}
		w.once(drain.Options{Policy: policy})
		found, err := w.store.Recall(context.Background(), amber.Query{Text: "harbour", Layers: []amber.RecallLayer{amber.LayerMemory}, Filter: amber.Filter{Identities: amber.Identities{ProjectID: "acme/shop"}}})
		if err != nil || len(found.Hits) != want || w.lessons()[amber.SessionSummary] != want {
			t.Errorf("%+v: %d hits, %v, %v", policy, len(found.Hits), w.lessons(), err)
		}
		list, err := amber.All(context.Background(), w.store.Compactions, one.ID)
		if err != nil || len(list) != 2 {
			t.Errorf("%d compactions, %v", len(list), err)
		}
	}
}

// A case joins the answer with the prompt of an earlier drain, is not made of a
// turn that failed, and not while a loop of the session waits.
func TestCasesOfTurns(t *testing.T) {
	t.Parallel()
	cases := drain.Options{Policy: policy.Conservative{AutoWriteBack: true, NoDigests: true}}
	w := newWorld(t, event(1, journal.HostSessionStart), prompt(2, "fix\tthe build"))
	w.once(cases)
	failed := answer(3, "It failed.")
	failed.Kind = journal.HostError
	w.keep(failed, answer(4, "Done, it was the cache."))
	w.drains(cases, drain.Report{Sessions: 1, Events: 2, Applied: 2, Memories: 1})
	page, err := w.store.List(context.Background(), amber.ListQuery{All: true})
	if err != nil || len(page.Items) != 1 || page.Items[0].Content != "fix\tthe build\n\nDone, it was the cache." || page.Items[0].Title != "fix the build" {
		t.Errorf("%+v, %v", page.Items, err)
	}
	must.Get(w.store.SaveLoop(context.Background(), amber.LoopSave{SessionID: one.ID, RunID: "r", State: []byte("1")}))(t)
	cases.Loops, cases.Explain = w.store, true
	w.keep(prompt(5, "go on"), answer(6, strings.Repeat("Waiting. ", 20_000)))
	report := w.once(cases)
	if len(report.Decisions) != 1 || report.Decisions[0].BlockedReason != "a loop is pending" || len(w.lessons()) != 1 {
		t.Errorf("%+v", report.Decisions)
	}
}

// A session in which neither the user nor the agent said or did anything leaves no memory,
// though context stood before its agent.
func TestSilentSessionIsNotRemembered(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	shown := event(2, journal.HostContext)
	shown.Shown = []wire.ContextItem{{Layer: amber.LayerMemory, Owner: "m1", Digest: "d1", Why: "a standing constraint"}}
	w.keep(event(1, journal.HostSessionStart), shown, event(3, journal.HostSessionEnd))
	w.once(w.known())
	must.Equal(t, "memories", len(w.lessons()), 0)
	must.Hold(t, !w.session().EndedAt.IsZero(), "the session has not ended")
}
