package storetest

import (
	"fmt"
	"time"

	"github.com/amber-memory/amber"
)

func ingestPartChecks() []check {
	needs := []part{ingest, sessions}
	return []check{
		{name: "ingest/starts-a-session", needs: needs, run: ingestStarts},
		{name: "ingest/fills-in-what-is-missing", needs: needs, run: ingestFillsIn},
		{name: "ingest/reopens-only-when-asked", needs: []part{ingest, sessions, turns}, run: ingestReopens},
		{name: "ingest/ends-a-session", needs: needs, run: ingestEnds},
		{name: "ingest/an-end-is-not-before-the-start", needs: needs, run: ingestEndsLate},
		{name: "ingest/appends-turns", needs: []part{ingest, turns}, run: ingestTurns},
		{name: "ingest/writes-memories", needs: []part{ingest, longTerm, memories}, run: ingestMemories},
		{name: "ingest/links-memories", needs: []part{ingest, longTerm, memories, relations, turns}, run: ingestLinks},
		{name: "ingest/adds-compactions", needs: []part{ingest, compactions}, run: ingestCompactions},
		{name: "ingest/logs-as-the-single-operations", needs: []part{ingest, changes}, run: ingestLogs},
		{name: "ingest/logs-one-update-of-a-session", needs: []part{ingest, changes}, run: ingestLogsOnce},
		{name: "ingest/many-steps", needs: []part{ingest, sessions, turns}, run: ingestMany},
	}
}

// moment returns a time after the beginning of every check.
func moment(after time.Duration) amber.Time { return amber.At(start().Add(after)) }

func ingestStarts(w *world) {
	w.start(amber.SessionStart{ID: "before", Binding: "tty1"})
	w.tick()
	w.ingest("s", amber.IngestStep{
		At:    moment(-time.Hour),
		Start: amber.SessionStart{Name: " Night shift ", Binding: "tty1", Project: "p", Directory: "/home/ada/it's here", Parent: "s0"},
	})
	equal(w.session("s"), amber.Session{
		ID: "s", Name: "Night shift", Binding: "tty1", Project: "p", Directory: "/home/ada/it's here", Parent: "s0",
		StartedAt: moment(-time.Hour), CreatedAt: w.now(), UpdatedAt: w.now(),
	}, "session")
	w.activeIs("tty1", "s", "after an ingestion started a session")
	w.ingest("s2", amber.IngestStep{})
	equal(w.session("s2"), amber.Session{
		ID: "s2", Name: "s2", Binding: amber.DefaultBinding, StartedAt: w.now(), CreatedAt: w.now(), UpdatedAt: w.now(),
	}, "session of a step that says nothing")
}

func ingestFillsIn(w *world) {
	want := w.start(amber.SessionStart{ID: "s", Name: "first"})
	w.start(amber.SessionStart{ID: "newer"})
	w.tick()
	w.ingest("s", amber.IngestStep{At: moment(time.Hour), Start: amber.SessionStart{Name: "second", Binding: "other", Directory: "/d", Parent: "s0"}})
	want.Directory, want.UpdatedAt = "/d", w.now()
	equal(w.session("s"), want, "session after a step with its directory")
	w.activeIs(amber.DefaultBinding, "newer", "after a step of another session of the binding")
	w.activeIs("other", "", "after a step that named another binding")
	w.tick()
	w.ingest("s", amber.IngestStep{Start: amber.SessionStart{Project: "p", Directory: "/e"}})
	want.Project, want.UpdatedAt = "p", w.now()
	equal(w.session("s"), want, "session after a step with its project")
	w.tick()
	w.ingest("s", amber.IngestStep{Start: amber.SessionStart{Project: "q"}})
	want.UpdatedAt = w.now()
	equal(w.session("s"), want, "session after a step with another project")
}

