package wire

import (
	"context"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire/sign"
)

// Snapshotter freezes agents and brings them back. Safe for concurrent use,
// also by several processes: of two operations on one agent the second waits
// for the first, and answers busy when that takes too long.
type Snapshotter interface {
	SnapshotTaker
	SnapshotReader
	SnapshotKeeper
	Restorer
}

// SnapshotTaker freezes an agent.
type SnapshotTaker interface {
	// Snapshot captures everything an agent is at one instant and returns once the snapshot is durable and what
	// was written for it has been read back. Errors: not_found for an agent that does not exist; invalid; busy;
	// internal when the disk is full or fails; refused when snapshots are switched off. CollectGarbage frees
	// what a failed snapshot has written.
	Snapshot(ctx context.Context, r SnapshotRequest) (SnapshotMeta, error)
}

// SnapshotReader looks at snapshots and changes nothing.
type SnapshotReader interface {
	// ListSnapshots returns the snapshots of an agent, newest first. One whose
	// manifest cannot be read is listed with what is wrong with it. Errors:
	// invalid.
	ListSnapshots(ctx context.Context, q SnapshotQuery) (amber.Page[SnapshotMeta], error)
	// ShowSnapshot returns what one snapshot holds. Errors: invalid; not_found; damaged; too_new.
	ShowSnapshot(ctx context.Context, ref SnapshotRef) (SnapshotDetail, error)
	// DiffSnapshots lists what changed from a to b, both of one agent. Errors: those of ShowSnapshot.
	DiffSnapshots(ctx context.Context, r DiffRequest) (SnapshotDiff, error)
	// VerifySnapshot checks whether a snapshot is whole. Damage is no error: it
	// is what the report is for. Errors: invalid; not_found when there is no
	// such snapshot.
	VerifySnapshot(ctx context.Context, r VerifyRequest) (VerifyReport, error)
}

// SnapshotKeeper decides which snapshots stay.
type SnapshotKeeper interface {
	// DeleteSnapshot removes a snapshot and leaves a stub in its place. CollectGarbage frees what no other
	// snapshot needs. Errors: invalid; not_found; refused for the last snapshot of an agent and for a pinned
	// one.
	DeleteSnapshot(ctx context.Context, ref SnapshotRef) error
	// PinSnapshot keeps a snapshot from being deleted and pruned, or lets it
	// be again. Errors: invalid; not_found.
	PinSnapshot(ctx context.Context, ref SnapshotRef, pinned bool) error
	// PruneSnapshots deletes the snapshots of an agent that no rule keeps.
	// Errors: invalid for rules that keep nothing.
	PruneSnapshots(ctx context.Context, r PruneRequest) (PruneReport, error)
	// CollectGarbage frees what no snapshot of a tenant needs. Errors: busy.
	CollectGarbage(ctx context.Context, r GCRequest) (GCReport, error)
}

// Restorer brings an agent back.
type Restorer interface {
	// Restore builds the agent of a snapshot beside the live one, checks it
	// and puts it in its place in one step: whatever interrupts it, the agent
	// is the old one or the new one. Errors: not_found; damaged; too_new;
	// cross_tenant for a snapshot of another agent without To; quota when
	// there is not enough space to begin; internal when the disk is full or
	// fails on the way; busy; invalid.
	Restore(ctx context.Context, r RestoreRequest) (RestoreReport, error)
}

// RepositoryChecker checks the whole of a tenant's repository.
type RepositoryChecker interface {
	// CheckRepository looks at every object; with ReadData it reads every byte
	// of them. Damage is no error.
	CheckRepository(ctx context.Context, r CheckRequest) (CheckReport, error)
}

// SnapshotRef names a snapshot of an agent.
type SnapshotRef struct {
	Tenant amber.TenantID   `json:"tenant"`
	Agent  amber.AgentID    `json:"agent"`
	ID     amber.SnapshotID `json:"id"`
}

