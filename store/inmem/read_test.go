package inmem_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/amber-memory/amber"
)

func TestListPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var want []amber.MemoryID
	for i := range 7 {
		want = append(want, w.fact(t, fmt.Sprint("fact ", i)))
		w.tick()
	}
	slices.Reverse(want)
	for _, limit := range []int{1, 3, 7, 8} {
		var got []amber.MemoryID
		for cursor := amber.Cursor(""); ; {
			page := ok[amber.Page[amber.Memory]](t)(w.List(t.Context(), amber.ListQuery{Limit: limit, Cursor: cursor}))
			for _, m := range page.Items {
				got = append(got, m.ID)
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		wantEqual(t, fmt.Sprintf("pages of %d", limit), got, want)
	}
}

func TestListRefusesForeignCursors(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := t.Context()
	for i := range 2 {
		ok[amber.Session](t)(w.StartSession(ctx, amber.SessionStart{ID: amber.SessionID(fmt.Sprint("s", i))}))
	}
	sessions := ok[amber.Page[amber.Session]](t)(w.ListSessions(ctx, amber.SessionQuery{Limit: 1}))
	for _, c := range []amber.Cursor{sessions.Next, "garbage!", "e30"} {
		_, err := w.List(ctx, amber.ListQuery{Cursor: c})
		wantKind(t, err, amber.KindInvalid)
		_, err = w.ListTasks(ctx, amber.TaskQuery{Cursor: c})
		wantKind(t, err, amber.KindInvalid)
	}
}

func TestListVisibility(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, r := range []amber.WriteRequest{
		{Content: "global"},
		{Content: "ada", Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "ada"}},
		{Content: "bob", Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "bob"}},
		{Content: "project", Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "p", UserID: "ada"}},
	} {
		w.write(t, r)
		w.tick()
	}
	ada := amber.Identities{UserID: "ada"}
	tests := []struct {
		name string
		q    amber.ListQuery
		want []string
	}{
		{"nobody", amber.ListQuery{}, []string{"global"}},
		{"ada", amber.ListQuery{Filter: amber.Filter{Identities: ada}}, []string{"ada", "global"}},
		{"ada's own", amber.ListQuery{Filter: amber.Filter{Scope: amber.ScopeUser, Identities: ada}}, []string{"ada"}},
		{"all", amber.ListQuery{All: true}, []string{"project", "bob", "ada", "global"}},
		{"all of one scope", amber.ListQuery{All: true, Filter: amber.Filter{Scope: amber.ScopeUser, Identities: ada}}, []string{"bob", "ada"}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := []string{}
			for _, m := range ok[amber.Page[amber.Memory]](t)(w.List(t.Context(), tc.q)).Items {
				got = append(got, m.Content)
			}
			wantEqual(t, "contents", got, tc.want)
		})
	}
}

func TestTimeline(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	inSession := amber.Identities{SessionID: "s", UserID: "u"}
	write := func(content string, scope amber.Scope, ids amber.Identities) amber.MemoryID {
		w.tick()
		return w.write(t, amber.WriteRequest{Content: content, Scope: scope, Identities: ids}).ID
	}
	s1 := write("s1", amber.ScopeSession, inSession)
	g1 := write("g1", amber.ScopeGlobal, amber.Identities{})
	s2 := write("s2", amber.ScopeUser, inSession)
	g2 := write("g2", amber.ScopeGlobal, amber.Identities{SessionID: "s"})
	g3 := write("g3", amber.ScopeGlobal, amber.Identities{})
	tests := []struct {
		name          string
		id            amber.MemoryID
		before, after int
		want          []amber.MemoryID
	}{
		{"of a session across scopes", s2, 9, 9, []amber.MemoryID{s1, s2, g2}},
		{"of a scope, sessions too", g1, 9, 9, []amber.MemoryID{g1, g2, g3}},
		{"nothing around", s2, 0, 0, []amber.MemoryID{s2}},
		{"one before", g3, 1, 0, []amber.MemoryID{g2, g3}},
		{"one after", g1, 0, 1, []amber.MemoryID{g1, g2}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := []amber.MemoryID{}
			for _, m := range ok[[]amber.Memory](t)(w.Timeline(t.Context(), tc.id, tc.before, tc.after)) {
				got = append(got, m.ID)
			}
			wantEqual(t, "timeline", got, tc.want)
		})
	}
	for _, bounds := range [][2]int{{-1, 0}, {0, -1}, {1001, 0}, {0, 1001}} {
		_, err := w.Timeline(t.Context(), g1, bounds[0], bounds[1])
		wantKind(t, err, amber.KindInvalid)
	}
}

func TestPositions(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	wantEqual(t, "head of an empty log", w.head(t), amber.PositionAt("life", 0))
	w.fact(t, "a")
	w.fact(t, "b")
	tests := []struct {
		name  string
		after amber.Position
		limit int
		kind  amber.Kind
		want  int
	}{
		{"the beginning", "", 10, "", 2},
		{"the first place", amber.PositionAt("life", 0), 10, "", 2},
		{"after one", amber.PositionAt("life", 1), 10, "", 1},
		{"the head", amber.PositionAt("life", 2), 10, "", 0},
		{"up to a limit", "", 1, "", 1},
		{"up to none", "", 0, "", 0},
		{"beyond the head", amber.PositionAt("life", 3), 10, amber.KindConflict, 0},
		{"another life", amber.PositionAt("death", 1), 10, amber.KindConflict, 0},
		{"garbage", "garbage", 10, amber.KindInvalid, 0},
		{"a negative limit", "", -1, amber.KindInvalid, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := w.Changes(t.Context(), tc.after, tc.limit)
			wantKind(t, err, tc.kind)
			if len(got) != tc.want || err == nil && got == nil {
				t.Errorf("%d entries, want %d in a list that is not nil", len(got), tc.want)
			}
		})
	}
}
