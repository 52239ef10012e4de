package main

import (
	"slices"
	"sync"

	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/intake"
	"github.com/amber-memory/amber/internal/redact"
)

// writeRules are the rules by which secrets are taken out of what a command
// writes; nil: none are. A server takes them out by its own configuration.
func (s *opened) writeRules() *redact.Redactor {
	if s.remote != nil {
		return nil
	}
	return s.config.Config.Intake()
}

// writeRulesOnce returns what gives the rules of the configuration, which is read
// when they are first needed. One that cannot be read keeps the store from being
// opened, and is told then.
func (a *app) writeRulesOnce() func() *redact.Redactor {
	return sync.OnceValue(func() *redact.Redactor {
		if a.remote != nil {
			return nil // the server has its own
		}
		loaded, err := a.loadConfig()
		if err != nil {
			return config.Default().Intake()
		}
		return loaded.Config.Intake()
	})
}

// tellTaken says what was taken out of what a command wrote.
func (a *app) tellTaken(counts map[string]int) {
	if len(counts) > 0 {
		a.out.note("secrets were taken out before it was stored: %s", intake.Said(counts))
	}
}

// writeRules returns what gives the rules of the configuration as it is now. They
// are made anew only when it has changed.
func (s *serving) writeRules() func() *redact.Redactor {
	var mu sync.Mutex
	last := config.Default()
	rules := last.Intake()
	return func() *redact.Redactor {
		now := s.current()
		mu.Lock()
		defer mu.Unlock()
		if now.Write != last.Write || !slices.Equal(now.Redact.Rules, last.Redact.Rules) || !slices.Equal(now.Redact.Exceptions, last.Redact.Exceptions) {
			last, rules = now, now.Intake()
		}
		return rules
	}
}
