package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/amber-memory/amber"
)

const (
	// MaxMessages is the largest number of messages of one [Client.AddMessages].
	MaxMessages = 100

	maxMessageBytes = 16 << 20 // of all messages of a call
	sessionsPath    = "/api/v1/sessions"
	// contextTokens bounds the answer to the question for the last message: it is always shown.
	contextTokens = 1000
)

// Message is one of a conversation.
type Message struct {
	Role string
	Text string
	// Tag is kept beside the text, which the server may change: it takes secrets out.
	Tag string
	At  amber.Time // zero: the server's
}

// Session is what a server says of a conversation.
type Session struct {
	Live    int // messages that no commit has archived
	Total   int // all that were added; Live, where the server does not say
	Commits int
}

// session is a request about one conversation. Errors: invalid.
func session(op, method, id, more string) (request, error) {
	return request{op: op, method: method, path: sessionsPath + "/" + id + more, id: id}, checkIDs(op, id)
}

// CreateSession makes a conversation which is never committed by itself. Created is false for one
// that is there. Errors: invalid, also for a server that took another id.
func (c *Client) CreateSession(ctx context.Context, id string) (created bool, err error) {
	r, err := session("make OpenViking session", http.MethodPost, id, "")
	if err != nil {
		return false, err
	}
	r.path = sessionsPath
	r.body = struct {
		ID     string    `json:"session_id"`
		Policy *struct{} `json:"auto_commit_policy"`
	}{ID: id}
	a, err := ask[struct {
		ID string `json:"session_id"`
	}](ctx, c, r)
	switch {
	case errors.Is(err, errExists):
		return false, nil
	case err != nil:
		return false, err
	case a.ID == "":
		return false, c.damaged(r, errShape)
	}
	return true, c.sameID(r, a.ID)
}

func (c *Client) sameID(r request, answered string) error {
	if answered == r.id {
		return nil
	}
	return c.fail(r, amber.KindInvalid, "the server answers with the session %q, want %q", clean(answered), r.id)
}

// message is a message on the wire.
type message struct {
	Role    string     `json:"role"`
	Content string     `json:"content"`
	Tag     string     `json:"turn_id,omitempty"`
	At      amber.Time `json:"created_at,omitzero"`
}

// AddMessages adds messages to the end of a conversation, which is made where it is not there: all
// of them or none. The same messages are added again if they are sent again. It returns how many
// live messages there are then. Errors: invalid.
func (c *Client) AddMessages(ctx context.Context, id string, messages []Message) (live int, err error) {
	r, err := session("add to OpenViking session", http.MethodPost, id, "/messages/batch")
	if err != nil {
		return 0, err
	}
	sent, err := c.messages(r, messages)
	if err != nil {
		return 0, err
	}
	r.body = map[string][]message{"messages": sent}
	a, err := ask[struct {
		ID    string `json:"session_id"`
		Added *int   `json:"added"`
		Count *int   `json:"message_count"`
	}](ctx, c, r)
	switch {
	case err != nil:
		return 0, err
	case a.Added == nil || a.Count == nil || *a.Added != len(sent) || *a.Count < *a.Added:
		return 0, c.damaged(r, errShape)
	}
	return *a.Count, c.sameID(r, a.ID)
}

// messages checks what is sent. Errors: invalid.
func (c *Client) messages(r request, messages []Message) (sent []message, err error) {
	if len(messages) == 0 || len(messages) > MaxMessages {
		return nil, c.fail(r, amber.KindInvalid, "the call has %d messages, want 1 to %d", len(messages), MaxMessages)
	}
	size := 0
	for i, m := range messages {
		size += len(m.Text)
		switch {
		case !isID(m.Role) || m.Tag != "" && !isID(m.Tag):
			return nil, c.fail(r, amber.KindInvalid, "role or tag of message %d is not valid: want 1 to %d letters, digits or any of _.@-", i, maxID)
		case !utf8.ValidString(m.Text):
			return nil, c.fail(r, amber.KindInvalid, "message %d is not valid UTF-8", i)
		case size > maxMessageBytes:
			return nil, c.fail(r, amber.KindInvalid, "the call has more than %d bytes", maxMessageBytes)
		}
		sent = append(sent, message{m.Role, m.Text, m.Tag, m.At})
	}
	return sent, nil
}

