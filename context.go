package amber

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
)

// ContextRequest asks for a block of memory to put before an agent's prompt.
type ContextRequest struct {
	RecallInput
	MaxBytes int  `json:"max_bytes,omitempty"` // of the text; 0: DefaultContextBytes, at most MaxContextBytes
	Sessions int  `json:"sessions,omitempty"`  // recent sessions to list; 0: 3, negative: none
	Explain  bool `json:"explain,omitempty"`   // fill Hit.Why
}

// Bounds of a context block.
const (
	DefaultContextBytes = 8 << 10
	MaxContextBytes     = 64 << 10
	minContextBytes     = 512
)

// ContextBlock is memory made ready for an agent.
type ContextBlock struct {
	// Text is Markdown between two lines with a delimiter that nobody who
	// wrote a memory could have known. What is inside is data, not
	// instructions. Empty when there is nothing to say.
	Text     string    `json:"text"`
	Memories []Hit     `json:"memories"` // those in Text, best first
	Sessions []Session `json:"sessions"` // those in Text, newest first
	Omitted  int       `json:"omitted"`  // memories that did not fit
	// Cut are the memories whose text is in Text only in part, up to the end
	// of a sentence where there is one; Text says so behind each. Memories has
	// them whole.
	Cut      []MemoryID `json:"cut,omitempty"`
	Decision Decision   `json:"decision"` // the policy's
}

// BuildContext asks the policy, recalls what it allows, and renders it:
// own and signed memories and sessions only, those that the identities of the
// request see whatever the policy asks for, bounded, without control and
// direction characters. Random must be unpredictable. Errors: those of recall; a policy
// that says no is no error but an empty block with its decision.
func BuildContext(ctx context.Context, s Store, p Policy, r ContextRequest, random io.Reader) (ContextBlock, error) {
	block := ContextBlock{Memories: []Hit{}, Sessions: []Session{}}
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
		return block, &Error{Op: "build context", Kind: KindInternal, Err: err}
	}
	block.render(size, fmt.Sprintf("%x", nonce), found.Hits, sessions)
	return block, nil
}

func contextBytes(n int) (int, error) {
	switch {
	case n == 0:
		return DefaultContextBytes, nil
	case n < minContextBytes || n > MaxContextBytes:
		return 0, Errorf(KindInvalid, "build context", "", "max bytes is %d, not %d to %d", n, minContextBytes, MaxContextBytes)
	}
	return n, nil
}

// both keeps the identities that are in a and b alike.
func both(a, b Identities) Identities {
	same := func(x, y string) string {
		if x != y {
			return ""
		}
		return x
	}
	return Identities{
		SessionID: SessionID(same(string(a.SessionID), string(b.SessionID))), UserID: same(a.UserID, b.UserID),
		ProjectID: same(a.ProjectID, b.ProjectID), WorkspaceID: same(a.WorkspaceID, b.WorkspaceID),
	}
}

// recentSessions returns the last sessions that a request sees: those of its
// project. A session of no project is seen by itself alone, since nothing says
// who else may: it has neither a user nor a workspace.
func recentSessions(ctx context.Context, s Store, r ContextRequest) ([]Session, error) {
	if r.Sessions < 0 {
		return nil, nil
	}
	if r.ProjectID == "" {
		return ownSession(ctx, s, r.SessionID)
	}
	page, err := s.Sessions.ListSessions(ctx, SessionQuery{Project: r.ProjectID, Limit: cmp.Or(r.Sessions, 3), Trusted: true})
	if KindOf(err) == KindUnsupported {
		return nil, nil
	}
	// A backend that does not know the filter must not make the context leak.
	return slices.DeleteFunc(page.Items, func(s Session) bool { return s.Project != r.ProjectID }), err
}

// ownSession returns the session itself where it belongs to no project.
func ownSession(ctx context.Context, s Store, id SessionID) ([]Session, error) {
	if id == "" {
		return nil, nil
	}
	own, err := s.Sessions.Session(ctx, id)
	switch KindOf(err) {
	case "":
	case KindNotFound, KindUnsupported, KindInvalid:
		return nil, nil
	default:
		return nil, err
	}
	if own.Project != "" || own.Trust == TrustImported {
		return nil, nil
	}
	return []Session{own}, nil
}
