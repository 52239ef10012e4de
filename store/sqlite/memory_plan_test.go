package sqlite

import (
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/must"
)

// filterSteps are the steps of a plan that apply a filter with every
// condition to one memory.
func filterSteps() []string {
	return []string{
		"LIST SUBQUERY", "SCAN json_each VIRTUAL TABLE INDEX 1:", "CREATE BLOOM FILTER", // scopes
		"LIST SUBQUERY", "SCAN json_each VIRTUAL TABLE INDEX 1:", "CREATE BLOOM FILTER", // kinds
		"CORRELATED SCALAR SUBQUERY", "SCAN json_each VIRTUAL TABLE INDEX 1:", // tags
	}
}

// fullFilter has every condition.
func fullFilter() amber.Filter {
	return amber.Filter{
		Identities: amber.Identities{UserID: "ada"}, Kinds: []amber.MemoryKind{amber.Constraint}, Tags: []string{"x"},
		Since: amber.UnixMilli(1), Until: amber.UnixMilli(2),
	}
}

func TestRecallPlans(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	filter := fullFilter()
	checkPlans(t, s.memory, []planCase{
		{"newest", must.Get(sqlcore.NewestStatement(&filter))(t), slices.Concat(
			[]string{"SEARCH memories USING INDEX memories_updated (updated_at>? AND updated_at<?)"}, filterSteps())},
		{"newest of all", must.Get(sqlcore.NewestStatement(nil))(t), []string{"SCAN memories USING INDEX memories_updated"}},
		{"turn", statement("selectHitTurn"), []string{"SEARCH turns USING INDEX sqlite_autoindex_turns_1 (id=?)"}},
		{"what failed", statement("selectHitActivity"), []string{"SEARCH activity USING INTEGER PRIMARY KEY (rowid=?)"}},
	})
}

func TestMemoryPlans(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	checkPlans(t, s.memory, []planCase{
		{"duplicate", sqlrows.FindDuplicate, []string{"SEARCH memories USING INDEX memories_dedupe (content_digest=?)", "USE TEMP B-TREE FOR ORDER BY"}},
		{"memory, also of a topic", sqlrows.SelectMemory, []string{"SEARCH memories USING INDEX sqlite_autoindex_memories_1 (id=?)"}},
		{"count a duplicate", statement("countDuplicate"), []string{"SEARCH memories USING INDEX sqlite_autoindex_memories_1 (id=?)"}},
		{"erased id", sqlrows.IsErased, []string{"SCAN CONSTANT ROW", "SCALAR SUBQUERY", "SEARCH erased USING PRIMARY KEY (id=?)"}},
		{"page of history", sqlrows.SelectRevisionsPage, []string{"SEARCH revisions USING PRIMARY KEY (memory_id=? AND revision>?)"}},
		{"history", sqlrows.SelectRevisions, []string{"SEARCH revisions USING PRIMARY KEY (memory_id=?)"}},
		{"idempotency answer", statement("selectAnswer"), []string{"SEARCH idempotency USING PRIMARY KEY (operation=? AND key=?)"}},
		{"expired answers", statement("expireAnswers"), []string{
			"SEARCH idempotency USING PRIMARY KEY (operation=? AND key=?)",
			"LIST SUBQUERY", "SEARCH idempotency USING COVERING INDEX idempotency_expiry (expires_at<?)",
		}},
		{"answers of an erased memory", sqlrows.DeleteAnswers, []string{"SEARCH idempotency USING INDEX idempotency_memory (memory_id=?)"}},
		{"erased memory with what hangs on it", sqlrows.DeleteMemory, []string{
			"SEARCH memories USING INDEX sqlite_autoindex_memories_1 (id=?)",
			"SEARCH concepts USING PRIMARY KEY (memory_id=?)",
			"SEARCH embeddings USING COVERING INDEX sqlite_autoindex_embeddings_1 (memory_id=?)",
			"SEARCH relations USING COVERING INDEX relations_to (to_id=?)",
			"SEARCH relations USING COVERING INDEX sqlite_autoindex_relations_2 (from_id=?)",
			"SEARCH revisions USING PRIMARY KEY (memory_id=?)",
		}},
		{"count", statement("countMemories"), []string{"SCAN memories USING COVERING INDEX memories_listed"}},
		{"clock", sqlrows.SelectLastStamp, []string{"SCAN CONSTANT ROW", "SCALAR SUBQUERY", "SCAN changes"}}, // its end: one row
		{"changes", statement("selectChanges"), []string{"SEARCH c USING INTEGER PRIMARY KEY (rowid>?)", "CORRELATED SCALAR SUBQUERY", "SCAN i"}},
		{"head", statement("selectHead"), []string{"SEARCH changes", "SCALAR SUBQUERY", "SCAN incarnations"}},
		{"position", statement("selectIncarnation"), []string{
			"SEARCH i USING COVERING INDEX sqlite_autoindex_incarnations_1 (id=?)",
			"CORRELATED SCALAR SUBQUERY", "SEARCH l USING INTEGER PRIMARY KEY (rowid>?)", "SCALAR SUBQUERY", "SEARCH changes",
		}},
	})
}

