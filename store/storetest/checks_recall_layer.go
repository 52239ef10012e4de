package storetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

func recallLayerChecks() []check {
	needs := []part{longTerm, sessions, turns, ingest, compactions}
	return []check{
		{name: "recall/finds-every-layer", needs: needs, run: recallEveryLayer},
		{name: "recall/layers-choose", needs: needs, run: recallChosenLayers},
		{name: "recall/what-was-said-belongs-to-its-project", needs: needs, run: recallWalls},
		{name: "recall/what-was-said-before-its-session-started", needs: needs, run: recallEarly},
		{name: "recall/what-was-said-goes-with-its-session", needs: needs, run: recallSessionGone},
		{name: "recall/tools-are-not-found", needs: needs, run: recallTools},
		{name: "recall/long-texts-in-parts", needs: needs, run: recallLongTexts},
		{name: "recall/neighbours-count", needs: needs, run: recallNeighbours},
		{name: "recall/finds-what-stands-beside", needs: needs, run: recallBeside},
		{name: "recall/sections-of-notes", needs: []part{longTerm, notes}, run: recallNotes},
		{name: "recall/min-score", needs: []part{longTerm}, run: recallMinScore},
	}
}

// lived lets a session of a project say, do and fail something about a subject.
func (w *world) lived(session amber.SessionID, project, subject string) {
	w.ingest(session, amber.IngestStep{
		At:    w.now(),
		Start: amber.SessionStart{ID: session, Project: project, Name: "about work"},
		Turns: []amber.Turn{
			{ID: amber.TurnID(session + "-1"), SessionID: session, Role: amber.RoleUser, Content: "Why does the " + subject + " stall?", ProjectID: project},
			{ID: amber.TurnID(session + "-2"), SessionID: session, Role: amber.RoleAssistant, Content: "The " + subject + " waits for a lock.", ProjectID: project},
			{ID: amber.TurnID(session + "-3"), SessionID: session, Role: amber.RoleTool, Content: "trace of the " + subject, ProjectID: project},
		},
		Activity: []amber.Activity{
			{SessionID: session, Kind: amber.ActivityCommand, Name: "make " + subject, Detail: "exit status 2", Status: "failed", Count: 1, Failed: 1},
			{SessionID: session, Kind: amber.ActivityCommand, Name: "ls " + subject, Status: "completed", Count: 1},
		},
		Compaction: &amber.Compaction{ID: string(session) + "-c", SessionID: session, Summary: "We looked at the " + subject + "."},
		End:        &amber.SessionEnd{ID: session, Summary: "The " + subject + " was mended."},
	})
}

// inProject sees what a project sees.
func inProject(project string) amber.Filter {
	return amber.Filter{Identities: amber.Identities{ProjectID: project}}
}

// names returns what hits are of, sorted.
func hitNames(hits []amber.Hit) []string {
	out := []string{}
	for _, h := range hits {
		out = append(out, fmt.Sprint(h.Layer, " ", h.Owner))
	}
	slices.Sort(out)
	return out
}

func recallEveryLayer(w *world) {
	w.lived("s1", "acme", "gearbox")
	id := w.write(amber.WriteRequest{Content: "The gearbox is old.", Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "acme"}}).ID
	hits := w.recall(amber.Query{Text: "gearbox", Filter: inProject("acme"), Limit: 20})
	equal(hitNames(hits), slices.Sorted(slices.Values([]string{
		"activity s1", "exchange s1-1", "exchange s1-2", "memory " + string(id), "session s1", "session s1-c",
	})), "what is found")
	for _, h := range hits {
		hold(h.Layer == amber.LayerMemory || h.SessionID == "s1", "hit %v does not name its session", h)
		hold(h.ProjectID == "acme" && h.Scope == amber.ScopeProject, "hit %v does not name its project", h)
		hold((h.ID != "") == (h.Layer == amber.LayerMemory), "hit %v: the id is %q", h.Layer, h.ID)
		hold(strings.Contains(h.Title+h.Content, "gearbox"), "hit %s is %q", h.Layer, clipped(h.Content))
		want := amber.TrustDerived
		if h.Layer == amber.LayerMemory || h.Role == amber.RoleUser {
			want = amber.TrustOwn
		}
		equal(h.Trust, want, "trust of %s %s", h.Layer, h.Owner)
	}
}

