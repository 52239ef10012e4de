package vaultapi

import (
	"time"

	"github.com/amber-memory/amber"
)

// EntryName is for tests.
func EntryName(name string, taken map[string]bool) string { return entryName(name, taken) }

// Counter counts the changes of agents.
type Counter struct{ r rates }

// Take counts one change of an agent, of at most so many in an hour.
func (c *Counter) Take(agent amber.AgentID, most int, now time.Time) (left int, wait time.Duration) {
	return c.r.take(counted{"t", agent, operations}, most, time.Hour, now)
}

// Agents is how many are remembered.
func (c *Counter) Agents() int { return len(c.r.seen) }
