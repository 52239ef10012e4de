package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

func ingestChecks() []check {
	needs := []part{ingest, sessions, turns}
	return []check{
		{name: "ingest/cursor-is-compared", needs: needs, run: ingestCompares},
		{name: "ingest/conflict-applies-nothing", needs: needs, run: ingestConflict},
		{name: "ingest/replay-applies-nothing", needs: needs, run: ingestReplay},
		{name: "ingest/native-events-once", needs: needs, run: ingestNative},
		{name: "ingest/equal-events-once-in-a-window", needs: needs, run: ingestWindow},
		{name: "ingest/window-reaches-back", needs: needs, run: ingestWindowBack},
		{name: "ingest/native-and-observed-events-are-apart", needs: needs, run: ingestApart},
		{name: "ingest/duplicates-inside", needs: needs, run: ingestDuplicatesInside},
		{name: "ingest/steps-without-event-are-new", needs: needs, run: ingestAnonymous},
		{name: "ingest/a-bad-step-undoes-everything", needs: []part{ingest, sessions, turns, longTerm, memories, compactions}, run: ingestRollback},
		{name: "ingest/refuses-invalid", needs: needs, run: ingestRefuses},
	}
}

// journalOf names the journal of a session.
func journalOf(session amber.SessionID) string { return amber.ContentDigest(string(session))[:32] }

// ingestion puts steps of a session together.
func ingestion(session amber.SessionID, after, through int64, steps ...amber.IngestStep) amber.Ingestion {
	for i := range steps {
		steps[i].Start.ID = session
	}
	return amber.Ingestion{Journal: journalOf(session), Host: "host", Session: session, After: after, Through: through, Steps: steps}
}

// ingest applies steps behind the cursor, which moves on by one.
func (w *world) ingest(session amber.SessionID, steps ...amber.IngestStep) amber.IngestResult {
	after := w.cursor(session).Seq
	return must(w.Ingest.Ingest(w.ctx, ingestion(session, after, after+1, steps...)))
}

// cursor returns the cursor of a session's journal.
func (w *world) cursor(session amber.SessionID) amber.JournalCursor {
	return must(w.Ingest.JournalCursor(w.ctx, journalOf(session)))
}

// eventID makes an event's id of a name.
func eventID(name string) string { return amber.ContentDigest("event " + name)[:32] }

// native returns an event that its host named.
func native(name string) amber.EventRef { return amber.EventRef{ID: eventID(name), Native: true} }

// observed returns an event that is told by its content, at a time after
// start.
func observed(name string, after time.Duration) amber.EventRef {
	return amber.EventRef{ID: eventID(name), At: amber.At(start().Add(after))}
}

// saying returns a step in which the user says something.
func (w *world) saying(session amber.SessionID, event amber.EventRef, content string) amber.IngestStep {
	t := amber.Turn{ID: amber.TurnID(content), SessionID: session, Role: amber.RoleUser, Content: content, CreatedAt: w.now()}
	return amber.IngestStep{Event: event, At: w.now(), Turns: []amber.Turn{t}}
}

func ingestCompares(w *world) {
	in := ingestion("s", 0, 5, w.saying("s", native("a"), "a"))
	equal(must(w.Ingest.Ingest(w.ctx, in)), amber.IngestResult{Applied: 1}, "answer to the first ingestion")
	equal(w.cursor("s").Seq, 5, "cursor")
	for _, after := range []int64{0, 4, 6, 100} {
		_, err := w.Ingest.Ingest(w.ctx, ingestion("s", after, 100, w.saying("s", native("b"), "b")))
		refused(err, amber.KindConflict, "ingestion after %d where the cursor is 5", after)
		hold(strings.Contains(err.Error(), journalOf("s")), "the error does not name the journal: %v", err)
	}
	equal(w.cursor("s").Seq, 5, "cursor after refused ingestions")
	refused(only(w.Ingest.Ingest(w.ctx, ingestion("other", 5, 6))), amber.KindConflict, "ingestion after 5 where there is no cursor")
	must(w.Ingest.Ingest(w.ctx, ingestion("s", 5, 5, w.saying("s", native("b"), "b"))))
	must(w.Ingest.Ingest(w.ctx, ingestion("s", 5, 1<<40)))
	equal(w.cursor("s").Seq, int64(1)<<40, "cursor far on")
	equal(w.said("s"), []string{"a", "b"}, "turns")
}

