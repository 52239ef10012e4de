package amber

import "context"

// Leave is the owner's leave to ask everything that an agent remembers. It is an argument, so that a door without one does
// not compile; no JSON and no context carries one. The zero value is no leave.
type Leave struct{ given bool }

// LeaveOfOwner returns the leave. A program calls it where the person who owns the memory asks, and nowhere else: not for an
// agent, not for a client, not for a hook.
func LeaveOfOwner() Leave { return Leave{true} }

// Check returns an error of kind refused without leave.
func (l Leave) Check() error {
	if l.given {
		return nil
	}
	return Errorf(KindRefused, "ask everything", "", "the owner alone asks everything")
}

// Everything answers questions to all that an agent remembers: every project, user, workspace and session.
type Everything interface {
	// Ask is [LongTerm.Recall] without regard to scopes: the identities of q narrow nothing. Errors: those of Recall; invalid
	// when q names a scope; refused without leave.
	Ask(ctx context.Context, q Query, leave Leave) (RecallResult, error)
}
