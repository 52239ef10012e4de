package storetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

func sessionChecks() []check {
	needs := []part{sessions}
	return []check{
		{name: "session/start-keeps-every-field", needs: needs, run: sessionStarted},
		{name: "session/start-fills-defaults", needs: needs, run: sessionDefaults},
		{name: "session/start-is-idempotent", needs: needs, run: sessionStartTwice},
		{name: "session/start-reopens", needs: needs, run: sessionReopened},
		{name: "session/start-refuses", needs: needs, run: sessionStartRefuses},
		{name: "session/end", needs: needs, run: sessionEnded},
		{name: "session/rename", needs: needs, run: sessionRenamed},
		{name: "session/list-last-updated-first", needs: needs, run: sessionsListed},
		{name: "session/list-of-a-project", needs: needs, run: sessionsOfProject},
		{name: "session/list-pages", needs: needs, run: sessionPages},
		{name: "session/unknown-is-not-found", needs: needs, run: sessionUnknown},
		{name: "session/delete-keeps-memories", needs: []part{sessions, longTerm, memories}, run: sessionDeleteKeepsMemories},
		{name: "session/delete-removes-what-is-its-own", needs: []part{sessions, turns, states, loops, compactions}, run: sessionDeleteRemoves},
	}
}

// start starts a session.
func (w *world) start(s amber.SessionStart) amber.Session {
	return must(w.Sessions.StartSession(w.ctx, s))
}

// session returns a session.
func (w *world) session(id amber.SessionID) amber.Session { return must(w.Sessions.Session(w.ctx, id)) }

// fullSession starts a session with two turns, a state, a loop and a
// compaction.
func (w *world) fullSession(id amber.SessionID) {
	w.start(amber.SessionStart{ID: id})
	w.say(id, "one")
	w.say(id, "two")
	must(w.States.SaveState(w.ctx, id, []byte(`{"step":1}`), 0))
	w.saveLoop(id, "run", `{"at":1}`, 0)
	must(w.Compactions.AddCompaction(w.ctx, amber.Compaction{SessionID: id, Summary: "one and two", Turns: 2}))
}

func sessionStarted(w *world) {
	s := amber.SessionStart{ID: "s", Name: " Night shift ", Binding: "tty1", Project: "p", Directory: "/home/ada/it's here", Parent: "s0"}
	want := amber.Session{
		ID: s.ID, Name: "Night shift", Binding: s.Binding, Project: s.Project, Directory: s.Directory, Parent: s.Parent,
		StartedAt: w.now(), CreatedAt: w.now(), UpdatedAt: w.now(),
	}
	equal(w.start(s), want, "session started")
	equal(w.session("s"), want, "session read back")
}

func sessionDefaults(w *world) {
	a, b := w.start(amber.SessionStart{}), w.start(amber.SessionStart{})
	hold(a.ID != "" && b.ID != "" && a.ID != b.ID, "ids %q and %q are not two ids", a.ID, b.ID)
	equal(a.Name, a.ID, "name of a session without one")
	equal(a.Binding, amber.DefaultBinding, "binding of a session without one")
}

func sessionStartTwice(w *world) {
	first := w.start(amber.SessionStart{ID: "s", Name: "first", Project: "p"})
	w.tick()
	again := w.start(amber.SessionStart{ID: "s", Name: "second", Project: "q"})
	first.UpdatedAt, again.UpdatedAt = amber.Time{}, amber.Time{}
	equal(again, first, "session started twice")
	equal(len(must(w.Sessions.ListSessions(w.ctx, amber.SessionQuery{})).Items), 1, "number of sessions")
	_, err := w.Sessions.StartSession(w.ctx, amber.SessionStart{ID: "s", Binding: "other"})
	refused(err, amber.KindConflict, "start of a session under another binding")
	equal(w.session("s").Binding, amber.DefaultBinding, "binding after a refused start")
}

func sessionReopened(w *world) {
	first := w.start(amber.SessionStart{ID: "s"})
	must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "s", Reason: amber.EndIdle, Summary: "so far"}))
	w.tick()
	again := w.start(amber.SessionStart{ID: "s"})
	first.UpdatedAt, first.Summary = w.now(), "so far"
	equal(again, first, "reopened session")
	equal(w.session("s"), again, "session read back")
	equal(must(w.Active.ActiveSession(w.ctx, amber.DefaultBinding)).ID, "s", "active session")
}

