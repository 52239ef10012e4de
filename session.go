package amber

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// DefaultBinding is the binding of a session started without one.
const DefaultBinding = "cli"

// Session is one conversation of an agent.
type Session struct {
	ID        SessionID `json:"id"`
	Name      string    `json:"name"`
	Binding   string    `json:"binding"` // the chat or terminal it belongs to
	Project   string    `json:"project"`
	Directory string    `json:"directory"`
	StartedAt Time      `json:"started_at"`
	EndedAt   Time      `json:"ended_at,omitzero"`
	EndReason EndReason `json:"end_reason,omitempty"`
	Summary   string    `json:"summary"`
	Parent    SessionID `json:"parent,omitempty"`
	CreatedAt Time      `json:"created_at"`
	UpdatedAt Time      `json:"updated_at"`
	// Trust is "" for a session of one's own, signed or imported for one that
	// came from elsewhere, and stays so: part of what it says is theirs.
	// Automatic context leaves imported ones out.
	Trust Trust `json:"trust,omitempty"`
}

// EndReason says how a session ended. Hosts bring their own words; these are
// Amber's.
type EndReason string

// The reasons Amber itself gives.
const (
	EndEnded EndReason = "ended"
	EndCrash EndReason = "crash"
	EndIdle  EndReason = "idle"
)

// TakesEnd reports whether e ends s: s has not ended, or Amber only noticed that
// it had (crash, idle) and e says how.
func (s Session) TakesEnd(e SessionEnd) bool {
	noticed := func(r EndReason) bool { return r == EndCrash || r == EndIdle }
	return s.EndedAt.IsZero() || noticed(s.EndReason) && !noticed(e.Reason)
}

// SessionStart asks for a session.
type SessionStart struct {
	ID        SessionID `json:"id,omitempty" redact:"id,session id"`   // default a new UUIDv7
	Name      string    `json:"name,omitempty" redact:"text"`          // default the id
	Binding   string    `json:"binding,omitempty" redact:"id,binding"` // default DefaultBinding
	Project   string    `json:"project,omitempty" redact:"id,project id"`
	Directory string    `json:"directory,omitempty" redact:"text"`
	Parent    SessionID `json:"parent,omitempty" redact:"id,parent session id"`
}

// Normalize fills defaults and checks the request. The error is of kind
// invalid.
func (s SessionStart) Normalize() (SessionStart, error) {
	s.Binding = orDefault(s.Binding, DefaultBinding)
	var err error
	if s.Name != "" {
		s.Name, err = CheckSessionName(s.Name)
	}
	return s, cmp.Or(err,
		CheckOptionalID("session id", string(s.ID)),
		CheckID("binding", s.Binding),
		CheckOptionalID("project id", s.Project),
		CheckOptionalID("parent session id", string(s.Parent)),
		CheckText("directory", s.Directory, 4096, OneLine),
	)
}

// CheckSessionName trims name and checks it: 1 to [MaxNameRunes] characters
// on one line. The error is of kind invalid.
func CheckSessionName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if err := CheckText("session name", name, 4*MaxNameRunes, Required|OneLine); err != nil {
		return "", err
	}
	if n := utf8.RuneCountInString(name); n > MaxNameRunes {
		return "", Errorf(KindInvalid, "check session name", "", "name has %d characters, the limit is %d", n, MaxNameRunes)
	}
	return name, nil
}

// SessionEnd asks to end a session.
type SessionEnd struct {
	ID      SessionID `json:"id" redact:"id,session id"`
	Reason  EndReason `json:"reason,omitempty" redact:"id,end reason"` // default EndEnded
	Summary string    `json:"summary,omitempty" redact:"text"`
}

// Normalize fills defaults and checks the request. The error is of kind
// invalid.
func (e SessionEnd) Normalize() (SessionEnd, error) {
	e.Reason = orDefault(e.Reason, EndEnded)
	return e, cmp.Or(
		CheckID("session id", string(e.ID)),
		CheckID("end reason", string(e.Reason)),
		CheckText("summary", e.Summary, MaxSummaryBytes, 0),
	)
}

// SessionQuery pages through sessions, last updated first.
type SessionQuery struct {
	Binding string `json:"binding,omitempty"` // empty: every binding
	Project string `json:"project,omitempty"` // empty: every project
	Trusted bool   `json:"trusted,omitempty"` // leave out imported ones
	Limit   int    `json:"limit,omitempty"`   // 0: DefaultPageSize; at most MaxPageSize
	Cursor  Cursor `json:"cursor,omitempty"`
}

// Sessions is the catalogue. Safe for concurrent use.
type Sessions interface {
	// StartSession creates a session and makes it the active one of its
	// binding. Starting an id that exists returns it, reopened if it had
	// ended. Errors: invalid; conflict when the id exists under another
	// binding.
	StartSession(ctx context.Context, s SessionStart) (Session, error)
	// Session returns one session. Errors: not_found.
	Session(ctx context.Context, id SessionID) (Session, error)
	// ListSessions returns a page of sessions. Errors: invalid.
	ListSessions(ctx context.Context, q SessionQuery) (Page[Session], error)
	// DeleteSession removes a session with its turns, activity, state, loop
	// and compaction summaries; long-term memories stay. Errors: not_found.
	DeleteSession(ctx context.Context, id SessionID) error
}

// SessionEditor changes sessions in the catalogue. Safe for concurrent use.
type SessionEditor interface {
	// EndSession marks a session as ended; it is no longer active. Ending an
	// ended session returns it as it is, unless [Session.TakesEnd] says
	// otherwise. Errors: not_found, invalid.
	EndSession(ctx context.Context, e SessionEnd) (Session, error)
	// RenameSession gives a session a new name. Errors: not_found, invalid.
	RenameSession(ctx context.Context, id SessionID, name string) (Session, error)
}

// ActiveSessions knows the active session of each binding. Safe for
// concurrent use.
type ActiveSessions interface {
	// ActiveSession returns the active session of a binding. Errors:
	// not_found.
	ActiveSession(ctx context.Context, binding string) (Session, error)
	// SelectSession makes a session the active one of its own binding.
	// Errors: not_found.
	SelectSession(ctx context.Context, id SessionID) (Session, error)
}

// SessionState is a versioned JSON document of one session.
type SessionState struct {
	SessionID SessionID       `json:"session_id"`
	Document  json.RawMessage `json:"document"`
	Version   int64           `json:"version"`
	UpdatedAt Time            `json:"updated_at"`
}

// SessionStates keeps one document per session. The session need not be in
// the catalogue. Safe for concurrent use.
type SessionStates interface {
	// SaveState stores doc if the stored version equals ifVersion, 0 meaning
	// none is stored. Errors: invalid, conflict.
	SaveState(ctx context.Context, id SessionID, doc json.RawMessage, ifVersion int64) (SessionState, error)
	// LoadState returns the document. Errors: not_found.
	LoadState(ctx context.Context, id SessionID) (SessionState, error)
	// DeleteState removes the document; none is no error.
	DeleteState(ctx context.Context, id SessionID) error
}

// CheckState checks a session state document. The error is of kind invalid.
func CheckState(id SessionID, doc json.RawMessage) error {
	return cmp.Or(CheckID("session id", string(id)), checkJSON("document", doc))
}
