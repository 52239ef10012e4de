package openviking_test

import (
	"crypto/rand"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking"
	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// A key of another account that comes into the key file while the client is at work gets no memory.
func TestMemoriesStayWithTheFirstOwner(t *testing.T) {
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
		Primary: primary.Parts(), Cursors: primary, Server: client,
		URL: url, Tenant: amber.DefaultTenant, Agent: amber.DefaultAgent, Clock: time.Now,
	}))(t)
	must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "one"}))(t)
	must.Get(s.Feed(t.Context(), openviking.Budget{}))(t)
	key = keys["globex"]
	must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "a memory of acme"}))(t)
	must.Kind(t, "feed with the key of another account", must.Err(s.Feed(t.Context(), openviking.Budget{})), amber.KindRefused, "the key is that of user")
}
