package openviking_test

import (
	"crypto/rand"
	"path/filepath"
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

func TestConversationsStayWithTheFirstOwner(t *testing.T) {
	t.Parallel()
	f := ovfake.New(ovfake.Options{})
	t.Cleanup(f.Close)
	url := f.Start()
	root := must.Get(api.New(api.Options{URL: url, Key: func() (string, error) { return f.RootKey(), nil }}))(t)
	keys := map[string]string{}
	for _, account := range []string{"acme", "globex"} {
		must.Get(root.CreateAccount(t.Context(), account, "admin"))(t)
		keys[account] = must.Get(root.CreateUser(t.Context(), account, account+"user"))(t)
	}
	key := keys["acme"]
	client := must.Get(api.New(api.Options{URL: url, Key: func() (string, error) { return key, nil }, SameOwner: true}))(t)
	h, _, err := home.Open(filepath.Join(t.TempDir(), "home"), home.Options{Clock: time.Now, Random: rand.Reader})
	must.Do(t, err)
	agent := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	primary := must.Get(sqlite.Open(t.Context(), agent, sqlite.Options{Clock: time.Now, Random: rand.Reader}))(t)
	t.Cleanup(func() { must.NoError(t, primary.Close()) })
	s := must.Get(openviking.New(openviking.Options{
		Primary: primary.Parts(), Cursors: primary, Server: client, Conversations: client, Sessions: openviking.SessionsMirror, TurnSession: primary.SessionOfTurn,
		URL: url, Tenant: amber.DefaultTenant, Agent: amber.DefaultAgent, Clock: time.Now,
	}))(t)
	must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "one"}))(t)
	must.Get(s.Feed(t.Context(), openviking.Budget{}))(t)
	key = keys["globex"]
	must.Get(primary.StartSession(t.Context(), amber.SessionStart{ID: "s"}))(t)
	must.Get(primary.AppendTurn(t.Context(), amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: "a turn of acme"}))(t)
	must.Get(primary.EndSession(t.Context(), amber.SessionEnd{ID: "s"}))(t)
	r := must.Get(s.Feed(t.Context(), openviking.Budget{}))(t)
	must.Says(t, "feed with the key of somebody else", r.Sessions.Problem, "the key is that of user")
	must.Equal(t, "conversations of the other account", len(f.Sessions("globex", "globexuser")), 0)
}
