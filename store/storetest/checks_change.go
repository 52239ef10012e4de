package storetest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
)

func changeChecks() []check {
	return []check{
		{name: "change/one-entry-per-write", needs: []part{longTerm, memories, edits, changes}, run: changesOfMemories},
		{name: "change/pages-in-commit-order", needs: []part{longTerm, changes}, run: changesPage},
		{name: "change/newest-first", needs: []part{longTerm, turns, changes}, run: changesBackwards},
		{name: "change/head", needs: []part{longTerm, changes}, run: changesHead},
		{name: "change/refuses-foreign-positions", needs: []part{longTerm, changes}, run: changesRefuse},
		{name: "change/refused-calls-leave-no-entry", needs: []part{longTerm, edits, changes}, run: changesOfRefusals},
		{name: "change/of-sessions", needs: []part{sessions, states, turns, loops, compactions, changes}, run: changesOfSessions},
		{name: "change/of-deleting-a-session", needs: []part{sessions, states, turns, loops, compactions, changes}, run: changesOfSessionDelete},
		{name: "change/of-notes-and-documents", needs: []part{notes, documents, changes, logsAll}, run: changesOfNotesAndDocuments},
		{name: "change/never-holds-text", needs: []part{longTerm, turns, sessions, changes}, run: changesHoldNoText},
	}
}

func statsChecks() []check {
	return []check{{
		name: "stats/counts", run: statsCount,
		needs: []part{longTerm, memories, edits, relations, sessions, states, turns, loops, compactions, changes, stats},
	}}
}

func changesOfMemories(w *world) {
	var id amber.MemoryID
	one, two := amber.ContentDigest("one"), amber.ContentDigest("two")
	steps := []struct {
		name string
		do   func()
		op   amber.Op
		old  string
		new  string
	}{
		{"insert", func() { id = w.write(amber.WriteRequest{Topic: "t", Content: "one"}).ID }, amber.OpInsert, "", one},
		{"topic revision", func() { w.write(amber.WriteRequest{Topic: "t", Content: "two"}) }, amber.OpUpdate, one, two},
		{"edit of a summary", func() { w.edit(amber.EditRequest{ID: id, Summary: new("s")}) }, amber.OpUpdate, two, two},
	}
	for _, s := range steps {
		w.tick()
		equal(w.logs(s.name, s.do), amber.Change{
			At: w.now(), Op: s.op, Scope: amber.ChangeMemory, Key: string(id),
			OldDigest: s.old, NewDigest: s.new,
		}, "entry of %s", s.name)
	}
}

func changesPage(w *world) {
	for i := range 10 {
		w.clock.Advance(-time.Hour)
		w.fact(fmt.Sprint("fact ", i))
	}
	all := must(w.Changes.Changes(w.ctx, "", 100))
	equal(len(all), 10, "number of entries")
	for i, c := range all {
		equal(c.NewDigest, amber.ContentDigest(fmt.Sprint("fact ", i)), "digest of entry %d", i)
		hold(!c.At.Before(all[0].At), "the log goes back with the clock, from %s to %s", all[0].At, c.At)
	}
	for _, limit := range []int{1, 3, 10} {
		var got []amber.Change
		var after amber.Position
		for page := must(w.Changes.Changes(w.ctx, after, limit)); len(page) > 0; page = must(w.Changes.Changes(w.ctx, after, limit)) {
			hold(len(page) <= limit, "%d entries where at most %d are wanted", len(page), limit)
			got = append(got, page...)
			after = page[len(page)-1].Position
		}
		equal(got, all, "pages of %d entries", limit)
	}
	equal(must(w.Changes.Changes(w.ctx, all[6].Position, 100)), all[7:], "entries after the seventh")
	equal(len(must(w.Changes.Changes(w.ctx, "", 0))), 0, "no entries up to none")
	refused(only(w.Changes.Changes(w.ctx, "", -1)), amber.KindInvalid, "a negative limit")
}