// SnapshotRequest asks for a snapshot.
type SnapshotRequest struct {
	Tenant  amber.TenantID `json:"tenant"`
	Agent   amber.AgentID  `json:"agent"`
	Label   string         `json:"label,omitempty"`   // at most MaxLabelBytes, one line
	Sources []string       `json:"sources,omitempty"` // by name; what is not Amber's
	Pin     bool           `json:"pin,omitempty"`
	// Encrypt names age recipients that must be able to read the snapshot,
	// beside those that are configured. They can read every encrypted snapshot
	// of the repository then.
	Encrypt []string `json:"encrypt,omitempty"`
	NoSign  bool     `json:"no_sign,omitempty"`
	// By names the caller. The door fills it in; where it is absent, Amber itself asks.
	By Asker `json:"by,omitzero"`
}

// Asker says who asked for something, and how far that caller is believed.
type Asker struct {
	Trust amber.Trust `json:"trust,omitempty"`
	amber.Author
}

// Check checks an asker as one that is stored. The error is of kind invalid.
func (a Asker) Check() error {
	if a.Trust != "" {
		if err := amber.CheckOneOf("trust", a.Trust, amber.Trusts()...); err != nil {
			return err
		}
	}
	return a.Author.Check()
}

// MaxLabelBytes bounds the label of a snapshot.
const MaxLabelBytes = 200

// LabelAutomatic begins every label that Amber itself gives.
const LabelAutomatic = "auto:"

// Labels Amber itself gives begin so.
const (
	LabelBeforeDelete        = "auto:before-agent-delete"
	LabelBeforeRestore       = "auto:pre-restore-"       // and the id of the snapshot that is restored
	LabelBeforeConsolidation = "auto:pre-consolidation-" // and the run
)

// Normalize checks the request. The error is of kind invalid.
func (r SnapshotRequest) Normalize() (SnapshotRequest, error) {
	if err := checkAgent(r.Tenant, r.Agent); err != nil {
		return r, err
	}
	for _, name := range r.Sources {
		if err := amber.CheckFolderName("source", name); err != nil {
			return r, err
		}
	}
	if err := r.By.Check(); err != nil {
		return r, err
	}
	return r, amber.CheckText("label", r.Label, MaxLabelBytes, amber.OneLine)
}

func checkAgent(t amber.TenantID, a amber.AgentID) error {
	if _, err := amber.ParseTenantID(string(t)); err != nil {
		return err
	}
	_, err := amber.ParseAgentID(string(a))
	return err
}

// SnapshotMeta is what every reader may know about a snapshot: Amber shows it without any key.
type SnapshotMeta struct {
	ID         amber.SnapshotID `json:"id"`
	Agent      amber.AgentID    `json:"agent"`
	Tenant     amber.TenantID   `json:"tenant"`
	Label      string           `json:"label"`
	CreatedAt  amber.Time       `json:"created_at"` // the instant it holds
	BytesTotal int64            `json:"bytes_total"`
	BytesNew   int64            `json:"bytes_new"` // stored for it, as they lie in the repository
	Digest     string           `json:"digest"`    // of its manifest
	GitOID     string           `json:"git_oid"`   // the notes' HEAD; "" without one
	Encrypted  bool             `json:"encrypted"`
	SignedBy   string           `json:"signed_by"` // a KeyID; the signature was made, not necessarily checked
	Redacted   bool             `json:"redacted"`  // it came from a redacted bundle: secrets are missing
	FenceMS    float64          `json:"fence_ms"`  // how long the writers stood still
	// Skipped names what is missing, and Warnings what is there with something
	// wrong at the source; a listing leaves both to the counts. SkippedCount
	// may be more than are named.
	Skipped      []Skipped `json:"skipped"`
	Warnings     []string  `json:"warnings,omitempty"`
	SkippedCount int       `json:"skipped_count,omitempty"`
	WarningCount int       `json:"warning_count,omitempty"`
	Pinned       bool      `json:"pinned"`
	Device       string    `json:"device"`
	Counter      int64     `json:"counter"` // in the chain of its agent and device
	Parent       string    `json:"parent"`  // digest of the manifest before it in the chain; "" for the first
	// By is who asked for it; absent where Amber itself did, and where that is not known. Amber is the version that wrote it.
	By    Asker  `json:"by,omitzero"`
	Amber string `json:"amber,omitempty"`
	// Damage says why the manifest could not be read; all else may be missing
	// then.
	Damage string `json:"damage,omitempty"`
}

