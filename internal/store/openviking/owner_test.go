package openviking_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
)

// A key that lies in the place of another one sends nothing to its owner, also when it comes while
// the client is at work.
func TestKeyOfAnotherTenantIsNotUsed(t *testing.T) {
	t.Parallel()
	f := ovfake.New(ovfake.Options{})
	t.Cleanup(f.Close)
	root := must.Get(api.New(api.Options{URL: f.Start(), Key: func() (string, error) { return f.RootKey(), nil }}))(t)
	keys := map[string]string{}
	for _, account := range []string{"acme", "globex"} {
		must.Get(root.CreateAccount(t.Context(), account, "admin"))(t)
		keys[account] = must.Get(root.CreateUser(t.Context(), account, "coder"))(t)
	}
	key := keys["acme"]
	client := must.Get(api.New(api.Options{URL: f.Start(), Key: func() (string, error) { return key, nil }, Owner: api.Owner{Account: "acme", User: "coder"}}))(t)
	const file = "viking://user/coder/memories/amber/x/one.md"
	must.Do(t, client.Write(t.Context(), file, "a text of acme"))

	for _, wrong := range []string{keys["globex"], "no key of this server"} {
		key = wrong
		must.Kind(t, "write", client.Write(t.Context(), file, "a text of acme"), amber.KindRefused)
		must.Fail(client.Health(t.Context()))(t, "health", amber.KindRefused)
	}
	theirs := must.Get(api.New(api.Options{URL: f.Start(), Key: func() (string, error) { return keys["globex"], nil }}))(t)
	must.Fail(theirs.Download(t.Context(), file))(t, "file of the other tenant", amber.KindNotFound)
	key = keys["acme"]
	must.Get(client.Download(t.Context(), file))(t)
}
