package storetest

import (
	"fmt"
	"time"

	"github.com/amber-memory/amber"
)

func activityChecks() []check {
	needs := []part{ingest}
	return []check{
		{name: "activity/keeps-every-field", needs: needs, run: activityKept},
		{name: "activity/counts-what-is-done-again", needs: needs, run: activityCounts},
		{name: "activity/in-the-order-first-done", needs: needs, run: activityInOrder},
		{name: "activity/sessions-and-kinds-are-apart", needs: needs, run: activityApart},
		{name: "activity/is-bounded", needs: needs, run: activityBounded},
		{name: "activity/refuses-unknown-kinds", needs: needs, run: activityRefuses},
		{name: "activity/of-one-name-in-every-session", needs: needs, run: activityOfOneName},
		{name: "activity/erased-leaves-no-digest", needs: []part{ingest, longTerm, turns, erasure}, run: activityErased},
	}
}

// did returns what was done in a session.
func (w *world) did(session amber.SessionID, kind amber.ActivityKind) []amber.Activity {
	return must(w.Activities.ListActivity(w.ctx, session, kind))
}

// didNames returns the names of what was done in a session.
func (w *world) didNames(session amber.SessionID, kind amber.ActivityKind) []string {
	var out []string
	for _, a := range w.did(session, kind) {
		out = append(out, a.Name)
	}
	return out
}

// use ingests one use of each of some tools at a time.
func (w *world) use(session amber.SessionID, when amber.Time, names ...string) {
	s := amber.IngestStep{At: when}
	for _, n := range names {
		s.Activity = append(s.Activity, amber.Activity{SessionID: session, Kind: amber.ActivityTool, Name: n})
	}
	w.ingest(session, s)
}

func activityKept(w *world) {
	full := amber.Activity{
		SessionID: "s", Kind: amber.ActivityCommand, Name: "make 'all'\n\x1b[1m🚢", Detail: "exit 2\n\x1b", Status: "failed",
		Count: 3, Failed: 2, FirstAt: moment(-time.Hour), LastAt: moment(-time.Minute),
	}
	plain := amber.Activity{SessionID: "s", Kind: amber.ActivityTask, Name: "a"}
	w.ingest("s", amber.IngestStep{At: moment(time.Minute), Activity: []amber.Activity{full, plain}})
	plain.Count, plain.FirstAt, plain.LastAt = 1, moment(time.Minute), moment(time.Minute)
	equal(w.did("s", ""), []amber.Activity{full, plain}, "activity")
	w.tick()
	w.ingest("s2", amber.IngestStep{Activity: []amber.Activity{{SessionID: "s2", Kind: amber.ActivityTask, Name: "a"}}})
	equal(w.did("s2", "")[0].FirstAt, w.now(), "time of an activity of a step without one")
}

func activityCounts(w *world) {
	edit := amber.Activity{SessionID: "s", Kind: amber.ActivityFile, Name: "a.go", Detail: "first", Status: "created", FirstAt: moment(0), LastAt: moment(0)}
	w.ingest("s", amber.IngestStep{Activity: []amber.Activity{edit}})
	later := edit
	later.Detail, later.Status, later.Count, later.Failed, later.FirstAt, later.LastAt = "second", "modified", 4, 2, moment(time.Hour), moment(2*time.Hour)
	earlier := edit
	earlier.Detail, earlier.Status, earlier.Failed, earlier.FirstAt, earlier.LastAt = "", "", 1, moment(-time.Hour), moment(time.Hour)
	w.ingest("s", amber.IngestStep{Activity: []amber.Activity{later}}, amber.IngestStep{Activity: []amber.Activity{earlier}})
	edit.Detail, edit.Status, edit.Count, edit.Failed, edit.LastAt = "second", "modified", 6, 3, moment(2*time.Hour)
	equal(w.did("s", ""), []amber.Activity{edit}, "activity done again")
}

func activityInOrder(w *world) {
	w.use("s", moment(2*time.Second), "c", "b")
	w.use("s", moment(time.Second), "a")
	w.use("s", moment(3*time.Second), "d", "b", "a")
	equal(w.didNames("s", ""), []string{"a", "c", "b", "d"}, "activity")
}

func activityApart(w *world) {
	var all []amber.Activity
	for _, k := range []amber.ActivityKind{
		amber.ActivityTool, amber.ActivityFile, amber.ActivityCommand, amber.ActivityTask,
		amber.ActivityError, amber.ActivitySubagent, amber.ActivityCompaction, amber.ActivityGap, amber.ActivityOther,
	} {
		all = append(all, amber.Activity{SessionID: "s", Kind: k, Name: "same", Count: 1, FirstAt: moment(0), LastAt: moment(0)})
	}
	w.ingest("s", amber.IngestStep{Activity: all})
	w.use("s2", moment(0), "same")
	equal(w.did("s", ""), all, "activity of every kind")
	for _, a := range all {
		equal(w.did("s", a.Kind), []amber.Activity{a}, "activity of kind %s", a.Kind)
	}
	equal(w.didNames("s2", ""), []string{"same"}, "activity of another session")
	for _, id := range []amber.SessionID{"unknown", "S"} {
		got := w.did(id, "")
		hold(got != nil && len(got) == 0, "activity of session %s is %v, want an empty list", id, got)
	}
}