func ingestReopens(w *world) {
	w.start(amber.SessionStart{ID: "s"})
	w.tick()
	want := must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "s", Reason: amber.EndIdle, Summary: "so far"}))
	w.tick()
	late := w.saying("s", amber.EventRef{}, "late")
	late.Start.Project = "p"
	w.ingest("s", late)
	want.Project, want.UpdatedAt = "p", w.now()
	equal(w.session("s"), want, "ended session after a step")
	equal(w.said("s"), []string{"late"}, "turns of an ended session")
	w.activeIs(amber.DefaultBinding, "", "after a step of an ended session")
	w.start(amber.SessionStart{ID: "other"})
	w.tick()
	again := w.saying("s", amber.EventRef{}, "again")
	again.Reopen = true
	w.ingest("s", again)
	want.EndedAt, want.EndReason, want.UpdatedAt = amber.Time{}, "", w.now()
	equal(w.session("s"), want, "session after a step that reopens it")
	w.activeIs(amber.DefaultBinding, "s", "after it was reopened")
	w.start(amber.SessionStart{ID: "other"})
	w.ingest("s", amber.IngestStep{Reopen: true})
	w.activeIs(amber.DefaultBinding, "other", "after a step that reopens what is open")
}

func ingestEnds(w *world) {
	w.ingest("s", amber.IngestStep{At: moment(0)})
	w.tick()
	want := w.session("s")
	w.ingest("s", amber.IngestStep{At: moment(time.Minute), End: &amber.SessionEnd{ID: "s", Reason: "logout", Summary: "all\ndone"}})
	want.EndedAt, want.EndReason, want.Summary, want.UpdatedAt = moment(time.Minute), "logout", "all\ndone", w.now()
	equal(w.session("s"), want, "ended session")
	w.activeIs(amber.DefaultBinding, "", "after the end")
	w.ingest("s", amber.IngestStep{At: moment(time.Hour), End: &amber.SessionEnd{ID: "s", Reason: amber.EndCrash, Summary: "other"}})
	equal(w.session("s"), want, "session ended twice")
	w.ingest("s",
		amber.IngestStep{At: moment(2 * time.Hour), Reopen: true},
		amber.IngestStep{At: moment(3 * time.Hour), End: &amber.SessionEnd{ID: "s"}})
	want.EndedAt, want.EndReason = moment(3*time.Hour), amber.EndEnded
	equal(w.session("s"), want, "session ended again without a summary")
}

func ingestEndsLate(w *world) {
	w.ingest("s", amber.IngestStep{At: moment(time.Hour)})
	w.ingest("s", amber.IngestStep{At: moment(0), End: &amber.SessionEnd{ID: "s"}})
	equal(w.session("s").EndedAt, moment(time.Hour), "end of a session by a clock that was set back")
	w.ingest("s2", amber.IngestStep{At: moment(0)})
	w.tick()
	w.ingest("s2", amber.IngestStep{End: &amber.SessionEnd{ID: "s2"}})
	equal(w.session("s2").EndedAt, w.now(), "end of a session at no time")
}

func ingestTurns(w *world) {
	first := amber.Turn{ID: "t1", SessionID: "s", Role: amber.RoleUser, Content: "\x1b[1mbold", ProjectID: "p", CreatedAt: moment(-time.Hour)}
	second := amber.Turn{ID: "t2", SessionID: "s", Role: amber.RoleAssistant, Content: "b", CreatedAt: moment(-2 * time.Hour)}
	third := amber.Turn{ID: "t3", SessionID: "s", Role: amber.RoleTool, Content: "c"}
	repeated := first
	repeated.Content, repeated.Role = "other", amber.RoleTool
	w.ingest("s", amber.IngestStep{Turns: []amber.Turn{first, second}}, amber.IngestStep{Turns: []amber.Turn{repeated, third}})
	third.CreatedAt = w.now()
	equal(must(amber.LastTurns(w.ctx, w.Turns, "s", 10)), []amber.Turn{first, second, third}, "turns")
	w.tick()
	w.ingest("s", amber.IngestStep{Turns: []amber.Turn{third, {SessionID: "s", Role: amber.RoleUser, Content: "d"}}})
	got := must(amber.LastTurns(w.ctx, w.Turns, "s", 10))
	equal(len(got), 4, "number of turns")
	hold(got[3].ID != "", "a turn has no id")
}