// Sections of notes are found with the note, and no longer than they are there.
func recallNotes(w *world) {
	const name = "ops/gearbox manual"
	ask := func(text string) (out []string) {
		for _, h := range w.recall(amber.Query{Text: text, Filter: inProject("acme"), Layers: []amber.RecallLayer{amber.LayerNote}}) {
			out = append(out, h.Owner+": "+h.Title)
		}
		return out
	}
	equal(len(ask("gearbox")), 0, "notes that are found before there is one")
	must(w.Notes.WriteNote(w.ctx, amber.NoteWrite{Name: name, Content: "Of the mill.\n\n# Oil\nChange the lubricant in spring.\n\n```\n# quicksilver\n```\n\n## Filter\nThe sieve is behind the hatch.\n"}))
	equal(ask("lubricant"), []string{name + ": Oil"}, "a section by its text")
	equal(ask("sieve"), []string{name + ": Oil / Filter"}, "a section below another")
	equal(ask("quicksilver"), []string{name + ": Oil"}, "code is text and no heading")
	hit := w.recall(amber.Query{Text: "sieve"})[0]
	equal([]any{hit.Layer, hit.Content, hit.Scope, hit.Trust, hit.ID}, []any{amber.LayerNote, "The sieve is behind the hatch.", amber.ScopeGlobal, amber.TrustOwn, amber.MemoryID("")}, "hit")
	must(w.Notes.WriteNote(w.ctx, amber.NoteWrite{Name: name, Content: "# Oil\nChange it in winter.\n", NoteBy: amber.NoteBy{Trust: amber.TrustAgent, Author: amber.Author{Host: "codex"}}}))
	hit = w.recall(amber.Query{Text: "winter"})[0]
	equal([]any{hit.Layer, hit.Trust}, []any{amber.LayerNote, amber.TrustAgent}, "hit in a note of an agent")
	equal(len(w.recall(amber.Query{Text: "winter", Trusted: true})), 0, "notes of agents among what is trusted")
	must(w.Notes.WriteNote(w.ctx, amber.NoteWrite{Name: name, Content: "# Oil\nChange it in autumn.\n"}))
	equal(w.recall(amber.Query{Text: "autumn", Trusted: true})[0].Trust, amber.TrustOwn, "trust of a note that the owner writes again")
	equal(len(ask("sieve"))+len(ask("lubricant")), 0, "sections that are gone")
	equal(ask("autumn"), []string{name + ": Oil"}, "the new text")
	must0(w.Notes.DeleteNote(w.ctx, name, amber.NoteBy{}))
	equal(len(ask("autumn")), 0, "sections of a deleted note")
}

func recallChosenLayers(w *world) {
	w.lived("s1", "acme", "gearbox")
	id := w.fact("a gearbox for everybody")
	ask := func(q amber.Query) []string {
		q.Text, q.Limit, q.Identities = "gearbox", 20, amber.Identities{ProjectID: "acme"}
		return hitNames(w.recall(q))
	}
	equal(ask(amber.Query{Layers: []amber.RecallLayer{amber.LayerExchange}}), []string{"exchange s1-1", "exchange s1-2"}, "exchanges")
	equal(ask(amber.Query{Layers: []amber.RecallLayer{amber.LayerSession, amber.LayerActivity}}), []string{"activity s1", "session s1", "session s1-c"}, "sessions and what failed")
	equal(ask(amber.Query{Filter: amber.Filter{Kinds: []amber.MemoryKind{amber.WorkspaceFact}}}), []string{"memory " + string(id)}, "with a kind, memories alone")
	must(w.Turns.AppendTurn(w.ctx, amber.Turn{SessionID: "agents", Role: amber.RoleUser, Content: "a prompt about the flywheel", ProjectID: "acme", Trust: amber.TrustAgent}))
	hits := w.recall(amber.Query{Text: "flywheel", Filter: inProject("acme")})
	hold(len(hits) == 1 && hits[0].Trust == amber.TrustAgent, "a prompt of an agent is found as %+v", hits)
	equal(len(w.recall(amber.Query{Text: "flywheel", Filter: inProject("acme"), Trusted: true})), 0, "prompts of agents among what is trusted")
	equal(ask(amber.Query{Trusted: true}), slices.Sorted(slices.Values([]string{"exchange s1-1", "memory " + string(id)})), "what is trusted")
	refused(only(w.LongTerm.Recall(w.ctx, amber.Query{Text: "x", Layers: []amber.RecallLayer{"rumour"}})), amber.KindInvalid, "an unknown layer")
}

