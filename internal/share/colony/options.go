package colony

import (
	"context"
	"io"
	"time"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire/sign"
)

// Bounds.
const (
	// PartChars is how many characters of the blob a part holds.
	PartChars = 700_000
	// DefaultMaxBytes bounds the plaintext of a snapshot, whatever it declares.
	DefaultMaxBytes = 32 << 20
	// DefaultOperations is how many changes a vault takes in an hour.
	DefaultOperations = 60
	// DefaultGrace is how old a part without a snapshot must be before prune
	// removes it: its upload may still be running.
	DefaultGrace = 24 * time.Hour
	// MaxFileBytes and DefaultQuota are the limits that are assumed for a vault
	// that does not report its own.
	MaxFileBytes = 1 << 20
	DefaultQuota = 10 << 20
	// MaxNameBytes bounds the name of a file.
	MaxNameBytes = 255
)

// Options say how a label of a vault is used. Clock and Random are required.
type Options struct {
	Label  string // as the user gives it; "": default
	Clock  amber.Clock
	Random io.Reader // unpredictable

	// Signer signs new snapshots; nil: they are not signed.
	Signer sign.Signer
	// Trust says how far a key is trusted; nil: no key is.
	Trust func(ctx context.Context, key sign.KeyID) (sign.Standing, error)
	// RequireSigned refuses snapshots that no trusted key has signed.
	RequireSigned bool
	// Tolerant skips the check of declared fields, NoVerify that of the
	// signature.
	Tolerant, NoVerify bool

	// Recipients are whom new snapshots are encrypted to; empty: they are not
	// encrypted. Identities open encrypted snapshots.
	Recipients []age.Recipient
	Identities []age.Identity

	// Witness remembers the newest snapshot that was seen; nil: a vault that was
	// put back to an older state is not noticed.
	Witness Witness

	MaxBytes   int64         // 0: DefaultMaxBytes
	Operations int           // changes that may be planned at once; 0: DefaultOperations, below 0: no bound
	Grace      time.Duration // 0: DefaultGrace
	Progress   func(Progress)
}

// Witness remembers the newest snapshot that this home has seen of one label of one
// vault, so that a rollback of the vault is noticed.
type Witness interface {
	// Seen returns what was seen last; the zero Sighting when nothing was.
	Seen(ctx context.Context) (Sighting, error)
	// Update replaces what was seen by the result of change, as one step, also
	// against other processes.
	Update(ctx context.Context, change func(Sighting) Sighting) error
}

// Sighting is a snapshot that was seen in a vault.
type Sighting struct {
	ID      SnapshotID `json:"snapshot_id"`
	Counter int64      `json:"counter,omitempty"`
	// Documents is the digest of the documents, "sha256:…"; the manifest of an
	// encrypted snapshot does not have it.
	Documents string `json:"documents_sha256,omitempty"`
	// Recipients is a digest of the recipients of an encrypted snapshot; "":
	// unknown.
	Recipients string `json:"recipients_sha256,omitempty"`
	// Writing is a snapshot that this home was about to write. It counts as seen
	// if the vault has it.
	Writing SnapshotID `json:"writing,omitempty"`
}

// BackupOptions say how one backup is made.
type BackupOptions struct {
	Force bool // also when nothing has changed
	Keep  int  // prune afterwards to so many; 0: do not
	// OnlySeen ends with a conflict and writes nothing when the newest snapshot
	// was never seen by this home and holds other documents. It is for backups
	// that no person watches. It needs a Witness.
	OnlySeen bool
}
