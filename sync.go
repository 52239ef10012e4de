package amber

import "context"

// SyncRecord is one record on its way between stores. Exactly one field is
// set.
type SyncRecord struct {
	Session  *SyncSession `json:"session,omitempty"`
	Memory   *SyncMemory  `json:"memory,omitempty"`
	Prompt   *Turn        `json:"prompt,omitempty"` // a turn of role user
	Relation *Relation    `json:"relation,omitempty"`
	Erased   *SyncErased  `json:"erased,omitempty"`
	Gone     *SyncGone    `json:"gone,omitempty"`
}

// SyncMemory is one version of a memory. A tombstone, one with DeletedAt, has
// no text: title, content, summary, topic, tags, metadata, source references
// and foreign fields are empty. DuplicateCount is 0: it is counted per store.
type SyncMemory struct {
	Memory
	// Saw are the newest versions that the author of this one knew. Two versions neither of which descends from
	// the other are a conflict.
	Saw []Origin `json:"saw,omitempty"`
}

// SyncSession is a session with the origin of its last change.
type SyncSession struct {
	Session
	Origin Origin `json:"origin"`
}

// SyncErased records that a memory was erased. It is terminal.
type SyncErased struct {
	ID     MemoryID `json:"id"`
	Origin Origin   `json:"origin"`
}

// SyncGone records that a session or a prompt was deleted. A session comes back
// with a later version. A prompt has no versions: its deletion is final on
// other devices, also when the prompt is said again under its old id.
type SyncGone struct {
	Scope  ChangeScope `json:"scope"` // session or turn
	ID     string      `json:"id"`
	Origin Origin      `json:"origin"`
}

// SyncRef names a record.
type SyncRef struct {
	Scope ChangeScope `json:"scope"` // memory, session, turn, or relation
	ID    string      `json:"id"`
}

// SyncMark names one version of a record. A relation has scope relation and is
// named by its ends and its type, a prompt has no origin.
type SyncMark struct {
	Ref    SyncRef
	Origin Origin
}

// OutgoingRequest asks for records that a place has not been given yet.
type OutgoingRequest struct {
	// Place names where they go; what was imported from there does not go
	// back.
	Place string
	// Project limits to records of one project, and of a memory to its versions
	// in that project; "" means every project. Erasures always leave. Memories
	// of scope user never do.
	Project string
	// Since is where the last export to this place and of this project ended:
	// Position of [SyncPlace]. The zero position asks for everything.
	Since Position
	// After is where this export is: Since first, then Next of the answer.
	After Position
	// Latest leaves the history out: each memory as it is now.
	Latest bool
	// Entries bounds how much of the change log is read; default 500.
	Entries int
	// Bytes is how much text is enough; a step ends with the record that
	// reaches it. Default 1 MiB.
	Bytes int
}

// Outgoing is one step of an export. A record may be in several steps.
type Outgoing struct {
	Records []SyncRecord // sessions first
	// Journaled are the sessions among the records that the crash journal reported. Only in those can a drain
	// have written the summary.
	Journaled map[SessionID]bool
	// Refused are versions of memories that were erased at the place. They are
	// not to be written.
	Refused []SyncRecord
	Next    Position // go on from here, and note it when the records are safe
	Done    bool     // nothing comes after
	// Device, Incarnation and At are those of the store.
	Device      string
	Incarnation string
	At          Time
}

// SyncPlace is what a store remembers about one place and project.
type SyncPlace struct {
	Position Position // where the last export ended; zero before the first
	Chunk    string   // the last chunk that was exported; "" before the first
}

// ExportNote tells the store what was exported, when it is durable.
type ExportNote struct {
	Place, Project string
	Position       Position // everything up to here was exported or is not to be
	// Chunk is the chunk that was written, "" when there was nothing to write.
	// It counts as applied.
	Chunk     string
	CreatedBy string // who exported
	Links     []SyncLink
	// Marks are the versions that the place has now: those that were written,
	// and those that were to be written and found there. From here on the place
	// has a say in them; see [SyncImporter].
	Marks []SyncMark
}

