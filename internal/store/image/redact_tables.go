package image

import (
	"slices"

	"github.com/amber-memory/amber/internal/store/sqlfile"
)

// treatment says how a column is redacted.
type treatment int

const (
	// asText: it becomes what the redactor makes of it.
	asText treatment = iota
	// asJSON: it stays JSON. A value that is not JSON, '' too, is a text.
	AsJSON
	// asLines: each line is a text; they stay sorted and different.
	asLines
	// asName: a key, or part of one, or one of a set of words. Equal names stay
	// equal and different names stay different, in all columns together.
	asName
)

// RedactedTable is a table and what is done with its columns.
type RedactedTable struct {
	Name    string
	Key     []string // tells a row from the others
	label   []string // names a row in the report; nil: the key
	Columns []redactedColumn
	more    []string // columns that a hook reads beside those
	hook    func(*redaction, *redactedRow) error
}

type redactedColumn struct {
	Name string
	As   treatment
}

func columns(as treatment, names ...string) (all []redactedColumn) {
	for _, n := range names {
		all = append(all, redactedColumn{n, as})
	}
	return all
}

// ChangeLog is in both files. It is rewritten after all other tables, since it
// has their keys and digests: see redact_changes.go.
var ChangeLog = RedactedTable{
	Name: "changes", Key: []string{"seq"}, Columns: columns(asName, "op", "scope", "key", "old_digest", "new_digest"),
}

// redactedMemory are the other tables of memory.db. Every column that can hold
// text is here, or in redactExempt; a test sees to that.
var redactedMemory = []RedactedTable{
	{
		Name: "memories", Key: []string{"rowid"}, label: []string{"id"},
		Columns: slices.Concat(
			columns(asText, "title", "content", "summary"),
			columns(AsJSON, "metadata", "source_refs", "foreign_fields", "author"), columns(asLines, "tags"),
			columns(asName, "id", "kind", "scope", "identity", "session_id", "user_id", "project_id", "workspace_id", "topic", "trust", "device", "content_digest")),
		hook: (*redaction).memory,
	},
	{
		Name: "revisions", Key: []string{"memory_id", "revision"},
		Columns: slices.Concat(columns(asName, "memory_id"), columns(AsJSON, "body")),
		hook:    (*redaction).revision,
	},
	{Name: "erased", Key: []string{"id"}, Columns: columns(asName, "id", "device")},
	{
		Name: "idempotency", Key: []string{"operation", "key"},
		Columns: slices.Concat(columns(asName, "operation", "key", "digest", "memory_id"), columns(AsJSON, "answer")),
		hook:    (*redaction).answer,
	},
	{Name: "relations", Key: []string{"id"}, Columns: slices.Concat(columns(asName, "id", "from_id", "to_id", "type", "device", "trust"), columns(AsJSON, "author"))},
	{Name: "embeddings", Key: []string{"memory_id", "model"}, Columns: columns(asName, "memory_id", "model")},
	{Name: "concepts", Key: []string{"memory_id", "concept"}, Columns: columns(asName, "memory_id", "concept")},
	{
		Name: "turns", Key: []string{"seq"}, label: []string{"id"},
		Columns: slices.Concat(columns(asName, "id", "session_id", "role", "project_id", "trust"), columns(asText, "content")),
		hook:    func(d *redaction, r *redactedRow) error { return d.said(r, "content") },
	},
	{
		Name: "sessions", Key: []string{"id"},
		Columns: slices.Concat(columns(asName, "id", "binding", "project", "parent", "device", "trust"), columns(asText, "name", "directory", "end_reason", "summary")),
	},
	{Name: "departed", Key: []string{"scope", "id"}, Columns: columns(asName, "scope", "id", "session_id", "project", "device")},
	{
		Name: "versions", Key: []string{"memory_id", "version"}, Columns: columns(asName, "memory_id", "version", "saw"),
		hook: (*redaction).version,
	},
	{Name: "active_sessions", Key: []string{"binding"}, Columns: columns(asName, "binding", "session_id")},
	{
		Name: "session_states", Key: []string{"session_id"},
		Columns: slices.Concat(columns(asName, "session_id"), columns(AsJSON, "document")),
		hook: func(d *redaction, r *redactedRow) error {
			d.redigested(r.was("document"), r.is("document"))
			return nil
		},
	},
	{
		Name: "loops", Key: []string{"session_id"},
		Columns: slices.Concat(columns(asName, "session_id", "run_id", "digest"), columns(AsJSON, "state")),
		hook:    func(d *redaction, r *redactedRow) error { return d.digestOf(r, "state", "digest") },
	},
	{
		Name: "compactions", Key: []string{"seq"}, label: []string{"id"},
		Columns: slices.Concat(columns(asName, "id", "session_id"), columns(asText, "summary")),
		hook:    func(d *redaction, r *redactedRow) error { return d.said(r, "summary") },
	},
	{Name: "journal_cursors", Key: []string{"journal"}, Columns: columns(asName, "journal", "host", "session_id", "boot", "namespace")},
	{
		Name: "activity", Key: []string{"seq"},
		Columns: slices.Concat(columns(asName, "session_id", "kind", "name"), columns(asText, "detail", "status")),
	},
	{Name: "incarnations", Key: []string{"ordinal"}, Columns: columns(asName, "id")},
}