// Skipped is something that should have been captured and was not.
type Skipped struct {
	Part   string `json:"part"`   // "notes", "git", "state", "journal", "memory", "control", "source:NAME"
	Path   string `json:"path"`   // slash-separated, inside the part
	Reason string `json:"reason"` // one of the reasons below
	Detail string `json:"detail,omitempty"`
}

// The reasons for skipping.
const (
	SkipMissing     = "missing"     // declared and not there
	SkipUnreadable  = "unreadable"  // may not or cannot be read
	SkipTorn        = "torn"        // changes while it is read
	SkipTooLarge    = "too_large"   // beyond the bounds
	SkipNotRegular  = "not_regular" // a link, a device, a socket
	SkipBadName     = "bad_name"    // cannot be restored under that name everywhere
	SkipUnsupported = "unsupported" // a form Amber does not capture
)

// SnapshotQuery pages through snapshots, newest first.
type SnapshotQuery struct {
	Tenant amber.TenantID `json:"tenant"`
	Agent  amber.AgentID  `json:"agent"`
	Limit  int            `json:"limit,omitempty"` // 0: DefaultPageSize
	Cursor amber.Cursor   `json:"cursor,omitempty"`
}

// SnapshotDetail is everything a snapshot says about itself.
type SnapshotDetail struct {
	SnapshotMeta
	Parts   []SnapshotPart `json:"parts"`
	Sources []SourceReport `json:"sources"`
	Checks  []Check        `json:"checks"` // made, on these very bytes
	// Commit is the last commit of the notes; absent without one, and in snapshots of earlier versions.
	Commit *GitCommit `json:"commit,omitempty"`
}

// GitCommit is what a commit says of itself.
type GitCommit struct {
	Subject string     `json:"subject"`
	Author  string     `json:"author"` // "Name <email>"
	At      amber.Time `json:"at"`     // when it was written
}

// SnapshotPart is one thing a snapshot holds.
type SnapshotPart struct {
	Name   string `json:"name"` // "memory", "control", "notes", "git", "state", "journal"
	Bytes  int64  `json:"bytes"`
	Count  int64  `json:"count"`            // pages, files, objects, frames
	Digest string `json:"digest"`           // of its content
	Schema int64  `json:"schema,omitempty"` // of a database, as read from it
}

// SourceReport says how a source was captured.
type SourceReport struct {
	Name   string `json:"name"`
	Fenced bool   `json:"fenced"` // false: each part at an instant of its own
	Bytes  int64  `json:"bytes"`
	Files  int64  `json:"files"`
}

// Check is a check that was made.
type Check struct {
	Name   string     `json:"name"` // "integrity", "foreign_keys", "full_text", "schema", "counters", "rows", "git", "pages", "source", "journal"
	Part   string     `json:"part"`
	Digest string     `json:"digest,omitempty"` // of what was checked
	At     amber.Time `json:"at"`
	OK     bool       `json:"ok"`
	Detail string     `json:"detail,omitempty"`
}

// VerifyRequest asks to verify a snapshot.
type VerifyRequest struct {
	SnapshotRef
	// ReadData rebuilds every database and runs all checks on it, and walks
	// the history of the notes. Without it every object is looked for and its
	// place compared with the index.
	ReadData bool `json:"read_data,omitempty"`
}

// VerifyReport says what was checked, what was not, and what is damaged.
// Nothing is in Checked that was not read.
type VerifyReport struct {
	ID         amber.SnapshotID `json:"id"`
	Checked    []string         `json:"checked"`
	NotChecked []string         `json:"not_checked"`
	Damaged    []Damage         `json:"damaged"`
	Checks     []Check          `json:"checks"`
	// Signature says what became of the signature of the manifest. A bad or stripped signature is also among
	// Damaged.
	Signature sign.SignatureReport `json:"signature"`
}

// OK reports whether nothing was found damaged.
func (r VerifyReport) OK() bool { return len(r.Damaged) == 0 }

// Damage is one thing that is not as it was written.
type Damage struct {
	Object    string             `json:"object"` // in the repository, or a part of a snapshot
	Reason    string             `json:"reason"`
	Snapshots []amber.SnapshotID `json:"snapshots"` // that need it
}

