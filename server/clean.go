package server

import (
	"context"

	"github.com/amber-memory/amber/internal/intake"
	"github.com/amber-memory/amber/internal/redact"
)

// rulesKey is the key of the rules of a job in its context.
type rulesKey struct{}

// clean returns the agent as a job that writes has it: secrets are taken out of
// what it writes, and counted in the context.
func (d *Desk) clean(ctx context.Context, a *Agent) (context.Context, *Agent) {
	if d.Redact == nil {
		return ctx, a
	}
	rules := d.Redact()
	if rules == nil {
		return ctx, a
	}
	ctx, _ = intake.WithReport(context.WithValue(ctx, rulesKey{}, rules))
	clean := *a
	clean.Store = intake.CleanAll(a.Store, rules)
	return ctx, &clean
}

// Redacted returns how many secrets were taken out of what a job has written so
// far, by rule; nil when there were none. It is called with the context of the
// job.
func Redacted(ctx context.Context) map[string]int { return intake.Taken(ctx) }

// Redact takes secrets out of a text that a job writes elsewhere than to the store
// of the agent, as its configuration has it.
func Redact(ctx context.Context, text string) string {
	rules, _ := ctx.Value(rulesKey{}).(*redact.Redactor)
	return intake.Text(ctx, rules, text)
}

// RedactedText is what [Redacted] returned as a line of text, "" for nothing:
// "github-token=1, password=2".
func RedactedText(counts map[string]int) string { return intake.Said(counts) }
