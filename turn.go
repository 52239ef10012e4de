package amber

import (
	"cmp"
	"context"
)

// Role says who spoke.
type Role string

// The roles. A prompt is a turn of role user.
const (
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleSystem    Role = "system"
	RoleTool      Role = "tool"
)

// Turn is one utterance of a session.
type Turn struct {
	ID        TurnID    `json:"id" redact:"id,turn id"`
	SessionID SessionID `json:"session_id" redact:"id,session id"`
	Role      Role      `json:"role" redact:"-"`
	Content   string    `json:"content" redact:"text"`
	ProjectID string    `json:"project_id,omitempty" redact:"id,project id"`
	CreatedAt Time      `json:"created_at"`
	// Trust is "" for what was said here, agent for a prompt that an agent or a
	// program stored, signed or imported for one that came from elsewhere. Imported
	// turns are not given to an agent that did not ask for them.
	Trust Trust `json:"trust,omitempty" redact:"-"`
}

// Normalize checks the turn. The error is of kind invalid. Control
// characters other than NUL are kept: turns hold what tools printed.
func (t Turn) Normalize() (Turn, error) {
	return t, cmp.Or(
		CheckOptionalID("turn id", string(t.ID)),
		CheckID("session id", string(t.SessionID)),
		CheckOptionalID("project id", t.ProjectID),
		CheckOneOf("role", t.Role, RoleUser, RoleAssistant, RoleSystem, RoleTool),
		CheckOneOf("trust", t.Trust, "", TrustSigned, TrustAgent, TrustImported),
		CheckText("content", t.Content, MaxContentBytes, Lenient|Required),
	)
}

// TurnQuery pages through the turns of a session, the last one first.
type TurnQuery struct {
	SessionID SessionID
	Oldest    bool // the first turn first
	Excerpt   int  // give at most this many characters of each turn; 0: all
	Limit     int  // 0: DefaultPageSize; at most MaxPageSize
	Cursor    Cursor
}

// ListedTurn is a turn of a listing. Its content may be the beginning alone.
type ListedTurn struct {
	Turn
	Bytes int64 `json:"bytes"` // of the whole content
}

// Turns is the short-term memory of sessions. A session need not be in the
// catalogue. Safe for concurrent use.
type Turns interface {
	// AppendTurn stores t durably at the end of its session and returns it
	// with id and time filled in where they were empty. A turn whose id is
	// stored already is returned as it was stored. Errors: invalid; conflict
	// when the id is a turn of another session.
	AppendTurn(ctx context.Context, t Turn) (Turn, error)
	// ListTurns returns a page of the turns of a session. An unknown session gives
	// an empty page. Errors: invalid.
	ListTurns(ctx context.Context, q TurnQuery) (Page[ListedTurn], error)
	// Turn returns one turn. Errors: not_found.
	Turn(ctx context.Context, id TurnID) (Turn, error)
	// DeleteTurns removes every turn of the session; an unknown session is
	// no error. It returns how many there were.
	DeleteTurns(ctx context.Context, id SessionID) (int, error)
}
