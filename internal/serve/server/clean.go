package server

import (
	"context"

	"github.com/amber-memory/amber/internal/guard/intake"
	"github.com/amber-memory/amber/op"
)

// clean takes secrets out of what a call writes, to the store of the agent and elsewhere, and counts them in the context.
func (d *Desk) clean(ctx context.Context, c *op.Call) context.Context {
	if d.Redact == nil {
		return ctx
	}
	rules := d.Redact()
	if rules == nil {
		return ctx
	}
	ctx, _ = intake.WithReport(ctx)
	clean := *c.Agent
	clean.Store = intake.CleanAll(c.Store, rules)
	c.Agent = &clean
	c.Clean = func(text string) string { return intake.Text(ctx, rules, text) }
	return ctx
}