func ingestConflict(w *world) {
	w.populate()
	must(w.Ingest.Ingest(w.ctx, ingestion("journaled", w.cursor("journaled").Seq, 10)))
	before := tree(w.dump())
	in := ingestion("journaled", 9, 20, w.everyPart("journaled", native("conflict")))
	in.Host, in.LastAt, in.Process = "other", w.now().Add(time.Hour), amber.HostProcess{PID: 99}
	refused(only(w.Ingest.Ingest(w.ctx, in)), amber.KindConflict, "ingestion after 9 where the cursor is 10")
	equal(w.dump(), before, "store after a refused ingestion")
	in.After = 10
	equal(must(w.Ingest.Ingest(w.ctx, in)).Applied, 1, "steps of the same ingestion behind the cursor")
}

// everyPart returns a step with something of everything, which ends the
// session.
func (w *world) everyPart(session amber.SessionID, event amber.EventRef) amber.IngestStep {
	s := w.saying(session, event, "said in "+string(session))
	s.Start = amber.SessionStart{ID: session, Binding: "journal", Project: "p", Directory: "/d"}
	s.Activity = []amber.Activity{{SessionID: session, Kind: amber.ActivityFile, Name: "a.go", Detail: "d", Status: "modified", Failed: 1}}
	s.Memories = []amber.WriteRequest{{Content: "learned in " + string(session)}}
	s.Compaction = &amber.Compaction{ID: "of " + string(session), SessionID: session, Summary: "so far", Turns: 1}
	s.End = &amber.SessionEnd{ID: session, Reason: "logout", Summary: "over"}
	return s
}

// The cursor and the events keep apart what is applied from what is not,
// each alone: a journal that is read again from its start applies nothing.
func ingestReplay(w *world) {
	steps := func() []amber.IngestStep {
		return []amber.IngestStep{
			w.saying("s", native("a"), "a"),
			{Event: native("b"), Activity: []amber.Activity{{SessionID: "s", Kind: amber.ActivityTool, Name: "Bash"}}},
			w.saying("s", observed("c", 0), "c"),
		}
	}
	equal(must(w.Ingest.Ingest(w.ctx, ingestion("s", 0, 3, steps()...))), amber.IngestResult{Applied: 3}, "answer")
	before := tree(w.dumpOf("s"))
	refused(only(w.Ingest.Ingest(w.ctx, ingestion("s", 0, 3, steps()...))), amber.KindConflict, "the same ingestion")
	equal(w.dumpOf("s"), before, "store after the same ingestion")
	equal(must(w.Ingest.Ingest(w.ctx, ingestion("s", 3, 3, steps()...))), amber.IngestResult{Duplicates: 3}, "answer to the same steps")
	equal(w.dumpOf("s"), before, "store after the same steps")
}

// dumpOf reads everything a store holds, with one session.
func (w *world) dumpOf(session amber.SessionID) map[string]any {
	return dump(w.ctx, w.Store, w.parts(), names{
		sessions: []amber.SessionID{session}, bindings: []string{amber.DefaultBinding, "journal"}, journals: []string{journalOf(session)},
	})
}

func ingestNative(w *world) {
	equal(w.ingest("s", w.saying("s", native("a"), "first")).Applied, 1, "steps applied")
	w.clock.Advance(365 * 24 * time.Hour)
	again := w.saying("s", native("a"), "second")
	again.Event.At = w.now()
	again.Activity = []amber.Activity{{SessionID: "s", Kind: amber.ActivityTool, Name: "Bash"}}
	again.End = &amber.SessionEnd{ID: "s"}
	equal(w.ingest("s", again), amber.IngestResult{Duplicates: 1}, "answer to a known event")
	equal(w.said("s"), []string{"first"}, "turns")
	equal(w.did("s", ""), nil, "activity")
	hold(w.session("s").EndedAt.IsZero(), "a step whose event was known ended the session")
	equal(w.ingest("s2", w.saying("s2", native("a"), "third")), amber.IngestResult{Duplicates: 1}, "answer in another session")
	equal(w.cursor("s2").Seq, 1, "cursor of a journal whose one event was known")
	refused(only(w.Sessions.Session(w.ctx, "s2")), amber.KindNotFound, "session of a known event")
	equal(w.ingest("s", w.saying("s", native("b"), "fourth")).Applied, 1, "steps of another event applied")
}

