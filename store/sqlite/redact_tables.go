package sqlite

import "slices"

// treatment says how a column is redacted.
type treatment int

const (
	// asText: it becomes what the redactor makes of it.
	asText treatment = iota
	// asJSON: it stays JSON. What is none, '' too, is a text.
	asJSON
	// asLines: each line is a text; they stay sorted and different.
	asLines
	// asName: a key, or part of one, or one of a set of words. What is equal
	// stays equal, what differs stays different, in all columns together.
	asName
)

// redactedTable is a table and what is done with its columns.
type redactedTable struct {
	name    string
	key     []string // tells a row from the others
	label   []string // names a row in the report; nil: the key
	columns []redactedColumn
	more    []string // columns that a hook reads beside those
	hook    func(*redaction, *redactedRow) error
}

type redactedColumn struct {
	name string
	as   treatment
}

func columns(as treatment, names ...string) (all []redactedColumn) {
	for _, n := range names {
		all = append(all, redactedColumn{n, as})
	}
	return all
}

// changeLog is in both files. It is rewritten when all others are, since it
// tells of them: see redact_changes.go.
var changeLog = redactedTable{
	name: "changes", key: []string{"seq"}, columns: columns(asName, "op", "scope", "key", "old_digest", "new_digest"),
}

// redactedMemory are the other tables of memory.db. Every column that can hold
// text is here, or in redactExempt; a test sees to that.
var redactedMemory = []redactedTable{
	{
		name: "memories", key: []string{"rowid"}, label: []string{"id"},
		columns: slices.Concat(
			columns(asText, "title", "content", "summary", "glued", "facets"),
			columns(asJSON, "metadata", "source_refs", "foreign_fields"), columns(asLines, "tags"),
			columns(asName, "id", "kind", "scope", "identity", "session_id", "user_id", "project_id", "workspace_id", "topic", "trust", "device", "content_digest")),
		hook: (*redaction).memory,
	},
	{
		name: "revisions", key: []string{"memory_id", "revision"},
		columns: slices.Concat(columns(asName, "memory_id"), columns(asJSON, "body")),
		hook:    (*redaction).revision,
	},
	{name: "erased", key: []string{"id"}, columns: columns(asName, "id", "device")},
	{
		name: "idempotency", key: []string{"operation", "key"},
		columns: slices.Concat(columns(asName, "operation", "key", "digest", "memory_id"), columns(asJSON, "answer")),
		hook:    (*redaction).answer,
	},
	{name: "relations", key: []string{"id"}, columns: columns(asName, "id", "from_id", "to_id", "type", "device")},
	{name: "embeddings", key: []string{"memory_id", "model"}, columns: columns(asName, "memory_id", "model")},
	{name: "concepts", key: []string{"memory_id", "concept"}, columns: columns(asName, "memory_id", "concept")},
	{
		name: "turns", key: []string{"seq"}, label: []string{"id"},
		columns: slices.Concat(columns(asName, "id", "session_id", "role", "project_id", "trust"), columns(asText, "content")),
		hook:    func(d *redaction, r *redactedRow) error { return d.said(r, "content") },
	},
	{
		name: "sessions", key: []string{"id"},
		columns: slices.Concat(columns(asName, "id", "binding", "project", "parent", "device", "trust"), columns(asText, "name", "directory", "end_reason", "summary")),
	},
	{name: "departed", key: []string{"scope", "id"}, columns: columns(asName, "scope", "id", "session_id", "project", "device")},
	{
		name: "versions", key: []string{"memory_id", "version"}, columns: columns(asName, "memory_id", "version", "saw"),
		hook: (*redaction).version,
	},
	{name: "active_sessions", key: []string{"binding"}, columns: columns(asName, "binding", "session_id")},
	{
		name: "session_states", key: []string{"session_id"},
		columns: slices.Concat(columns(asName, "session_id"), columns(asJSON, "document")),
		hook: func(d *redaction, r *redactedRow) error {
			d.redigested(r.was("document"), r.is("document"))
			return nil
		},
	},
	{
		name: "loops", key: []string{"session_id"},
		columns: slices.Concat(columns(asName, "session_id", "run_id", "digest"), columns(asJSON, "state")),
		hook:    func(d *redaction, r *redactedRow) error { return d.digestOf(r, "state", "digest") },
	},
	{
		name: "compactions", key: []string{"seq"}, label: []string{"id"},
		columns: slices.Concat(columns(asName, "id", "session_id"), columns(asText, "summary")),
		hook:    func(d *redaction, r *redactedRow) error { return d.said(r, "summary") },
	},
	{name: "journal_cursors", key: []string{"journal"}, columns: columns(asName, "journal", "host", "session_id", "boot", "namespace")},
	{
		name: "activity", key: []string{"seq"},
		columns: slices.Concat(columns(asName, "session_id", "kind", "name"), columns(asText, "detail", "status")),
	},
	{name: "incarnations", key: []string{"ordinal"}, columns: columns(asName, "id")},
}