func changesBackwards(w *world) {
	equal(len(must(w.Changes.ChangesBefore(w.ctx, amber.ChangeQuery{Limit: 10}))), 0, "entries of an empty log")
	for i := range 6 {
		w.fact(fmt.Sprint("fact ", i))
		w.say("s", fmt.Sprint("turn ", i))
	}
	all := must(w.Changes.Changes(w.ctx, "", 100))
	slices.Reverse(all)
	spoken := slices.DeleteFunc(slices.Clone(all), func(c amber.Change) bool { return c.Scope != amber.ChangeTurn })
	for _, c := range []struct {
		scopes []amber.ChangeScope
		want   []amber.Change
	}{{nil, all}, {[]amber.ChangeScope{amber.ChangeTurn}, spoken}, {[]amber.ChangeScope{amber.ChangeTurn, amber.ChangeMemory}, all}, {[]amber.ChangeScope{amber.ChangeLoop}, nil}} {
		for _, limit := range []int{1, 5, 12} {
			var got []amber.Change
			q := amber.ChangeQuery{Scopes: c.scopes, Limit: limit}
			for page := must(w.Changes.ChangesBefore(w.ctx, q)); len(page) > 0; page = must(w.Changes.ChangesBefore(w.ctx, q)) {
				hold(len(page) <= limit, "%d entries where at most %d are wanted", len(page), limit)
				got = append(got, page...)
				q.Before = page[len(page)-1].Position
			}
			equal(got, c.want, "pages of %d entries of %v, newest first", limit, c.scopes)
		}
	}
	equal(len(must(w.Changes.ChangesBefore(w.ctx, amber.ChangeQuery{}))), 0, "no entries up to none")
	refused(only(w.Changes.ChangesBefore(w.ctx, amber.ChangeQuery{Limit: -1})), amber.KindInvalid, "a negative limit")
	refused(only(w.Changes.ChangesBefore(w.ctx, amber.ChangeQuery{Limit: 1, Before: "garbage"})), amber.KindInvalid, "a position that is none")
	refused(only(w.Changes.ChangesBefore(w.ctx, amber.ChangeQuery{Limit: 1, Before: amber.PositionAt("another-history", 1)})), amber.KindConflict, "position of another history")
}

func changesHead(w *world) {
	empty := must(w.Changes.Head(w.ctx))
	equal(len(must(w.Changes.Changes(w.ctx, empty, 10))), 0, "entries after the head of an empty log")
	w.fact("a")
	head := must(w.Changes.Head(w.ctx))
	last := must(w.Changes.Changes(w.ctx, empty, 10))
	equal(len(last), 1, "entries after the old head")
	equal(head, last[0].Position, "head")
	got := must(w.Changes.Changes(w.ctx, head, 10))
	hold(got != nil && len(got) == 0, "entries after the head are %v, want an empty list", got)
}

func changesRefuse(w *world) {
	w.fact("a")
	refused(only(w.Changes.Changes(w.ctx, amber.PositionAt("another-history", 1), 10)), amber.KindConflict, "position of another history")
	refused(only(w.Changes.Changes(w.ctx, must(w.Changes.Head(w.ctx))+"0", 10)), amber.KindConflict, "position beyond the head")
	for _, p := range []amber.Position{"garbage", "/1", "x/", "x/-1", "x/1x"} {
		refused(only(w.Changes.Changes(w.ctx, p, 10)), amber.KindInvalid, "position %q", p)
	}
}

func changesOfRefusals(w *world) {
	id := w.fact("a")
	w.fact("b")
	got := w.changed(func() {
		refused(only(w.LongTerm.Write(w.ctx, amber.WriteRequest{Content: "x", Kind: "rumour"})), amber.KindInvalid, "write with an unknown kind")
		_, err := w.Editor.Edit(w.ctx, amber.EditRequest{ID: id, IfRevision: 9, Content: new("x")})
		refused(err, amber.KindConflict, "edit of a wrong revision")
		refused(only(w.Editor.Edit(w.ctx, amber.EditRequest{ID: id, Content: new("b")})), amber.KindConflict, "edit to an equal memory")
		refused(w.LongTerm.Delete(w.ctx, unknownID), amber.KindNotFound, "delete an unknown memory")
	})
	equal(got, nil, "entries of refused calls")
}

