package colony

import (
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire/sign"
)

// Info describes a snapshot as its manifest does.
type Info struct {
	ID              SnapshotID `json:"snapshot_id"`
	Label           string     `json:"label"`
	LabelRaw        string     `json:"label_raw,omitempty"` // as it was given; "" when the manifest does not tell
	CreatedAt       string     `json:"created_at"`          // as it was written
	DocNames        []string   `json:"doc_names"`           // empty for an encrypted one
	PartCount       int        `json:"part_count"`
	ByteSize        int64      `json:"byte_size"`
	BlobChars       int64      `json:"blob_chars"`
	PlaintextSHA256 string     `json:"plaintext_sha256"`
	Signed          bool       `json:"signed"`
	Issuer          sign.KeyID `json:"issuer,omitempty"` // the claimed signer
	Parent          SnapshotID `json:"parent,omitempty"`
	Counter         int64      `json:"counter,omitempty"`
	Encrypted       bool       `json:"encrypted,omitempty"`
}

// Listed is a snapshot of a list. Damage says why it cannot be restored; then only
// the id and the label are reliable.
type Listed struct {
	Info
	Latest bool   `json:"latest,omitempty"` // the pointer names it
	Damage string `json:"damage,omitempty"`
}

// How a signature was found.
const (
	SignatureVerified = "verified"    // by a key that is trusted
	SignatureUnknown  = "unknown_key" // valid, by a key that is not trusted here
	SignatureNone     = "unsigned"
	SignatureSkipped  = "not_checked" // there is one, and NoVerify was set
)

// Checks says what was checked of a snapshot that was read. The digest of the
// plaintext always is.
type Checks struct {
	Digest    bool   `json:"plaintext_digest"` // always true
	Declared  bool   `json:"declared_fields"`  // every declared field
	Signature string `json:"signature"`        // one of the constants
	// Relaxed lists what a strict reader would have refused.
	Relaxed []string `json:"relaxed,omitempty"`
}

// Restored is a snapshot that was read and checked.
type Restored struct {
	Info
	Documents Documents `json:"-"`
	Checks    Checks    `json:"checks"`
	// Fallback says why this is not the snapshot that the pointer names, and which
	// newer snapshots cannot be read.
	Fallback string `json:"fallback,omitempty"`
	// Warnings say what a reader should know, for example that the snapshot was
	// asked for by name and is older than one that was seen before.
	Warnings []string `json:"warnings,omitempty"`
}

// BackupReport is the result of a backup.
type BackupReport struct {
	Info
	// Unchanged: the newest snapshot holds the same documents, and nothing was
	// uploaded.
	Unchanged bool `json:"unchanged"`
	// Resumed: parts of an interrupted upload were used.
	Resumed bool `json:"resumed"`
	// Uploaded are the files that were written.
	Uploaded []string `json:"uploaded"`
	// SupersededBy is a newer snapshot of another writer that the pointer names
	// instead of this one.
	SupersededBy SnapshotID `json:"superseded_by,omitempty"`
	// Pruned is what was removed afterwards; nil when nothing was to be.
	Pruned   *PruneReport `json:"pruned,omitempty"`
	Warnings []string     `json:"warnings,omitempty"`
}

// PruneReport says what was removed, and what could not be.
type PruneReport struct {
	Label   string       `json:"label"`
	Kept    []SnapshotID `json:"kept"`
	Deleted []SnapshotID `json:"deleted"`
	Failed  []Failure    `json:"failed"`
	// Orphans are parts of no snapshot that were removed.
	Orphans []string `json:"orphans_removed"`
	// Planned: nothing was removed, this is what would be.
	Planned bool `json:"dry_run,omitempty"`
	// Warnings say what was noticed, for example a pointer that was mended.
	Warnings []string `json:"warnings,omitempty"`
}

// Exceeds returns a snapshot or file that r removes and the plan does not; "" when
// the plan names all of them.
func (r PruneReport) Exceeds(plan PruneReport) string {
	for _, id := range r.Deleted {
		if !slices.Contains(plan.Deleted, id) {
			return string(id)
		}
	}
	for _, name := range r.Orphans {
		if !slices.Contains(plan.Orphans, name) {
			return name
		}
	}
	return ""
}

// Failure is a file or a snapshot that could not be removed, and why.
type Failure struct {
	ID    SnapshotID `json:"snapshot_id,omitempty"`
	File  string     `json:"file,omitempty"`
	Kind  amber.Kind `json:"kind"`
	Error string     `json:"error"`
}

// Progress is called before each part is read, and before each file is written or
// removed. The pointer, and what is removed, are counted on their own.
type Progress struct {
	Step  string // "part", "manifest", "pointer", "delete"
	Name  string // the file
	Done  int    // files before it
	Total int
}