func recallWalls(w *world) {
	w.lived("s1", "acme", "gearbox")
	w.lived("s2", "umbrella", "gearbox")
	w.lived("s3", "", "gearbox")
	sessionsOf := func(f amber.Filter) []string {
		seen := []string{}
		for _, h := range w.recall(amber.Query{Text: "gearbox lock mended", Filter: f, Limit: amber.MaxTopK}) {
			if !slices.Contains(seen, string(h.SessionID)) {
				seen = append(seen, string(h.SessionID))
			}
		}
		slices.Sort(seen)
		return seen
	}
	equal(sessionsOf(inProject("acme")), []string{"s1"}, "sessions that acme sees")
	equal(sessionsOf(inProject("umbrella")), []string{"s2"}, "sessions that umbrella sees")
	equal(sessionsOf(amber.Filter{}), []string{}, "sessions that nobody in particular sees")
	equal(sessionsOf(amber.Filter{Identities: amber.Identities{UserID: "ada", WorkspaceID: "w"}}), []string{}, "sessions that a user sees")
	equal(sessionsOf(amber.Filter{Identities: amber.Identities{SessionID: "s3"}}), []string{"s3"}, "sessions that a session without a project sees")
	equal(sessionsOf(amber.Filter{Identities: amber.Identities{SessionID: "s1"}}), []string{}, "sessions that a session with a project sees without it")
}

// recallEarly: records that are stored before their session has a project belong to that project
// from then on. The session s1 starts with a project; s2 gets its project later.
func recallEarly(w *world) {
	for _, id := range []amber.SessionID{"s1", "s2"} {
		must(w.Turns.AppendTurn(w.ctx, amber.Turn{ID: amber.TurnID(id + "-1"), SessionID: id, Role: amber.RoleUser, Content: "Why does the gearbox stall?"}))
		must(w.Compactions.AddCompaction(w.ctx, amber.Compaction{ID: string(id) + "-c", SessionID: id, Summary: "We looked at the gearbox."}))
	}
	seen := func(i amber.Identities) []string {
		return hitNames(w.recall(amber.Query{Text: "gearbox", Filter: amber.Filter{Identities: i}, Limit: 20}))
	}
	in := func(project string, id amber.SessionID) amber.Identities {
		return amber.Identities{ProjectID: project, SessionID: id}
	}
	for _, id := range []amber.SessionID{"s1", "s2"} {
		all := []string{"exchange " + string(id) + "-1", "session " + string(id) + "-c"}
		equal(seen(in("", id)), all, "what session %s sees of itself before it starts", id)
	}
	w.tick()
	w.start(amber.SessionStart{ID: "s1", Project: "acme"})
	w.start(amber.SessionStart{ID: "s2"})
	w.tick()
	w.ingest("s2", amber.IngestStep{At: w.now(), Start: amber.SessionStart{ID: "s2", Project: "acme"}})
	equal(seen(in("acme", "")), []string{"exchange s1-1", "exchange s2-1", "session s1-c", "session s2-c"}, "what the project of the sessions sees")
	for _, id := range []amber.SessionID{"s1", "s2"} {
		equal(seen(in("umbrella", id)), []string{}, "what another project sees of session %s", id)
		equal(seen(in("", id)), []string{}, "what session %s sees without its project", id)
	}
}

func recallSessionGone(w *world) {
	w.lived("s1", "acme", "gearbox")
	w.lived("s2", "acme", "gearbox")
	must(w.Turns.DeleteTurns(w.ctx, "s1"))
	equal(hitNames(w.recall(amber.Query{Text: "gearbox", Filter: inProject("acme"), Layers: []amber.RecallLayer{amber.LayerExchange}})),
		[]string{"exchange s2-1", "exchange s2-2"}, "exchanges after the turns of one session went")
	must0(w.Sessions.DeleteSession(w.ctx, "s2"))
	for _, h := range w.recall(amber.Query{Text: "gearbox", Filter: inProject("acme"), Limit: 20}) {
		equal(h.SessionID, "s1", "session of what is left")
	}
}

