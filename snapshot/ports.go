package snapshot

import (
	"context"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/repo"
)

// Databases freezes the databases of agents and of others.
type Databases interface {
	// Open returns what freezes the databases of one agent that exists.
	Open(ctx context.Context, agent *home.Agent) (Freezer, error)
	// Make makes an empty database, by the name of the file, for a generation
	// that is being built.
	Make(ctx context.Context, path string, c home.Current) error
	// Ready brings the databases of an agent to the newest schema. A damaged one
	// is no error.
	Ready(ctx context.Context, agent *home.Agent) error
	// FreezeFile freezes somebody else's database, which is only read.
	FreezeFile(ctx context.Context, path string) (amber.FrozenDatabase, error)
}

// Freezer freezes the databases of one agent.
type Freezer interface {
	// Freeze pins every database of a generation at this instant. The caller
	// keeps all writers out until it returns. Lost are those, by name, that
	// cannot be opened at all, and why.
	Freeze(ctx context.Context, c home.Current) (frozen []amber.FrozenDatabase, lost map[string]error, err error)
	Close() error
}

// Examiner looks at database files that were built from a repository.
type Examiner interface {
	// Examine opens a file as a stranger's. Deep, it reads all of it. A check
	// that failed is no error. Errors: damaged, too_new or refused for a file
	// that must not be used whatever its checks say.
	Examine(ctx context.Context, path string, deep bool) ([]amber.Check, error)
}

// Adopter makes the databases of a generation that is being built fit to be
// the live ones.
type Adopter interface {
	// Adopt is called for memory.db and control.db while nobody writes.
	Adopt(ctx context.Context, r AdoptRequest) (AdoptReport, error)
	// Replay drains captured journal entries into the generation.
	Replay(ctx context.Context, agent *home.Agent, c home.Current, m Mark, frames io.Reader) (applied int64, err error)
}

// AdoptRequest says what a database is to become.
type AdoptRequest struct {
	Name      string       // "memory.db" or "control.db"
	Path      string       // of the file in the new generation
	Live      string       // the one it replaces; "" when there is none
	Current   home.Current // the generation to be
	Restored  bool         // false: it is the live one, carried over
	LocalOnly bool         // no record is stamped
	// Cursors are, by name, how far the journal counts as drained: at least
	// that far.
	Cursors map[string]int64
}

// AdoptReport says what was changed.
type AdoptReport struct {
	Clock    amber.Stamp // no stamp in the file is later
	Warnings []string    // "2 memories stay erased"
}

// Viewer reads the databases of snapshots where they lie.
type Viewer interface {
	// View opens memory.db for reading.
	View(ctx context.Context, file DatabaseFile) (View, error)
	// Diff compares two databases of one name.
	Diff(ctx context.Context, name string, a, b DatabaseFile, rows bool) (amber.StoreDiff, error)
}

// DatabaseFile is a database to read: the live one of an agent, or a reader over
// a repository.
type DatabaseFile struct {
	Agent  *home.Agent
	Reader io.ReaderAt
	Size   int64
}

// View answers questions from a memory.db that is not live.
type View interface {
	Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error)
	Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error)
	List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error)
	Close() error
}

// Spool is the crash journal of an agent.
type Spool interface {
	// Hold keeps everybody from draining until the hold is closed.
	Hold(ctx context.Context, agent *home.Agent) (SpoolHold, error)
}

// SpoolHold is the journal while nobody drains it. Hooks go on appending.
type SpoolHold interface {
	// Mark notes the last entry of every session. It is called inside the
	// fence.
	Mark(ctx context.Context) error
	// Frames hands out the entries up to the mark that no store has yet.
	Frames(ctx context.Context, fn func(m Mark, frames io.Reader) error) error
	// Unread says, by session, why entries of it were not handed out, once
	// Frames has returned.
	Unread() map[string]string
	// Park copies every entry that the store has not drained to the journal of
	// parked entries at dir, but for those that covered says are in the new
	// generation, by cursor.
	Park(ctx context.Context, dir string, covered map[string]int64) (Parked, error)
	Close() error
}

// Parked says what was set aside of a journal.
type Parked struct {
	Frames   int64
	Cursors  map[string]int64 // how far each session counts as drained then
	Warnings []string
}

// Mark is where a session of the journal stood.
type Mark = repo.JournalMark

// Repositories opens the repository of each tenant.
type Repositories interface {
	// Open returns the target of a tenant's repository, made now when create
	// is set. Errors: not_found when there is none.
	Open(ctx context.Context, tenant amber.TenantID, create bool) (amber.Target, error)
	// Name tells repositories apart: two that are not the same have two names.
	Name(tenant amber.TenantID) string
	// Lock takes the local lock of the repository, where it has one. With wait
	// it waits a while for it. Errors: busy.
	Lock(ctx context.Context, tenant amber.TenantID, mode fsx.LockMode, wait bool) (release func(), err error)
}