// CheckRequest asks to check a repository.
type CheckRequest struct {
	Tenant   amber.TenantID `json:"tenant"`
	ReadData bool           `json:"read_data,omitempty"`
}

// CheckReport says what a check of a repository has found.
type CheckReport struct {
	Snapshots  int      `json:"snapshots"`
	Packs      int      `json:"packs"`
	Blobs      int      `json:"blobs"`
	Bytes      int64    `json:"bytes"`
	DataRead   bool     `json:"data_read"` // every byte was read
	Checked    []string `json:"checked"`
	NotChecked []string `json:"not_checked"`
	Damaged    []Damage `json:"damaged"`
	Unused     int64    `json:"unused_bytes"` // that no snapshot needs; gc frees them
}

// OK reports whether nothing was found damaged.
func (r CheckReport) OK() bool { return len(r.Damaged) == 0 }

// DiffRequest asks what changed between two snapshots of one agent.
type DiffRequest struct {
	Tenant amber.TenantID   `json:"tenant"`
	Agent  amber.AgentID    `json:"agent"`
	A      amber.SnapshotID `json:"a"`
	B      amber.SnapshotID `json:"b"`
	Rows   bool             `json:"rows,omitempty"` // also name what changed, at most MaxDiffRows of each kind
}

// MaxDiffRows bounds how many rows of one kind a diff names.
const MaxDiffRows = 1000

// SnapshotDiff is what changed from A to B.
type SnapshotDiff struct {
	A     amber.SnapshotID `json:"a"`
	B     amber.SnapshotID `json:"b"`
	Git   GitDiff          `json:"git"`
	Store StoreDiff        `json:"store"`
	Notes FilesDiff        `json:"notes"`
	State FilesDiff        `json:"state"`
	// Missing are databases that one of the two does not hold, so they were
	// not compared.
	Missing []string `json:"missing,omitempty"`
}

// GitDiff counts what happened in the history of the notes.
type GitDiff struct {
	From         string `json:"from"` // HEAD
	To           string `json:"to"`
	Commits      int64  `json:"commits_between"` // reachable from To and not from From
	FilesChanged int64  `json:"files_changed"`
	Insertions   int64  `json:"insertions"` // lines
	Deletions    int64  `json:"deletions"`
}

// StoreDiff counts the rows of every kind that differ.
type StoreDiff struct {
	Tables []TableDiff `json:"tables"`         // by name; those without a difference too
	Rows   []RowDiff   `json:"rows,omitempty"` // on request
	More   int64       `json:"more,omitempty"` // rows that were left out
}

// Table returns the difference of one table, zero when it is not there.
func (d StoreDiff) Table(name string) TableDiff {
	for _, t := range d.Tables {
		if t.Name == name {
			return t
		}
	}
	return TableDiff{Name: name}
}

// TableDiff counts the rows of one kind that differ.
type TableDiff struct {
	Name    string `json:"name"` // "memories", "turns", "sessions", "loops", "relations", "tasks" and so on
	Added   int64  `json:"added"`
	Changed int64  `json:"changed"`
	Removed int64  `json:"removed"`
}

// RowDiff is one row that differs.
type RowDiff struct {
	Table string   `json:"table"`
	Key   string   `json:"key"`
	Op    amber.Op `json:"op"`              // from A to B
	Title string   `json:"title,omitempty"` // of a memory: what it is about, on one line
}

// FilesDiff tells which files differ.
type FilesDiff struct {
	Added   int64     `json:"added"`
	Changed int64     `json:"changed"`
	Removed int64     `json:"removed"`
	Files   []RowDiff `json:"files,omitempty"` // on request; the key is the path
}

