package sqlite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/sqlconn"
	"github.com/amber-memory/amber/internal/test/must"
)

// journal is the name of the journal of a session in these tests.
const journal = "00112233445566778899aabbccddeeff"

// take ingests steps of session s behind the cursor.
func take(t *testing.T, s *Store, steps ...amber.IngestStep) amber.IngestResult {
	t.Helper()
	after := must.Get(s.JournalCursor(t.Context(), journal))(t).Seq
	for i := range steps {
		steps[i].Start.ID = "s"
	}
	in := amber.Ingestion{Journal: journal, Host: "host", Session: "s", After: after, Through: after + 1, Steps: steps}
	return must.Get(s.Ingest(t.Context(), in))(t)
}

// doing is a step in which a tool was used.
func doing(name, detail string) amber.IngestStep {
	return amber.IngestStep{Activity: []amber.Activity{{SessionID: "s", Kind: amber.ActivityTool, Name: name, Detail: detail}}}
}

// The cost of a step does not depend on how much the store has.
func TestIngestPlans(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	byName := "SEARCH activity USING INDEX sqlite_autoindex_activity_1 (session_id=? AND kind=? AND name=?)"
	checkPlans(t, s.memory, []planCase{
		{"cursor", statement("selectCursor"), []string{
			"SEARCH c USING PRIMARY KEY (journal=?)", "CORRELATED SCALAR SUBQUERY 1", "SEARCH s USING INDEX sqlite_autoindex_sessions_1 (id=?)",
		}},
		{"open cursors", statement("selectOpenCursors"), []string{
			"SCAN s USING INDEX sessions_open", "SEARCH c USING INDEX journal_cursors_session (session_id=?)", "USE TEMP B-TREE FOR ORDER BY",
		}},
		{"native event", statement("rememberNative"), nil},
		{"observed event", statement("rememberObserved"), []string{"SCAN CONSTANT ROW", "SCALAR SUBQUERY", "SEARCH journal_events USING PRIMARY KEY (id=? AND at>? AND at<?)"}},
		{"known activity", statement("selectActivity"), []string{byName}},
		{"activity done again", statement("updateActivity"), []string{byName}},
		{"how much of a kind", statement("countActivity"), []string{"SEARCH activity USING COVERING INDEX activity_last (session_id=? AND kind=?)"}},
		{"done longest ago", statement("dropActivity"), []string{
			"SEARCH activity USING INTEGER PRIMARY KEY (rowid=?)", "SCALAR SUBQUERY", "SEARCH activity USING COVERING INDEX activity_last (session_id=? AND kind=?)",
		}},
		{"activity of a session", statement("listActivity"), []string{"SEARCH activity USING INDEX activity_last (session_id=?)", "USE TEMP B-TREE FOR ORDER BY"}},
		{"activity of a kind", statement("listActivityOfKind"), []string{"SEARCH activity USING INDEX activity_last (session_id=? AND kind=?)", "USE TEMP B-TREE FOR ORDER BY"}},
		{"delete session with what is its own", statement("deleteSession"), []string{
			"SEARCH sessions USING INDEX sqlite_autoindex_sessions_1 (id=?)",
			"SEARCH activity USING COVERING INDEX", "SEARCH active_sessions USING COVERING INDEX active_sessions_session (session_id=?)",
		}},
	})
}

// A thing of the journal that a row cannot be is found by a check.
func TestDamagedJournalIsFound(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ damage, check string }{
		"a cursor below zero":          {`UPDATE journal_cursors SET seq = -1`, "integrity"},
		"half an event id":             {`UPDATE journal_events SET id = x'0011'`, "integrity"},
		"activity that was never done": {`UPDATE activity SET count = 0`, "integrity"},
		"activity of no session":       {`UPDATE activity SET session_id = 'none'`, "foreign_keys"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := freshStore(t, amber.QueueOptions{})
			step := doing("Bash", "")
			step.Event = amber.EventRef{ID: strings.Repeat("0", 32), Native: true}
			take(t, s, step)
			sound(t, s)
			outside(t, s.agent, "memory.db", func(p *sqlconn.Pool) {
				must.Get(p.DB.Exec("PRAGMA foreign_keys = 0; PRAGMA ignore_check_constraints = 1; " + c.damage))(t)
			})
			found := slices.ContainsFunc(s.Check(t.Context()), func(f Finding) bool {
				return f.File == "memory.db" && f.Check == c.check && amber.KindOf(f.Err) == amber.KindDamaged
			})
			must.Hold(t, found, "the check %s does not find it", c.check)
		})
	}
}

