package config_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

// With memory.backend: remote every layer lies on the server, the notes too.
func TestRemoteServesEveryLayer(t *testing.T) {
	t.Parallel()
	h, server := newHouse(t), &fake{name: "server"}
	must.Do(t, h.Register(config.RemoteBackend, server.open))
	c := load(t, config.Input{Flags: map[string]string{"memory.backend": "remote", "memory.backends.remote.url": "https://memory.example.org"}}).Config
	must.Equal(t, "edge", c.IsEdge(), true)
	must.Equal(t, "edge by default", config.Default().IsEdge(), false)
	r := must.Get(h.Resolve(t.Context(), c))(t)
	for l, name := range servedBy(t, r.Store) {
		must.Equal(t, "backend of "+string(l), name, "server")
	}
	for _, l := range r.Report.Layers {
		must.Equal(t, "reason of "+string(l.Layer), l.Reason, "memory.backend is remote")
	}
	must.Hold(t, r.Store.Capabilities().Ingest, "the journal cannot be drained there")
	must.Equal(t, "times the server was opened", len(server.configs), 1)
	must.Equal(t, "other backends that were opened", len(h.sqlite.configs)+len(h.git.configs), 0)
}

func TestRemoteIsAllOrNothing(t *testing.T) {
	t.Parallel()
	const url = "memory.backends.remote.url"
	for name, tt := range map[string]struct {
		flags map[string]string
		words []string
	}{
		"no URL":             {map[string]string{"memory.backend": "remote"}, []string{url, "not set"}},
		"one layer here":     {map[string]string{"memory.backend": "remote", url: "https://h.example", "memory.layers.turns.backend": "sqlite"}, []string{"memory.layers.turns.backend", `"sqlite"`}},
		"one layer there":    {map[string]string{"memory.layers.turns.backend": "remote", url: "https://h.example"}, []string{"memory.layers.turns.backend", "not for one layer"}},
		"memory off, no URL": {map[string]string{"memory.enabled": "no", "memory.backend": "remote"}, []string{url}},
	} {
		h, server := newHouse(t), &fake{name: "server"}
		must.Do(t, h.Register(config.RemoteBackend, server.open))
		c := load(t, config.Input{Flags: tt.flags}).Config
		wantError(t, name, h.Check(c), amber.KindInvalid, tt.words...)
		_, err := h.Resolve(t.Context(), c)
		wantError(t, name, err, amber.KindInvalid, tt.words...)
		must.Equal(t, name+": backends that were opened", len(server.configs)+len(h.sqlite.configs), 0)
	}
}

// A token is not sent in the clear, and no URL holds a password.
func TestRemoteURL(t *testing.T) {
	t.Parallel()
	for url, ok := range map[string]bool{
		"https://memory.example.org": true, "https://memory.example.org:8443/amber": true, "http://127.0.0.1:7411": true, "http://localhost:7411": true, "http://[::1]:7411": true,
		"http://memory.example.org": false, "http://10.0.0.7:7411": false, "https://ann:secret@memory.example.org": false, "memory.example.org": false, "https://memory.example.org?token=x": false,
	} {
		_, err := config.Load(config.Input{Flags: map[string]string{"memory.backends.remote.url": url}})
		must.Equal(t, url, err == nil, ok)
		if err != nil {
			must.Kind(t, url, err, amber.KindInvalid, "memory.backends.remote.url")
			must.Hides(t, url, err.Error(), "secret@")
		}
	}
}
