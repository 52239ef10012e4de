package wire

import "github.com/amber-memory/amber"

// SyncFormat is how a folder for sync is laid out.
type SyncFormat string

// The formats.
const (
	SyncAmber  SyncFormat = "amber"
	SyncEngram SyncFormat = "engram"
)

// SyncExport is the answer to an export.
type SyncExport struct {
	ChunkID      string   `json:"chunk_id,omitempty"` // the last one written
	ChunkIDs     []string `json:"chunk_ids,omitempty"`
	Sessions     int      `json:"sessions_exported"`
	Observations int      `json:"observations_exported"`
	Prompts      int      `json:"prompts_exported"`
	Relations    int      `json:"relations_exported"`
	Deleted      int      `json:"deletions_exported"` // tombstones and erasures, without text
	// PromptsKept and DigestsKept are what was typed to an agent, and what Amber
	// made of it, that stayed because sharing them was not asked for.
	PromptsKept int  `json:"prompts_kept"`
	DigestsKept int  `json:"digests_kept"`
	IsEmpty     bool `json:"is_empty"`
	Signed      bool `json:"signed"`
	// Redacted counts secrets and private passages that were removed, by rule.
	Redacted map[string]int `json:"redacted,omitempty"`
	// Withheld are records that stayed, and why.
	Withheld []SyncWithheld `json:"withheld,omitempty"`
	// Also is what was exported to the folder of the other format beside it.
	Also *SyncExport `json:"also,omitempty"`
	Dir  string      `json:"dir"`
}

// SyncWithheld is a record that did not leave.
type SyncWithheld struct {
	Ref    amber.SyncRef `json:"ref"`
	Reason string        `json:"reason"`
}

// SyncImport is the answer to an import.
type SyncImport struct {
	Chunks       int                      `json:"chunks_imported"`
	Skipped      int                      `json:"chunks_skipped"` // applied before
	Quarantined  []amber.QuarantinedChunk `json:"chunks_quarantined"`
	Sessions     int                      `json:"sessions_imported"`
	Observations int                      `json:"observations_imported"`
	Prompts      int                      `json:"prompts_imported"`
	Relations    int                      `json:"relations_imported"`
	Conflicts    int                      `json:"conflicts"` // new ones
	Missing      []string                 `json:"missing,omitempty"`
	Dir          string                   `json:"dir"`
}

// SyncStatus tells how a store and a folder stand to each other.
type SyncStatus struct {
	Local         int64                    `json:"local"`  // chunks of this folder that were applied here
	Remote        int64                    `json:"remote"` // chunks in the folder
	PendingImport int64                    `json:"pending_import"`
	PendingExport int64                    `json:"pending_export"` // records
	Conflicts     []amber.SyncConflict     `json:"conflicts"`
	ConflictCount int64                    `json:"conflict_count"`
	Quarantined   []amber.QuarantinedChunk `json:"quarantined"`
	// Damaged are chunks that do not hold what their name says; they are among
	// the quarantined.
	Damaged int64              `json:"damaged"`
	Missing []string           `json:"missing"` // chunks that others refer to and that are not there
	Devices []amber.SyncDevice `json:"devices"`
	Summary SyncSummary        `json:"summary"`
	Dir     string             `json:"dir"`
	Format  SyncFormat         `json:"format"`
}

// SyncSummary is derived from the headers of the chunks in a folder.
type SyncSummary struct {
	Chunks    int64        `json:"chunks"`
	Files     int64        `json:"files"`
	Bytes     int64        `json:"bytes"`
	Sessions  int64        `json:"sessions"`
	Memories  int64        `json:"memories"`
	Prompts   int64        `json:"prompts"`
	Relations int64        `json:"relations"`
	Deleted   int64        `json:"deletions"`
	First     amber.Time   `json:"first,omitzero"`
	Last      amber.Time   `json:"last,omitzero"`
	Authors   []SyncAuthor `json:"authors"`
}

// SyncAuthor is an author of chunks in a folder.
type SyncAuthor struct {
	Name   string     `json:"name"`
	Chunks int64      `json:"chunks"`
	Rows   int64      `json:"rows"`
	First  amber.Time `json:"first"`
	Last   amber.Time `json:"last"`
}

// SyncVerify reports what reading every chunk of a folder showed.
type SyncVerify struct {
	Checked    []string                 `json:"checked"`     // what was checked, in words
	NotChecked []string                 `json:"not_checked"` // what was not, and why
	Damaged    []amber.QuarantinedChunk `json:"damaged"`
	Missing    []string                 `json:"missing"`
	Signed     int64                    `json:"signed"`   // by a trusted key
	Unknown    int64                    `json:"unknown"`  // signed by a key that is not trusted
	Unsigned   int64                    `json:"unsigned"` // not signed
	Summary    SyncSummary              `json:"summary"`
}

// SyncCompact reports what a compaction did.
type SyncCompact struct {
	Before    int64 `json:"files_before"`
	After     int64 `json:"files_after"`
	Packed    int64 `json:"chunks_packed"`
	Rewritten int64 `json:"chunks_rewritten"` // because they held text that was erased
	Left      int64 `json:"chunks_left"`      // that hold such text and are signed by others: theirs to compact
	Freed     int64 `json:"bytes_freed"`
}

// SyncRepair reports what a repair did.
type SyncRepair struct {
	Repaired []string `json:"repaired"` // what was mended, in words
	Chunks   int64    `json:"chunks"`   // in the manifest now
	Backup   string   `json:"backup,omitempty"`
}
