package httpapi

import (
	_ "embed" // the examples
	"encoding/json"
	"sync"

	"github.com/amber-memory/amber/op"
)

// example is one request of an operation and the answer to it. A test sends the requests; with the flag -examples
// it writes the answers down.
type example struct {
	Parameters map[string]any  `json:"parameters,omitempty"`
	Request    json.RawMessage `json:"request,omitempty"`
	Answer     json.RawMessage `json:"answer,omitempty"`
}

//go:embed examples.json
var exampleFile []byte

// allExamples are the examples by operation.
var allExamples = sync.OnceValue(func() map[string]example {
	var all map[string]example
	_ = json.Unmarshal(exampleFile, &all) // a test reads it, too
	return all
})

// needed are the fields without which a request is refused, by schema. Fields that the path repeats
// are not among them.
var needed = map[string][]string{
	"ActivityAsked":             {"kind", "name", "session_id"},
	"ApprovalDecisionAsked":     {"outcome"},
	"ApprovalRequestAsked":      {"task_id", "node_id", "summary", "payload"},
	"CompactionAsked":           {"summary"},
	"DiffRequestAsked":          {"a", "b"},
	"DocumentPutAsked":          {"document"},
	"EnvelopeAsked":             {"entry_id", "task_id", "node_id"},
	"EventRefAsked":             {"id"},
	"EvidenceAsked":             {"kind"},
	"FolderTrustAsked":          {"place", "asks"},
	"IngestLinkAsked":           {"to", "type"},
	"IngestStepAsked":           {"start"},
	"IngestionAsked":            {"journal", "host", "session_id"},
	"LeaseAsked":                {"entry_id", "consumer_id", "token"},
	"LoopSaveAsked":             {"run_id", "state_json"},
	"MemoryRestoreRequestAsked": {"memory"},
	"NackAsked":                 {"lease"},
	"NoteWriteAsked":            {"content"},
	"OriginAsked":               {"device", "counter"},
	"QueueClaimAsked":           {"consumer_id"},
	"RelationAsked":             {"from", "to", "type"},
	"ResultAsked":               {"task_id", "node_id", "producer", "status"},
	"SessionRenameAsked":        {"name"},
	"SnapshotPinAsked":          {"pinned"},
	"SourceRefAsked":            {"kind", "value"},
	"TaskAsked":                 {"goal"},
	"TaskEventAsked":            {"from"},
	"TokenRequestAsked":         {"name", "scopes"},
	"TurnAsked":                 {"role", "content"},
	"WriteRequestAsked":         {"content"},
}

// dated are the times that are never absent. Others may be: sync brings records of others, who may not have
// known when.
var dated = map[string]bool{
	"Task.created_at": true, "Task.updated_at": true, "TaskEvent.at": true, "Approval.created_at": true, "Result.updated_at": true,
	"Lease.expires_at": true, "DeadEntry.dead_at": true, "PendingLoop.created_at": true, "SessionState.updated_at": true,
	"Token.created_at": true, "AuditEntry.at": true, "Consolidation.began_at": true, "ImportRecord.at": true, "Change.at": true, "Event.at": true,
}

// blank are the fields of answers with a list of words that may be empty.
var blank = map[string]bool{"Hit.kind": true}

// exampleParameters are examples of parameters that mean the same everywhere.
var exampleParameters = map[string]any{
	"tenant":        "acme",
	"agent":         "ada",
	op.KeyHeader:    "0198c0de-0000-7000-8000-0000000000aa",
	"If-Match":      `"1"`,
	"If-None-Match": "*",
}