// ingestWindow also tells events that are compared with the last one seen
// from events that are compared with the last one accepted.
func ingestWindow(w *world) {
	for i, c := range []struct {
		after time.Duration
		known bool
	}{
		{0, false},
		{0, true},
		{1500 * time.Millisecond, true},
		{amber.SameEventWindow, true},
		{3 * time.Second, false},
		{5 * time.Second, true},
		{5001 * time.Millisecond, false},
		{time.Hour, false},
	} {
		got := w.ingest("s", w.saying("s", observed("a", c.after), fmt.Sprint("turn ", i)))
		want := amber.IngestResult{Applied: 1}
		if c.known {
			want = amber.IngestResult{Duplicates: 1}
		}
		equal(got, want, "answer to an event after %s", c.after)
	}
	equal(w.ingest("s", w.saying("s", observed("b", 0), "another")).Applied, 1, "steps of another event at the same time")
	equal(w.said("s"), []string{"turn 0", "turn 4", "turn 6", "turn 7", "another"}, "turns")
}

func ingestWindowBack(w *world) {
	w.ingest("s", w.saying("s", observed("a", time.Minute), "first"))
	equal(w.ingest("s", w.saying("s", observed("a", time.Minute-amber.SameEventWindow), "second")).Duplicates, 1, "known two seconds before")
	equal(w.ingest("s", w.saying("s", observed("a", time.Minute-amber.SameEventWindow-time.Millisecond), "third")).Applied, 1, "applied further back")
	nameless := w.saying("s", amber.EventRef{ID: eventID("a")}, "fourth")
	nameless.At = amber.At(start().Add(time.Minute))
	equal(w.ingest("s", nameless).Duplicates, 1, "known where the time of the step counts")
	equal(w.said("s"), []string{"first", "third"}, "turns")
}

func ingestApart(w *world) {
	both := native("a")
	both.At = amber.At(start())
	equal(w.ingest("s", w.saying("s", observed("a", 0), "observed")).Applied, 1, "observed steps applied")
	equal(w.ingest("s", w.saying("s", both, "native")).Applied, 1, "native steps applied")
	equal(w.ingest("s", w.saying("s", observed("b", 0), "observed too")).Applied, 1, "observed steps of another event applied")
	equal(w.ingest("s", w.saying("s", native("c"), "native too")).Applied, 1, "native steps of another event applied")
	equal(w.ingest("s", w.saying("s", observed("c", 0), "and observed")).Applied, 1, "observed steps of a native event applied")
	equal(len(w.said("s")), 5, "number of turns")
}

func ingestDuplicatesInside(w *world) {
	got := w.ingest("s",
		w.saying("s", native("a"), "1"), w.saying("s", native("a"), "2"),
		w.saying("s", observed("b", 0), "3"), w.saying("s", observed("b", 1500*time.Millisecond), "4"), w.saying("s", observed("b", 3*time.Second), "5"),
		w.saying("s", native("a"), "6"))
	equal(got, amber.IngestResult{Applied: 3, Duplicates: 3}, "answer")
	equal(w.said("s"), []string{"1", "3", "5"}, "turns")
}

func ingestAnonymous(w *world) {
	for i := range 3 {
		equal(w.ingest("s", w.saying("s", amber.EventRef{}, fmt.Sprint(i))).Applied, 1, "steps applied")
	}
	equal(w.said("s"), []string{"0", "1", "2"}, "turns")
}

