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

// HeldEntry is a file in the quarantine of the crash journal, and the session it
// belongs to.
type HeldEntry struct {
	Key       string          `json:"key"` // names the session's folder
	Host      string          `json:"host"`
	SessionID amber.SessionID `json:"session_id"`
	Name      string          `json:"name"`
	Bytes     int64           `json:"bytes"`
	// The rest is set for entries that could not be stored.
	Seq     int64      `json:"seq,omitempty"`
	At      amber.Time `json:"at,omitzero"` // when it was given up
	Reason  string     `json:"reason,omitempty"`
	Payload []byte     `json:"payload,omitempty"` // where one is shown
}

// MaxHeldShown bounds a file of the quarantine that a server shows.
const MaxHeldShown = 8 << 20

// HeldRetry names what goes from the quarantine back into the crash journal: all
// entries, those of a session, or one of its files.
type HeldRetry struct {
	Session string `json:"session,omitempty"` // its id, or its key; "": every session
	Name    string `json:"name,omitempty"`    // of one file; "": all of them. It needs a session
}