// Session says how many messages a conversation has. Errors: not_found.
func (c *Client) Session(ctx context.Context, id string) (Session, error) {
	r, err := session("look at OpenViking session", http.MethodGet, id, "")
	if err != nil {
		return Session{}, err
	}
	a, err := ask[struct {
		ID      string `json:"session_id"`
		Live    *int   `json:"message_count"`
		Total   *int   `json:"total_message_count"`
		Commits *int   `json:"commit_count"`
	}](ctx, c, r)
	switch {
	case err != nil:
		return Session{}, err
	case a.Live == nil || a.Commits == nil || *a.Live < 0 || *a.Commits < 0:
		return Session{}, c.damaged(r, errShape)
	}
	s := Session{Live: *a.Live, Total: *a.Live, Commits: *a.Commits}
	if a.Total != nil {
		s.Total = max(s.Total, *a.Total)
	}
	return s, c.sameID(r, a.ID)
}

// SessionContext returns the tag of the last message of a conversation: of the live ones, or of
// those that a commit has archived and not worked through. "" for a message without a tag, and
// where there is none: after a commit it depends on the time. Errors: not_found.
func (c *Client) SessionContext(ctx context.Context, id string) (tag string, err error) {
	r, err := session("read OpenViking session", http.MethodGet, id, "/context")
	if err != nil {
		return "", err
	}
	r.query = map[string][]string{"token_budget": {strconv.Itoa(contextTokens)}}
	a, err := ask[struct {
		Messages []struct {
			Tag string `json:"turn_id"`
		} `json:"messages"`
	}](ctx, c, r)
	switch {
	case err != nil:
		return "", err
	case a.Messages == nil:
		return "", c.damaged(r, errShape)
	case len(a.Messages) == 0 || !isID(a.Messages[len(a.Messages)-1].Tag):
		return "", nil
	}
	return a.Messages[len(a.Messages)-1].Tag, nil
}

// Commit archives the live messages of a conversation, and has the server learn from them
// afterwards, which may fail. Archived is false where there are none. Errors: not_found.
func (c *Client) Commit(ctx context.Context, id string) (archived bool, err error) {
	r, err := session("commit OpenViking session", http.MethodPost, id, "/commit")
	if err != nil {
		return false, err
	}
	r.body = struct{}{}
	a, err := ask[struct {
		Archived *bool `json:"archived"`
	}](ctx, c, r)
	if err == nil && a.Archived == nil {
		err = c.damaged(r, errShape)
	}
	if err != nil {
		return false, err
	}
	return *a.Archived, nil
}

// DropSession deletes a conversation with its archives. One that is not there is fine. What the
// server learnt from it stays, and so do the secrets that it took out of the messages: see
// [Client.DropSecrets].
func (c *Client) DropSession(ctx context.Context, id string) error {
	r, err := session("drop OpenViking session", http.MethodDelete, id, "")
	if err != nil {
		return err
	}
	_, err = ask[any](ctx, c, r)
	if amber.KindOf(err) == amber.KindNotFound {
		return nil
	}
	return err
}

// DropSecrets deletes what the server took for secrets in the messages of a conversation, and keeps
// elsewhere. None is fine.
func (c *Client) DropSecrets(ctx context.Context, id string) error {
	r, err := session("drop secrets of OpenViking session", http.MethodDelete, id, "")
	if err != nil {
		return err
	}
	r.path = "/api/v1/privacy-configs/session/" + id
	_, err = ask[any](ctx, c, r)
	if amber.KindOf(err) == amber.KindNotFound {
		return nil
	}
	return err
}