func recallTools(w *world) {
	w.lived("s1", "acme", "gearbox")
	equal(w.recall(amber.Query{Text: "trace", Filter: inProject("acme")}), []amber.Hit{}, "what a tool printed")
}

func recallLongTexts(w *world) {
	var b strings.Builder
	for i := range 60 {
		fmt.Fprintf(&b, "Chapter %d tells of many things that happened on the way to the harbour, none of which matters here. ", i)
		if i == 40 {
			b.WriteString("There the zeppelin landed beside the windmill. ")
		}
	}
	id := w.fact(b.String())
	w.fact("A windmill stands by the sea.")
	hits := w.recall(amber.Query{Text: "zeppelin windmill"})
	equal(hits[0].ID, id, "best hit")
	equal(len(hits), 2, "hits, one for each memory")
	hold(strings.Contains(hits[0].Snippet, "zeppelin"), "the snippet is %q", hits[0].Snippet)
	hold(hits[0].Content == b.String(), "the hit has %d bytes of the text, want %d", len(hits[0].Content), b.Len())
}

// recallNeighbours: of two turns that have the same words, the one among others about the
// matter is the better.
func recallNeighbours(w *world) {
	say := func(session amber.SessionID, said ...string) {
		step := amber.IngestStep{At: w.now(), Start: amber.SessionStart{ID: session, Project: "acme"}}
		for i, text := range said {
			step.Turns = append(step.Turns, amber.Turn{
				ID: amber.TurnID(fmt.Sprint(session, "-", i)), SessionID: session, Role: amber.RoleUser, Content: text, ProjectID: "acme",
			})
		}
		w.ingest(session, step)
	}
	say("s1", "The ferry leaves at nine.", "It takes bicycles too.", "Tickets are sold on board of the ferry.")
	w.tick()
	say("s2", "Lunch was good.", "It takes bicycles too.", "The soup was cold.")
	hits := w.recall(amber.Query{Text: "does the ferry take bicycles", Filter: inProject("acme"), Explain: true})
	at := func(owner string) int {
		return slices.IndexFunc(hits, func(h amber.Hit) bool { return h.Owner == owner })
	}
	hold(at("s1-1") >= 0 && at("s1-1") < at("s2-1"), "hits are %v", hitNames(hits))
	hold(hits[at("s1-1")].Why.Neighbours > hits[at("s2-1")].Why.Neighbours, "neighbours add nothing")
}

// recallBeside: an answer that has no word of the question is found behind who asked the same.
func recallBeside(w *world) {
	step := amber.IngestStep{At: w.now(), Start: amber.SessionStart{ID: "s1", Project: "acme"}}
	for i, text := range []string{"Good morning.", "How was it?", "Fine.", "When does the ferry leave?", "At nine.", "Thanks.", "Bye.", "See you."} {
		step.Turns = append(step.Turns, amber.Turn{
			ID: amber.TurnID(fmt.Sprint("s1-", i)), SessionID: "s1", Role: amber.RoleUser, Content: text, ProjectID: "acme",
		})
	}
	w.ingest("s1", step)
	hits := w.recall(amber.Query{Text: "departure of the ferry", Filter: inProject("acme"), Limit: 20})
	equal(hitNames(hits), []string{"exchange s1-1", "exchange s1-2", "exchange s1-3", "exchange s1-4", "exchange s1-5"}, "what is found")
	equal(w.recall(amber.Query{Text: "departure of the ferry", Filter: inProject("umbrella"), Limit: 20}), []amber.Hit{}, "what another project finds")
}

func recallMinScore(w *world) {
	w.fact("The glacier melts in summer.")
	w.fact("In summer the city is empty and the shops of the old town are closed for weeks.")
	all := w.recall(amber.Query{Text: "glacier melts summer"})
	equal(len(all), 2, "hits")
	between := (all[0].Score + all[1].Score) / 2
	equal(hitIDs(w.recall(amber.Query{Text: "glacier melts summer", MinScore: between})), []amber.MemoryID{all[0].ID}, "hits above a score")
	for _, bad := range []float64{-0.1, 1.1} {
		refused(only(w.LongTerm.Recall(w.ctx, amber.Query{Text: "x", MinScore: bad})), amber.KindInvalid, "min score %v", bad)
	}
}
