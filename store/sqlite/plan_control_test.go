package sqlite

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlcore"
)

func TestControlPlans(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	tasksBy := sqlcore.TasksStatement
	checkPlans(t, s.control, []planCase{
		{"claim takes back expired leases", statement("selectExpired"), []string{"SEARCH queue USING INDEX queue_leased (expires_at<?)"}},
		{"claim marks what became due", statement("markDue"), []string{"SEARCH queue USING INDEX queue_delayed (not_before<?)"}},
		{"claim finds the due entry", statement("selectDue"), []string{"SCAN queue USING INDEX queue_queued"}},
		{"claim issues a fence", statement("selectNextFence"), []string{"SEARCH fences USING COVERING INDEX fences_issued"}},
		{"publish looks for the id", statement("selectPublished"), []string{"SEARCH queue USING INDEX sqlite_autoindex_queue_1 (entry_id=?)"}},
		{"publish forgets acked entries", statement("selectForgotten"), []string{"SEARCH queue USING INDEX queue_acked (done_at<?)"}},
		{"count expired leases", statement("countExpired"), []string{"SEARCH queue USING COVERING INDEX queue_leased (expires_at<?)"}},
		{"dead entries", statement("selectDead"), []string{"SEARCH queue USING INDEX queue_dead (done_at<?)"}},
		{"lease", statement("selectHeld"), []string{"SEARCH queue USING INDEX sqlite_autoindex_queue_1 (entry_id=?)"}},
		{"tasks", tasksBy(amber.TaskQuery{}), []string{"SEARCH tasks USING INDEX tasks_created ((created_at,id)<(?,?))"}},
		{"tasks of a state", tasksBy(amber.TaskQuery{State: amber.TaskQueued}), []string{"SEARCH tasks USING INDEX tasks_state (state=? AND (created_at,id)<(?,?))"}},
		{"tasks of a session", tasksBy(amber.TaskQuery{SessionID: "s"}), []string{"SEARCH tasks USING INDEX tasks_session (session_id=? AND (created_at,id)<(?,?))"}},
		{"tasks of a state and a session", tasksBy(amber.TaskQuery{State: amber.TaskQueued, SessionID: "s"}), []string{"SEARCH tasks USING INDEX tasks_session (session_id=? AND (created_at,id)<(?,?))"}},
		{"approvals of a task", statement("selectTaskApprovals"), []string{"SEARCH approvals USING INDEX approvals_task (task_id=? AND seq>?)"}},
		{"pending approvals", statement("selectPendingApprovals"), []string{"SEARCH approvals USING INDEX approvals_pending (seq>?)"}},
		{"last event", statement("selectLastEvent"), []string{"SCAN CONSTANT ROW", "SCALAR SUBQUERY 1", "SEARCH events USING PRIMARY KEY (task_id=?)", "SCALAR SUBQUERY 2", "SEARCH replays USING INDEX sqlite_autoindex_replays_1 (task_id=?)"}},
		{"events to compact", statement("selectEdge"), []string{"SEARCH events USING PRIMARY KEY (task_id=?)"}},
		{"page of events", statement("selectEventsPage"), []string{"SEARCH events USING PRIMARY KEY (task_id=? AND seq>?)"}},
		{"events", statement("selectEvents"), []string{"SEARCH events USING PRIMARY KEY (task_id=?)"}},
		{"results", statement("selectResults"), []string{"SEARCH results USING INDEX sqlite_autoindex_results_1 (task_id=? AND node_id>?)"}},
	})
}
