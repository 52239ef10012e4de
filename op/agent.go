package op

import (
	"context"
	"io"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/bounds"
	"github.com/amber-memory/amber/wire"
)

// Agent is what is served of one agent. Everything in it is safe for concurrent
// use.
type Agent struct {
	Tenant amber.TenantID
	ID     amber.AgentID
	Store  amber.Store
	Policy amber.Policy
	Random io.Reader // unpredictable
	// Snapshots, Repository and Past are nil where there are no snapshots.
	Snapshots  wire.Snapshotter
	Repository wire.RepositoryChecker
	Past       PastOpener
	// Generations reports what restores have made of agents; nil where there are no snapshots.
	Generations wire.GenerationReader
	// Consolidations is nil where consolidations are not marked.
	Consolidations wire.Consolidator
	// Journal lists what the crash journal holds; nil where there is none.
	Journal func(ctx context.Context) ([]wire.JournalStatus, error)
	// Quarantine is what the crash journal has set aside; nil where there is none.
	Quarantine Quarantine
	// Settle brings what the crash journal holds into the store, and names what it could not bring in; nil where there is none.
	Settle func(ctx context.Context) []string
	// Folders knows which folders of the machine wait for the owner; nil where that is not known.
	Folders wire.FolderKeeper
	// Index is what questions are answered from; nil where there is none.
	Index Index
	// Feed gives an index outside of the store what it does not have yet, for a while, and
	// returns what it did, how long to wait after an error, and whether that was all; nil where
	// there is none. Errors: busy when another process feeds it.
	Feed  func(ctx context.Context) (detail string, again time.Duration, done bool, err error)
	limit *bounds.Limit // of a bound caller; nil: none
	// Doctor checks whether everything is well; nil where there is none. Deep
	// looks at every row.
	Doctor func(ctx context.Context, deep bool) (wire.Checkup, error)
	// Join gives the records of one project to another, by the word of an agent; nil where that cannot be. Errors: invalid; refused
	// where one of them is trusted more.
	Join func(ctx context.Context, from, to string) (memories, sessions int, err error)
}

// Quarantine keeps entries of a crash journal that could not be stored. A session is
// named by its id or its key.
type Quarantine interface {
	// HeldEntries lists them without payloads, those of every session for "". Errors:
	// not_found.
	HeldEntries(ctx context.Context, session string) ([]wire.HeldEntry, error)
	// ShowHeld returns one with its payload, without secrets. Errors: not_found;
	// conflict when several hosts have a session of that id; quota.
	ShowHeld(ctx context.Context, session, name string) (wire.HeldEntry, error)
	// RetryHeld puts entries back into the journal and returns those that it put back,
	// also with an error. Errors: not_found; invalid; those of the journal.
	RetryHeld(ctx context.Context, r wire.HeldRetry) ([]wire.HeldEntry, error)
}

// Index is completed in the background: vectors come after the words.
type Index interface {
	// IndexBacklog says how many passages there are and what is missing.
	IndexBacklog(ctx context.Context) (wire.IndexStatus, error)
	// SyncIndex makes what is missing until ctx ends. It calls progress with how many vectors it made, and
	// pause before each. Vectors that were made stay.
	SyncIndex(ctx context.Context, progress func(made int), pause func()) error
}

// PastOpener opens the memory of snapshots.
type PastOpener interface {
	// At opens the memory of a snapshot to read from; the live agent is not
	// touched. The caller closes it. Errors: not_found; damaged;
	// too_new.
	At(ctx context.Context, ref wire.SnapshotRef) (Past, error)
	// RestoreMemory brings one memory of a snapshot back as a new revision.
	// Errors: not_found; refused for what was erased.
	RestoreMemory(ctx context.Context, r wire.MemoryRestoreRequest) (wire.MemoryRestore, error)
}

// Past answers from a snapshot as the store would have at that instant.
type Past interface {
	Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error)
	Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error)
	List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error)
	io.Closer
}