// activityBounded also tells those done longest ago from those first done
// longest ago.
func activityBounded(w *world) {
	var names []string
	for i := range amber.MaxActivity {
		names = append(names, fmt.Sprintf("tool %03d", i))
	}
	w.use("s", moment(0), names...)
	w.ingest("s", amber.IngestStep{At: moment(0), Activity: []amber.Activity{{SessionID: "s", Kind: amber.ActivityFile, Name: "a.go"}}})
	w.use("s2", moment(0), "elsewhere")
	w.use("s", moment(time.Minute), names[0])
	equal(w.didNames("s", amber.ActivityTool), names, "as many as there may be")
	w.use("s", moment(time.Second), "new 1", "new 2")
	want := append([]string{names[0]}, names[3:]...)
	equal(w.didNames("s", amber.ActivityTool), append(want, "new 1", "new 2"), "after two more")
	w.use("s", moment(-time.Hour), "done long ago")
	equal(w.didNames("s", amber.ActivityTool), append(want, "new 1", "new 2"), "after one that was done longest ago")
	w.use("s", moment(time.Hour), names[1])
	equal(w.didNames("s", amber.ActivityTool), append(append([]string{names[0]}, names[4:]...), "new 1", "new 2", names[1]), "after one that had gone")
	equal(w.did("s", amber.ActivityTool)[amber.MaxActivity-1].Count, 1, "count of one that had gone")
	equal(w.didNames("s", amber.ActivityFile), []string{"a.go"}, "another kind")
	equal(w.didNames("s2", ""), []string{"elsewhere"}, "another session")
}

func activityRefuses(w *world) {
	w.use("s", moment(0), "a")
	for _, kind := range []amber.ActivityKind{"nap", "TOOL", " "} {
		refused(only(w.Activities.ListActivity(w.ctx, "s", kind)), amber.KindInvalid, "activity of kind %q", kind)
		refused(only(w.Activities.ActivityNamed(w.ctx, kind, "a")), amber.KindInvalid, "activity of one name of kind %q", kind)
	}
}

func activityOfOneName(w *world) {
	w.use("s1", moment(0), "a", "b")
	w.use("s2", moment(time.Minute), "a")
	w.use("s3", moment(time.Second), "ab")
	w.ingest("s3", amber.IngestStep{At: moment(0), Activity: []amber.Activity{{SessionID: "s3", Kind: amber.ActivityFile, Name: "a"}}})
	sessions := func(kind amber.ActivityKind, name string) (out []string) {
		for _, a := range must(w.Activities.ActivityNamed(w.ctx, kind, name)) {
			equal([]any{a.Kind, a.Name}, []any{kind, name}, "kind and name")
			out = append(out, string(a.SessionID))
		}
		return out
	}
	equal(sessions(amber.ActivityTool, "a"), []string{"s2", "s1"}, "sessions with a tool")
	w.use("s1", moment(time.Hour), "a")
	equal(sessions(amber.ActivityTool, "a"), []string{"s1", "s2"}, "sessions after it was used again")
	equal(sessions(amber.ActivityFile, "a"), []string{"s3"}, "sessions with a file")
	equal(len(sessions(amber.ActivityTool, "c")), 0, "sessions with what was never used")
}

// An agent was shown a memory, and the memory is erased. Then the store still knows that it was
// shown, but has no digest of its text, also where the journal reports it later. The same holds for
// the turns that were erased with it.
func activityErased(w *world) {
	const text = "the launch code is marmalade"
	id := w.fact(text)
	turn := string(w.say("said", "remember that "+text).ID)
	shown := func(session amber.SessionID) (all []amber.Activity) {
		for _, name := range []string{
			amber.ShownName(amber.LayerMemory, string(id)), amber.ShownName(amber.LayerExchange, turn), amber.ShownName(amber.LayerMemory, "other"),
		} {
			all = append(all, amber.Activity{SessionID: session, Kind: amber.ActivityContext, Name: name, Detail: "0123456789abcdef"})
		}
		return all
	}
	w.ingest("before", amber.IngestStep{At: moment(0), Activity: shown("before")})
	equal(len(w.digests("before")), 3, "digests before it is erased")
	must(w.Eraser.Erase(w.ctx, id))
	w.ingest("after", amber.IngestStep{At: moment(0), Activity: shown("after")})
	for _, session := range []amber.SessionID{"before", "after"} {
		equal(len(w.did(session, amber.ActivityContext)), 3, "what was shown in session %s", session)
		equal(w.digests(session), []string{amber.ShownName(amber.LayerMemory, "other")}, "what has a digest in session %s", session)
	}
}

// digests returns the names of what was shown in a session with a digest of its text.
func (w *world) digests(session amber.SessionID) (names []string) {
	for _, a := range w.did(session, amber.ActivityContext) {
		if a.Detail != "" {
			names = append(names, a.Name)
		}
	}
	return names
}
