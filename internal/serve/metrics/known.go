package metrics

import (
	"sync"

	"github.com/amber-memory/amber"
)

// other is the value of a label for what is not in its set.
const other = "other"

// known are the operations that are labels, by layer: the methods of the
// contracts.
var known = map[string][]string{
	string(amber.LayerLongTerm): {
		"recall", "write", "delete", "health", "get", "list", "history", "timeline", "write_batch", "edit", "erase",
		"relate", "relation", "unrelate", "related", "neighbours", "set_concepts", "concepts", "count_concepts", "stats", "changes", "changes_before", "head",
	},
	string(amber.LayerTurns): {"append_turn", "load_turns", "list_turns", "turn", "delete_turns", "add_compaction", "compactions"},
	string(amber.LayerLoops): {"save_loop", "load_loop", "clear_loop"},
	string(amber.LayerSessions): {
		"start_session", "session", "list_sessions", "delete_session", "end_session", "rename_session",
		"active_session", "select_session", "save_state", "load_state", "delete_state", "list_activity", "activity_named",
	},
	string(amber.LayerNotes): {"write_note", "read_note", "list_notes", "delete_note", "log_note", "note_at"},
	string(amber.LayerControl): {
		"save_task", "task", "list_tasks", "append_event", "list_events", "compact_events", "replay",
		"request_approval", "decide_approval", "approval", "list_approvals", "save_result", "result", "list_results",
		"publish", "claim", "ack", "nack", "renew", "backpressure", "dead_entries", "changes", "changes_before", "head",
		"put_document", "read_document", "list_documents", "delete_document",
	},
	string(amber.LayerJournal): {"ingest", "journal_cursor", "open_journals"},
	string(amber.LayerSync): {
		"outgoing", "sync_place", "exported", "applied_chunks", "apply", "set_quarantine", "sync_report",
		"links", "last_local_id", "sync_records", "held", "removed_at",
	},
	layerSnapshots: {
		"snapshot", "list_snapshots", "show_snapshot", "diff_snapshots", "verify_snapshot", "delete_snapshot",
		"pin_snapshot", "prune_snapshots", "collect_garbage", "restore",
	},
	layerRepository: {"check_repository"},
	layerEvents:     {"publish"},
}

// closed is a set of values for a label.
type closed map[string]bool

func newClosed(values ...string) closed {
	c := closed{}
	for _, v := range values {
		c[v] = true
	}
	return c
}

// of returns v if it is in the set, other if not.
func (c closed) of(v string) string {
	if c[v] {
		return v
	}
	return other
}

// knownOperations are the values of the label operation, by layer.
var knownOperations = func() map[string]closed {
	sets := map[string]closed{}
	for layer, names := range known {
		sets[layer] = newClosed(names...)
	}
	return sets
}()

// maxExpected bounds how many values of one label are expected.
const maxExpected = 512

// expected is a set of values for a label that another part of the program provides. Safe for
// concurrent use.
type expected struct {
	mu  sync.RWMutex
	set closed
}

func (e *expected) add(values []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.set == nil {
		e.set = closed{}
	}
	for _, v := range values {
		if len(e.set) < maxExpected {
			e.set[v] = true
		}
	}
}

func (e *expected) of(v string) string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.set.of(v)
}
