package storetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
)

func turnChecks() []check {
	needs := []part{turns}
	return []check{
		{name: "turn/append-keeps-every-field", needs: needs, run: turnKept},
		{name: "turn/trust-is-kept", needs: needs, run: turnTrust},
		{name: "turn/append-fills-id-and-time", needs: needs, run: turnFilled},
		{name: "turn/append-is-idempotent", needs: needs, run: turnIdempotent},
		{name: "turn/load-the-last-oldest-first", needs: needs, run: turnsLoaded},
		{name: "turn/order-is-that-of-appending", needs: needs, run: turnsInOrder},
		{name: "turn/pages-from-both-ends", needs: needs, run: turnPages},
		{name: "turn/one-by-its-id", needs: needs, run: turnByID},
		{name: "turn/sessions-are-apart", needs: needs, run: turnsApart},
		{name: "turn/control-characters-are-kept", needs: needs, run: turnControlCharacters},
		{name: "turn/refuses-invalid", needs: needs, run: turnRefusesInvalid},
		{name: "turn/delete", needs: needs, run: turnsDeleted},
	}
}

func compactionChecks() []check {
	needs := []part{compactions}
	return []check{
		{name: "compaction/kept-oldest-first", needs: needs, run: compactionsKept},
		{name: "compaction/is-idempotent", needs: needs, run: compactionIdempotent},
		{name: "compaction/refuses-invalid", needs: needs, run: compactionRefusesInvalid},
	}
}

// say appends a turn of the user.
func (w *world) say(session amber.SessionID, content string) amber.Turn {
	return must(w.Turns.AppendTurn(w.ctx, amber.Turn{SessionID: session, Role: amber.RoleUser, Content: content}))
}

// turnTrust stores prompts of every trust that a turn may have.
func turnTrust(w *world) {
	for _, trust := range []amber.Trust{"", amber.TrustSigned, amber.TrustAgent, amber.TrustImported} {
		t := must(w.Turns.AppendTurn(w.ctx, amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: "said with trust " + string(trust), Trust: trust}))
		equal(t.Trust, trust, "trust of a turn")
		equal(must(w.Turns.Turn(w.ctx, t.ID)), t, "turn of trust %s read back", trust)
	}
}

// said returns what all turns of a session say.
func (w *world) said(session amber.SessionID) []string {
	var out []string
	for _, t := range must(amber.LastTurns(w.ctx, w.Turns, session, 1000)) {
		out = append(out, t.Content)
	}
	return out
}

func turnKept(w *world) {
	var want []amber.Turn
	for i, role := range []amber.Role{amber.RoleUser, amber.RoleAssistant, amber.RoleSystem, amber.RoleTool} {
		t := amber.Turn{
			ID: amber.TurnID(fmt.Sprint("turn ", i)), SessionID: "s", Role: role,
			Content: "said 'it' \"well\"\n🚢", ProjectID: "p", CreatedAt: amber.UnixMilli(1_700_000_000_123 + int64(i)),
		}
		equal(must(w.Turns.AppendTurn(w.ctx, t)), t, "answer to a turn of role %s", role)
		want = append(want, t)
	}
	equal(must(amber.LastTurns(w.ctx, w.Turns, "s", 10)), want, "turns read back")
}

func turnPages(w *world) {
	equal(must(w.Turns.ListTurns(w.ctx, amber.TurnQuery{SessionID: "s"})), amber.Page[amber.ListedTurn]{Items: []amber.ListedTurn{}}, "turns of an unknown session")
	var whole, short []amber.ListedTurn
	for i := range 7 {
		t := w.say("s", fmt.Sprint("schön 🚢 ", i))
		w.say("another", "not this one")
		l := amber.ListedTurn{Turn: t, Bytes: int64(len(t.Content))}
		whole = append(whole, l)
		l.Content = "schön 🚢"
		short = append(short, l)
	}
	for _, q := range []amber.TurnQuery{{}, {Oldest: true}, {Excerpt: 7}, {Oldest: true, Excerpt: 7}} {
		want := slices.Clone(whole)
		if q.Excerpt > 0 {
			want = slices.Clone(short)
		}
		if !q.Oldest {
			slices.Reverse(want)
		}
		for _, limit := range []int{0, 1, 3, 7} {
			q.SessionID, q.Limit, q.Cursor = "s", limit, ""
			page := must(w.Turns.ListTurns(w.ctx, q))
			got := page.Items
			for page.Next != "" {
				q.Cursor = page.Next
				page = must(w.Turns.ListTurns(w.ctx, q))
				hold(len(page.Items) > 0 && len(page.Items) <= limit, "a page of %d has %d turns", limit, len(page.Items))
				got = append(got, page.Items...)
			}
			equal(got, want, "turns in pages of %d, oldest first %v, excerpt %d", limit, q.Oldest, q.Excerpt)
		}
	}
	refused(only(w.Turns.ListTurns(w.ctx, amber.TurnQuery{SessionID: "s", Limit: -1})), amber.KindInvalid, "a negative limit")
	refused(only(w.Turns.ListTurns(w.ctx, amber.TurnQuery{SessionID: "s", Excerpt: -1})), amber.KindInvalid, "a negative excerpt")
	refused(only(w.Turns.ListTurns(w.ctx, amber.TurnQuery{SessionID: "s", Cursor: "garbage"})), amber.KindInvalid, "a cursor that is none")
}

