package openviking

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/openviking/api"
)

// Sessions says what is done with conversations.
type Sessions string

// What can be done with conversations that ended.
const (
	SessionsMirror Sessions = "mirror" // they are sent
	SessionsCommit Sessions = "commit" // they are sent, and the server is asked to learn from them
)

// Conversations is what the store needs of an OpenViking server to send conversations to it. Errors
// are those of [Server]. Safe for concurrent use.
type Conversations interface {
	// CreateSession reports whether it was not there before.
	CreateSession(ctx context.Context, id string) (created bool, err error)
	// AddMessages adds at most [api.MaxMessages] to the end, all or none, and returns how many
	// live ones there are then.
	AddMessages(ctx context.Context, id string, messages []api.Message) (live int, err error)
	Session(ctx context.Context, id string) (api.Session, error)
	// SessionContext returns the tag of the last message that is shown; "" for none.
	SessionContext(ctx context.Context, id string) (tag string, err error)
	Commit(ctx context.Context, id string) (archived bool, err error)
	// DropSession and DropSecrets do nothing where there is nothing.
	DropSession(ctx context.Context, id string) error
	DropSecrets(ctx context.Context, id string) error
}

var _ Conversations = (*api.Client)(nil)

func (o *Options) checkSessions() error {
	const op = "open openviking"
	switch {
	case o.Sessions == "":
	case o.Sessions != SessionsMirror && o.Sessions != SessionsCommit:
		return amber.Errorf(amber.KindInvalid, op, "", "sessions is %.40q, want %q, %q or nothing", o.Sessions, SessionsMirror, SessionsCommit)
	case o.Conversations == nil || o.Primary.Sessions == nil || o.Primary.Turns == nil:
		return amber.Errorf(amber.KindInvalid, op, "", "to send conversations, the server and the primary need sessions and turns")
	}
	return nil
}

// sessionSettings tells apart what changes the conversations that are sent.
func (o *Options) sessionSettings() string {
	return fmt.Sprintf("%d %s %s %t", bodyVersion, o.Rules, o.Sessions, o.leaves(amber.ScopeSession))
}

const (
	sessionSpace   = "amber-"
	maxPlainName   = 64
	sessionsFolder = "/sessions"
)

// sessionPrefix begins the names of the conversations of an agent: others may share the user.
func (l layout) sessionPrefix() string {
	sum := sha256.Sum256([]byte(string(l.tenant) + "\x1f" + string(l.agent)))
	return sessionSpace + hex.EncodeToString(sum[:8]) + "-"
}

// sessionName names a conversation on the server: by its id where that has only [a-z0-9-], else by
// a digest of it.
func (l layout) sessionName(id amber.SessionID) string {
	other := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }
	if len(id) <= maxPlainName && !strings.ContainsFunc(string(id), other) {
		return l.sessionPrefix() + "s-" + string(id)
	}
	sum := sha256.Sum256([]byte(id))
	return l.sessionPrefix() + "x-" + hex.EncodeToString(sum[:])
}

// sessionsRoot is the folder of the conversations of the user.
func (l layout) sessionsRoot() string { return scheme + l.user + sessionsFolder }

// parseSession returns the name of a conversation of this agent of which a file or folder is listed.
func (l layout) parseSession(uri string) (name string, ok bool) {
	rest, inside := strings.CutPrefix(uri, l.sessionsRoot()+"/")
	name, _, _ = strings.Cut(rest, "/")
	return name, inside && l.user != "" && strings.HasPrefix(name, l.sessionPrefix())
}

const (
	// maxConversation bounds what is held of one conversation, in bytes.
	maxConversation = 64 << 20
)

// messages returns what is sent of a session: its turns in order, without secrets and without
// turns of others. The tag of each message is made of its number, and of all messages up to it.
// Errors: invalid for a conversation that is too large; those of the primary.
func (s *Store) messages(ctx context.Context, id amber.SessionID) (all []api.Message, err error) {
	turns, err := s.turns(ctx, id)
	if err != nil {
		return nil, err
	}
	var chain [sha256.Size]byte
	for i := range turns {
		t := &turns[i]
		text := trim(strings.ToValidUTF8(s.o.Redact(t.Content), "\uFFFD"))
		if text == "" || t.Trust == amber.TrustImported {
			continue
		}
		m := api.Message{Role: string(t.Role), Text: bounded(text), At: t.CreatedAt}
		h := sha256.New()
		fmt.Fprintf(h, "%s%s\x1f%s", chain[:], m.Role, m.Text)
		h.Sum(chain[:0])
		m.Tag = tagOf(len(all)+1, hex.EncodeToString(chain[:8]))
		all = append(all, m)
	}
	return all, nil
}

// turns loads a session as a whole.
func (s *Store) turns(ctx context.Context, id amber.SessionID) (turns []amber.Turn, err error) {
	size := 0
	for q := (amber.TurnQuery{SessionID: id, Oldest: true, Limit: amber.MaxPageSize}); ; {
		page, err := s.o.Primary.Turns.ListTurns(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, t := range page.Items {
			turns, size = append(turns, t.Turn), size+len(t.Content)
		}
		if size > maxConversation {
			return nil, amber.Errorf(amber.KindInvalid, "send session", string(id), "its first %d turns have %d bytes, want at most %d in all", len(turns), size, maxConversation)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return turns, nil
		}
	}
}

// tagOf is the tag of the nth message, with a digest of all messages up to it.
func tagOf(n int, digest string) string { return fmt.Sprintf("%s%d-%s", sessionSpace, n, digest) }

// parseTag takes a tag apart. Tags come from the server: one that tagOf would not have made is not
// ours.
func parseTag(tag string) (at mirroredTo, ok bool) {
	rest, found := strings.CutPrefix(tag, sessionSpace)
	number, digest, cut := strings.Cut(rest, "-")
	if _, err := fmt.Sscanf(number, "%d", &at.N); err != nil || !found || !cut || at.N < 1 || len(digest) != 16 || !isHex(digest) {
		return mirroredTo{}, false
	}
	at.D = digest
	return at, tagOf(at.N, digest) == tag
}
