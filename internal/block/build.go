// Package block builds the block of memory that is put before an agent's prompt, and
// cuts such blocks out of the prompts that hosts hand back.
package block

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Build asks the policy, recalls what it allows, and renders it:
// own and signed memories and sessions only, those that the identities of the
// request see whatever the policy asks for, bounded, without control and
// direction characters. Random must be unpredictable. Errors: those of recall; a policy
// that says no is no error but an empty block with its decision.
func Build(ctx context.Context, s amber.Store, p amber.Policy, r wire.ContextRequest, random io.Reader) (wire.ContextBlock, error) {
	block := wire.ContextBlock{Memories: []amber.Hit{}, Sessions: []amber.Session{}}
	size, err := contextBytes(r.MaxBytes)
	if err != nil {
		return block, err
	}
	query, decision := p.Recall(r.RecallInput)
	block.Decision = decision
	if !decision.Effective {
		return block, nil
	}
	query.Explain = r.Explain
	// Whatever the policy says.
	query.Trusted, query.Identities = true, both(query.Identities, r.Identities)
	query.Layers = []amber.RecallLayer{amber.LayerMemory} // the block names memories by their ids
	found, err := s.LongTerm.Recall(ctx, query)
	if err != nil {
		return block, err
	}
	sessions, err := recentSessions(ctx, s, r)
	if err != nil {
		return block, err
	}
	if len(found.Hits) == 0 && len(sessions) == 0 {
		return block, nil
	}
	var nonce [16]byte
	if _, err := io.ReadFull(random, nonce[:]); err != nil {
		return block, &amber.Error{Op: "build context", Kind: amber.KindInternal, Err: err}
	}
	render(&block, size, fmt.Sprintf("%x", nonce), found.Hits, sessions)
	return block, nil
}

// minBytes is the smallest block that can hold something.
const minBytes = 512

func contextBytes(n int) (int, error) {
	switch {
	case n == 0:
		return wire.DefaultContextBytes, nil
	case n < minBytes || n > wire.MaxContextBytes:
		return 0, amber.Errorf(amber.KindInvalid, "build context", "", "max bytes is %d, not %d to %d", n, minBytes, wire.MaxContextBytes)
	}
	return n, nil
}

// both keeps the identities that are in a and b alike.
func both(a, b amber.Identities) amber.Identities {
	same := func(x, y string) string {
		if x != y {
			return ""
		}
		return x
	}
	return amber.Identities{
		SessionID: amber.SessionID(same(string(a.SessionID), string(b.SessionID))), UserID: same(a.UserID, b.UserID),
		ProjectID: same(a.ProjectID, b.ProjectID), WorkspaceID: same(a.WorkspaceID, b.WorkspaceID),
	}
}

// recentSessions returns the last sessions that a request sees: those of its
// project. A session of no project is seen by itself alone, since nothing says
// who else may: it has neither a user nor a workspace.
func recentSessions(ctx context.Context, s amber.Store, r wire.ContextRequest) ([]amber.Session, error) {
	if r.Sessions < 0 {
		return nil, nil
	}
	if r.ProjectID == "" {
		return ownSession(ctx, s, r.SessionID)
	}
	page, err := s.Sessions.ListSessions(ctx, amber.SessionQuery{Project: r.ProjectID, Limit: cmp.Or(r.Sessions, 3), Trusted: true})
	if amber.KindOf(err) == amber.KindUnsupported {
		return nil, nil
	}
	// A backend that does not know the filter must not make the context leak.
	return slices.DeleteFunc(page.Items, func(s amber.Session) bool { return s.Project != r.ProjectID }), err
}

// ownSession returns the session itself where it belongs to no project.
func ownSession(ctx context.Context, s amber.Store, id amber.SessionID) ([]amber.Session, error) {
	if id == "" {
		return nil, nil
	}
	own, err := s.Sessions.Session(ctx, id)
	switch amber.KindOf(err) {
	case "":
	case amber.KindNotFound, amber.KindUnsupported, amber.KindInvalid:
		return nil, nil
	default:
		return nil, err
	}
	if own.Project != "" || own.Trust == amber.TrustImported {
		return nil, nil
	}
	return []amber.Session{own}, nil
}