func sessionStartRefuses(w *world) {
	for name, s := range map[string]amber.SessionStart{
		"a bad id":       {ID: "a\nb"},
		"a long id":      {ID: amber.SessionID(strings.Repeat("x", amber.MaxIDBytes+1))},
		"a long name":    {Name: strings.Repeat("é", amber.MaxNameRunes+1)},
		"a blank name":   {Name: "  "},
		"two lines":      {Name: "a\nb"},
		"a bad binding":  {Binding: " x"},
		"a NUL":          {Directory: "a\x00b"},
		"a bad parent":   {Parent: "\x01"},
		"a bad project":  {Project: "\t"},
		"a control name": {Name: "a\x1bb"},
	} {
		refused(only(w.Sessions.StartSession(w.ctx, s)), amber.KindInvalid, "start with %s", name)
	}
	w.start(amber.SessionStart{ID: "s", Name: strings.Repeat("é", amber.MaxNameRunes)})
	equal(len(must(w.Sessions.ListSessions(w.ctx, amber.SessionQuery{})).Items), 1, "number of sessions")
}

func sessionEnded(w *world) {
	w.start(amber.SessionStart{ID: "s"})
	w.tick()
	ended := must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "s", Reason: "host quit", Summary: "all\ndone"}))
	equal([]any{ended.EndedAt, ended.EndReason, ended.Summary, ended.UpdatedAt}, []any{w.now(), "host quit", "all\ndone", w.now()}, "ended session")
	equal(w.session("s"), ended, "session read back")
	w.tick()
	equal(must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "s", Reason: amber.EndCrash, Summary: "other"})), ended, "session ended twice")
	must(w.Sessions.StartSession(w.ctx, amber.SessionStart{ID: "noticed"}))
	must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "noticed", Reason: amber.EndCrash}))
	equal(must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "noticed", Reason: amber.EndIdle})).EndReason, amber.EndCrash, "noticed twice")
	equal(must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "noticed", Reason: "exit"})).EndReason, "exit", "a word after it was noticed")
	equal(w.session("s"), ended, "session after a second end")
	w.start(amber.SessionStart{ID: "s2"})
	equal(must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "s2"})).EndReason, amber.EndEnded, "default reason")
	refused(only(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "s2", Reason: "a\nb"})), amber.KindInvalid, "end with a reason of two lines")
}

func sessionRenamed(w *world) {
	before := w.start(amber.SessionStart{ID: "s", Name: "old"})
	w.tick()
	after := must(w.Names.RenameSession(w.ctx, "s", "  new name "))
	before.Name, before.UpdatedAt = "new name", w.now()
	equal(after, before, "renamed session")
	equal(w.session("s"), after, "session read back")
	for _, name := range []string{"", "  ", strings.Repeat("x", amber.MaxNameRunes+1), "a\tb", "a\x00"} {
		refused(only(w.Names.RenameSession(w.ctx, "s", name)), amber.KindInvalid, "rename to %q", name)
	}
	equal(w.session("s"), after, "session after refused names")
	equal(must(w.Names.RenameSession(w.ctx, "s", strings.Repeat("界", amber.MaxNameRunes))).Name,
		strings.Repeat("界", amber.MaxNameRunes), "a name of as many characters as may be")
}

// sessionIDs lists the ids of every page.
func (w *world) sessionIDs(q amber.SessionQuery) []amber.SessionID {
	var out []amber.SessionID
	for _, s := range pages(func(c amber.Cursor) (amber.Page[amber.Session], error) {
		q.Cursor = c
		return w.Sessions.ListSessions(w.ctx, q)
	}) {
		out = append(out, s.ID)
	}
	return out
}

func sessionsListed(w *world) {
	for _, id := range []amber.SessionID{"a", "b", "c", "d"} {
		w.start(amber.SessionStart{ID: id, Binding: "tty" + string(id[0]%2+'0')})
		w.tick()
	}
	equal(w.sessionIDs(amber.SessionQuery{}), []string{"d", "c", "b", "a"}, "sessions by start")
	must(w.Names.RenameSession(w.ctx, "b", "touched"))
	w.tick()
	must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "a"}))
	equal(w.sessionIDs(amber.SessionQuery{}), []string{"a", "b", "d", "c"}, "sessions by update")
	equal(w.sessionIDs(amber.SessionQuery{Binding: "tty1"}), []string{"a", "c"}, "sessions of a binding")
	equal(w.sessionIDs(amber.SessionQuery{Binding: "unknown"}), nil, "sessions of an unknown binding")
}

