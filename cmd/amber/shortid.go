package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
)

// withMemory is withStore for a verb about one memory: it finds out which one
// the argument names.
func (a *app) withMemory(cmd *cobra.Command, arg string, fn func(ctx context.Context, s *opened, id amber.MemoryID) error) error {
	end, err := agent.ParseIDEnd(arg)
	if err != nil {
		return err
	}
	return a.withStore(cmd, func(ctx context.Context, s *opened) error {
		id, err := agent.FindMemory(ctx, s.Store, end)
		if err != nil {
			return err
		}
		return fn(ctx, s, id)
	})
}
