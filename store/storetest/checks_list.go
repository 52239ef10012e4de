package storetest

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/amber-memory/amber"
)

func listChecks() []check {
	needs := []part{longTerm, memories}
	return []check{
		{name: "list/newest-first", needs: needs, run: listNewestFirst},
		{name: "list/pages-are-complete", needs: needs, run: listPages},
		{name: "list/pages-while-writing", needs: needs, run: listPagesWhileWriting},
		{name: "list/default-and-largest-page", needs: append(needs, batches), run: listPageSizes},
		{name: "list/scopes-fail-closed", needs: needs, run: listScopes},
		{name: "list/filters", needs: append(needs, edits), run: listFilters},
		{name: "list/deleted", needs: needs, run: listDeleted},
		{name: "list/kinds", needs: needs, run: listOfKindsInPages},
		{name: "list/trust-and-waiting", needs: needs, run: listTrustAndWaiting},
		{name: "list/refuses-invalid", needs: needs, run: listRefusesInvalid},
		{name: "list/foreign-cursor-is-invalid", needs: append(needs, sessions), run: listForeignCursor},
	}
}

// newestFirst orders as listings do: by creation time, then by id, both
// falling.
func newestFirst(a, b amber.Memory) int {
	return cmp.Or(cmp.Compare(b.CreatedAt.UnixMilli(), a.CreatedAt.UnixMilli()), cmp.Compare(b.ID, a.ID))
}

// spread writes n memories, three to each second.
func (w *world) spread(n int) {
	for i := range n {
		w.fact(fmt.Sprint("spread ", i))
		if i%3 == 2 {
			w.tick()
		}
	}
}

func listNewestFirst(w *world) {
	w.spread(20)
	w.clock.Advance(-time.Hour)
	w.fact("from an earlier hour")
	got := w.list(amber.ListQuery{})
	equal(len(got), 21, "number of memories")
	hold(slices.IsSortedFunc(got, newestFirst), "the list is not sorted by creation time and id: %v", memoryIDs(got))
	equal(got[20].Content, "from an earlier hour", "the oldest")
	for _, m := range got {
		equal(m, w.get(m.ID), "memory in the list")
	}
}

func listPages(w *world) {
	w.spread(23)
	want := memoryIDs(w.list(amber.ListQuery{}))
	for _, limit := range []int{1, 2, 5, 22, 23, 24} {
		equal(memoryIDs(w.list(amber.ListQuery{Limit: limit})), want, "pages of %d", limit)
	}
	last := must(w.Memories.List(w.ctx, amber.ListQuery{Limit: 23}))
	equal(last.Next, "", "cursor after the last page")
}

func listPagesWhileWriting(w *world) {
	w.spread(12)
	want := memoryIDs(w.list(amber.ListQuery{}))
	var got []amber.MemoryID
	n := 0
	all := pages(func(c amber.Cursor) (amber.Page[amber.Memory], error) {
		n++
		w.fact(fmt.Sprint("meanwhile ", n))
		p, err := w.Memories.List(w.ctx, amber.ListQuery{Limit: 3, Cursor: c})
		w.tick()
		return p, err
	})
	for _, m := range all {
		hold(!slices.Contains(got, m.ID), "memory %s is on two pages", m.ID)
		got = append(got, m.ID)
	}
	for _, id := range want {
		hold(slices.Contains(got, id), "memory %s is on no page", id)
	}
}

func listPageSizes(w *world) {
	for i := range 5 {
		rs := batchOf(amber.MaxBatchSize)
		for j := range rs {
			rs[j].Title = fmt.Sprint("batch ", i)
		}
		must(w.Batch.WriteBatch(w.ctx, rs))
	}
	first := must(w.Memories.List(w.ctx, amber.ListQuery{}))
	equal(len(first.Items), amber.DefaultPageSize, "default page")
	largest := must(w.Memories.List(w.ctx, amber.ListQuery{Limit: 5000}))
	equal(len(largest.Items), amber.MaxPageSize, "largest page")
	equal(len(w.everything()), 5*amber.MaxBatchSize, "all pages")
}

