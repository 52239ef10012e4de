package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// permutations calls fn with every order of n things.
func permutations(n int, fn func([]int)) {
	order := make([]int, 0, n)
	used := make([]bool, n)
	var next func()
	next = func() {
		if len(order) == n {
			fn(order)
			return
		}
		for i := range n {
			if !used[i] {
				used[i], order = true, append(order, i)
				next()
				used[i], order = false, order[:len(order)-1]
			}
		}
	}
	next()
}

func gone(scope amber.ChangeScope, id string, o amber.Origin) amber.SyncRecord {
	return amber.SyncRecord{Gone: &amber.SyncGone{Scope: scope, ID: id, Origin: o}}
}

func erasure(id amber.MemoryID, o amber.Origin) amber.SyncRecord {
	return amber.SyncRecord{Erased: &amber.SyncErased{ID: id, Origin: o}}
}

func farSession(o amber.Origin, name string) amber.SyncRecord {
	at := amber.UnixMilli(5)
	s := amber.Session{ID: "s", Name: name, Binding: "cli", Project: "p", StartedAt: at, CreatedAt: at, UpdatedAt: o.Clock.Time()}
	return amber.SyncRecord{Session: &amber.SyncSession{Session: s, Origin: o}}
}

func farPrompt(session amber.SessionID, content string) amber.SyncRecord {
	return amber.SyncRecord{Prompt: &amber.Turn{ID: "t", SessionID: session, Role: amber.RoleUser, Content: content, CreatedAt: amber.UnixMilli(7)}}
}

func farRelation(id string, o amber.Origin, strength float64) amber.SyncRecord {
	return amber.SyncRecord{Relation: &amber.Relation{
		ID: id, From: memoryID(1), To: memoryID(2), Type: "related", Strength: strength, Origin: o, CreatedAt: amber.UnixMilli(9),
	}}
}

func deletedRelation(id string, o amber.Origin) amber.SyncRecord {
	r := farRelation(id, o, 0.5)
	r.Relation.DeletedAt = amber.UnixMilli(10)
	return r
}