// The statements of listings are put together when they are asked for, so
// they are taken from the connections that ran them.
func TestListPlans(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	created := "SEARCH memories USING INDEX memories_created ((created_at,id)<(?,?))"
	for _, c := range []struct {
		name string
		run  func(*Store)
		want [][]string // of each statement, in the order of their texts
	}{
		{"list", func(s *Store) {
			f := fullFilter()
			f.Since, f.Until = amber.Time{}, amber.Time{}
			must.Get(s.List(ctx, amber.ListQuery{Filter: f}))(t)
		}, [][]string{append([]string{created}, filterSteps()...)}},
		{"list kinds", func(s *Store) {
			f := fullFilter()
			f.Since, f.Until, f.Tags = amber.Time{}, amber.Time{}, nil
			must.Get(s.List(ctx, amber.ListQuery{Filter: f}))(t)
		}, [][]string{{
			"SEARCH memories USING INTEGER PRIMARY KEY (rowid=?)", "LIST SUBQUERY 3", "SCAN part VIRTUAL TABLE INDEX 1:",
			"SEARCH m USING COVERING INDEX memories_listed (scope=? AND identity=? AND kind=? AND created_at>? AND (created_at,id)<(?,?))",
			"CORRELATED SCALAR SUBQUERY 2", "CO-ROUTINE few",
			"SEARCH n USING COVERING INDEX memories_listed (scope=? AND identity=? AND kind=? AND (created_at,id)<(?,?))",
			"SEARCH few", "USE TEMP B-TREE FOR ORDER BY",
		}}},
		{
			"list what changed since", func(s *Store) {
				must.Get(s.List(ctx, amber.ListQuery{All: true, Filter: amber.Filter{Since: amber.UnixMilli(1)}}))(t)
			},
			[][]string{{created}},
		},
		{
			"list what changed in between", func(s *Store) { must.Get(s.List(ctx, amber.ListQuery{Filter: fullFilter()}))(t) },
			[][]string{slices.Concat([]string{"SEARCH memories USING INDEX memories_updated (updated_at>? AND updated_at<?)"}, filterSteps(), []string{"USE TEMP B-TREE FOR ORDER BY"})},
		},
		{
			"list all", func(s *Store) { must.Get(s.List(ctx, amber.ListQuery{All: true, Deleted: true}))(t) },
			[][]string{{created}},
		},
		{"list one scope of all", func(s *Store) {
			must.Get(s.List(ctx, amber.ListQuery{All: true, Filter: amber.Filter{Scope: amber.ScopeUser}}))(t)
		}, [][]string{{created}}},
		{"timeline of a session", func(s *Store) {
			id := save(t, s, amber.WriteRequest{Content: "a", Identities: amber.Identities{SessionID: "s"}})
			must.Get(s.Timeline(ctx, id, 1, 1))(t)
		}, [][]string{
			{"SEARCH memories USING INDEX memories_session (session_id=? AND (created_at,id)<(?,?))", "LIST SUBQUERY 1", "SCAN json_each VIRTUAL TABLE INDEX 1:", "CREATE BLOOM FILTER"},
			{"SEARCH memories USING INDEX memories_session (session_id=? AND (created_at,id)>(?,?))", "LIST SUBQUERY 1", "SCAN json_each VIRTUAL TABLE INDEX 1:", "CREATE BLOOM FILTER"},
		}},
		{"timeline of a scope", func(s *Store) {
			must.Get(s.Timeline(ctx, save(t, s, amber.WriteRequest{Content: "a"}), 1, 1))(t)
		}, [][]string{{created}, {"SEARCH memories USING INDEX memories_created ((created_at,id)>(?,?))"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, _ := freshStore(t, amber.QueueOptions{})
			c.run(s)
			queries := prepared(s.memory, "ORDER BY created_at")
			if len(queries) != len(c.want) {
				t.Fatalf("it ran %q, want %d statements", queries, len(c.want))
			}
			for i, q := range queries {
				checkPlans(t, s.memory, []planCase{{"", q, c.want[i]}})
			}
		})
	}
}

// prepared returns the statements that contain a part and that readers have
// prepared, sorted.
func prepared(d *database, part string) []string {
	return slices.DeleteFunc(d.live.readers.Prepared(), func(q string) bool { return !strings.Contains(q, part) })
}
