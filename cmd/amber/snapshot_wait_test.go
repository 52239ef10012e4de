package main

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/store/home"
)

// TestSnapshotWaitsAsLongAsConfigured holds, one after the other, everything
// that a snapshot and a restore may have to wait for.
func TestSnapshotWaitsAsLongAsConfigured(t *testing.T) {
	t.Parallel()
	p := newHome(t, [][]string{
		{"remember", "We chose PostgreSQL for JSONB"},
		{"journal", "append", "--session", "s-1", "--type", "prompt", "why not MySQL"},
	})
	id := p.snapshot()
	h, err := home.At(p.home, home.Options{Clock: p.world.Clock, Random: p.world.Random})
	p.must(err)
	agent, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	p.must(err)
	j, err := journal.Open(agent.SpoolDir(), journal.Options{Clock: p.world.Clock})
	p.must(err)
	// Without the setting every wait takes longer than the whole command may.
	p.world.Environ = append(p.world.Environ, "AMBER_SNAPSHOT__LOCK_TIMEOUT=100ms")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for _, hold := range map[string]func(func() error) error{
		"operation": func(fn func() error) error { return agent.Operate(ctx, fn) },
		"writers": func(fn func() error) error {
			return agent.Write(ctx, "memory", func(home.Current) error { return fn() })
		},
		"drain": func(fn func() error) error {
			end, err := j.BeginDrain(ctx)
			if err != nil {
				return err
			}
			return errors.Join(fn(), end())
		},
	} {
		for _, args := range [][]string{{"snapshot", "create"}, {"snapshot", "restore", id, "--yes"}} {
			p.must(hold(func() error {
				runIn(ctx, t, p.world, args...).exits(4).tells("another")
				return nil
			}))
		}
	}
	p.run("snapshot", "restore", id, "--yes").exits(0)
}