// scoped writes one memory per scope and identity set and returns their ids.
func (w *world) scoped(content string, sets ...amber.Identities) map[amber.MemoryID]amber.Memory {
	out := map[amber.MemoryID]amber.Memory{}
	for _, set := range sets {
		for _, scope := range amber.Scopes() {
			ack := w.write(amber.WriteRequest{Scope: scope, Identities: set, Content: content})
			out[ack.ID] = ack.Memory
		}
	}
	return out
}

func others() amber.Identities {
	return amber.Identities{SessionID: "session-2", UserID: "user-2", ProjectID: "project-2", WorkspaceID: "workspace-2"}
}

// filters returns every filter by scope that matters: each scope alone and
// all together, with each identity known, missing, or another.
func filters() []amber.Filter {
	out := []amber.Filter{{}, {Scope: amber.ScopeGlobal}, {Identities: ids()}, {Identities: others()}}
	for _, s := range amber.Scopes() {
		if s == amber.ScopeGlobal {
			continue
		}
		out = append(out,
			amber.Filter{Scope: s, Identities: ids()},
			amber.Filter{Scope: s, Identities: with(ids(), s, "stranger")},
			amber.Filter{Identities: without(ids(), s)},
			amber.Filter{Identities: with(amber.Identities{}, s, ids().For(s))},
		)
	}
	return out
}

