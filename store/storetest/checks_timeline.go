package storetest

import (
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
)

func timelineChecks() []check {
	needs := []part{longTerm, memories}
	return []check{
		{name: "timeline/around-a-memory", needs: needs, run: timelineAround},
		{name: "timeline/of-the-same-session", needs: needs, run: timelineSession},
		{name: "timeline/shows-nothing-of-others-in-the-session", needs: needs, run: timelineOthers},
		{name: "timeline/of-the-same-scope-and-identity", needs: needs, run: timelineScope},
		{name: "timeline/ties-are-complete", needs: needs, run: timelineTies},
		{name: "timeline/refuses", needs: needs, run: timelineRefuses},
	}
}

func (w *world) timeline(id amber.MemoryID, before, after int) []amber.MemoryID {
	return memoryIDs(must(w.Memories.Timeline(w.ctx, id, before, after)))
}

func timelineAround(w *world) {
	var all []amber.MemoryID
	for i := range 7 {
		all = append(all, w.fact(fmt.Sprint("moment ", i)))
		w.tick()
	}
	equal(w.timeline(all[3], 2, 1), all[1:5], "two before and one after")
	equal(w.timeline(all[3], 0, 0), all[3:4], "nothing around")
	equal(w.timeline(all[0], 5, 2), all[:3], "at the beginning")
	equal(w.timeline(all[6], 2, 5), all[4:], "at the end")
	equal(w.timeline(all[3], 100, 100), all, "everything")
	must0(w.LongTerm.Delete(w.ctx, all[2]))
	equal(w.timeline(all[3], 2, 0), []amber.MemoryID{all[0], all[1], all[3]}, "past a deleted memory")
}

func timelineSession(w *world) {
	a, b := amber.Identities{SessionID: "a", UserID: "u"}, amber.Identities{SessionID: "b", UserID: "u"}
	var inA []amber.MemoryID
	for i := range 4 {
		for _, i2 := range []amber.Identities{a, b} {
			scope := amber.ScopeGlobal
			if i%2 == 0 {
				scope = amber.ScopeUser
			}
			id := w.write(amber.WriteRequest{Scope: scope, Identities: i2, Content: fmt.Sprint(i2.SessionID, i)}).ID
			if i2 == a {
				inA = append(inA, id)
			}
			w.tick()
		}
	}
	equal(w.timeline(inA[1], 5, 5), inA, "timeline of a session across scopes")
	equal(w.timeline(inA[1], 0, 1), inA[1:3], "timeline of a session, one after")
}

// timelineOthers: two users and two projects in one session.
func timelineOthers(w *world) {
	write := func(scope amber.Scope, user, project string) amber.MemoryID {
		defer w.tick()
		return w.write(amber.WriteRequest{
			Scope: scope, Identities: amber.Identities{SessionID: "s", UserID: user, ProjectID: project},
			Content: fmt.Sprint(scope, user, project),
		}).ID
	}
	ann, bob := write(amber.ScopeUser, "ann", "p"), write(amber.ScopeUser, "bob", "q")
	inP, inQ := write(amber.ScopeProject, "ann", "p"), write(amber.ScopeProject, "bob", "q")
	all, nobody := write(amber.ScopeGlobal, "bob", "p"), write(amber.ScopeGlobal, "", "")
	here := write(amber.ScopeSession, "", "")
	equal(w.timeline(ann, 9, 9), []amber.MemoryID{ann, inP, all, nobody, here}, "timeline of one user")
	equal(w.timeline(inQ, 9, 9), []amber.MemoryID{bob, inQ, all, nobody, here}, "timeline of the other project")
	equal(w.timeline(all, 9, 9), []amber.MemoryID{bob, inP, all, nobody, here}, "timeline of a global memory with identities")
	equal(w.timeline(nobody, 9, 9), []amber.MemoryID{all, nobody, here}, "timeline of a global memory without identities")
	equal(w.timeline(nobody, 1, 0), []amber.MemoryID{all, nobody}, "the one before it that is seen")
}

func timelineScope(w *world) {
	var mine []amber.MemoryID
	for i := range 3 {
		for _, user := range []string{"u1", "u2"} {
			id := w.write(amber.WriteRequest{Scope: amber.ScopeUser, Identities: amber.Identities{UserID: user}, Content: fmt.Sprint(i)}).ID
			if user == "u1" {
				mine = append(mine, id)
			}
			w.tick()
		}
		w.fact(fmt.Sprint("global ", i))
		w.tick()
	}
	equal(w.timeline(mine[1], 5, 5), mine, "timeline of a user")
}

func timelineTies(w *world) {
	w.spread(12)
	all := w.list(amber.ListQuery{})
	slices.Reverse(all)
	want := memoryIDs(all)
	for i, id := range want {
		equal(w.timeline(id, 2, 2), want[max(0, i-2):min(len(want), i+3)], "timeline of memory %d", i)
	}
}

func timelineRefuses(w *world) {
	refused(only(w.Memories.Timeline(w.ctx, unknownID, 1, 1)), amber.KindNotFound, "timeline of an unknown memory")
	id := w.fact("here")
	for _, n := range [][2]int{{-1, 1}, {1, -1}, {1001, 1}, {1, 1001}} {
		refused(only(w.Memories.Timeline(w.ctx, id, n[0], n[1])), amber.KindInvalid, "timeline with %d before and %d after", n[0], n[1])
	}
}
