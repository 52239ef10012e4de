package colony

import (
	"context"

	"github.com/amber-memory/amber"
)

// Backend is a vault: texts by name. Safe for concurrent use.
//
// Errors of all methods: unreachable when it could not be asked or the answer
// makes no sense; refused when it said no; quota when it said that a bound is
// reached, also for now only; invalid when it does not take such a name or text.
type Backend interface {
	// Status tells how much room there is.
	Status(ctx context.Context) (Status, error)
	// List returns the files whose names begin with prefix, by name; others
	// may be among them. It returns all of them or an error. Errors also:
	// damaged when it cannot tell what a file of its own is.
	List(ctx context.Context, prefix string) ([]FileInfo, error)
	// Get returns a file. Errors also: not_found; damaged when the vault itself
	// knows that the file is not what was put.
	Get(ctx context.Context, name string) (File, error)
	// Put writes a file, whatever was there.
	Put(ctx context.Context, name, content string) (FileInfo, error)
	// Delete removes a file. Errors also: not_found.
	Delete(ctx context.Context, name string) error
}

// ConditionalBackend is a Backend that writes only while what is there is what
// the writer knows.
type ConditionalBackend interface {
	Backend
	// PutIf is Put under a condition. Errors also: conflict when it does not
	// hold.
	PutIf(ctx context.Context, name, content string, c Condition) (FileInfo, error)
}

// GuardedBackend is a Backend that tells before the first write whether there
// may be one.
type GuardedBackend interface {
	Backend
	// MayWrite returns nil when files may be put. Errors: refused.
	MayWrite(ctx context.Context) error
}

// Condition is what must hold for a write: Absent, that there is no such file,
// or that its version is Version. One of them is set.
type Condition struct {
	Absent  bool
	Version string
}

// Status says how much room a vault has. A vault that nobody wrote to may report
// a quota of 0, which is no bound.
type Status struct {
	QuotaBytes     int64 `json:"quota_bytes"`
	UsedBytes      int64 `json:"used_bytes"`
	AvailableBytes int64 `json:"available_bytes"`
	FileCount      int64 `json:"file_count"`
}

// FileInfo describes a file. Only Name is always known.
type FileInfo struct {
	Name      string
	Size      int64      // bytes of the content; -1 when it is not known
	CreatedAt amber.Time // the zero time when it is not known
	UpdatedAt amber.Time
	Version   string // opaque, another one for other content; "" when it is not known
}

// File is a file with its content.
type File struct {
	FileInfo
	Content string
}