func sessionsOfProject(w *world) {
	for i, project := range []string{"p", "q", "", "p/q", "p", "P"} {
		w.start(amber.SessionStart{ID: amber.SessionID(fmt.Sprint("s", i)), Project: project, Binding: fmt.Sprint("tty", i%2)})
		w.tick()
	}
	equal(w.sessionIDs(amber.SessionQuery{Project: "p"}), []string{"s4", "s0"}, "sessions of a project")
	equal(w.sessionIDs(amber.SessionQuery{Project: "p", Limit: 1}), []string{"s4", "s0"}, "sessions of a project, page by page")
	equal(w.sessionIDs(amber.SessionQuery{Project: "q", Binding: "tty1", Trusted: true}), []string{"s1"}, "sessions of a project and a binding")
	equal(w.sessionIDs(amber.SessionQuery{Project: "q", Binding: "tty0"}), nil, "sessions of a project under another binding")
	equal(w.sessionIDs(amber.SessionQuery{Project: "unknown"}), nil, "sessions of an unknown project")
	equal(w.sessionIDs(amber.SessionQuery{}), []string{"s5", "s4", "s3", "s2", "s1", "s0"}, "sessions of every project")
}

func sessionPages(w *world) {
	for i := range amber.DefaultPageSize + 5 {
		w.start(amber.SessionStart{ID: amber.SessionID(fmt.Sprintf("s%03d", i))})
		if i%3 == 0 {
			w.tick()
		}
	}
	equal(len(must(w.Sessions.ListSessions(w.ctx, amber.SessionQuery{})).Items), amber.DefaultPageSize, "default page")
	want := w.sessionIDs(amber.SessionQuery{Limit: 1000})
	equal(len(want), amber.DefaultPageSize+5, "number of sessions")
	for _, limit := range []int{1, 7, 54, 55} {
		equal(w.sessionIDs(amber.SessionQuery{Limit: limit}), want, "pages of %d", limit)
	}
	for _, q := range []amber.SessionQuery{{Limit: -1}, {Cursor: "garbage"}} {
		refused(only(w.Sessions.ListSessions(w.ctx, q)), amber.KindInvalid, "list sessions with %v", q)
	}
}

func sessionUnknown(w *world) {
	refused(only(w.Sessions.Session(w.ctx, "unknown")), amber.KindNotFound, "read an unknown session")
	refused(only(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "unknown"})), amber.KindNotFound, "end an unknown session")
	refused(only(w.Names.RenameSession(w.ctx, "unknown", "name")), amber.KindNotFound, "rename an unknown session")
	refused(w.Sessions.DeleteSession(w.ctx, "unknown"), amber.KindNotFound, "delete an unknown session")
	refused(only(w.Active.SelectSession(w.ctx, "unknown")), amber.KindNotFound, "select an unknown session")
}

func sessionDeleteKeepsMemories(w *world) {
	w.start(amber.SessionStart{ID: "session-1"})
	id := w.write(amber.WriteRequest{Scope: amber.ScopeSession, Identities: ids(), Content: "learned here"}).ID
	must0(w.Sessions.DeleteSession(w.ctx, "session-1"))
	equal(w.get(id).Content, "learned here", "memory of a deleted session")
	refused(w.Sessions.DeleteSession(w.ctx, "session-1"), amber.KindNotFound, "delete a deleted session")
}

func sessionDeleteRemoves(w *world) {
	w.fullSession("gone")
	w.fullSession("kept")
	must0(w.Sessions.DeleteSession(w.ctx, "gone"))
	refused(only(w.Sessions.Session(w.ctx, "gone")), amber.KindNotFound, "read a deleted session")
	equal(w.said("gone"), nil, "turns of a deleted session")
	refused(only(w.States.LoadState(w.ctx, "gone")), amber.KindNotFound, "state of a deleted session")
	refused(only(w.Loops.LoadLoop(w.ctx, "gone")), amber.KindNotFound, "loop of a deleted session")
	equal(len(must(amber.All(w.ctx, w.Compactions.Compactions, "gone"))), 0, "compactions of a deleted session")
	hold(!slices.Contains(w.sessionIDs(amber.SessionQuery{}), "gone"), "a deleted session is listed")

	equal(len(w.said("kept")), 2, "turns of another session")
	equal(must(w.States.LoadState(w.ctx, "kept")).Version, 1, "state of another session")
	equal(must(w.Loops.LoadLoop(w.ctx, "kept")).Revision, 1, "loop of another session")
	equal(len(must(amber.All(w.ctx, w.Compactions.Compactions, "kept"))), 1, "compactions of another session")
}
