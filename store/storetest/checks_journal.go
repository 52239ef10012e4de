package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

func journalChecks() []check {
	needs := []part{ingest, sessions}
	return []check{
		{name: "journal/unknown-has-a-zero-cursor", needs: []part{ingest}, run: journalUnknown},
		{name: "journal/cursor-keeps-every-field", needs: []part{ingest}, run: journalKept},
		{name: "journal/knows-whether-its-session-ended", needs: needs, run: journalEnded},
		{name: "journal/open-are-those-not-ended", needs: needs, run: journalsOpen},
		{name: "journal/open-longest-unheard-first", needs: []part{ingest}, run: journalsInOrder},
		{name: "journal/open-are-bounded", needs: []part{ingest}, run: journalsBounded},
		{name: "journal/deleting-a-session-keeps-the-cursor", needs: []part{ingest, sessions, turns}, run: journalOfDeleted},
	}
}

// open returns the sessions of the open journals.
func (w *world) openJournals() []amber.SessionID {
	var out []amber.SessionID
	for _, c := range must(w.Ingest.OpenJournals(w.ctx)) {
		equal(c, must(w.Ingest.JournalCursor(w.ctx, c.Journal)), "open journal and its cursor")
		out = append(out, c.Session)
	}
	return out
}

func journalUnknown(w *world) {
	for _, journal := range []string{journalOf("s"), strings.Repeat("0", 32), "no journal", ""} {
		equal(must(w.Ingest.JournalCursor(w.ctx, journal)), amber.JournalCursor{Journal: journal}, "cursor of an unknown journal")
	}
	got := must(w.Ingest.OpenJournals(w.ctx))
	hold(got != nil && len(got) == 0, "open journals of an empty store are %v, want an empty list", got)
}

func journalKept(w *world) {
	in := ingestion("s", 0, 7)
	in.LastAt, in.Process = moment(time.Minute), amber.HostProcess{PID: 4711, Start: 1 << 50, Boot: "b0", Namespace: "pid:[4026531836]"}
	must(w.Ingest.Ingest(w.ctx, in))
	want := amber.JournalCursor{Journal: in.Journal, Host: "host", Session: "s", Seq: 7, LastAt: in.LastAt, Process: in.Process, Ended: true} // there is no session
	equal(w.cursor("s"), want, "cursor")
	must(w.Ingest.Ingest(w.ctx, ingestion("s", 7, 7)))
	equal(w.cursor("s"), want, "cursor after an ingestion that says nothing")
	in = ingestion("s", 7, 8)
	in.Host, in.LastAt = "other", moment(time.Second)
	must(w.Ingest.Ingest(w.ctx, in))
	want.Host, want.LastAt, want.Seq = "other", moment(time.Second), 8
	equal(w.cursor("s"), want, "cursor after an ingestion without a process")
	in = ingestion("s", 8, 9)
	in.Process = amber.HostProcess{PID: 1}
	must(w.Ingest.Ingest(w.ctx, in))
	want.Host, want.Seq, want.Process = "host", 9, in.Process
	equal(w.cursor("s"), want, "cursor after an ingestion of another process")
}

func journalsOpen(w *world) {
	for i, id := range []amber.SessionID{"a", "b", "c", "d"} {
		w.heard(id, moment(time.Duration(i)*time.Second))
	}
	w.start(amber.SessionStart{ID: "no journal"})
	must(w.Ingest.Ingest(w.ctx, ingestion("no session", 0, 1)))
	equal(w.openJournals(), []string{"a", "b", "c", "d"}, "open journals")
	w.ingest("a", amber.IngestStep{End: &amber.SessionEnd{ID: "a"}})
	must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "b"}))
	must0(w.Sessions.DeleteSession(w.ctx, "c"))
	equal(w.openJournals(), []string{"d"}, "open journals after two ended and one was deleted")
	w.ingest("b", amber.IngestStep{Reopen: true})
	w.start(amber.SessionStart{ID: "a"})
	equal(w.openJournals(), []string{"a", "b", "d"}, "open journals after two were reopened")
}

// heard ingests a step of a session that was last heard of at a time.
func (w *world) heard(session amber.SessionID, when amber.Time) {
	after := w.cursor(session).Seq
	in := ingestion(session, after, after+1, amber.IngestStep{})
	in.LastAt = when
	must(w.Ingest.Ingest(w.ctx, in))
}

func journalEnded(w *world) {
	w.heard("s", moment(0))
	equal(w.cursor("s").Ended, false, "ended, of a session that goes on")
	must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "s"}))
	equal(w.cursor("s").Ended, true, "ended, of a session that has ended")
	w.start(amber.SessionStart{ID: "s", Binding: w.session("s").Binding})
	equal(w.cursor("s").Ended, false, "ended, of a session that goes on again")
	hold(w.Sessions.DeleteSession(w.ctx, "s") == nil, "the session cannot be deleted")
	equal(w.cursor("s").Ended, true, "ended, of a session that is gone")
}

func journalsInOrder(w *world) {
	for i, id := range []amber.SessionID{"d", "b", "a", "c"} {
		w.heard(id, moment(time.Duration(i)*time.Second))
	}
	equal(w.openJournals(), []string{"d", "b", "a", "c"}, "open journals")
	w.heard("d", moment(time.Minute))
	w.heard("c", moment(-time.Minute))
	equal(w.openJournals(), []string{"c", "b", "a", "d"}, "open journals after two were heard of")
}

func journalsBounded(w *world) {
	const more = 3
	for i := range amber.MaxPageSize + more {
		w.heard(amber.SessionID(fmt.Sprint("s", i)), moment(-time.Duration(i)*time.Second))
	}
	got := must(w.Ingest.OpenJournals(w.ctx))
	equal(len(got), amber.MaxPageSize, "number of open journals")
	equal([]any{got[0].Session, got[amber.MaxPageSize-1].Session}, []any{fmt.Sprint("s", amber.MaxPageSize+more-1), fmt.Sprint("s", more)}, "first and last of them")
}

// Entries of the journal that were applied are never applied again, though
// their session is gone.
func journalOfDeleted(w *world) {
	for _, id := range []amber.SessionID{"gone", "kept"} {
		s := w.everyPart(id, native(string(id)))
		s.End = nil
		w.ingest(id, s)
	}
	cursor := w.cursor("gone")
	must0(w.Sessions.DeleteSession(w.ctx, "gone"))
	equal(w.did("gone", ""), nil, "activity of a deleted session")
	equal(w.didNames("kept", ""), []string{"a.go"}, "activity of another session")
	cursor.Ended = true
	equal(w.cursor("gone"), cursor, "cursor of a deleted session")
	_, err := w.Ingest.Ingest(w.ctx, ingestion("gone", 0, 1, w.everyPart("gone", native("gone"))))
	refused(err, amber.KindConflict, "the same ingestion after deleting")
	equal(w.ingest("gone", w.everyPart("gone", native("gone"))), amber.IngestResult{Duplicates: 1}, "answer to the same event after deleting")
	refused(only(w.Sessions.Session(w.ctx, "gone")), amber.KindNotFound, "session after its event came again")
	equal(w.ingest("gone", w.saying("gone", native("new"), "back")).Applied, 1, "steps of a new event applied")
	equal(w.session("gone").CreatedAt, w.now(), "creation of the session after a new event")
	equal(w.did("gone", ""), nil, "activity of the new session")
}