// redactedControl are the other tables of control.db.
var redactedControl = []RedactedTable{
	{
		Name: "tasks", Key: []string{"id"},
		Columns: slices.Concat(columns(asName, "id", "state", "session_id"), columns(AsJSON, "body", "extra")),
		hook:    (*redaction).task,
	},
	{
		Name: "events", Key: []string{"task_id", "seq"},
		Columns: slices.Concat(columns(asName, "task_id"), columns(AsJSON, "body")),
		hook:    (*redaction).event,
	},
	{
		Name: "replays", Key: []string{"task_id"},
		Columns: slices.Concat(columns(asName, "task_id"), columns(AsJSON, "body")),
		hook:    (*redaction).replayed,
	},
	{
		Name: "approvals", Key: []string{"seq"}, label: []string{"id"},
		Columns: slices.Concat(columns(asName, "id", "task_id", "node_id", "status", "decided_by", "digest", "requested_by", "claimed_by"),
			columns(asText, "summary", "comment"), columns(AsJSON, "payload")),
		hook: func(d *redaction, r *redactedRow) error { return d.digestOf(r, "payload", "digest") },
	},
	{
		Name: "results", Key: []string{"task_id", "node_id"},
		Columns: slices.Concat(columns(asName, "task_id", "node_id"), columns(AsJSON, "body")),
		hook:    (*redaction).resulted,
	},
	{Name: "fences", Key: []string{"task_id", "node_id"}, Columns: columns(asName, "task_id", "node_id")},
	{
		Name: "queue", Key: []string{"seq"}, label: []string{"entry_id"},
		Columns: slices.Concat(columns(asName, "entry_id", "task_id", "node_id", "digest", "state", "consumer", "token"),
			columns(AsJSON, "payload", "reasons")),
		more: []string{"priority", "published_not_before"},
		hook: (*redaction).entry,
	},
	{Name: "queue_counts", Key: []string{"state"}, Columns: columns(asName, "state")},
	{Name: "incarnations", Key: []string{"ordinal"}, Columns: columns(asName, "id")},
}

// RedactForgotten are the tables that a redacted copy has no rows of, secrets
// or not: they tell about folders and other tools of this machine, and hold
// digests of texts. Without them a sync of the copy starts from the beginning,
// which brings the relations that wait too.
var RedactForgotten = []string{"sync_places", "sync_chunks", "sync_imports", "sync_quarantine", "sync_waiting", "sync_links", "sync_held", "sync_removed", "sync_spared", "index_cursors"}

// RedactElsewhere are tables that a redacted copy has no rows of either: notes are redacted where
// they live, and are copied from there again.
var RedactElsewhere = []string{"notes", "notes_head"}

// RedactExempt are the columns that can hold text or bytes and are not
// redacted, each with the reason. The search for what was found goes over all
// of them.
var RedactExempt = map[string]string{
	"embeddings.vector":        "floats; those of a rewritten memory are removed",
	"journal_events.id":        "a digest of an event from which secrets were removed before it was made",
	"passages.digest":          "of words and facets; the passages of a rewritten text are made anew",
	"passages.source":          "a word of the schema",
	"passages.owner":           "an id, which follows its row",
	"passages.session_id":      "an id, which follows its row",
	"passages.speaker":         "made anew with its text",
	"index_dirty.source":       "emptied",
	"index_dirty.owner":        "emptied",
	"index_tail.document":      "made anew with its text",
	"index_segments.documents": "numbers",
	"index_segments.terms":     "written anew without the terms of rewritten texts",
	"index_lists.term":         "erased with the texts that had it",
	"index_lists.list":         "numbers",
	"index_dead.source":        "a word of the schema",
	"index_dead.owner":         "an id, which goes when its text is rewritten",
	"index_vectors.model":      "the name of a model",
	"index_vectors.vector":     "numbers; those of a rewritten text are removed",
	"index_signs.model":        "the name of a model",
	"index_signs.signs":        "numbers; those of a rewritten text are removed",
	"index_state.key":          "a word of the schema",
	"index_state.data":         "numbers of segments, and a term of one",
}

// RedactedTables returns the tables of a schema. A file of an older version may
// not have all of them, nor all of their columns.
func RedactedTables(s sqlfile.Schema) []RedactedTable {
	if s.File == sqlfile.MemorySchema.File {
		return redactedMemory
	}
	return redactedControl
}
