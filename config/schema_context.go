package config

import (
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// contextKeys say what is put before an agent that did not ask for it.
func contextKeys() []Key {
	trust := key("context.trust", ContextDerived, "",
		"Which memories are put before an agent that did not ask for them: derived, also what was said and found in sessions of this home; own, only what was written here or signed by a trusted key. Imported memories never are.",
		func(c *Config) *Insistence { return &c.Context.Trust })
	trust.Choices = []string{string(ContextDerived), string(ContextOwn)}
	return []Key{
		trust,
		key("context.min_score", amber.RelevantScore, 0,
			"How likely relevant to a prompt a passage has to be to be put before it. Higher is quieter.",
			func(c *Config) *float64 { return &c.Context.MinScore }),
		key("context.max_bytes", wire.DefaultContextBytes, wire.MaxContextBytes,
			"The most bytes that a hook puts before an agent, 512 at least.",
			func(c *Config) *int { return &c.Context.MaxBytes }),
		key("context.budget", 150*time.Millisecond, time.Minute,
			"How long a hook looks for memories. When the time is up, the hook prints what it has and says so on stderr.",
			func(c *Config) *time.Duration { return &c.Context.Budget }),
		key("context.stay", 10*time.Minute, 24*time.Hour,
			"How long the process that drains the journal behind hooks stays after the last of them. It has the store open and answers the next hooks, several times faster than they could themselves. 0: it ends when nothing comes any more.",
			func(c *Config) *time.Duration { return &c.Context.Stay }).as(Span),
	}
}
