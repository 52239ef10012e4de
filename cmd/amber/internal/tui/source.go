package tui

import (
	"context"
	"os/exec"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/wire"
)

// Source is the agent that the screens show, here or on a server. Every function is called in
// commands only, so it may take its time; those that may be nil say so.
type Source struct {
	Place  string // where the agent is, as people name it
	Tenant amber.TenantID
	Agent  amber.AgentID
	Store  amber.Store
	// Identities are what recall sees beside what is global.
	Identities amber.Identities
	Actor      string     // who decides on approvals
	By         wire.Asker // who asks for snapshots
	Folder     Folder

	// Ask asks everything; nil: the screens ask what Identities see.
	Ask func(ctx context.Context, q amber.Query) (amber.RecallResult, error)

	Snapshots func(ctx context.Context) (Snapshots, error)
	Context   func(ctx context.Context, r wire.ContextRequest) (wire.ContextBlock, error)
	Sync      func(ctx context.Context) (amber.SyncReport, error)
	Held      Held
	Doctor    func(ctx context.Context) (wire.Checkup, error)
	// BringBack makes a memory that was forgotten live again under its id; nil: it is written
	// as a new one.
	BringBack func(ctx context.Context, then amber.Memory) (amber.Memory, error)
	// Written is called when something was stored, to bring it into the index; nil: nothing to do.
	Written func(ctx context.Context)

	Verbs []Verb
	// Process is a run of amber on the same agent. Its input and outputs are not set.
	Process func(ctx context.Context, args []string) *exec.Cmd
	Desk    Desk
}

// Snapshots are those of the agent.
type Snapshots interface {
	wire.Snapshotter
	// At opens the memory of a snapshot to read from. The caller closes the view.
	At(ctx context.Context, ref wire.SnapshotRef) (agent.View, error)
}

// Held is what the crash journal has set aside.
type Held interface {
	HeldEntries(ctx context.Context, session string) ([]wire.HeldEntry, error)
	ShowHeld(ctx context.Context, session, name string) (wire.HeldEntry, error)
}

// Verb is a command of amber, for completion.
type Verb struct {
	Words string // "snapshot list"
	Short string
	Flags []string // "--limit"
}

// Desk is where texts are edited.
type Desk interface {
	// Keep writes text into a file of its own and returns the path.
	Keep(name, text string) (path string, err error)
	// Read returns the text of such a file. Errors: invalid for one that is too large.
	Read(path string) (string, error)
	// Drop removes such a file.
	Drop(path string) error
	// Editor is a run of the user's editor. Errors: not_found where there is none.
	Editor(path string) (*exec.Cmd, error)
}