// Records arrive in any order, each in a chunk of its own or all in one, and
// the outcome is the same.
func TestOrderOfArrivalDoesNotMatter(t *testing.T) {
	t.Parallel()
	type list = []amber.SyncRecord
	one, two := memoryID(1), memoryID(2)
	near := func(counter uint64, ms int64) amber.Origin {
		o := far(counter, ms)
		o.Device = "near"
		return o
	}
	first := func() amber.SyncRecord { return farMemory(one, far(1, 10), "a") }
	for _, c := range []struct {
		name      string
		records   list
		want      []string // parts of lines that must be there; those that begin with ! must not
		conflicts int64
	}{
		{
			name:    "edits one after the other",
			records: list{first(), farMemory(one, near(2, 20), "b", far(1, 10)), farMemory(one, far(3, 15), "c", near(2, 20))},
			want:    []string{`memory`, `"c"`, `version`, `"a"`, `"b"`},
		},
		{
			name:      "edits that did not know of each other",
			records:   list{first(), farMemory(one, far(2, 20), "b", far(1, 10)), farMemory(one, near(2, 30), "c", far(1, 10))},
			want:      []string{`"c" "" [] map[]`},
			conflicts: 1,
		},
		{
			name: "an edit that settles",
			records: list{
				first(), farMemory(one, far(2, 20), "b", far(1, 10)), farMemory(one, near(2, 30), "c", far(1, 10)),
				farMemory(one, near(3, 40), "d", near(2, 30), far(2, 20)),
			},
			want: []string{`"d" "" [] map[]`},
		},
		{
			name:    "the same text twice is no conflict",
			records: list{first(), farMemory(one, near(1, 20), "a")},
		},
		{
			name:      "a topic that two began",
			records:   list{first(), farMemory(one, near(1, 20), "b")},
			want:      []string{`"b" "" [] map[]`},
			conflicts: 1,
		},
		{
			name:    "deleted at two places",
			records: list{first(), farTombstone(one, far(2, 20), far(1, 10)), farTombstone(one, near(2, 30), far(1, 10))},
			want:    []string{`deleted 1970`},
		},
		{
			name:    "a tombstone beats what it saw",
			records: list{first(), farMemory(one, far(2, 20), "b", far(1, 10)), farTombstone(one, near(3, 5), far(2, 20))},
			want:    []string{`deleted 1970`, `!"b"`},
		},
		{
			name:      "a tombstone that did not see the edit it beats",
			records:   list{first(), farMemory(one, far(2, 20), "b", far(1, 10)), farTombstone(one, near(2, 30), far(1, 10))},
			want:      []string{`deleted 1970`},
			conflicts: 1,
		},
		{
			name:    "written again after it was deleted",
			records: list{first(), farTombstone(one, far(2, 20), far(1, 10)), farMemory(one, far(3, 30), "c", far(2, 20))},
			want:    []string{`"c" "" [] map[]`},
		},
		{
			name:    "erased",
			records: list{first(), farMemory(one, far(9, 99), "b", far(1, 10)), erasure(one, near(2, 20)), erasure(one, far(3, 5))},
			want:    []string{`erased ` + string(one) + ` 3.`, `!memory`, `!version`},
		},
		{
			name:    "a session that changes",
			records: list{farSession(far(1, 10), "first"), farSession(near(2, 5), "second"), farSession(far(2, 4), "third")},
			want:    []string{`Name:second`},
		},
		{
			name:    "a session that was deleted",
			records: list{farSession(far(1, 10), "first"), farSession(far(2, 11), "second"), gone(amber.ChangeSession, "s", near(3, 1))},
			want:    []string{`gone session s 3.`, `!Name`},
		},
		{
			name:    "a session that was begun again",
			records: list{farSession(far(1, 10), "first"), gone(amber.ChangeSession, "s", near(2, 1)), farSession(near(3, 11), "second")},
			want:    []string{`Name:second`, `!gone`},
		},
		{
			name:    "a prompt that was deleted",
			records: list{farPrompt("s", "hello"), gone(amber.ChangeTurn, "t", near(2, 1)), gone(amber.ChangeTurn, "t", far(2, 5))},
			want:    []string{`gone turn t 2.`, `!hello`},
		},
		{
			name:    "two prompts with one id",
			records: list{farPrompt("s", "hello"), farPrompt("s", "goodbye"), farPrompt("other", "hello")},
			want:    []string{`SessionID:other`}, // the digest of hello is the smaller one
		},
		{
			name:    "a relation and its ends",
			records: list{first(), farMemory(two, far(1, 11), "b"), farRelation("r1", far(1, 12), 0.2), farRelation("r2", near(2, 1), 0.7)},
			want:    []string{`relation r2`, `0.7`, `!r1`},
		},
		{
			name:    "a relation that was removed",
			records: list{first(), farMemory(two, far(1, 11), "b"), farRelation("r1", far(1, 12), 0.2), deletedRelation("r1", far(2, 13))},
			want:    []string{`relation r1`, `deleted 1970`},
		},
		{
			name:    "a relation to a memory that was deleted",
			records: list{first(), farTombstone(two, far(2, 11)), farRelation("r1", far(1, 12), 0.2)},
			want:    []string{`relation r1`},
		},
		{
			name:    "a relation to a memory that was erased",
			records: list{first(), farMemory(two, far(1, 11), "b"), erasure(two, far(2, 11)), farRelation("r1", far(1, 12), 0.2)},
			want:    []string{`erased`, `!relation`},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for _, r := range c.records {
				must.Do(t, r.Check())
			}
			s, _ := freshStore(t, amber.QueueOptions{})
			apply(t, s, "all", c.records...)
			want := stateOf(t, s)
			checkLines(t, want, c.want)
			permutations(len(c.records), func(order []int) {
				empty(t, s)
				for _, i := range order {
					apply(t, s, fmt.Sprint(i), c.records[i])
				}
				must.Equal(t, fmt.Sprintf("order %v", order), stateOf(t, s), want)
				if got := must.Get(s.SyncReport(t.Context(), "place"))(t).ConflictCount; got != c.conflicts {
					t.Errorf("order %v: %d conflicts, want %d", order, got, c.conflicts)
				}
				if waits := count(t, s.memory, `SELECT count(*) FROM sync_waiting`); waits != 0 {
					t.Errorf("order %v: %d relations wait", order, waits)
				}
				checkIndexes(t, s)
			})
		})
	}
}

// empty removes every record, and what is known of syncs.
func empty(t *testing.T, s *Store) {
	t.Helper()
	for _, table := range []string{
		"memories", "erased", "versions", "relations", "turns", "sessions", "departed",
		"sync_places", "sync_chunks", "sync_imports", "sync_waiting", "sync_links", "sync_held", "sync_removed", "sync_spared",
	} {
		meddle(t, s.memory, "DELETE FROM "+table)
	}
}

// checkLines looks for parts of lines in a state.
func checkLines(t *testing.T, state, want []string) {
	t.Helper()
	text := strings.Join(state, "\n")
	for _, part := range want {
		part, not := strings.CutPrefix(part, "!")
		must.Hold(t, strings.Contains(text, part) != not, "%q is there: %v, in\n%s", part, !not, text)
	}
}

// checkIndexes compares the index with the rows.
func checkIndexes(t *testing.T, s *Store) {
	t.Helper()
	must.Do(t, s.VerifyIndex(t.Context()))
}