func turnByID(w *world) {
	t := w.say("s", "one")
	w.say("s", "two")
	equal(must(w.Turns.Turn(w.ctx, t.ID)), t, "turn by its id")
	refused(only(w.Turns.Turn(w.ctx, "none")), amber.KindNotFound, "unknown turn")
}

func turnFilled(w *world) {
	a, b := w.say("s", "one"), w.say("s", "one")
	hold(a.ID != "" && b.ID != "" && a.ID != b.ID, "ids %q and %q are not two ids", a.ID, b.ID)
	equal(a.CreatedAt, w.now(), "time of a turn without one")
	equal(must(amber.LastTurns(w.ctx, w.Turns, "s", 10)), []amber.Turn{a, b}, "turns read back")
}

func turnIdempotent(w *world) {
	first := must(w.Turns.AppendTurn(w.ctx, amber.Turn{ID: "t", SessionID: "s", Role: amber.RoleUser, Content: "first"}))
	w.say("s", "second")
	w.tick()
	again := must(w.Turns.AppendTurn(w.ctx, amber.Turn{ID: "t", SessionID: "s", Role: amber.RoleTool, Content: "other"}))
	equal(again, first, "answer to a turn whose id is stored")
	elsewhere := func() {
		_, err := w.Turns.AppendTurn(w.ctx, amber.Turn{ID: "t", SessionID: "s2", Role: amber.RoleUser, Content: "other"})
		refused(err, amber.KindConflict, "turn whose id is stored in another session")
	}
	elsewhere()
	if w.Capabilities().Changes {
		equal(w.changed(elsewhere), nil, "entries of a refused turn")
	}
	equal(w.said("s"), []string{"first", "second"}, "turns")
	equal(w.said("s2"), nil, "turns of the other session")
}

func turnsLoaded(w *world) {
	var all []amber.Turn
	for i := range 10 {
		all = append(all, w.say("s", fmt.Sprint("turn ", i)))
		w.tick()
	}
	for _, n := range []int{1, 3, 9, 10, 11, 1_000_000} {
		equal(must(amber.LastTurns(w.ctx, w.Turns, "s", n)), all[max(0, 10-n):], "the last %d", n)
	}
	for session, limit := range map[amber.SessionID]int{"s": 0, "unknown": 10} {
		got := must(amber.LastTurns(w.ctx, w.Turns, session, limit))
		hold(got != nil && len(got) == 0, "turns of %s with limit %d are %v, want an empty list", session, limit, got)
	}
	refused(only(amber.LastTurns(w.ctx, w.Turns, "s", -1)), amber.KindInvalid, "load with a negative limit")
}

func turnsInOrder(w *world) {
	for i, ms := range []int64{3000, 1000, 2000, 2000} {
		must(w.Turns.AppendTurn(w.ctx, amber.Turn{
			ID: amber.TurnID(fmt.Sprint(9 - i)), SessionID: "s", Role: amber.RoleUser,
			Content: fmt.Sprint(i), CreatedAt: amber.UnixMilli(ms),
		}))
	}
	equal(w.said("s"), []string{"0", "1", "2", "3"}, "turns whose times and ids are not in order")
}

func turnsApart(w *world) {
	for i := range 6 {
		w.say(amber.SessionID(fmt.Sprint("s", i%2)), fmt.Sprint(i))
	}
	equal(w.said("s0"), []string{"0", "2", "4"}, "turns of the first session")
	equal(w.said("s1"), []string{"1", "3", "5"}, "turns of the second session")
	equal(w.said("S0"), nil, "turns of a session that differs by case")
}

func turnControlCharacters(w *world) {
	want := "\x1b[31mred\x1b[0m\a\b\x7f\u0085\r\n\tend"
	w.say("s", want)
	equal(w.said("s"), []string{want}, "turn with control characters")
}

