package wire

import "github.com/amber-memory/amber"

// JournalStatus is what the crash journal holds of one session, read from
// disk.
type JournalStatus struct {
	Key         string          `json:"key"` // names the session's folder
	Host        string          `json:"host"`
	SessionID   amber.SessionID `json:"session_id"`
	StartedAt   amber.Time      `json:"started_at"`
	Entries     int64           `json:"entries"`         // intact, gaps not counted
	Bytes       int64           `json:"bytes"`           // on disk
	Undrained   int64           `json:"undrained"`       // entries the store has not taken yet
	Oldest      amber.Time      `json:"oldest,omitzero"` // of the undrained ones
	LastSync    amber.Time      `json:"last_sync,omitzero"`
	Quarantined int64           `json:"quarantined"` // files set aside
	Gaps        int64           `json:"gaps"`        // entries dropped for space, each of them said
	Damaged     int64           `json:"damaged"`     // places where bytes are not what was written
	LastError   string          `json:"last_error,omitempty"`
}
