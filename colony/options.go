package colony

import (
	"context"
	"io"
	"time"

	"filippo.io/age"

	"github.com/amber-memory/amber"
)

// Bounds.
const (
	// PartChars is how many characters of the blob a part holds.
	PartChars = 700_000
	// DefaultMaxBytes bounds the plaintext of a snapshot, whatever it declares.
	DefaultMaxBytes = 32 << 20
	// DefaultOperations is how many changes a vault takes in an hour.
	DefaultOperations = 60
	// DefaultGrace is how old a part must be that belongs to no snapshot
	// before it is removed: it may be on its way.
	DefaultGrace = 24 * time.Hour
	// MaxFileBytes and DefaultQuota are the bounds of a vault that does not
	// tell its own.
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

	// Signer signs new snapshots; nil: they are not.
	Signer amber.Signer
	// Trust tells how far a key is trusted; nil: no key is known.
	Trust func(ctx context.Context, key amber.KeyID) (amber.Standing, error)
	// RequireSigned refuses what is not signed by a trusted key.
	RequireSigned bool
	// Tolerant leaves declared fields unchecked, NoVerify the signature.
	Tolerant, NoVerify bool

	// Recipients may read new snapshots, which nobody else can then; empty:
	// they are not encrypted. Identities read encrypted ones.
	Recipients []age.Recipient
	Identities []age.Identity

	// Witness remembers what was seen of the label; nil: nobody does, and a
	// vault that was put back to an older state is not noticed.
	Witness Witness

	MaxBytes   int64         // 0: DefaultMaxBytes
	Operations int           // changes that may be planned at once; 0: DefaultOperations, below 0: no bound
	Grace      time.Duration // 0: DefaultGrace
	Progress   func(Progress)
}

// Witness remembers the newest snapshot of one label of one vault that was seen
// from here.
type Witness interface {
	// Seen returns what was seen last; the zero Sighting for nothing.
	Seen(ctx context.Context) (Sighting, error)
	// Update replaces what was seen by what change makes of it. Nobody else
	// changes it between the two, also in another process.
	Update(ctx context.Context, change func(Sighting) Sighting) error
}

// Sighting is a snapshot that was there.
type Sighting struct {
	ID      SnapshotID `json:"snapshot_id"`
	Counter int64      `json:"counter,omitempty"`
	// Documents is the digest of the documents, "sha256:…": for an encrypted
	// snapshot the manifest does not have it.
	Documents string `json:"documents_sha256,omitempty"`
	// Recipients is a digest of who may read an encrypted snapshot; "" when it
	// is not known.
	Recipients string `json:"recipients_sha256,omitempty"`
	// Writing is a snapshot that a backup from here was about to write. If it
	// is there, it is one that was seen.
	Writing SnapshotID `json:"writing,omitempty"`
}

// BackupOptions say how one backup is made.
type BackupOptions struct {
	Force bool // also when nothing has changed
	Keep  int  // prune afterwards to so many; 0: do not
	// OnlySeen ends with a conflict, and writes nothing, when the newest
	// snapshot was never seen from here and holds something else. It is for
	// those who back up without being asked. Without a Witness it means
	// nothing.
	OnlySeen bool
}