func ingestMemories(w *world) {
	known := w.fact("The harbour opens at dawn.")
	keyed := amber.WriteRequest{Content: "The keeper is Ada.", IdempotencyKey: "k"}
	told := w.write(keyed)
	full := fullRequest()
	got := w.ingest("s",
		amber.IngestStep{Memories: []amber.WriteRequest{full, {Content: "The harbour opens at dawn."}}},
		amber.IngestStep{Memories: []amber.WriteRequest{full, keyed, {Topic: "tide", Content: "Low at noon."}}},
		amber.IngestStep{Memories: []amber.WriteRequest{{Topic: "tide", Content: "High at noon."}, {Topic: "tide", Content: "High at noon."}}})
	equal(got, amber.IngestResult{Applied: 3, Memories: 3}, "answer: a memory, a topic and its revision are new")
	equal(w.get(known).DuplicateCount, 1, "duplicates of what was known")
	equal(w.get(told.ID), told.Memory, "memory of a used key")
	tide := amber.TopicID("", amber.ScopeGlobal, "", "tide", 0)
	equal([]any{w.get(tide).Content, w.get(tide).Revision, w.get(tide).DuplicateCount}, []any{"High at noon.", 2, 1}, "topic")
	equal(len(w.everything()), 4, "number of memories")
	equal(w.found("noon"), []amber.MemoryID{tide}, "recall of an ingested memory")
	again := w.write(full)
	hold(again.Deduplicated && again.DuplicateCount == 2, "a full memory was not stored as a write stores it: %v", again)
	other := keyed
	other.Content = "The keeper is Bob."
	_, err := w.Ingest.Ingest(w.ctx, ingestion("s", 1, 2, amber.IngestStep{Memories: []amber.WriteRequest{other}}))
	refused(err, amber.KindConflict, "used key with other bytes")
}

func ingestLinks(w *world) {
	old, gone := w.fact("We use npm."), w.fact("We use make.")
	must0(w.LongTerm.Delete(w.ctx, gone))
	const fresh = "We use yarn."
	link := func(memory int, to amber.MemoryID) amber.IngestLink {
		return amber.IngestLink{Memory: memory, To: to, Type: "supersedes", Strength: 0.5}
	}
	step := amber.IngestStep{
		Memories: []amber.WriteRequest{{Topic: "t", Content: "Other."}, {Topic: "tool", Content: fresh}, {Content: "We use npm."}},
		Links:    []amber.IngestLink{link(1, old), link(1, gone), link(2, old)},
	}
	equal(w.ingest("s", step), amber.IngestResult{Applied: 1, Memories: 2}, "answer to a step with links")
	tool := amber.TopicID("", amber.ScopeGlobal, "", "tool", 0)
	got := must(w.Relations.Related(w.ctx, old))
	equal(len(got), 1, "number of relations: none to a memory that is gone, none to itself")
	equal([]any{got[0].From, got[0].To, got[0].Type, got[0].Strength}, []any{tool, old, "supersedes", 0.5}, "relation")
	equal(len(must(w.Relations.Related(w.ctx, tool))), 1, "number of relations from the new memory")
	again := step
	again.Links = []amber.IngestLink{link(1, old)}
	w.ingest("s", again)
	equal(len(must(w.Relations.Related(w.ctx, old))), 1, "number of relations after the same step")
	for _, bad := range []amber.IngestLink{link(-1, old), link(3, old), link(0, "no id"), {To: old, Strength: 0.5}, {To: old, Type: "t", Strength: 2}} {
		refusedStep := step
		refusedStep.Links = []amber.IngestLink{bad}
		_, err := w.Ingest.Ingest(w.ctx, ingestion("s", 2, 3, refusedStep))
		refused(err, amber.KindInvalid, "link %+v", bad)
	}
	// A step that fails later leaves no relation.
	failing := step
	failing.Memories = append([]amber.WriteRequest{}, step.Memories...)
	failing.Memories[0] = amber.WriteRequest{Topic: "t", Content: "Again other."}
	failing.Links = []amber.IngestLink{link(0, old)}
	must(w.Turns.AppendTurn(w.ctx, amber.Turn{ID: "taken", SessionID: "elsewhere", Role: amber.RoleUser, Content: "x"}))
	conflicting := amber.IngestStep{Turns: []amber.Turn{{ID: "taken", SessionID: "s", Role: amber.RoleUser, Content: "x"}}}
	_, err := w.Ingest.Ingest(w.ctx, ingestion("s", 2, 3, failing, conflicting))
	refused(err, amber.KindConflict, "a turn of another session")
	equal(len(must(w.Relations.Related(w.ctx, old))), 1, "number of relations after an ingestion that failed")
}