func ingestRollback(w *world) {
	w.say("other", "x")
	taken := must(amber.LastTurns(w.ctx, w.Turns, "other", 1))[0].ID
	must(w.Compactions.AddCompaction(w.ctx, amber.Compaction{ID: "taken", SessionID: "other", Summary: "x"}))
	w.write(amber.WriteRequest{Content: "told", IdempotencyKey: "taken"})
	w.fact("written before")
	before := tree(w.dumpOf("s"))
	whole := func(name string, bad ...amber.IngestStep) []amber.IngestStep {
		known := w.everyPart("s", native(name+" first"))
		known.Memories = append(known.Memories, amber.WriteRequest{Content: "written before"}, amber.WriteRequest{Topic: "t", Content: "v", IdempotencyKey: "k"})
		reopened := w.saying("s", native(name+" last"), "again")
		reopened.Reopen = true
		return append(append([]amber.IngestStep{known}, bad...), reopened)
	}
	for name, c := range map[string]struct {
		bad  amber.IngestStep
		want amber.Kind
	}{
		"turn of another session":       {amber.IngestStep{Turns: []amber.Turn{{ID: taken, SessionID: "s", Role: amber.RoleUser, Content: "y"}}}, amber.KindConflict},
		"compaction of another session": {amber.IngestStep{Compaction: &amber.Compaction{ID: "taken", SessionID: "s", Summary: "y"}}, amber.KindConflict},
		"used idempotency key":          {amber.IngestStep{Memories: []amber.WriteRequest{{Content: "other", IdempotencyKey: "taken"}}}, amber.KindConflict},
		"unknown kind of memory":        {amber.IngestStep{Memories: []amber.WriteRequest{{Content: "x", Kind: "rumour"}}}, amber.KindInvalid},
	} {
		refused(only(w.Ingest.Ingest(w.ctx, ingestion("s", 0, 3, whole(name, c.bad)...))), c.want, "ingestion with a %s", name)
		equal(w.dumpOf("s"), before, "store after an ingestion with a %s", name)
	}
	// The store does not remember an ingestion that was undone.
	got := must(w.Ingest.Ingest(w.ctx, ingestion("s", 0, 2, whole("unknown kind of memory")...)))
	equal(got, amber.IngestResult{Applied: 2, Memories: 2}, "answer without the bad step")
}

func ingestRefuses(w *world) {
	good := func() amber.Ingestion { return ingestion("s", 0, 1, w.saying("s", native("a"), "a")) }
	before := tree(w.dumpOf("s"))
	for name, spoil := range map[string]func(in *amber.Ingestion){
		"no journal":              func(in *amber.Ingestion) { in.Journal = "" },
		"an upper-case journal":   func(in *amber.Ingestion) { in.Journal = strings.Repeat("A", 32) },
		"no host":                 func(in *amber.Ingestion) { in.Host = "" },
		"no session":              func(in *amber.Ingestion) { in.Session = "" },
		"a negative cursor":       func(in *amber.Ingestion) { in.After = -1 },
		"a cursor that goes back": func(in *amber.Ingestion) { in.Through = -1 },
		"a bad event id":          func(in *amber.Ingestion) { in.Steps[0].Event.ID = "a" },
		"a start of another":      func(in *amber.Ingestion) { in.Steps[0].Start.ID = "other" },
		"a turn of another":       func(in *amber.Ingestion) { in.Steps[0].Turns[0].SessionID = "other" },
		"a bad turn":              func(in *amber.Ingestion) { in.Steps[0].Turns[0].Role = "ghost" },
		"an end of what is past": func(in *amber.Ingestion) {
			in.Past, in.Steps[0].End = true, &amber.SessionEnd{ID: "s"}
		},
		"an end of another": func(in *amber.Ingestion) { in.Steps[0].End = &amber.SessionEnd{ID: "other"} },
		"a compaction of another": func(in *amber.Ingestion) {
			in.Steps[0].Compaction = &amber.Compaction{SessionID: "other", Summary: "x"}
		},
		"an activity of another": func(in *amber.Ingestion) {
			in.Steps[0].Activity = []amber.Activity{{SessionID: "other", Kind: amber.ActivityTool, Name: "x"}}
		},
		"an unknown activity": func(in *amber.Ingestion) {
			in.Steps[0].Activity = []amber.Activity{{SessionID: "s", Kind: "nap", Name: "x"}}
		},
		"a nameless activity": func(in *amber.Ingestion) {
			in.Steps[0].Activity = []amber.Activity{{SessionID: "s", Kind: amber.ActivityTool}}
		},
	} {
		in := good()
		spoil(&in)
		refused(only(w.Ingest.Ingest(w.ctx, in)), amber.KindInvalid, "ingestion with %s", name)
	}
	equal(w.dumpOf("s"), before, "store after refused ingestions")
	equal(must(w.Ingest.Ingest(w.ctx, good())).Applied, 1, "steps of the good one applied")
}
