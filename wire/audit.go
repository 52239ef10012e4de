package wire

import (
	"context"

	"github.com/amber-memory/amber"
)

// AuditEntry is one record of the audit log: who changed what, when, and how
// it ended. It never holds text. Each entry has the hash of the one before it,
// so that nothing can be changed or taken out unseen. A caller of one tenant is not
// told the hashes: the entry before may be another tenant's.
type AuditEntry struct {
	Seq       int64          `json:"seq"` // 1, 2, 3 and so on
	At        amber.Time     `json:"at"`
	Tenant    amber.TenantID `json:"tenant,omitempty"`
	Agent     amber.AgentID  `json:"agent,omitempty"`
	Actor     string         `json:"actor"`                // a token's id, or "local" where no token is needed
	Action    string         `json:"action"`               // the operation, "memory.write"
	Subject   string         `json:"subject,omitempty"`    // the id it was about
	Outcome   string         `json:"outcome"`              // "ok" or the kind of the error
	RequestID string         `json:"request_id,omitempty"` // as in the answer and in the log
	Prev      string         `json:"prev,omitempty"`       // hash of the entry before; 64 zeros for the first
	Hash      string         `json:"hash,omitempty"`       // of this entry, see docs/format/audit.md
}

// AuditQuery pages through the audit log, newest first.
type AuditQuery struct {
	Tenant amber.TenantID `json:"tenant,omitempty"` // "": every tenant
	Agent  amber.AgentID  `json:"agent,omitempty"`  // "": every agent
	Actor  string         `json:"actor,omitempty"`
	Action string         `json:"action,omitempty"`
	Since  amber.Time     `json:"since,omitzero"`
	Limit  int            `json:"limit,omitempty"` // 0: DefaultPageSize; at most MaxPageSize
	Cursor amber.Cursor   `json:"cursor,omitempty"`
}

// AuditReport says what verifying the audit log has shown.
type AuditReport struct {
	Entries    int64      `json:"entries"`
	First      amber.Time `json:"first,omitzero"`
	Last       amber.Time `json:"last,omitzero"`
	Head       string     `json:"head"`        // hash of the last entry
	Checked    []string   `json:"checked"`     // what was checked, in words
	NotChecked []string   `json:"not_checked"` // what was not, and why
	Damaged    []string   `json:"damaged"`     // what does not fit, by sequence
}

// OK reports whether nothing was found damaged.
func (r AuditReport) OK() bool { return len(r.Damaged) == 0 }

// AuditLog keeps the audit log. Safe for concurrent use, also between
// processes.
type AuditLog interface {
	// Record appends an entry; sequence, time and hashes are filled in. It
	// returns once the entry is durable. Errors: internal.
	Record(ctx context.Context, e AuditEntry) error
	// ListAudit returns a page of entries. Errors: invalid.
	ListAudit(ctx context.Context, q AuditQuery) (amber.Page[AuditEntry], error)
	// VerifyAudit reads the whole log and recomputes every hash. Damage is no
	// error.
	VerifyAudit(ctx context.Context) (AuditReport, error)
}