func ingestCompactions(w *world) {
	first := amber.Compaction{ID: "c1", SessionID: "s", Summary: "so far", Turns: 3, CreatedAt: moment(-time.Hour)}
	repeated := first
	repeated.Summary = "other"
	second := amber.Compaction{ID: "c2", SessionID: "s", Summary: "further", Turns: 4}
	w.ingest("s", amber.IngestStep{Compaction: &first}, amber.IngestStep{Compaction: &repeated}, amber.IngestStep{Compaction: &second})
	second.CreatedAt = w.now()
	equal(must(amber.All(w.ctx, w.Compactions.Compactions, "s")), []amber.Compaction{first, second}, "compactions")
}

// brief says what an entry of the change log is about.
func brief(all []amber.Change) []string {
	out := make([]string, len(all))
	for i, c := range all {
		out[i] = fmt.Sprintf("%s %s %s", c.Op, c.Scope, c.Key)
	}
	return out
}

func ingestLogs(w *world) {
	topic := string(amber.TopicID("", amber.ScopeGlobal, "", "t", 0))
	step := w.everyPart("s", native("a"))
	step.Memories = []amber.WriteRequest{{Topic: "t", Content: "v1"}}
	got := w.changed(func() { w.ingest("s", step) })
	equal(brief(got), []string{
		"insert session s", "insert turn said in s", "insert memory " + topic, "insert compaction of s", "update session s",
	}, "entries of a step with everything")
	equal([]string{got[1].NewDigest, got[2].NewDigest, got[3].NewDigest},
		[]string{amber.ContentDigest("said in s"), amber.ContentDigest("v1"), amber.ContentDigest("so far")}, "digests")
	got = w.changed(func() {
		w.ingest("s", amber.IngestStep{Reopen: true, Memories: []amber.WriteRequest{{Topic: "t", Content: "v2"}}},
			amber.IngestStep{End: &amber.SessionEnd{ID: "s"}})
	})
	equal(brief(got), []string{"update session s", "update memory " + topic, "update session s"}, "entries of a session reopened and ended")
	equal(w.changed(func() { w.ingest("s", w.everyPart("s", native("a"))) }), nil, "entries of a known event")
	equal(w.changed(func() { w.ingest("s") }), nil, "entries of a cursor that moves")
}

func ingestLogsOnce(w *world) {
	doing := func(name string) amber.IngestStep {
		return amber.IngestStep{Activity: []amber.Activity{
			{SessionID: "s", Kind: amber.ActivityTool, Name: name}, {SessionID: "s", Kind: amber.ActivityFile, Name: name},
		}}
	}
	got := w.changed(func() { w.ingest("s", doing("a"), doing("b")) })
	equal(brief(got), []string{"insert session s"}, "entries of a session that is new")
	got = w.changed(func() { w.ingest("s", doing("a"), doing("b"), w.saying("s", amber.EventRef{}, "c"), doing("c")) })
	equal(brief(got), []string{"insert turn c", "update session s"}, "entries of a session that is known")
	ending := doing("d")
	ending.End = &amber.SessionEnd{ID: "s"}
	equal(brief(w.changed(func() { w.ingest("s", ending, doing("a")) })), []string{"update session s"}, "entries of a session that ends")
}

// ingestMany ingests as much as a drain does at a time, and all of it again.
func ingestMany(w *world) {
	const total = 256
	steps := func() []amber.IngestStep {
		var out []amber.IngestStep
		for i := range total {
			s := w.saying("s", native(fmt.Sprint("many ", i)), fmt.Sprint("turn ", i))
			s.Activity = []amber.Activity{{SessionID: "s", Kind: amber.ActivityTool, Name: fmt.Sprint("tool ", i%7)}}
			out = append(out, s)
		}
		return out
	}
	equal(w.ingest("s", steps()...), amber.IngestResult{Applied: total}, "answer")
	equal(w.ingest("s", steps()...), amber.IngestResult{Duplicates: total}, "answer to the same again")
	said := w.said("s")
	equal(len(said), total, "number of turns")
	for i, content := range said {
		equal(content, fmt.Sprint("turn ", i), "turn")
	}
}
