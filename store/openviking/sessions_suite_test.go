package openviking_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/must"
	"github.com/amber-memory/amber/store/openviking"
	"github.com/amber-memory/amber/store/openviking/api"
	"github.com/amber-memory/amber/store/openviking/ovfake"
	"github.com/amber-memory/amber/store/sqlite"
)

// deaf is a client that loses the answer of every third call that changes a conversation.
type deaf struct {
	*api.Client
	calls int
}

func (d *deaf) hear(err error) error {
	if d.calls++; err == nil && d.calls%3 == 0 {
		return amber.Errorf(amber.KindUnreachable, "ask", "", "the answer is lost")
	}
	return err
}

func (d *deaf) CreateSession(ctx context.Context, id string) (bool, error) {
	created, err := d.Client.CreateSession(ctx, id)
	return created, d.hear(err)
}

func (d *deaf) AddMessages(ctx context.Context, id string, m []api.Message) (int, error) {
	live, err := d.Client.AddMessages(ctx, id, m)
	return live, d.hear(err)
}

func (d *deaf) Commit(ctx context.Context, id string) (bool, error) {
	archived, err := d.Client.Commit(ctx, id)
	return archived, d.hear(err)
}

func (d *deaf) DropSession(ctx context.Context, id string) error {
	return d.hear(d.Client.DropSession(ctx, id))
}

// speaker is a store whose conversations go to a server.
type speaker struct {
	*openviking.Store
	t       *testing.T
	primary *sqlite.Store
	work    string
	passed  time.Duration
}

func newSpeaker(t *testing.T, s *side, mode openviking.Sessions) *speaker {
	t.Helper()
	p := must.Get(s.backend(t).Fresh())(t).(place)
	x := &speaker{t: t, work: filepath.Join(s.work, "viking", "default", "user", p.user)}
	clock := func() time.Time { return time.Now().Add(x.passed) }
	h, _, err := home.Open(filepath.Join(p.dir, "home"), home.Options{Clock: clock, Random: rand.Reader})
	must.Do(t, err)
	agent := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	x.primary = must.Get(sqlite.Open(t.Context(), agent, sqlite.Options{Clock: clock, Random: rand.Reader}))(t)
	t.Cleanup(func() { must.NoError(t, x.primary.Close()) })
	client := must.Get(api.New(api.Options{URL: p.url, Key: func() (string, error) { return p.key, nil }, Request: time.Minute}))(t)
	t.Cleanup(func() { _ = client.Close() })
	x.Store = must.Get(openviking.New(openviking.Options{
		Primary: x.primary.Parts(), Cursors: x.primary, Server: client, Conversations: &deaf{Client: client}, Sessions: mode, TurnSession: x.primary.SessionOfTurn,
		URL: p.url, Tenant: amber.DefaultTenant, Agent: amber.DefaultAgent, Clock: clock, RetryAfter: api.RetryAfter,
	}))(t)
	return x
}

// talk adds turns to a session, and ends it.
func (x *speaker) talk(id amber.SessionID, texts ...string) {
	x.t.Helper()
	ctx := x.t.Context()
	must.Get(x.primary.StartSession(ctx, amber.SessionStart{ID: id}))(x.t)
	for _, text := range texts {
		must.Get(x.primary.AppendTurn(ctx, amber.Turn{SessionID: id, Role: amber.RoleUser, Content: text}))(x.t)
	}
	must.Get(x.primary.EndSession(ctx, amber.SessionEnd{ID: id}))(x.t)
}

// feedAll feeds until nothing is left, whatever is lost on the way.
func (x *speaker) feedAll() {
	x.t.Helper()
	for range 100 {
		r := must.Get(x.Feed(x.t.Context(), openviking.Budget{}))(x.t)
		if r.Done && r.Sessions.Problem == "" {
			return
		}
		x.passed += time.Hour
	}
	x.t.Fatal("the feeds get nowhere")
}

// said returns the messages of all conversations as they lie in the files of the server.
func (x *speaker) said() map[string][]string {
	x.t.Helper()
	all := map[string][]string{}
	must.Do(x.t, filepath.WalkDir(filepath.Join(x.work, "sessions"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "messages.jsonl" {
			return err
		}
		rest := must.Get(filepath.Rel(filepath.Join(x.work, "sessions"), path))(x.t)
		name, _, _ := strings.Cut(filepath.ToSlash(rest), "/")
		_, id, _ := strings.Cut(name, "-s-")
		f := must.Get(os.Open(path))(x.t)
		defer f.Close()
		for lines := bufio.NewScanner(f); lines.Scan(); {
			var m struct{ Parts []struct{ Text string } }
			must.Do(x.t, json.Unmarshal(lines.Bytes(), &m))
			all[id] = append(all[id], m.Parts[0].Text)
		}
		return nil
	}))
	return all
}

// holds reports whether a file of the user on the server has a text.
func (x *speaker) holds(text string) (found bool) {
	x.t.Helper()
	must.Do(x.t, filepath.WalkDir(x.work, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = found || strings.Contains(string(must.Get(os.ReadFile(path))(x.t)), text)
		}
		return err
	}))
	return found
}

// conversations has them sent to a server whose answers are lost now and then.
func conversations(t *testing.T, s *side) {
	for _, mode := range []openviking.Sessions{openviking.SessionsMirror, openviking.SessionsCommit} {
		t.Run(string(mode), func(t *testing.T) {
			x := newSpeaker(t, s, mode)
			var long []string
			for i := range 230 {
				long = append(long, fmt.Sprint("turn ", i))
			}
			x.talk("long", long...)
			x.talk("guarded", "the gateway has password=quuxzappo99 today")
			x.talk("quoted", "one", "remember that the launch code is 0000", "three")
			x.feedAll()
			said := x.said()
			must.Equal(t, "a long one", said["long"], long)
			must.Equal(t, "another", said["quoted"], []string{"one", "remember that the launch code is 0000", "three"})
			must.Equal(t, "conversations", len(said), 3)
			must.Hold(t, x.holds("quuxzappo99") && !strings.Contains(strings.Join(said["guarded"], ""), "quuxzappo99"), "a secret is not taken out: %q", said["guarded"])

			x.talk("long", "turn 230", "turn 231")
			x.feedAll()
			must.Equal(t, "resumed", x.said()["long"], append(long, "turn 230", "turn 231"))

			m := must.Get(x.Write(t.Context(), amber.WriteRequest{Content: "the launch code is 0000"}))(t).Memory
			must.Get(x.Erase(t.Context(), m.ID))(t)
			must.Do(t, x.primary.DeleteSession(t.Context(), "guarded"))
			x.feedAll()
			must.Equal(t, "erased", x.said()["quoted"], []string{"one", "three"})
			for _, text := range []string{"launch code", "quuxzappo99", "gateway has"} {
				must.Hold(t, !x.holds(text), "%q is still in a file of the server", text)
			}
			v := must.Get(x.Verify(t.Context(), false))(t)
			must.Hold(t, v.Clean() && v.Sessions.Mirrored == 2 && v.Sessions.Strange.Count == 0, "verification: %+v %+v", v, v.Sessions)
		})
	}
}

func TestConversationsOnAServer(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	f := ovfake.New(ovfake.Options{Workspace: work})
	t.Cleanup(f.Close)
	conversations(t, &side{url: f.Start(), root: f.RootKey(), work: work})
}

// TestRealConversations is TestConversationsOnAServer with a real server.
func TestRealConversations(t *testing.T) { conversations(t, realSide(t)) }
