package config

import (
	"fmt"

	"github.com/amber-memory/amber/internal/guard/redact"
)

const (
	rulesPath      = "redact.rules"
	exceptionsPath = "redact.exceptions"
)

func redactKeys() []Key {
	return []Key{
		textsKey(Patterns, rulesPath, func(c *Config) *[]string { return &c.Redact.Rules }),
		textsKey(Patterns, exceptionsPath, func(c *Config) *[]string { return &c.Redact.Exceptions }),
	}
}

// checkPatterns checks a list of patterns. None of them is repeated in the error:
// it may name what is secret.
func (k Key) checkPatterns(list []string) error {
	o := redact.Options{Own: list}
	if k.Path == exceptionsPath {
		o = redact.Options{Exceptions: list}
	}
	if _, err := redact.With(o); err != nil {
		return fmt.Errorf("%s: %w", k.Path, err)
	}
	return nil
}

// Redactor returns what takes secrets out of what is kept for others: by the rules
// of Amber and those that are configured.
func (c Config) Redactor() *redact.Redactor { return c.redactor(false) }

// Leaving returns what takes secrets out of an export, and private passages unless they may leave.
func (c Config) Leaving(private bool) *redact.Redactor { return c.redactor(private) }

// Intake returns what takes secrets out of what is written at a door, which keeps
// private passages; nil when none are taken out.
func (c Config) Intake() *redact.Redactor {
	if !c.Write.Redact {
		return nil
	}
	return c.redactor(true)
}

func (c Config) redactor(keepPrivate bool) *redact.Redactor {
	r, err := redact.With(redact.Options{Own: c.Redact.Rules, Exceptions: c.Redact.Exceptions, KeepPrivate: keepPrivate})
	if err != nil { // a configuration that was loaded has none that is wrong
		panic("config: " + err.Error())
	}
	return r
}
