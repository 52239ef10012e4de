package agent

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// Snapshots are those of every agent of a home, or of a server.
type Snapshots interface {
	wire.Snapshotter
	wire.RepositoryChecker
	wire.Bundler
	// Acceptable says whether what carries a signature may be used. Errors:
	// untrusted; refused by policy.
	Acceptable(what string, s sign.SignatureReport) error
	RecipientKeeper
	Copier
	// At opens the memory of a snapshot to read from; the live agent is not
	// touched. The caller closes the view. Errors: not_found; damaged; too_new.
	At(ctx context.Context, ref wire.SnapshotRef) (View, error)
	// ExtractSource writes what a snapshot holds of a source into dir, which
	// is not there or empty. On error dir may hold a part of it. Errors:
	// not_found when the snapshot does not hold the source; damaged; internal
	// when the disk is full or fails.
	ExtractSource(ctx context.Context, ref wire.SnapshotRef, name, dir string) (Extraction, error)
}

// RecipientKeeper decides who can read a repository.
type RecipientKeeper interface {
	// Recipients returns whom it is encrypted to; none when it is not. Errors:
	// not_found without a repository.
	Recipients(ctx context.Context, tenant amber.TenantID) ([]string, error)
	// ChangeRecipients returns them after a change. Errors: invalid; refused
	// when this home would be shut out; not_found; conflict.
	ChangeRecipients(ctx context.Context, tenant amber.TenantID, add, remove []string, rotate bool) ([]string, error)
}

// Copier brings every snapshot of a tenant to another target, and back. Objects
// that the other target has are not sent again. Errors: not_found without a
// repository; damaged; conflict; those of the target.
type Copier interface {
	CopyTo(ctx context.Context, tenant amber.TenantID, to target.Target, plain bool) (target.CopyReport, error)
	CopyFrom(ctx context.Context, tenant amber.TenantID, from target.Target) (target.CopyReport, error)
}

// View answers from a snapshot as a store would have at that instant.
// Safe for concurrent use.
type View interface {
	Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error)
	Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error)
	List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error)
	Close() error
}

// ViewStats tells how much of a snapshot an answer needed.
type ViewStats = snapshot.PastStats

// Extraction says what was written of a source.
type Extraction = snapshot.Extraction