// redactedControl are the other tables of control.db.
var redactedControl = []redactedTable{
	{
		name: "tasks", key: []string{"id"},
		columns: slices.Concat(columns(asName, "id", "state", "session_id"), columns(asJSON, "body", "extra")),
		hook:    (*redaction).task,
	},
	{
		name: "events", key: []string{"task_id", "seq"},
		columns: slices.Concat(columns(asName, "task_id"), columns(asJSON, "body")),
		hook:    (*redaction).event,
	},
	{
		name: "replays", key: []string{"task_id"},
		columns: slices.Concat(columns(asName, "task_id"), columns(asJSON, "body")),
		hook:    (*redaction).replayed,
	},
	{
		name: "approvals", key: []string{"seq"}, label: []string{"id"},
		columns: slices.Concat(columns(asName, "id", "task_id", "node_id", "status", "decided_by", "digest", "requested_by", "claimed_by"),
			columns(asText, "summary", "comment"), columns(asJSON, "payload")),
		hook: func(d *redaction, r *redactedRow) error { return d.digestOf(r, "payload", "digest") },
	},
	{
		name: "results", key: []string{"task_id", "node_id"},
		columns: slices.Concat(columns(asName, "task_id", "node_id"), columns(asJSON, "body")),
		hook:    (*redaction).resulted,
	},
	{name: "fences", key: []string{"task_id", "node_id"}, columns: columns(asName, "task_id", "node_id")},
	{
		name: "queue", key: []string{"seq"}, label: []string{"entry_id"},
		columns: slices.Concat(columns(asName, "entry_id", "task_id", "node_id", "digest", "state", "consumer", "token"),
			columns(asJSON, "payload", "reasons")),
		more: []string{"priority", "published_not_before"},
		hook: (*redaction).entry,
	},
	{name: "queue_counts", key: []string{"state"}, columns: columns(asName, "state")},
	{name: "incarnations", key: []string{"ordinal"}, columns: columns(asName, "id")},
}

// redactForgotten are the tables that a redacted copy has no rows of, secrets
// or not: they tell about folders and other tools of this machine, and hold
// digests of texts. Without them a sync of the copy starts from the beginning,
// which brings the relations that wait too.
var redactForgotten = []string{"sync_places", "sync_chunks", "sync_imports", "sync_quarantine", "sync_waiting", "sync_links", "sync_held", "sync_removed", "sync_spared"}

// redactExempt are the columns that can hold text or bytes and are not
// redacted, each with the reason. The search for what was found goes over all
// of them.
var redactExempt = map[string]string{
	"embeddings.vector":   "floats; those of a rewritten memory are removed",
	"journal_events.id":   "a digest of an event from which secrets were removed before it was made",
	"memory_fts_config.k": "settings, which Examine compares",
	"memory_fts_config.v": "settings, which Examine compares",

	"memory_grams_config.k": "settings, which Examine compares",
	"memory_grams_config.v": "settings, which Examine compares",

	"memory_fts_data.block":   "written anew when memories were rewritten",
	"memory_fts_idx.segid":    "a number",
	"memory_fts_idx.term":     "written anew when memories were rewritten",
	"memory_fts_idx.pgno":     "a number",
	"memory_fts_docsize.sz":   "counts of words",
	"memory_grams_data.block": "written anew when memories were rewritten",
	"memory_grams_idx.segid":  "a number",
	"memory_grams_idx.term":   "written anew when memories were rewritten",
	"memory_grams_idx.pgno":   "a number",
	"memory_grams_docsize.sz": "counts of characters",
}

// redactedTables returns the tables of a schema. A file of an older version may
// not have all of them, nor all of their columns.
func (s schema) redactedTables() []redactedTable {
	if s.file == memorySchema.file {
		return redactedMemory
	}
	return redactedControl
}
