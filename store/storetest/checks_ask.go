package storetest

import "github.com/amber-memory/amber"

func askChecks() []check {
	return []check{
		{name: "ask/finds-every-project-and-session", needs: []part{everything, longTerm, sessions, ingest}, run: askEveryPlace},
		{name: "ask/needs-leave", needs: []part{everything}, run: askLeave},
	}
}

// askEveryPlace stores a subject in two projects, outside of projects and in a memory of each scope. Recall keeps its walls.
func askEveryPlace(w *world) {
	for session, project := range map[amber.SessionID]string{"s1": "acme", "s2": "umbrella", "s3": ""} {
		w.lived(session, project, "gearbox")
	}
	var memories []amber.MemoryID
	for _, s := range amber.Scopes() {
		who := amber.Identities{SessionID: "s9", UserID: "ann", ProjectID: "globex", WorkspaceID: "floor"}
		memories = append(memories, w.write(amber.WriteRequest{Content: "the gearbox of scope " + string(s), Scope: s, Tags: []string{string(s)}, Identities: who}).ID)
	}
	ask := func(q amber.Query) []amber.Hit { return must(w.Everything.Ask(w.ctx, q, amber.LeaveOfOwner())).Hits }
	for _, who := range []amber.Filter{{}, inProject("acme"), inProject("nowhere")} {
		q := amber.Query{Text: "gearbox lock mended scope", Limit: amber.MaxTopK, Filter: who}
		before, spoke := w.recall(q), map[amber.SessionID]bool{}
		for _, h := range ask(q) {
			spoke[h.SessionID] = true
		}
		hold(spoke["s1"] && spoke["s2"] && spoke["s3"], "%+v finds the sessions %v", who, spoke)
		for _, h := range before {
			hold(h.Scope == amber.ScopeGlobal || h.ProjectID == q.ProjectID, "recall of %+v finds project %q", who, h.ProjectID)
		}
		for _, text := range []string{"gearbox scope", ""} {
			q := amber.Query{Text: text, Limit: amber.MaxTopK, Layers: []amber.RecallLayer{amber.LayerMemory}, Filter: who}
			equal(sorted(hitIDs(ask(q))), sorted(memories), "memories for %q", text)
			q.Tags = []string{"user"}
			equal(hitIDs(ask(q)), memories[1:2], "memories with a tag for %q", text)
		}
	}
}

func askLeave(w *world) {
	refused(only(w.Everything.Ask(w.ctx, amber.Query{Text: "gearbox"}, amber.Leave{})), amber.KindRefused, "a question without leave")
	refused(only(w.Everything.Ask(w.ctx, amber.Query{Filter: amber.Filter{Scope: amber.ScopeGlobal}}, amber.LeaveOfOwner())), amber.KindInvalid, "a question that names a scope")
}