// RestoreRequest asks to bring an agent back.
type RestoreRequest struct {
	SnapshotRef // which snapshot; the agent it was taken of
	// To is the agent that gets it; "" means the same one. Another one must
	// not exist: it is made, with a device of its own.
	To amber.AgentID `json:"to,omitempty"`
	// Only names the parts that are restored, "memory", "notes" or "state";
	// empty means these three. The others stay as they are live.
	Only []string `json:"only,omitempty"`
	// WithControl restores the control plane too.
	WithControl bool `json:"with_control,omitempty"`
	// LocalOnly keeps the stamps of the snapshot: the next sync may undo the
	// restore. Without it records that differ become new revisions.
	LocalOnly bool `json:"local_only,omitempty"`
	// NoSafetySnapshot leaves out the snapshot of the agent as it was.
	NoSafetySnapshot bool `json:"no_safety_snapshot,omitempty"`
	// DiscardOld removes the old generation also without a safety snapshot.
	DiscardOld bool `json:"discard_old,omitempty"`
	// AcceptRedacted lets what was redacted take the place of a live agent.
	AcceptRedacted bool `json:"accept_redacted,omitempty"`
	// AcceptUnsigned lets a snapshot be restored that is not signed though those
	// before it in its chain are.
	AcceptUnsigned bool `json:"accept_unsigned,omitempty"`
	DryRun         bool `json:"dry_run,omitempty"`
}

// The parts that Only may name.
const (
	PartMemory = "memory"
	PartNotes  = "notes"
	PartState  = "state"
)

// Normalize checks the request and fills Only. The error is of kind invalid.
func (r RestoreRequest) Normalize() (RestoreRequest, error) {
	if err := checkAgent(r.Tenant, r.Agent); err != nil {
		return r, err
	}
	if _, err := amber.ParseSnapshotID(string(r.ID)); err != nil {
		return r, err
	}
	if r.To != "" {
		if _, err := amber.ParseAgentID(string(r.To)); err != nil {
			return r, err
		}
	}
	for _, p := range r.Only {
		if p != PartMemory && p != PartNotes && p != PartState {
			return r, amber.Errorf(amber.KindInvalid, "check restore", "", "%.40q is not memory, notes or state", p)
		}
	}
	if len(r.Only) == 0 {
		r.Only = []string{PartMemory, PartNotes, PartState}
	}
	return r, nil
}

// RestoreReport says what a restore did, or would do.
type RestoreReport struct {
	From           amber.SnapshotID `json:"from"`
	Agent          amber.AgentID    `json:"agent"` // that was restored
	SafetySnapshot amber.SnapshotID `json:"safety_snapshot"`
	Generation     int64            `json:"generation"`
	Restored       []string         `json:"restored"`      // parts
	ParkedFrames   int64            `json:"parked_frames"` // journal entries that belong to the old generation
	// ParkedGeneration is whose entries they are: what to name when they are to
	// be drained after all.
	ParkedGeneration int64       `json:"parked_generation,omitempty"`
	Checks           []Check     `json:"checks"`
	DryRun           bool        `json:"dry_run"`
	Plan             RestorePlan `json:"plan"`
	// OldGeneration is kept when its last state is in no verified snapshot; 0
	// when it was removed.
	OldGeneration int64                `json:"old_generation,omitempty"`
	Signature     sign.SignatureReport `json:"signature"` // of what was restored
	Warnings      []string             `json:"warnings,omitempty"`
}

// RestorePlan is what changes for the agent, from what it is to what the
// snapshot holds.
type RestorePlan struct {
	Store       StoreDiff `json:"store"`
	Notes       FilesDiff `json:"notes"`
	State       FilesDiff `json:"state"`
	SpaceNeeded int64     `json:"space_needed"` // bytes
	SpaceFree   int64     `json:"space_free"`
}

// MemoryRestoreRequest asks for one memory of a snapshot.
type MemoryRestoreRequest struct {
	SnapshotRef
	Memory amber.MemoryID `json:"memory"`
	DryRun bool           `json:"dry_run,omitempty"`
}

// MemoryRestore says what became of one memory that was brought back.
type MemoryRestore struct {
	From    amber.SnapshotID `json:"from"`
	Memory  amber.Memory     `json:"memory"`  // as it is now, or was in the snapshot with dry_run
	Changed []string         `json:"changed"` // fields; empty when it is as it was
	Kept    []string         `json:"kept"`    // fields that differ and stay as they are live
	DryRun  bool             `json:"dry_run"`
}

