package config

import (
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// contextKeys say what is put before an agent that did not ask for it.
func contextKeys() []Key {
	return []Key{
		key("context.trust", ContextDerived, "", func(c *Config) *Insistence { return &c.Context.Trust }).among(ContextDerived, ContextOwn),
		key("context.min_score", amber.RelevantScore, 0, func(c *Config) *float64 { return &c.Context.MinScore }),
		key("context.max_bytes", wire.DefaultContextBytes, wire.MaxContextBytes, func(c *Config) *int { return &c.Context.MaxBytes }),
		key("context.budget", 150*time.Millisecond, time.Minute, func(c *Config) *time.Duration { return &c.Context.Budget }),
		key("context.stay", 10*time.Minute, 24*time.Hour, func(c *Config) *time.Duration { return &c.Context.Stay }).as(Span),
	}
}
