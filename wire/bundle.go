package wire

import (
	"cmp"
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire/sign"
)

// Bundler makes single files of snapshots, which may leave the machine, and
// takes them in.
type Bundler interface {
	// Export writes a snapshot to a bundle, redacted unless asked otherwise.
	// It is complete, durable and read back when Export returns; an existing
	// file is not replaced. Errors: those of ShowSnapshot; conflict when the
	// file exists; refused for recipients that cannot be.
	Export(ctx context.Context, r ExportRequest) (ExportReport, error)
	// Import makes a snapshot of a bundle: all of it or nothing. Errors:
	// not_found without the file; damaged; untrusted; refused by policy or
	// without an identity that opens it; cross_tenant; too_new; conflict when
	// there is another snapshot of that id.
	Import(ctx context.Context, r ImportRequest) (ImportReport, error)
	// VerifyBundle checks what can be checked with the identities at hand.
	// Damage is no error. Errors: not_found without the file; invalid.
	VerifyBundle(ctx context.Context, r BundleRequest) (BundleReport, error)
	// RestoreBundle restores an agent from a bundle, without the repository.
	// Errors: those of Restore and of Import.
	RestoreBundle(ctx context.Context, file string, r RestoreRequest) (RestoreReport, error)
}

// BundleFormat is a format of bundles.
type BundleFormat string

// The formats of bundles.
const (
	FormatAmber BundleFormat = "amber"
	FormatNexo  BundleFormat = "nexo" // nexo-memory-snapshot-v1
)

// ExportRequest asks for a bundle.
type ExportRequest struct {
	SnapshotRef
	File       string       `json:"file"`                 // "": ID.tar.zst or ID.tar.zst.age in the agent's folder of snapshots
	Format     BundleFormat `json:"format,omitempty"`     // "": FormatAmber
	Recipients []string     `json:"recipients,omitempty"` // beside those that are configured
	Passphrase string       `json:"-"`                    // instead of recipients
	NoRedact   bool         `json:"no_redact,omitempty"`
	NoSign     bool         `json:"no_sign,omitempty"`
	Level      int          `json:"level,omitempty"` // of zstd, 1 to 19; 0: 3
}

// Normalize checks the request. The error is of kind invalid.
func (r ExportRequest) Normalize() (ExportRequest, error) {
	const op = "check export"
	if err := checkAgent(r.Tenant, r.Agent); err != nil {
		return r, err
	}
	if _, err := amber.ParseSnapshotID(string(r.ID)); err != nil {
		return r, err
	}
	r.Format = cmp.Or(r.Format, FormatAmber)
	r.Level = cmp.Or(r.Level, 3)
	switch {
	case r.Format != FormatAmber && r.Format != FormatNexo:
		return r, amber.Errorf(amber.KindInvalid, op, "", "%.40q is not amber or nexo", r.Format)
	case r.Level < 1 || r.Level > 19:
		return r, amber.Errorf(amber.KindInvalid, op, "", "level %d is not 1 to 19", r.Level)
	case r.Passphrase != "" && len(r.Recipients) > 0:
		return r, amber.Errorf(amber.KindInvalid, op, "", "a passphrase and recipients exclude each other")
	}
	return r, nil
}

// ExportReport tells about a bundle that was written.
type ExportReport struct {
	BundleInfo
	Redactions *RedactionReport `json:"redactions,omitempty"`
	LeftOut    []Skipped        `json:"left_out"` // of the snapshot, and why
	Warnings   []string         `json:"warnings,omitempty"`
}

// BundleInfo is what a bundle says about itself. For an encrypted bundle, without an identity, it is what every
// reader may know.
type BundleInfo struct {
	File       string           `json:"file"`
	Format     BundleFormat     `json:"format"`
	ID         amber.SnapshotID `json:"id"`
	Agent      amber.AgentID    `json:"agent"`
	Tenant     amber.TenantID   `json:"tenant"`
	Label      string           `json:"label"`
	CreatedAt  amber.Time       `json:"created_at"`
	Bytes      int64            `json:"bytes"` // of the file
	Expanded   int64            `json:"expanded_bytes"`
	Entries    int              `json:"entries"`
	SHA256     string           `json:"sha256"` // of the file
	Encrypted  bool             `json:"encrypted"`
	Recipients []string         `json:"recipients,omitempty"` // what is told about them: kinds of keys
	Redacted   bool             `json:"redacted"`
	SignedBy   string           `json:"signed_by"`
	GitOID     string           `json:"git_oid"`
}

// BundleRequest names a bundle.
type BundleRequest struct {
	File       string `json:"file"`
	NoIdentity bool   `json:"no_identity,omitempty"` // check the bundle without any identity
}

// BundleReport says what was checked of a bundle, what was not, and what is
// damaged. Nothing is in Checked that was not read.
type BundleReport struct {
	BundleInfo
	Checked    []string             `json:"checked"`
	NotChecked []string             `json:"not_checked"`
	Damaged    []Damage             `json:"damaged"`
	Signature  sign.SignatureReport `json:"signature"`
	Redactions *RedactionReport     `json:"redactions,omitempty"`
	Parts      []BundleEntry        `json:"parts,omitempty"`
}

// OK reports whether nothing was found damaged.
func (r BundleReport) OK() bool { return len(r.Damaged) == 0 }

// BundleEntry is one file in a bundle.
type BundleEntry struct {
	Path   string `json:"path"`
	Kind   string `json:"kind"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// ImportRequest asks to take a bundle in.
type ImportRequest struct {
	Tenant amber.TenantID `json:"tenant"`
	File   string         `json:"file"`
	// Agent must be the one the bundle says, "" means whichever. With To the
	// snapshot becomes one of another agent.
	Agent     amber.AgentID `json:"agent,omitempty"`
	To        amber.AgentID `json:"to,omitempty"`
	NoSidecar bool          `json:"no_sidecar,omitempty"` // go without the file of its digest
}

// ImportReport says what became of a bundle.
type ImportReport struct {
	Snapshot  SnapshotMeta         `json:"snapshot"`
	Existed   bool                 `json:"existed"` // the same snapshot was there already
	Signature sign.SignatureReport `json:"signature"`
	Checked   []string             `json:"checked"`
	LeftOut   []Skipped            `json:"left_out"` // of the bundle, and why
	// Redactions say what was taken out when the bundle was written; nil: it was written as it was.
	Redactions *RedactionReport `json:"redactions,omitempty"`
	Warnings   []string         `json:"warnings,omitempty"`
}

// RedactionReport says what was taken out on the way: rules, counts and places,
// never what was found.
type RedactionReport struct {
	Policy  string           `json:"policy"` // which set of rules
	Matches int64            `json:"matches"`
	Rules   []RedactionCount `json:"rules"`  // by name
	Places  []RedactionPlace `json:"places"` // at most MaxRedactionPlaces
	More    int64            `json:"more_places,omitempty"`
	Scanned int64            `json:"scanned_bytes"`
	Notes   []string         `json:"notes"` // "the history of the notes is one fresh commit"
}

// MaxRedactionPlaces bounds how many places a report names.
const MaxRedactionPlaces = 1000

// RedactionCount says how often a rule matched.
type RedactionCount struct {
	Rule  string `json:"rule"`
	Count int64  `json:"count"`
}

// RedactionPlace says where something was taken out.
type RedactionPlace struct {
	Part  string `json:"part"` // as in Skipped
	Path  string `json:"path"` // a file, or table/row/column
	Count int64  `json:"count"`
}