// Deleting a session removes what its agent did, also from the files.
func TestDeletedSessionLeavesNoActivity(t *testing.T) {
	t.Parallel()
	st, _ := freshStore(t, amber.QueueOptions{})
	s := newSecrets(6)
	save(t, st, amber.WriteRequest{Content: "something else"})
	for range 40 {
		take(t, st, doing(s.word(), s.words(3)))
	}
	s.mustBeIn(t, st.agent.Dir())
	must.Do(t, st.DeleteSession(t.Context(), "s"))
	if emptied := must.Get(st.memory.emptyLog(t.Context()))(t); !emptied {
		t.Fatal("the write-ahead log is not empty")
	}
	s.mustNotBeIn(t, st.agent.Dir())
	sound(t, st)
}

// A step that fails says which it is, and keeps its kind and hint.
func TestFailedStepIsNamed(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	must.Get(s.AppendTurn(ctx, amber.Turn{ID: "t", SessionID: "other", Role: amber.RoleUser, Content: "a"}))(t)
	bad := amber.IngestStep{Start: amber.SessionStart{ID: "s"}, Turns: []amber.Turn{{ID: "t", SessionID: "s", Role: amber.RoleUser, Content: "b"}}}
	_, err := s.Ingest(ctx, amber.Ingestion{
		Journal: journal, Host: "host", Session: "s", Through: 2,
		Steps: []amber.IngestStep{{Start: amber.SessionStart{ID: "s"}}, bad},
	})
	must.Kind(t, "ingestion", err, amber.KindConflict)
	if want := "ingest: step 2 " + journal + ": append turn t: another session has a turn with this id"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
}

// An event takes little room: hosts say a lot.
func TestEventsAreSmall(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	take(t, s, amber.IngestStep{})
	size := func() int64 { return count(t, s.memory, countBytes) }
	before := size()
	const total, each = 2048, 512
	for i := range total / each {
		var steps []amber.IngestStep
		for j := range each {
			e := amber.EventRef{ID: amber.ContentDigest(fmt.Sprint(i, j))[:32], At: amber.UnixMilli(1_767_323_045_678)}
			steps = append(steps, amber.IngestStep{Event: e})
		}
		must.Equal(t, "steps applied", take(t, s, steps...).Applied, each)
	}
	perEvent := float64(size()-before) / total
	t.Logf("%.1f bytes an event", perEvent)
	if perEvent > 64 {
		t.Errorf("an event takes %.1f bytes", perEvent)
	}
}

// A session that came from elsewhere keeps its row, and so its origin: the place it
// came from could not bring its next version otherwise.
func TestPastStepsKeepTheVersionOfTheSession(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	r := farSession(far(1, 10), "work")
	r.Session.EndedAt = amber.UnixMilli(9)
	apply(t, s, "one", r)
	before, head := stateOf(t, s), headOf(t, s)
	step := amber.IngestStep{
		Start: amber.SessionStart{ID: "s", Directory: "/d"}, Reopen: true,
		Turns: []amber.Turn{{ID: "answer", SessionID: "s", Role: amber.RoleAssistant, Content: "hello", CreatedAt: amber.UnixMilli(7), Trust: amber.TrustImported}},
	}
	in := amber.Ingestion{Journal: journal, Host: "host", Session: "s", Through: 1, LastAt: amber.UnixMilli(8), Steps: []amber.IngestStep{step}, Past: true}
	must.Equal(t, "answer", must.Get(s.Ingest(ctx, in))(t), amber.IngestResult{Applied: 1})
	must.Equal(t, "state", stateOf(t, s), before)
	must.Equal(t, "entries of the change log", headOf(t, s), head+1) // the turn
	must.Equal(t, "open journals", len(must.Get(s.OpenJournals(ctx))(t)), 0)
	must.Equal(t, "a later version", apply(t, s, "two", farSession(far(2, 20), "work goes on")), amber.Applied{Sessions: 1})
}