func changesOfSessions(w *world) {
	steps := []struct {
		name  string
		do    func()
		op    amber.Op
		scope amber.ChangeScope
	}{
		{"start", func() { must(w.Sessions.StartSession(w.ctx, amber.SessionStart{ID: "s"})) }, amber.OpInsert, amber.ChangeSession},
		{"start of another", func() { must(w.Sessions.StartSession(w.ctx, amber.SessionStart{ID: "s2"})) }, amber.OpInsert, amber.ChangeSession},
		{"start that makes it active", func() { must(w.Sessions.StartSession(w.ctx, amber.SessionStart{ID: "s"})) }, amber.OpUpdate, amber.ChangeSession},
		{"rename", func() {
			must(w.Sessions.StartSession(w.ctx, amber.SessionStart{ID: "s"})) // is active: changes nothing
			must(w.Names.RenameSession(w.ctx, "s", "new name"))
		}, amber.OpUpdate, amber.ChangeSession},
		{"turn", func() {
			must(w.Turns.AppendTurn(w.ctx, amber.Turn{ID: "t", SessionID: "s", Role: amber.RoleUser, Content: "hi"}))
		}, amber.OpInsert, amber.ChangeTurn},
		{"state", func() { must(w.States.SaveState(w.ctx, "s", []byte(`{}`), 0)) }, amber.OpInsert, amber.ChangeState},
		{"new state", func() { must(w.States.SaveState(w.ctx, "s", []byte(`[]`), 1)) }, amber.OpUpdate, amber.ChangeState},
		{"loop", func() { w.saveLoop("s", "run", `{}`, 0) }, amber.OpInsert, amber.ChangeLoop},
		{"new loop", func() { w.saveLoop("s", "run", `[]`, 1) }, amber.OpUpdate, amber.ChangeLoop},
		{"clear loop", func() { must0(w.Loops.ClearLoop(w.ctx, "s", "")) }, amber.OpDelete, amber.ChangeLoop},
		{"compaction", func() {
			must(w.Compactions.AddCompaction(w.ctx, amber.Compaction{ID: "c", SessionID: "s", Summary: "sum"}))
		}, amber.OpInsert, amber.ChangeCompaction},
		{"end", func() { must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "s"})) }, amber.OpUpdate, amber.ChangeSession},
		{"delete turns", func() { must(w.Turns.DeleteTurns(w.ctx, "s")) }, amber.OpDelete, amber.ChangeTurn},
		{"delete state", func() { must0(w.States.DeleteState(w.ctx, "s")) }, amber.OpDelete, amber.ChangeState},
	}
	for _, s := range steps {
		got := w.logs(s.name, s.do)
		equal([]any{got.Op, got.Scope}, []any{s.op, s.scope}, "entry of %s", s.name)
	}
	equal(w.changed(func() {
		must(w.Turns.DeleteTurns(w.ctx, "s"))
		must0(w.States.DeleteState(w.ctx, "s"))
		must0(w.Loops.ClearLoop(w.ctx, "s", ""))
		must(w.Names.EndSession(w.ctx, amber.SessionEnd{ID: "s"}))
	}), nil, "entries of calls that change nothing")
}

func changesOfSessionDelete(w *world) {
	w.fullSession("full")
	must(w.Sessions.StartSession(w.ctx, amber.SessionStart{ID: "empty"}))
	got := w.changed(func() { must0(w.Sessions.DeleteSession(w.ctx, "full")) })
	for i := range got {
		got[i] = entryOf(got[i])
		got[i].At = amber.Time{}
	}
	equal(got, []amber.Change{
		{Op: amber.OpDelete, Scope: amber.ChangeSession, Key: "full"},
		{Op: amber.OpDelete, Scope: amber.ChangeTurn, Key: "full"},
		{Op: amber.OpDelete, Scope: amber.ChangeState, Key: "full", OldDigest: amber.ContentDigest(`{"step":1}`)},
		{Op: amber.OpDelete, Scope: amber.ChangeLoop, Key: "full", OldDigest: amber.ContentDigest(`{"at":1}`)},
		{Op: amber.OpDelete, Scope: amber.ChangeCompaction, Key: "full"},
	}, "entries of deleting a session")
	bare := w.logs("deleting a session without anything", func() { must0(w.Sessions.DeleteSession(w.ctx, "empty")) })
	equal(bare.Scope, amber.ChangeSession, "scope of its entry")
}