// PruneRequest says which snapshots to keep: each that one rule keeps. The
// last one and pinned ones always stay. Snapshots that Amber took before a
// restore are kept as the last KeepSafety of them and those younger than
// SafetyAge, and count for no other rule.
type PruneRequest struct {
	Tenant     amber.TenantID `json:"tenant"`
	Agent      amber.AgentID  `json:"agent"`
	KeepLast   int            `json:"keep_last"`
	KeepHourly int            `json:"keep_hourly"`
	KeepDaily  int            `json:"keep_daily"`
	KeepWeekly int            `json:"keep_weekly"`
	MaxAge     time.Duration  `json:"max_age"` // in nanoseconds; older ones go whatever the rules say; 0: none is too old
	KeepSafety int            `json:"keep_safety"`
	SafetyAge  time.Duration  `json:"safety_age"`
	// AutomaticOnly keeps every snapshot that Amber did not take by itself,
	// labelled or not; it takes no place of those that the rules are about.
	AutomaticOnly bool `json:"automatic_only,omitempty"`
	DryRun        bool `json:"dry_run,omitempty"`
}

// PruneRule is a rule of a [PruneRequest]: it keeps the last snapshot of each of so many units of time, or so many
// snapshots where the unit is empty.
type PruneRule struct {
	Name, Unit string
	Usual      int // the count of an agent for which none is configured
	Count      *int
}

// Rules returns the rules of a request, whose counts may be changed.
func (r *PruneRequest) Rules() []PruneRule {
	return []PruneRule{
		{"last", "", 30, &r.KeepLast}, {"hourly", "hour", 24, &r.KeepHourly}, {"daily", "day", 7, &r.KeepDaily}, {"weekly", "week", 8, &r.KeepWeekly},
	}
}

// PruneReport says which snapshots went and which stayed.
type PruneReport struct {
	Deleted []amber.SnapshotID `json:"deleted"`
	Kept    []Kept             `json:"kept"`
	DryRun  bool               `json:"dry_run"`
}

// Kept is a snapshot that stays, and why.
type Kept struct {
	ID     amber.SnapshotID `json:"id"`
	Reason string           `json:"reason"` // "last 3", "daily 2026-01-02", "pinned" and so on
}

// GCRequest asks to free what no snapshot needs.
type GCRequest struct {
	Tenant amber.TenantID `json:"tenant"`
	// OldGenerations also removes what restores have kept of agents because no
	// snapshot holds it.
	OldGenerations bool `json:"old_generations,omitempty"`
	DryRun         bool `json:"dry_run,omitempty"`
}

// GCReport says what was freed.
type GCReport struct {
	Condemned      int      `json:"condemned"` // packs that will go when the grace time is over
	CondemnedBytes int64    `json:"condemned_bytes"`
	Deleted        int      `json:"deleted"` // packs
	Freed          int64    `json:"freed_bytes"`
	Repacked       int      `json:"repacked"`        // packs whose live blobs were moved
	Orphans        []string `json:"orphans_removed"` // staging, partial files, abandoned generations
	// InUse says that another program used the repository meanwhile: packs were
	// condemned, but not deleted.
	InUse  bool `json:"in_use"`
	DryRun bool `json:"dry_run"`
}

// FrozenDatabase is a database as it was at one instant; writers go on
// meanwhile. One goroutine uses it at a time; its owner closes it.
type FrozenDatabase interface {
	// Info describes the database at that instant.
	Info() DatabaseInfo
	// ReadPages calls fn with the pages from the first to the last, in order,
	// many at a time and always whole ones. The bytes are valid until fn
	// returns. Errors: those of fn; damaged; unreachable when ctx ends.
	ReadPages(ctx context.Context, fn func(pages []byte) error) error
	// Close lets the instant go.
	Close() error
}

// DatabaseInfo describes a database.
type DatabaseInfo struct {
	Name          string `json:"name"` // "memory.db"
	PageSize      int    `json:"page_size"`
	Pages         int64  `json:"pages"`
	ApplicationID int64  `json:"application_id"`
	Schema        int64  `json:"schema"`
	// Damage says what is wrong with it at the source; "" for nothing found.
	Damage string `json:"damage,omitempty"`
}
