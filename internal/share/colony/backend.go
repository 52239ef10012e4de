package colony

import (
	"context"

	"github.com/amber-memory/amber"
)

// Backend is a vault: texts by name. Safe for concurrent use.
//
// Errors of all methods: unreachable when the vault does not answer, or not as a
// vault does; refused; quota when a limit is reached, also a limit of an hour;
// invalid for a name or a text that the vault does not accept.
type Backend interface {
	// Status returns the quota and how much of it is used.
	Status(ctx context.Context) (Status, error)
	// List returns all files whose names begin with prefix, by name; other files
	// may be among them. Errors also: damaged when the vault cannot read a file
	// of its own.
	List(ctx context.Context, prefix string) ([]FileInfo, error)
	// Get returns a file. Errors also: not_found; damaged when the vault itself
	// finds that the file is corrupt.
	Get(ctx context.Context, name string) (File, error)
	// Put writes a file, over the old one if there is one.
	Put(ctx context.Context, name, content string) (FileInfo, error)
	// Delete removes a file. Errors also: not_found.
	Delete(ctx context.Context, name string) error
}

// ConditionalBackend is a Backend that can refuse to overwrite a file that has
// changed.
type ConditionalBackend interface {
	Backend
	// PutIf is Put under a condition. Errors also: conflict when the condition
	// does not hold.
	PutIf(ctx context.Context, name, content string, c Condition) (FileInfo, error)
}

// GuardedBackend is a Backend that can say before the first write whether writing
// is allowed.
type GuardedBackend interface {
	Backend
	// MayWrite returns nil when files may be put. Errors: refused.
	MayWrite(ctx context.Context) error
}

// Condition is what must hold for a write: either the file does not exist (Absent),
// or it has this Version. Exactly one of them is set.
type Condition struct {
	Absent  bool
	Version string
}

// Status says how much room a vault has. Before the first write a vault may report a
// quota of 0, which is not a limit.
type Status struct {
	QuotaBytes     int64 `json:"quota_bytes"`
	UsedBytes      int64 `json:"used_bytes"`
	AvailableBytes int64 `json:"available_bytes"`
	FileCount      int64 `json:"file_count"`
}

// FileInfo describes a file. Only Name is always known.
type FileInfo struct {
	Name      string
	Size      int64      // bytes of the content; -1: unknown
	CreatedAt amber.Time // the zero time: unknown
	UpdatedAt amber.Time
	Version   string // opaque, differs for other content; "": unknown
}

// File is a file with its content.
type File struct {
	FileInfo
	Content string
}