// SyncExporter gives out what changed. Safe for concurrent use.
type SyncExporter interface {
	// Outgoing returns the next records for a place, in the order of the
	// change log. The work grows with what is new, not with the size
	// of the store.
	// Errors: invalid; conflict when a position belongs to a history that a
	// restore replaced: start again from the zero position.
	Outgoing(ctx context.Context, r OutgoingRequest) (Outgoing, error)
	// SyncPlace returns what is known about a place and project; an unknown
	// one is the zero value.
	SyncPlace(ctx context.Context, place, project string) (SyncPlace, error)
	// Exported notes what was exported, in one transaction.
	Exported(ctx context.Context, n ExportNote) error
}

// Incoming is a chunk to be applied. The caller has checked every record with
// [SyncRecord.Check].
type Incoming struct {
	Place string // where it came from
	Chunk string // its id, and that of its format where ids are short
	// Device made the chunk, at the time At by its own clock.
	Device    string
	CreatedBy string
	At        Time
	// Trust is what records that their author calls own or signed become:
	// signed, imported or own. Derived stays derived where this is signed and the
	// device that made the chunk made the record, and becomes imported otherwise;
	// imported stays imported. Own is for the person at this device who says that
	// the records are theirs: nothing that a chunk holds can ask for it. It does
	// not vouch for a record that claims to be of this device; see Own.
	Trust Trust
	// Own reports that this home's own key signed the chunk. No other key can vouch
	// for a version that claims to be of this device and is not known here.
	Own     bool
	Records []SyncRecord
	Links   []SyncLink
	// Stored, unless nil, is called with the index of each record that was not known
	// here, after the chunk is applied.
	Stored func(record int)
}

// Applied counts what a chunk brought. A record that was known already counts nowhere.
type Applied struct {
	Already   bool // there was nothing to do; the chunk was applied before, as far as it may be
	Sessions  int
	Memories  int // versions of memories, tombstones and erasures
	Prompts   int
	Relations int
	Conflicts int // versions made without knowledge of one another
	// Again reports that chunks of the place which were applied before have more
	// to bring now, and do not count as applied any more.
	Again bool
}

// QuarantinedChunk is a chunk that is not imported.
type QuarantinedChunk struct {
	ID     string `json:"id"`
	Reason string `json:"reason"`
	Kind   Kind   `json:"kind"`
}

// SyncImporter takes in what others exported. Safe for concurrent use.
type SyncImporter interface {
	// AppliedChunks returns those of the chunks that were applied from the place.
	AppliedChunks(ctx context.Context, place string, chunks []string) (map[string]bool, error)
	// Apply stores the records and notes the chunk, in one transaction. Per
	// record the version with the later origin wins, whatever the order of
	// arrival; the others go to the history. A prompt that was said here stays
	// as it was said. An erasure removes the memory and nothing that quotes it.
	//
	// Write access to a folder gives no power over records that were never in it. A place has a say in the
	// versions that came from it, and in those that were exported to it, as the caller has noted with
	// [SyncExporter]; in an own version where it was exported or came from there as own, and not because the
	// place has it too. So a version takes the place of the newest one only where that one is at the place, and
	// goes beside it into the history otherwise, as a conflict; it never changes the scope or the identities of
	// a memory that has an own version. An erasure removes the versions that are at the place. A record that
	// changes or deletes a session, a prompt or a relation that is not there is passed over. A record that was
	// held back counts once the place has its say: the chunk is then no longer applied. An erasure never does.
	//
	// The local clock follows the stamps at most [MaxClockLead] past the time of
	// day. Nil means that the chunk is applied; what was erased may be in a
	// write-ahead log while a reader holds an old view. Errors: invalid
	// for a counter that is more than [MaxCounterJump] above what is known.
	Apply(ctx context.Context, c Incoming) (Applied, error)
	// SetQuarantine replaces the list of chunks of a place that are not
	// imported.
	SetQuarantine(ctx context.Context, place string, chunks []QuarantinedChunk) error
	// SyncReport returns what is known about a place: the devices it came
	// from, what is in quarantine, and conflicts. For "" it returns what is in
	// quarantine from every place, and conflicts.
	SyncReport(ctx context.Context, place string) (SyncReport, error)
}

