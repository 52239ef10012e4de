package sqlite

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

func TestLayerPlans(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	sessionsOf := func(binding string) string { return sqlcore.SessionsStatement(amber.SessionQuery{Binding: binding}) }
	ofProject := sqlcore.SessionsStatement(amber.SessionQuery{Project: "p", Trusted: true})
	checkPlans(t, s.memory, []planCase{
		{"turns before", statement("selectTurnsBefore"), []string{"SEARCH turns USING INDEX turns_session (session_id=? AND seq<?)"}},
		{"turns after", statement("selectTurnsAfter"), []string{"SEARCH turns USING INDEX turns_session (session_id=? AND seq>?)"}},
		{"known turn", statement("selectTurn"), []string{"SEARCH turns USING INDEX sqlite_autoindex_turns_1 (id=?)"}},
		{"delete turns", statement("deleteTurns"), []string{"SEARCH turns USING COVERING INDEX turns_session (session_id=?)"}},
		{"compactions", statement("selectCompactions"), []string{"SEARCH compactions USING INDEX compactions_session (session_id=? AND seq>?)"}},
		{"sessions", sessionsOf(""), []string{"SEARCH sessions USING INDEX sessions_updated ((updated_at,id)<(?,?))"}},
		{"sessions of a binding", sessionsOf("cli"), []string{"SEARCH sessions USING INDEX sessions_binding (binding=? AND (updated_at,id)<(?,?))"}},
		{"sessions of a project", ofProject, []string{"SEARCH sessions USING INDEX sessions_project (project=? AND (updated_at,id)<(?,?))"}},
		{"end session", statement("deleteActive"), []string{"SEARCH active_sessions USING COVERING INDEX active_sessions_session (session_id=?)"}},
		{"relations", statement("selectRelated"), []string{"MULTI-INDEX OR", "INDEX 1", "SEARCH relations USING INDEX sqlite_autoindex_relations_2 (from_id=?)", "INDEX 2", "SEARCH relations USING INDEX relations_to (to_id=?)", "USE TEMP B-TREE FOR ORDER BY"}},
		{"some relations", statement("selectRelatedSome"), []string{"COMPOUND QUERY", "LEFT-MOST SUBQUERY", "SEARCH relations USING INDEX sqlite_autoindex_relations_2 (from_id=?)", "LIST SUBQUERY 1", "SCAN json_each VIRTUAL TABLE INDEX 1:", "CREATE BLOOM FILTER", "UNION ALL", "SEARCH relations USING INDEX relations_to (to_id=?)", "LIST SUBQUERY 3", "SCAN json_each VIRTUAL TABLE INDEX 1:", "CREATE BLOOM FILTER"}},
		{"relation", statement("selectRelationBetween"), []string{"SEARCH relations USING INDEX sqlite_autoindex_relations_2 (from_id=? AND to_id=? AND type=?)"}},
		{"concepts", statement("selectConcepts"), []string{"SEARCH concepts USING PRIMARY KEY (memory_id=?)"}},
		{"heads", sqlrows.SelectHeads, []string{"SEARCH versions USING PRIMARY KEY (memory_id=?)"}},
		{"links of a memory", sqlrows.DeleteLinks, []string{"SEARCH sync_links USING INDEX sync_links_record (record=? AND scope=?)"}},
		{"relations that wait", sqlrows.DeleteWaiting, []string{"MULTI-INDEX OR", "INDEX 1", "SEARCH sync_waiting USING PRIMARY KEY (from_id=?)", "INDEX 2", "SEARCH sync_waiting USING INDEX sync_waiting_to (to_id=?)"}},
		{"departing turns", sqlrows.DepartTurns, []string{"SEARCH t USING INDEX turns_session (session_id=?)", "SEARCH s USING INDEX sqlite_autoindex_sessions_1 (id=?) LEFT-JOIN"}},
		{"returning turn", sqlrows.DeleteDeparted, []string{"SEARCH departed USING PRIMARY KEY (scope=? AND id=?)"}},
		{"last place in a conversation", sqlrows.LastPlace, []string{"SEARCH passages USING COVERING INDEX passages_place (session_id=?)"}},
		{"live memory", sqlrows.SelectLiveDigest, []string{"SEARCH memories USING INDEX sqlite_autoindex_memories_1 (id=?)"}},
	})
}
