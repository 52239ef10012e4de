package storetest

import "github.com/amber-memory/amber"

func activeChecks() []check {
	needs := []part{sessions}
	return []check{
		{name: "active/follows-starts", needs: needs, run: activeFollowsStarts},
		{name: "active/select", needs: needs, run: activeSelected},
		{name: "active/ended-is-not-active", needs: needs, run: activeEnded},
		{name: "active/ending-again-deactivates", needs: []part{sessions, changes}, run: activeEndedAgain},
		{name: "active/deleted-is-not-active", needs: needs, run: activeDeleted},
	}
}

// activeIs checks which session is active; "" means none.
func (w *world) activeIs(binding string, want amber.SessionID, what string) {
	s, err := w.Active.ActiveSession(w.ctx, binding)
	if want == "" {
		refused(err, amber.KindNotFound, "active session of %s %s", binding, what)
		return
	}
	equal(must(s, err).ID, want, "active session of %s %s", binding, what)
}

func activeFollowsStarts(w *world) {
	w.activeIs("cli", "", "in a fresh store")
	w.start(amber.SessionStart{ID: "a"})
	w.activeIs("cli", "a", "after a start")
	w.start(amber.SessionStart{ID: "b"})
	w.activeIs("cli", "b", "after another start")
	w.start(amber.SessionStart{ID: "c", Binding: "chat"})
	w.activeIs("cli", "b", "after a start under another binding")
	w.activeIs("chat", "c", "after a start")
	w.start(amber.SessionStart{ID: "a"})
	w.activeIs("cli", "a", "after starting the first again")
	equal(must(w.Active.ActiveSession(w.ctx, "chat")), w.session("c"), "active session and session read by id")
}

func activeSelected(w *world) {
	w.start(amber.SessionStart{ID: "a"})
	w.start(amber.SessionStart{ID: "b"})
	w.start(amber.SessionStart{ID: "c", Binding: "chat"})
	w.start(amber.SessionStart{ID: "d", Binding: "chat"})
	w.tick()
	equal(must(w.Active.SelectSession(w.ctx, "a")).ID, "a", "selected session")
	w.activeIs("cli", "a", "after selecting")
	w.activeIs("chat", "d", "after selecting under another binding")
}

func activeEnded(w *world) {
	w.start(amber.SessionStart{ID: "a"})
	w.start(amber.SessionStart{ID: "b"})
	must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "a"}))
	w.activeIs("cli", "b", "after ending one that is not active")
	must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "b"}))
	w.activeIs("cli", "", "after ending it")
}

// A session that has ended may be selected to look at it; ending it again
// makes it inactive, which is a change like any other.
func activeEndedAgain(w *world) {
	w.start(amber.SessionStart{ID: "a"})
	must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "a"}))
	selected := w.session("a")
	w.tick()
	selected.UpdatedAt = w.now()
	equal(must(w.Active.SelectSession(w.ctx, "a")), selected, "a selected session stays ended")
	w.activeIs("cli", "a", "after selecting what has ended")
	got := w.logs("ending an active session again", func() {
		equal(must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "a", Reason: amber.EndCrash})), selected, "session ended again")
	})
	w.activeIs("cli", "", "after ending it again")
	equal(got, amber.Change{At: w.now(), Op: amber.OpUpdate, Scope: amber.ChangeSession, Key: "a"}, "entry of ending an active session again")
}

func activeDeleted(w *world) {
	w.start(amber.SessionStart{ID: "a"})
	w.start(amber.SessionStart{ID: "b"})
	must0(w.Sessions.DeleteSession(w.ctx, "b"))
	w.activeIs("cli", "", "after deleting it")
	must(w.Active.SelectSession(w.ctx, "a"))
	w.activeIs("cli", "a", "after selecting another")
}