func turnRefusesInvalid(w *world) {
	for name, t := range map[string]amber.Turn{
		"no session":    {Role: amber.RoleUser, Content: "x"},
		"no role":       {SessionID: "s", Content: "x"},
		"unknown role":  {SessionID: "s", Role: "ghost", Content: "x"},
		"no content":    {SessionID: "s", Role: amber.RoleUser, Content: " "},
		"NUL":           {SessionID: "s", Role: amber.RoleUser, Content: "a\x00b"},
		"no UTF-8":      {SessionID: "s", Role: amber.RoleUser, Content: "a\xff"},
		"huge content":  {SessionID: "s", Role: amber.RoleUser, Content: strings.Repeat("x", amber.MaxContentBytes+1)},
		"long id":       {ID: amber.TurnID(strings.Repeat("x", amber.MaxIDBytes+1)), SessionID: "s", Role: amber.RoleUser, Content: "x"},
		"a bad session": {SessionID: "a\nb", Role: amber.RoleUser, Content: "x"},
		"trust own":     {SessionID: "s", Role: amber.RoleUser, Content: "x", Trust: amber.TrustOwn},
		"trust derived": {SessionID: "s", Role: amber.RoleUser, Content: "x", Trust: amber.TrustDerived},
	} {
		refused(only(w.Turns.AppendTurn(w.ctx, t)), amber.KindInvalid, "turn with %s", name)
	}
	equal(w.said("s"), nil, "turns stored by refused calls")
}

func turnsDeleted(w *world) {
	w.say("s", "one")
	w.say("s", "two")
	w.say("other", "three")
	equal(must(w.Turns.DeleteTurns(w.ctx, "s")), 2, "number of turns deleted")
	equal(w.said("s"), nil, "turns after deleting them")
	equal(w.said("other"), []string{"three"}, "turns of another session")
	equal(must(w.Turns.DeleteTurns(w.ctx, "s")), 0, "number of turns deleted again")
	equal(must(w.Turns.DeleteTurns(w.ctx, "unknown")), 0, "number of turns of an unknown session deleted")
	w.say("s", "four")
	equal(w.said("s"), []string{"four"}, "turns appended after deleting")
}

func compactionsKept(w *world) {
	var want []amber.Compaction
	for i := range 3 {
		c := must(w.Compactions.AddCompaction(w.ctx, amber.Compaction{SessionID: "s", Summary: fmt.Sprint("so far \x1b ", i), Turns: i}))
		hold(c.ID != "", "a compaction has no id")
		equal([]any{c.SessionID, c.Summary, c.Turns, c.CreatedAt}, []any{"s", fmt.Sprint("so far \x1b ", i), i, w.now()}, "compaction %d", i)
		want = append(want, c)
		w.tick()
	}
	equal(must(amber.All(w.ctx, w.Compactions.Compactions, "s")), want, "compactions")
	got := must(amber.All(w.ctx, w.Compactions.Compactions, "unknown"))
	equal(len(got), 0, "compactions of an unknown session")
}

func compactionIdempotent(w *world) {
	first := must(w.Compactions.AddCompaction(w.ctx, amber.Compaction{ID: "c", SessionID: "s", Summary: "first", Turns: 3}))
	w.tick()
	again := must(w.Compactions.AddCompaction(w.ctx, amber.Compaction{ID: "c", SessionID: "s", Summary: "other", Turns: 4}))
	equal(again, first, "answer to a compaction whose id is stored")
	equal(must(amber.All(w.ctx, w.Compactions.Compactions, "s")), []amber.Compaction{first}, "compactions")
	_, err := w.Compactions.AddCompaction(w.ctx, amber.Compaction{ID: "c", SessionID: "s2", Summary: "other"})
	refused(err, amber.KindConflict, "compaction whose id is stored in another session")
	equal(len(must(amber.All(w.ctx, w.Compactions.Compactions, "s2"))), 0, "compactions of the other session")
}

func compactionRefusesInvalid(w *world) {
	for name, c := range map[string]amber.Compaction{
		"no session":     {Summary: "x"},
		"no summary":     {SessionID: "s"},
		"NUL":            {SessionID: "s", Summary: "a\x00"},
		"negative turns": {SessionID: "s", Summary: "x", Turns: -1},
	} {
		refused(only(w.Compactions.AddCompaction(w.ctx, c)), amber.KindInvalid, "compaction with %s", name)
	}
	equal(len(must(amber.All(w.ctx, w.Compactions.Compactions, "s"))), 0, "compactions stored by refused calls")
}
