package vaultapi_test

import (
	"context"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony"
	"github.com/amber-memory/amber/colony/api"
	"github.com/amber-memory/amber/colony/colonytest"
	"github.com/amber-memory/amber/internal/check"
)

// backend is a client of the server.
func (w *world) backend(t testing.TB, key string) *api.Client {
	t.Helper()
	c, err := api.New(api.Options{
		URL: w.url + base, Key: func(context.Context) (string, error) { return key, nil }, Clock: w.clock.Read, HTTP: w.client,
	})
	check.OK(t, err)
	return c
}

// TestSuite holds what is served, as the client sees it, to what every vault
// promises.
func TestSuite(t *testing.T) {
	t.Parallel()
	colonytest.Run(t, func(t *testing.T) colony.Backend { return newWorld(t).backend(t, ada) })
}

// TestTheClientKnowsBefore: a client that may not write learns it before the first
// write.
func TestTheClientKnowsBefore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	check.NoError(t, w.backend(t, ada).MayWrite(t.Context()))
	check.Kind(t, "", w.backend(t, adaRead).MayWrite(t.Context()), amber.KindRefused)
	check.Kind(t, "", w.backend(t, wide).MayWrite(t.Context()), amber.KindRefused)
}