// SyncLink ties a row of another tool to a record.
type SyncLink struct {
	Tool    string // "engram"
	Chunk   string // the tool's chunk the row is in; of the note or the chunk where it is empty
	Ordinal int    // of the row in its chunk, from 0
	Ref     SyncRef
	Version Origin // of the record when it was linked; zero for prompts
	LocalID int64  // the number the tool gives the row; 0 where it has none
	// Fingerprint tells rows of the tool that have no name of their own apart,
	// 64 hex digits.
	Fingerprint string
	Extra       string // what else is needed to write the row as it was, JSON; no text of a memory
}

// LinkQuery asks for links of a tool by exactly one of the other fields.
type LinkQuery struct {
	Tool        string
	Chunk       string
	Ref         SyncRef
	Fingerprint string
}

// SyncLinks knows the rows of other tools. Safe for concurrent use.
type SyncLinks interface {
	// Links returns what matches, by chunk and ordinal.
	Links(ctx context.Context, q LinkQuery) ([]SyncLink, error)
	// LastLocalID returns the highest number of a tool's rows of one scope.
	LastLocalID(ctx context.Context, tool string, scope ChangeScope) (int64, error)
	// SyncRecords returns the records as they are now, in the order of refs;
	// one that is not there is a zero SyncRecord.
	SyncRecords(ctx context.Context, refs []SyncRef) ([]SyncRecord, error)
	// Held reports of each version whether the place has a say in it.
	Held(ctx context.Context, place string, marks []SyncMark) ([]bool, error)
	// RemovedAt reports of each record whether it was erased or deleted at the
	// place: everything here that was there of it is gone.
	RemovedAt(ctx context.Context, place string, refs []SyncRef) ([]bool, error)
}

// Replica is a store that can be synced.
type Replica interface {
	SyncExporter
	SyncImporter
	SyncLinks
}

// Bounds of an import.
const (
	// MaxCounterJump is how far the counter of a record may be above the
	// highest one known. A higher one would win over every
	// edit to come, and no device makes that many edits unseen.
	MaxCounterJump = 1 << 20
	// MaxClockLead is how far stamps of others pull the local clock past the
	// time of day, in milliseconds.
	MaxClockLead = 5 * 60 * 1000
)

// SyncDevice is what is known about a device whose chunks were applied.
type SyncDevice struct {
	Device    string `json:"device"`
	CreatedBy string `json:"created_by"`
	Chunks    int64  `json:"chunks"`
	LastAt    Time   `json:"last_at"`            // of its newest chunk, by its own clock
	LastSync  Time   `json:"last_sync"`          // when that was applied here
	DriftMS   int64  `json:"drift_ms,omitempty"` // how far its stamps were ahead of the time of day, at most
}

// SyncVersion is one side of a conflict.
type SyncVersion struct {
	Origin    Origin `json:"origin"`
	Title     string `json:"title"`
	Content   string `json:"content"`
	UpdatedAt Time   `json:"updated_at"`
	Deleted   bool   `json:"deleted,omitempty"`
}

// SyncConflict is a memory that was changed at two places without knowing of
// each other. Any edit, write or deletion here settles it.
type SyncConflict struct {
	ID     MemoryID      `json:"id"`
	Kept   SyncVersion   `json:"kept"` // what every place shows
	Others []SyncVersion `json:"others"`
}

// MaxConflicts bounds the conflicts a report spells out.
const MaxConflicts = 100

// SyncReport is what a store knows about a place.
type SyncReport struct {
	Chunks        int64              `json:"chunks"` // that were applied from there or exported to it; packs are none
	Devices       []SyncDevice       `json:"devices"`
	Quarantined   []QuarantinedChunk `json:"quarantined"`
	Conflicts     []SyncConflict     `json:"conflicts"` // at most MaxConflicts
	ConflictCount int64              `json:"conflict_count"`
}
