package openviking

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/must"
	"github.com/amber-memory/amber/store/openviking/api"
)

// talkers is a server of conversations in memory with the habits of the real one: what is added is
// added again when it is sent again, a commit hides messages, and secrets outlive a conversation.
type talkers struct {
	mu      sync.Mutex
	all     map[string]*said
	secrets map[string]bool
	calls   []string
	// fault is asked before every call: an error ends it, and with after it is done before.
	fault func(op, name string, n int) (err error, after bool)
	// late has the next messages added once more, by a call that was given up.
	late bool
}

// said is a conversation.
type said struct {
	archived, live []api.Message
	commits        int
}

func (t *talkers) call(ctx context.Context, op, name string, do func() error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return amber.Errorf(amber.KindUnreachable, op, name, "%w", err)
	}
	t.calls = append(t.calls, op)
	if t.fault == nil {
		return do()
	}
	err, after := t.fault(op, name, len(t.calls))
	if err != nil && after {
		return cmp.Or(do(), err)
	}
	if err != nil {
		return err
	}
	return do()
}

func (t *talkers) set(fault func(op, name string, n int) (error, bool)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.fault, t.calls = fault, nil
}

func (t *talkers) at(name string) (*said, error) {
	if s := t.all[name]; s != nil {
		return s, nil
	}
	return nil, amber.Errorf(amber.KindNotFound, "session", name, "no such conversation")
}

func (t *talkers) CreateSession(ctx context.Context, name string) (created bool, err error) {
	err = t.call(ctx, "create", name, func() error {
		if created = t.all[name] == nil; created {
			t.all[name] = &said{}
		}
		return nil
	})
	return created && err == nil, err
}

func (t *talkers) AddMessages(ctx context.Context, name string, messages []api.Message) (live int, err error) {
	err = t.call(ctx, "add", name, func() error {
		size := 0
		for _, m := range messages {
			size += len(m.Text)
			if strings.Contains(m.Text, "UNSPEAKABLE") {
				return amber.Errorf(amber.KindInvalid, "add", name, "not to be said")
			}
			if strings.Contains(m.Text, "password=") {
				t.secrets[name] = true
			}
		}
		if len(messages) == 0 || len(messages) > 100 || size > 16<<20 {
			return amber.Errorf(amber.KindInternal, "add", name, "%d messages of %d bytes", len(messages), size)
		}
		if t.all[name] == nil {
			t.all[name] = &said{}
		}
		s := t.all[name]
		if s.live = append(s.live, messages...); t.late {
			s.live, t.late = append(s.live, messages...), false
		}
		live = len(s.live)
		return nil
	})
	return live, err
}

func (t *talkers) Session(ctx context.Context, name string) (s api.Session, err error) {
	err = t.call(ctx, "session", name, func() error {
		x, err := t.at(name)
		if err == nil {
			s = api.Session{Live: len(x.live), Total: len(x.live) + len(x.archived), Commits: x.commits}
		}
		return err
	})
	return s, err
}

func (t *talkers) SessionContext(ctx context.Context, name string) (tag string, err error) {
	err = t.call(ctx, "context", name, func() error {
		x, err := t.at(name)
		if err == nil && len(x.live) > 0 {
			tag = x.live[len(x.live)-1].Tag
		}
		return err
	})
	return tag, err
}

func (t *talkers) Commit(ctx context.Context, name string) (archived bool, err error) {
	err = t.call(ctx, "commit", name, func() error {
		x, err := t.at(name)
		if err != nil || len(x.live) == 0 {
			return err
		}
		x.archived, x.live, archived = append(x.archived, x.live...), nil, true
		x.commits++
		return nil
	})
	return archived, err
}

func (t *talkers) DropSession(ctx context.Context, name string) error {
	return t.call(ctx, "drop", name, func() error { delete(t.all, name); return nil })
}

func (t *talkers) DropSecrets(ctx context.Context, name string) error {
	return t.call(ctx, "secrets", name, func() error { delete(t.secrets, name); return nil })
}

// chat is a world whose conversations are sent.
type chat struct {
	*world
	talk   *talkers
	owners map[amber.TurnID]amber.SessionID
	change []func(*Options)
}

func newChat(t testing.TB, mode Sessions, change ...func(*Options)) *chat {
	t.Helper()
	c := &chat{talk: &talkers{all: map[string]*said{}, secrets: map[string]bool{}}, owners: map[amber.TurnID]amber.SessionID{}}
	c.change = append([]func(*Options){func(o *Options) {
		o.Sessions, o.Conversations = mode, c.talk
		o.TurnSession = func(_ context.Context, id amber.TurnID) (amber.SessionID, error) {
			if s, ok := c.owners[id]; ok {
				return s, nil
			}
			return "", amber.Errorf(amber.KindNotFound, "turn", string(id), "no such turn")
		}
	}}, change...)
	c.world = newWorld(t, c.change...)
	return c
}

// reopen is a new process.
func (c *chat) reopen(change ...func(*Options)) {
	c.t.Helper()
	c.open(append(slices.Clone(c.change), change...)...)
}

func (c *chat) start(id amber.SessionID) {
	c.t.Helper()
	must.Get(c.primary.StartSession(c.t.Context(), amber.SessionStart{ID: id}))(c.t)
}

func (c *chat) end(id amber.SessionID) {
	c.t.Helper()
	must.Get(c.primary.EndSession(c.t.Context(), amber.SessionEnd{ID: id}))(c.t)
}

func (c *chat) turn(id amber.SessionID, role amber.Role, text string) {
	c.t.Helper()
	turn := must.Get(c.primary.AppendTurn(c.t.Context(), amber.Turn{SessionID: id, Role: role, Content: text}))(c.t)
	c.owners[turn.ID] = id
}

// told makes a session with turns that ended.
func (c *chat) told(id amber.SessionID, texts ...string) {
	c.t.Helper()
	c.start(id)
	for i, text := range texts {
		c.turn(id, []amber.Role{amber.RoleUser, amber.RoleAssistant, amber.RoleTool, amber.RoleSystem}[i%4], text)
	}
	c.end(id)
}

// wanted are the messages of all sessions that ended, by the names of their conversations.
func (c *chat) wanted() map[string][]string {
	c.t.Helper()
	all := map[string][]string{}
	for _, s := range must.Get(c.primary.ListSessions(c.t.Context(), amber.SessionQuery{Limit: 1000}))(c.t).Items {
		for _, t := range must.Get(amber.LastTurns(c.t.Context(), c.primary, s.ID, 10_000))(c.t) {
			if !s.EndedAt.IsZero() {
				name := layout{"default", "default", "coder"}.sessionName(s.ID)
				all[name] = append(all[name], string(t.Role)+" "+t.Content)
			}
		}
	}
	return all
}

func (c *chat) has() map[string][]string {
	all := map[string][]string{}
	for name, s := range c.talk.all {
		for _, m := range slices.Concat(s.archived, s.live) {
			all[name] = append(all[name], m.Role+" "+m.Text)
		}
	}
	return all
}

// same reports where the server does not have every turn once and in order.
func (c *chat) same(what string) {
	c.t.Helper()
	must.Equal(c.t, what, c.has(), c.wanted())
	if c.o.Sessions == SessionsCommit {
		for _, name := range slices.Sorted(maps.Keys(c.talk.all)) {
			must.Equal(c.t, fmt.Sprint(what, ": messages that were not committed in ", name), len(c.talk.all[name].live), 0)
		}
	}
}

func (c *chat) status() SessionStatus {
	c.t.Helper()
	return *must.Get(c.Status(c.t.Context()))(c.t).Sessions
}
