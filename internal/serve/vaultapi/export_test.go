package vaultapi

import (
	"time"

	"github.com/amber-memory/amber"
)

// EntryNames is for tests.
func EntryNames(names []string) []string { return entryNames(names) }

// Counter counts the changes of agents.
type Counter struct{ r rates }

// Take counts one change of an agent, of at most so many in an hour.
func (c *Counter) Take(agent amber.AgentID, most int, now time.Time) (left int, wait time.Duration) {
	return c.r.take(counted{"t", agent, operations}, most, time.Hour, now)
}

// Agents is how many are remembered.
func (c *Counter) Agents() int { return len(c.r.seen) }