// visible returns the ids of the memories that pass a filter, sorted.
func visible(all map[amber.MemoryID]amber.Memory, f amber.Filter) []amber.MemoryID {
	var out []amber.MemoryID
	for id, m := range all {
		if f.Sees(m.Scope, m.Identities) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

func sorted(ids []amber.MemoryID) []amber.MemoryID {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return ids
}

func listScopes(w *world) {
	all := w.scoped("scoped", ids(), others())
	for _, f := range filters() {
		equal(sorted(memoryIDs(w.list(amber.ListQuery{Filter: f}))), visible(all, f), "list with scope %q and identities %v", f.Scope, f.Identities)
	}
	equal(len(w.list(amber.ListQuery{All: true})), len(all), "list of all scopes and identities")
	for _, s := range amber.Scopes() {
		got := w.list(amber.ListQuery{All: true, Filter: amber.Filter{Scope: s}})
		for _, m := range got {
			equal(m.Scope, s, "scope in a list of all identities of one scope")
		}
		equal(len(got), map[bool]int{true: 1, false: 2}[s == amber.ScopeGlobal], "list of all identities of scope %s", s)
	}
}

func listFilters(w *world) {
	a := w.write(amber.WriteRequest{Content: "a", Kind: amber.Constraint, Tags: []string{"x", "y"}}).ID
	w.tick()
	middle := w.now()
	b := w.write(amber.WriteRequest{Content: "b", Kind: amber.UserFact, Tags: []string{"x"}}).ID
	w.tick()
	c := w.write(amber.WriteRequest{Content: "c", Kind: amber.Constraint}).ID
	for name, tc := range map[string]struct {
		f    amber.Filter
		want []amber.MemoryID
	}{
		"one kind":         {amber.Filter{Kinds: []amber.MemoryKind{amber.Constraint}}, []amber.MemoryID{c, a}},
		"two kinds":        {amber.Filter{Kinds: []amber.MemoryKind{amber.Constraint, amber.UserFact}}, []amber.MemoryID{c, b, a}},
		"kind of none":     {amber.Filter{Kinds: []amber.MemoryKind{amber.HistoricalCase}}, nil},
		"one tag":          {amber.Filter{Tags: []string{"x"}}, []amber.MemoryID{b, a}},
		"every tag":        {amber.Filter{Tags: []string{"x", "y"}}, []amber.MemoryID{a}},
		"tags in disorder": {amber.Filter{Tags: []string{"y", "x", "y"}}, []amber.MemoryID{a}},
		"part of a tag":    {amber.Filter{Tags: []string{"x,"}}, nil},
		"since inclusive":  {amber.Filter{Since: middle}, []amber.MemoryID{c, b}},
		"until exclusive":  {amber.Filter{Until: middle}, []amber.MemoryID{a}},
		"between":          {amber.Filter{Since: middle, Until: middle.Add(time.Millisecond)}, []amber.MemoryID{b}},
		"all at once":      {amber.Filter{Kinds: []amber.MemoryKind{amber.Constraint}, Tags: []string{"x"}, Until: middle}, []amber.MemoryID{a}},
	} {
		equal(memoryIDs(w.list(amber.ListQuery{Filter: tc.f})), tc.want, "list by %s", name)
		equal(memoryIDs(w.list(amber.ListQuery{Filter: tc.f, Limit: 1})), tc.want, "list by %s in pages of one", name)
	}
	w.tick()
	w.edit(amber.EditRequest{ID: a, Summary: new("touched")})
	equal(memoryIDs(w.list(amber.ListQuery{Filter: amber.Filter{Since: w.now()}})), []amber.MemoryID{a}, "list of what was updated since")
}

func listDeleted(w *world) {
	a, b := w.fact("a"), w.fact("b")
	must0(w.LongTerm.Delete(w.ctx, a))
	equal(memoryIDs(w.list(amber.ListQuery{})), []amber.MemoryID{b}, "list")
	equal(sorted(memoryIDs(w.list(amber.ListQuery{Deleted: true}))), sorted([]amber.MemoryID{a, b}), "list with deleted memories")
}

// Memories of a kind may be few among many, of several scopes and of one moment.
func listOfKindsInPages(w *world) {
	ids := amber.Identities{ProjectID: "shop", UserID: "ada"}
	byQuery := map[string][]amber.MemoryID{}
	for i := range 40 {
		if i%7 == 0 {
			w.tick()
		}
		r := amber.WriteRequest{Content: fmt.Sprint("number ", i), Identities: ids, Scope: amber.ScopeProject, Kind: amber.WorkspaceFact, Trust: amber.TrustOwn}
		switch {
		case i%5 == 0:
			r.Kind = amber.Constraint
		case i%3 == 0:
			r.Kind, r.Scope = amber.UserPreference, amber.ScopeUser
		case i%11 == 0:
			r.Identities.ProjectID = "another"
		}
		if i%4 == 0 {
			r.Trust = amber.TrustDerived
		}
		w.write(r)
	}
	kinds := []amber.MemoryKind{amber.Constraint, amber.UserPreference}
	for _, m := range w.list(amber.ListQuery{Filter: amber.Filter{Identities: ids}}) {
		if slices.Contains(kinds, m.Kind) {
			byQuery["all"] = append(byQuery["all"], m.ID)
			if m.Trust == amber.TrustOwn {
				byQuery["trusted"] = append(byQuery["trusted"], m.ID)
			}
		}
	}
	for _, limit := range []int{1, 3, 100} {
		q := amber.ListQuery{Filter: amber.Filter{Identities: ids, Kinds: kinds}, Limit: limit}
		equal(memoryIDs(w.list(q)), byQuery["all"], "list by kinds in pages of %d", limit)
		q.Trust = amber.TrustSigned
		equal(memoryIDs(w.list(q)), byQuery["trusted"], "list of trusted ones by kinds in pages of %d", limit)
		q.Tags = []string{"none"}
		equal(len(w.list(q)), 0, "list by kinds and a tag that nobody has")
	}
	trusted := w.list(amber.ListQuery{Filter: amber.Filter{Identities: ids}, Trust: amber.TrustSigned})
	equal(slices.ContainsFunc(trusted, func(m amber.Memory) bool { return m.Trust != amber.TrustOwn }), false, "derived memories among trusted ones")
	equal(len(trusted) > len(byQuery["trusted"]), true, "trusted memories of every kind")
	must0(w.LongTerm.Delete(w.ctx, byQuery["all"][0]))
	q := amber.ListQuery{Filter: amber.Filter{Identities: ids, Kinds: kinds}}
	equal(memoryIDs(w.list(q)), byQuery["all"][1:], "list by kinds after a deletion")
	q.Deleted = true
	equal(memoryIDs(w.list(q)), byQuery["all"], "list by kinds with what was deleted")
}

// Every trust, some scopes and kinds, and each rule of review against what the rule itself says.
func listTrustAndWaiting(w *world) {
	ids := amber.Identities{ProjectID: "shop", UserID: "ada"}
	var all []amber.Memory
	for i, trust := range amber.Trusts() {
		for k, kind := range []amber.MemoryKind{amber.Constraint, amber.WorkspaceFact} {
			for s, scope := range []amber.Scope{amber.ScopeGlobal, amber.ScopeProject, amber.ScopeUser} {
				w.tick()
				ack := w.write(amber.WriteRequest{Content: fmt.Sprint("number ", i, k, s), Identities: ids, Scope: scope, Kind: kind, Trust: trust})
				all = append([]amber.Memory{ack.Memory}, all...)
			}
		}
	}
	must0(w.LongTerm.Delete(w.ctx, all[len(all)-1].ID))
	all = all[:len(all)-1]
	for _, trust := range append(amber.Trusts(), "") {
		for _, rule := range append(amber.Reviews(), "") {
			for _, kinds := range [][]amber.MemoryKind{nil, {amber.Constraint}} {
				want := []amber.MemoryID{}
				for _, m := range all {
					if (trust == "" || !trust.Outranks(m.Trust)) && (rule == "" || rule.Waits(m.Trust, m.Scope, m.Kind)) && (kinds == nil || m.Kind == amber.Constraint) {
						want = append(want, m.ID)
					}
				}
				q := amber.ListQuery{Filter: amber.Filter{Identities: ids, Kinds: kinds}, Trust: trust, Waiting: rule, Limit: 4}
				equal(memoryIDs(w.list(q)), want, "list of trust %q that waits by %q, kinds %v", trust, rule, kinds)
				q.All, q.Identities = true, amber.Identities{}
				equal(memoryIDs(w.list(q)), want, "list of everything of trust %q that waits by %q, kinds %v", trust, rule, kinds)
			}
		}
	}
}

func listRefusesInvalid(w *world) {
	w.spread(4)
	for name, q := range map[string]amber.ListQuery{
		"negative limit":         {Limit: -1},
		"unknown trust":          {Trust: "rumour"},
		"unknown rule of review": {Waiting: "rumour"},
		"garbage cursor":         {Cursor: "garbage"},
		"cursor of no listing":   {Cursor: "e30"},
		"unknown kind":           {Filter: amber.Filter{Kinds: []amber.MemoryKind{"rumour"}}},
		"unknown scope":          {Filter: amber.Filter{Scope: "galaxy"}},
		"unknown scope of all":   {All: true, Filter: amber.Filter{Scope: "galaxy"}},
		"scope without identity": {Filter: amber.Filter{Scope: amber.ScopeUser}},
		"empty tag":              {Filter: amber.Filter{Tags: []string{""}}},
	} {
		refused(only(w.Memories.List(w.ctx, q)), amber.KindInvalid, "list with %s", name)
	}
}

func listForeignCursor(w *world) {
	w.spread(2)
	for _, id := range []amber.SessionID{"s1", "s2"} {
		must(w.Sessions.StartSession(w.ctx, amber.SessionStart{ID: id}))
	}
	mine := must(w.Memories.List(w.ctx, amber.ListQuery{Limit: 1})).Next
	theirs := must(w.Sessions.ListSessions(w.ctx, amber.SessionQuery{Limit: 1})).Next
	refused(only(w.Memories.List(w.ctx, amber.ListQuery{Cursor: theirs})), amber.KindInvalid, "list memories with a cursor of sessions")
	refused(only(w.Sessions.ListSessions(w.ctx, amber.SessionQuery{Cursor: mine})), amber.KindInvalid, "list sessions with a cursor of memories")
	if w.Capabilities().Control {
		refused(only(w.Tasks.ListTasks(w.ctx, amber.TaskQuery{Cursor: mine})), amber.KindInvalid, "list tasks with a cursor of memories")
	}
}
