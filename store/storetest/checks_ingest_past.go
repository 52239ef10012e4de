package storetest

import (
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

func ingestPastChecks() []check {
	needs := []part{ingest, sessions, turns}
	return []check{
		{name: "ingest/past-leaves-the-session-alone", needs: needs, run: ingestPastSession},
		{name: "ingest/past-keeps-turns-as-they-are", needs: needs, run: ingestPastTurns},
		{name: "ingest/past-logs-nothing-of-the-session", needs: []part{ingest, sessions, turns, changes}, run: ingestPastLogs},
		{name: "ingest/past-needs-its-session", needs: needs, run: ingestPastUnknown},
		{name: "ingest/past-is-no-open-journal", needs: needs, run: ingestPastJournal},
	}
}

// ended starts and ends a session, and starts another of its binding.
func (w *world) ended(id amber.SessionID) amber.Session {
	w.start(amber.SessionStart{ID: id})
	w.tick()
	s := must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: id}))
	w.start(amber.SessionStart{ID: "live"})
	w.tick()
	return s
}

// past ingests steps of long ago behind the cursor, which moves on by one.
func (w *world) past(session amber.SessionID, steps ...amber.IngestStep) amber.IngestResult {
	after := w.cursor(session).Seq
	in := ingestion(session, after, after+1, steps...)
	in.Past, in.LastAt = true, moment(-time.Hour)
	return must(w.Ingest.Ingest(w.ctx, in))
}

func (w *world) pastSaying(session amber.SessionID, content string) amber.IngestStep {
	s := w.saying(session, native(content), content)
	s.At, s.Turns[0].CreatedAt = moment(-time.Hour), moment(-time.Hour)
	s.Turns[0].Trust = amber.TrustImported
	return s
}

func ingestPastSession(w *world) {
	want := w.ended("s")
	step := w.pastSaying("s", "long ago")
	step.Reopen, step.Start = true, amber.SessionStart{Name: "other", Binding: "other", Project: "p", Directory: "/d", Parent: "s0"}
	step.Activity = []amber.Activity{{SessionID: "s", Kind: amber.ActivityTool, Name: "a.go"}}
	step.Memories = []amber.WriteRequest{{Content: "The harbour opened at dawn."}}
	step.Compaction = &amber.Compaction{SessionID: "s", Summary: "so far"}
	equal(w.past("s", step), amber.IngestResult{Applied: 1, Memories: 1}, "answer")
	equal(w.session("s"), want, "session after a past step")
	equal(w.said("s"), []string{"long ago"}, "turns")
	equal(w.didNames("s", ""), []string{"a.go"}, "activity")
	w.activeIs(amber.DefaultBinding, "live", "after a past step")
	w.activeIs("other", "", "after a past step that named another binding")
	step.Start, step.Reopen = amber.SessionStart{}, false
	equal(w.past("s", step), amber.IngestResult{Duplicates: 1}, "answer to the same step")
	w.ingest("s", w.saying("s", native("now"), "now"))
	equal(w.session("s").UpdatedAt, w.now(), "update of the session by a step that is not past")
}

func ingestPastTurns(w *world) {
	w.ended("s")
	want := []amber.Turn{
		{ID: "t1", SessionID: "s", Role: amber.RoleUser, Content: "a", CreatedAt: moment(-time.Hour), Trust: amber.TrustImported},
		{ID: "t2", SessionID: "s", Role: amber.RoleAssistant, Content: "b", ProjectID: "p", CreatedAt: moment(-2 * time.Hour), Trust: amber.TrustSigned},
		{ID: "t3", SessionID: "s", Role: amber.RoleTool, Content: "c", CreatedAt: moment(-3 * time.Hour)},
	}
	w.past("s", amber.IngestStep{Turns: want})
	equal(must(amber.LastTurns(w.ctx, w.Turns, "s", 10)), want, "turns")
}

func ingestPastLogs(w *world) {
	w.ended("s")
	got := w.changed(func() {
		w.past("s", w.pastSaying("s", "a"), amber.IngestStep{Reopen: true, Start: amber.SessionStart{Project: "p"}}, w.pastSaying("s", "b"))
	})
	equal(brief(got), []string{"insert turn a", "insert turn b"}, "entries of past steps")
}

func ingestPastUnknown(w *world) {
	in := ingestion("unknown", 0, 1, w.saying("unknown", native("a"), "a"))
	in.Past = true
	for range 2 {
		_, err := w.Ingest.Ingest(w.ctx, in)
		refused(err, amber.KindConflict, "past ingestion of a session that is not stored")
		hold(strings.Contains(err.Error(), "session unknown is not stored"), "the error does not name the session: %v", err)
		refused(only(w.Sessions.Session(w.ctx, "unknown")), amber.KindNotFound, "session after it")
		equal(w.cursor("unknown").Seq, 0, "cursor after it")
	}
	in.Past = false
	equal(must(w.Ingest.Ingest(w.ctx, in)).Applied, 1, "steps of the same that is not past")
}

func ingestPastJournal(w *world) {
	w.ended("s")
	w.past("s", w.pastSaying("s", "a"))
	equal(w.openJournals(), nil, "open journals after a past ingestion of a session that has ended")
	equal(w.cursor("s").Ended, true, "ended, of its cursor")
	w.past("live", w.pastSaying("live", "b"))
	equal(w.openJournals(), []string{"live"}, "open journals after a past ingestion of a session that goes on")
}
