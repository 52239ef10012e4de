package mcpapi

import (
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/amber-memory/amber"
)

// controlTools are for agents that work through tasks with others. Approvals
// are asked for here and decided by people: `amber approval decide`.
func controlTools() []*tool {
	return []*tool{
		define("task_save", "Save a task",
			"Create a task, or move a task on: give the version that you last saw as if_version, and only what changes.",
			writing, hints{destroys: true},
			object(must(str("id")), str("goal"), word("state", amber.TaskStates()), str("session"), num("attempts"), list("completed_nodes", nil),
				num("next_node_index"), str("pending_approval_id"), str("last_result"), num("if_version", "0: the task is new")),
			taskSchema(), saveTask),
		define("task_get", "Read a task", "Where one task stands.",
			reading, hints{}, object(must(str("id"))), taskSchema(), getTask),
		define("task_list", "List tasks", "Tasks, newest first. For more call again with cursor = next.",
			reading, hints{},
			object(word("state", amber.TaskStates()), str("session"), num("limit", "default 10, at most 50"), str("cursor")),
			object(list("tasks", taskSchema()), str("next")), listTasks),
		define("task_event", "Record what happened to a task", "Append to the history of a task; after a crash the task is recovered from its history.",
			writing, hints{},
			object(must(str("task_id")), must(word("from", amber.TaskStates())), word("to", amber.TaskStates()), str("kind"), str("reason"),
				str("error_class"), str("node_id"), str("node_kind"), num("attempt"), str("approval_id"), str("result")),
			object(str("task_id"), num("seq")), appendEvent),
		define("task_replay", "What a task's history amounts to", "After a crash: whether history and task agree, and whether the task can go on.",
			reading, hints{}, object(must(str("task_id"))),
			object(str("task_id"), str("persisted_state"), str("replayed_state"), str("consistency_status"), str("recovery_eligibility"), list("resume_candidates", nil)),
			replayTask),
		define("approval_request", "Ask a person", "Ask for approval of exactly this payload; a person decides elsewhere. The same id again returns the same approval.",
			writing, hints{again: true},
			object(str("id"), must(str("task_id")), must(str("node_id")), must(str("summary")), must(obj("payload"))),
			approvalSchema(), requestApproval),
		define("approval_list", "Look at approvals", "Approvals of a task, or all that wait for a decision.",
			reading, hints{}, object(str("task_id")), object(list("approvals", approvalSchema()), num("more")), listApprovals),
		define("result_save", "Save the result of a node", "Keep what a node of a task produced, under the fence of your lease.",
			writing, hints{destroys: true, again: true},
			object(must(str("task_id")), must(str("node_id")), must(str("producer")), must(word("status", []amber.ResultStatus{amber.ResultOK, amber.ResultError})),
				str("payload"), of("number", "confidence", "0 to 1"), num("fence")),
			resultSchema(), saveResult),
		define("result_list", "Read the results of a task", "The newest result of each node.",
			reading, hints{}, object(must(str("task_id"))), object(list("results", resultSchema()), num("more")), listResults),
		define("queue_publish", "Queue work", "Add an entry to the queue; the same entry twice is one.",
			writing.whole(), hints{again: true},
			object(must(str("entry_id")), must(str("task_id")), must(str("node_id")), str("payload"), num("priority", "higher first"), str("not_before")),
			object(str("entry_id")), publishEntry),
		define("queue_claim", "Take work", "Lease the next entry. Finish it with queue_ack before the lease expires.",
			working.whole(), hints{}, object(must(str("consumer_id"))),
			object(flag("empty"), obj("envelope"), sub("lease", leaseSchema())), claimEntry),
		define("queue_ack", "Finish work", "Say that a leased entry is done.",
			writing.whole(), hints{again: true}, object(must(sub("lease", leaseSchema()))), object(flag("done")), ackEntry),
		define("queue_nack", "Give work back", "Give a leased entry back because it could not be done.",
			writing.whole(), hints{}, object(must(sub("lease", leaseSchema())), str("reason")), object(flag("done")), nackEntry),
		define("queue_renew", "Keep a lease", "Extend a lease before it expires.",
			writing.whole(), hints{}, object(must(sub("lease", leaseSchema()))), object(sub("lease", leaseSchema())), renewLease),
		define("queue_status", "Look at the queue", "How much is waiting, leased and dead.",
			reading.whole(), hints{}, object(), object(num("queued"), num("leased"), num("dead"), num("available")), queueStatus),
	}
}

func taskSchema() *jsonschema.Schema {
	return object(str("id"), str("goal"), str("state"), num("version"), list("completed_nodes", nil), str("pending_approval_id"), str("last_result"))
}

func approvalSchema() *jsonschema.Schema {
	return object(str("id"), str("task_id"), str("node_id"), str("summary"), str("status"), str("digest"))
}

func resultSchema() *jsonschema.Schema {
	return object(str("task_id"), str("node_id"), str("status"), str("payload"), num("fence"), flag("truncated"))
}

func leaseSchema() *jsonschema.Schema {
	return object(str("entry_id"), str("consumer_id"), str("token"), num("fence"), str("expires_at"))
}
