package openviking_test

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/store/openviking/api"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/ovfake"
)

// renewable is a key that is made anew.
type renewable struct{ atomic.Value }

func (r *renewable) key() string { return r.Load().(string) }

// campaignKey makes a user of a server for a campaign, and returns how its key is made anew.
func campaignKey(t *testing.T, url, root string) (key *renewable, renew func() string) {
	t.Helper()
	admin := must.Get(api.New(api.Options{URL: url, Key: func() (string, error) { return root, nil }}))(t)
	t.Cleanup(func() { _ = admin.Close() })
	key = &renewable{}
	key.Store(must.Get(admin.CreateUser(t.Context(), "default", "campaign"))(t))
	return key, func() string { return must.Get(admin.NewKey(t.Context(), "default", "campaign"))(t) }
}

// Whatever happens to a server: no write fails, every question in a memory's own words is
// answered, and afterwards the server has everything by itself, and nothing that was erased.
func TestOutages(t *testing.T) {
	t.Parallel()
	work := t.TempDir()
	f := ovfake.New(ovfake.Options{Embedder: ovfake.Embedder{Dimensions: 1024}, Workspace: work})
	t.Cleanup(f.Close)
	url := f.Start()
	key, renew := campaignKey(t, url, f.RootKey())
	c := newCampaign(t, url, key.key, &swiftClock{longest: 10 * time.Millisecond})
	c.workspace, c.steps, c.idle = work, 20, time.Second
	calm := func(*testing.T) { f.Calm() }
	var fresh string
	c.run(t, []trouble{
		{name: "stopped", begin: func(*testing.T) { f.Down(true) }, end: calm},
		{name: "killed, and vectors lost", begin: func(*testing.T) { f.Down(true) }, end: func(t *testing.T) { f.LoseVectors(3); f.Calm() }},
		{name: "hanging", begin: func(*testing.T) { f.Slow(time.Hour) }, end: calm},
		{name: "slow", begin: func(*testing.T) { f.Slow(2 * time.Second) }, end: calm, fed: true},
		{name: "500", begin: func(*testing.T) { f.Fail(500, "INTERNAL") }, end: calm},
		{name: "503", begin: func(*testing.T) { f.Fail(503, "UNAVAILABLE") }, end: calm},
		{name: "full disk", begin: func(*testing.T) { f.FullDisk(true) }, end: calm, asked: true},
		{name: "embedder away for ten minutes", begin: func(*testing.T) { f.EmbedderDown(true) }, end: calm, lasts: 10 * time.Minute, fed: true},
		{name: "key revoked", begin: func(*testing.T) { fresh = renew() }, end: func(*testing.T) { key.Store(fresh) }},
		{name: "another version", begin: func(*testing.T) { f.Version("0.6.0") }, end: calm},
		{name: "a page", begin: func(*testing.T) { f.HTML(true) }, end: calm},
	})
}