func changesOfNotesAndDocuments(w *world) {
	one, two := amber.ContentDigest("one"), amber.ContentDigest("two")
	docOne, docTwo := amber.ContentDigest(`1`), amber.ContentDigest(`2`)
	steps := []struct {
		name     string
		do       func()
		op       amber.Op
		scope    amber.ChangeScope
		key      string
		old, new string
	}{
		{"note", func() { w.note("plans/today", "one") }, amber.OpInsert, amber.ChangeNote, "plans/today", "", one},
		{"note that is changed", func() { w.note("plans/today", "two") }, amber.OpUpdate, amber.ChangeNote, "plans/today", one, two},
		{"note that is deleted", func() { must0(w.Notes.DeleteNote(w.ctx, "plans/today", amber.NoteBy{})) }, amber.OpDelete, amber.ChangeNote, "plans/today", two, ""},
		{"document", func() { w.document("cursor", `1`) }, amber.OpInsert, amber.ChangeState, "cursor", "", docOne},
		{"document that is changed", func() { w.document("cursor", `2`) }, amber.OpUpdate, amber.ChangeState, "cursor", docOne, docTwo},
		{"document that is deleted", func() { must0(w.Documents.DeleteDocument(w.ctx, "cursor", "")) }, amber.OpDelete, amber.ChangeState, "cursor", docTwo, ""},
	}
	for _, s := range steps {
		w.tick()
		want := []amber.Change{{At: w.now(), Op: s.op, Scope: s.scope, Key: s.key, OldDigest: s.old, NewDigest: s.new}}
		got := w.changed(s.do)
		if s.scope == amber.ChangeNote {
			commit := must(w.NoteLog.LogNote(w.ctx, s.key, 1))[0].Commit
			want = append(want, amber.Change{At: w.now(), Op: amber.OpInsert, Scope: amber.ChangeGit, Key: commit})
		}
		for i := range got {
			got[i] = entryOf(got[i])
		}
		equal(got, want, "entries of a %s", s.name)
	}
	w.note("a", "text")
	w.document("a", `{}`)
	equal(w.changed(func() {
		w.note("a", "text")
		w.document("a", ` {} `)
		refused(w.Notes.DeleteNote(w.ctx, "b", amber.NoteBy{}), amber.KindNotFound, "delete an unknown note")
		refused(w.Documents.DeleteDocument(w.ctx, "b", ""), amber.KindNotFound, "delete an unknown document")
	}), nil, "entries of calls that change nothing")
}

func changesHoldNoText(w *world) {
	w.write(amber.WriteRequest{Content: "needle in content", Title: "needle in title", Metadata: map[string]string{"k": "needle"}})
	must(w.Sessions.StartSession(w.ctx, amber.SessionStart{ID: "s", Name: "needle"}))
	must(w.Turns.AppendTurn(w.ctx, amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: "needle"}))
	for _, c := range entries(w.ctx, w.Changes, "") {
		hold(!strings.Contains(text(tree(c)), "needle"), "entry %v holds text", c)
	}
}

func statsCount(w *world) {
	zero := must(w.Stats.Stats(w.ctx))
	equal([]int64{zero.Memories, zero.Deleted, zero.Sessions, zero.Turns, zero.Changes}, []int64{0, 0, 0, 0, 0}, "counts of a fresh store")
	a := w.write(fullRequest()).ID
	b := w.fact("b")
	w.edit(amber.EditRequest{ID: b, Content: new("b2")})
	must0(w.LongTerm.Delete(w.ctx, w.fact("c")))
	r := must(w.Relations.Relate(w.ctx, amber.Relation{From: a, To: b, Type: "related"}))
	must(w.Relations.Relate(w.ctx, amber.Relation{From: b, To: a, Type: "related"}))
	must0(w.Relations.Unrelate(w.ctx, r.ID))
	w.fullSession("s")
	got := must(w.Stats.Stats(w.ctx))
	dropZeros(got.ByKind)
	dropZeros(got.ByScope)
	dropZeros(got.ByTrust)
	equal(got, amber.Stats{
		Memories: 2, Deleted: 1,
		ByKind:    map[amber.MemoryKind]int64{amber.Constraint: 1, amber.WorkspaceFact: 1},
		ByScope:   map[amber.Scope]int64{amber.ScopeProject: 1, amber.ScopeGlobal: 1},
		ByTrust:   map[amber.Trust]int64{amber.TrustImported: 1, amber.TrustOwn: 1},
		Relations: 1, Sessions: 1, Turns: 2, Loops: 1, Compactions: 1,
		Changes:   int64(len(entries(w.ctx, w.Changes, ""))),
		Revisions: got.Revisions, Bytes: got.Bytes,
	}, "counts")
	equal(got.Revisions, 5, "revisions of three memories, one edited, one deleted")
}

// dropZeros removes what is counted as none.
func dropZeros[K comparable](m map[K]int64) {
	maps.DeleteFunc(m, func(_ K, n int64) bool { return n == 0 })
}
