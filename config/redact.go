package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber/internal/redact"
)

const (
	rulesPath      = "redact.rules"
	exceptionsPath = "redact.exceptions"
)

func redactKeys() []Key {
	return []Key{
		patternsKey(rulesPath,
			"Your own rules for secrets: patterns in RE2 with a name each, as in \"ticket = TCK-[0-9]{6}\". They are used wherever secrets are removed: hooks, MCP, HTTP, commands, exports, bundles, sync and vault. `amber redact --check FILE` tries them.",
			func(c *Config) *[]string { return &c.Redact.Rules }),
		patternsKey(exceptionsPath,
			"Texts that are not secrets: patterns in RE2 that match the whole text that a rule would remove.",
			func(c *Config) *[]string { return &c.Redact.Exceptions }),
	}
}

func patternsKey(path, doc string, at func(*Config) *[]string) Key {
	return Key{
		Path: path, Type: Patterns, Default: []string(nil), Doc: doc,
		set: func(c *Config, v any) { *at(c) = slices.Clone(v.([]string)) },
		get: func(c *Config) any { return *at(c) },
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

// splitLines returns the lines of a text that are not empty.
func splitLines(text string) []string {
	list := []string{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			list = append(list, line)
		}
	}
	return list
}

// Redactor returns what takes secrets out of what is kept for others: by the rules
// of Amber and those that are configured.
func (c Config) Redactor() *redact.Redactor { return c.redactor(false) }

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
