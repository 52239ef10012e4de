package amber

import (
	"context"
	"strconv"
	"strings"
)

// Op is what happened to a record.
type Op string

// The operations.
const (
	OpInsert Op = "insert"
	OpUpdate Op = "update"
	OpDelete Op = "delete"
)

// ChangeScope says which layer a change belongs to.
type ChangeScope string

// The layers that change.
const (
	ChangeMemory     ChangeScope = "memory"
	ChangeTurn       ChangeScope = "turn"
	ChangeSession    ChangeScope = "session"
	ChangeLoop       ChangeScope = "loop"
	ChangeNote       ChangeScope = "note"
	ChangeGit        ChangeScope = "git"
	ChangeState      ChangeScope = "state"
	ChangeCompaction ChangeScope = "compaction"
	ChangeControl    ChangeScope = "control"
)

// Position marks a place in a change log. It is opaque: keep it, hand it
// back, do not compare it. The zero Position is the beginning.
type Position string

// PositionAt returns the position of entry seq in the log of an incarnation.
// It is for backends.
func PositionAt(incarnation string, seq int64) Position {
	return Position(incarnation + "/" + strconv.FormatInt(seq, 10))
}

// Parse takes a position apart. It is for backends. The zero position gives
// an empty incarnation and 0. The error is of kind invalid.
func (p Position) Parse() (incarnation string, seq int64, err error) {
	if p == "" {
		return "", 0, nil
	}
	incarnation, n, found := strings.Cut(string(p), "/")
	seq, perr := strconv.ParseInt(n, 10, 64)
	if !found || incarnation == "" || perr != nil || seq < 0 {
		return "", 0, Errorf(KindInvalid, "parse position", "", "%.40q is not a position", p)
	}
	return incarnation, seq, nil
}

// Change is one entry of the change log. It never holds text.
type Change struct {
	Position  Position    `json:"position"`
	At        Time        `json:"at"`
	Op        Op          `json:"op"`
	Scope     ChangeScope `json:"scope"`
	Key       string      `json:"key"`
	OldDigest string      `json:"old_digest,omitempty"`
	NewDigest string      `json:"new_digest,omitempty"`
}

// ChangeQuery asks for the end of a change log.
type ChangeQuery struct {
	Before Position      // only entries before this one; the zero Position is the end
	Scopes []ChangeScope // only of these layers; empty: of all
	Limit  int
}

// ChangeLog lists what changed, in commit order. Every mutation writes its entry in its own transaction. Safe
// for concurrent use.
type ChangeLog interface {
	// Changes returns up to limit entries after a position, oldest first;
	// none is an empty list. Only entries that no slower commit can overtake
	// are returned, so the position of the last one is a safe place to go on
	// from. Errors: invalid; conflict when the position belongs to a history
	// that a restore replaced: start again from the zero position.
	Changes(ctx context.Context, after Position, limit int) ([]Change, error)
	// ChangesBefore returns up to q.Limit entries before a position, newest
	// first; none is an empty list. Errors: invalid; conflict when the position
	// belongs to a history that a restore replaced.
	ChangesBefore(ctx context.Context, q ChangeQuery) ([]Change, error)
	// Head returns the position of the newest entry.
	Head(ctx context.Context) (Position, error)
}
