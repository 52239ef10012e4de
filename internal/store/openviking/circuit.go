package openviking

import (
	"sync"
	"time"
)

const (
	circuitFailures = 3
	circuitRest     = 30 * time.Second
)

// circuit leaves a server alone that failed three times in a row. After a rest one question
// tries it, and does not wait for it as long as others do. The zero value is ready.
type circuit struct {
	mu       sync.Mutex // guards everything below
	failures int
	until    time.Time
	probing  bool
}

// enter reports whether the server may be asked now, and whether that tries a server that has
// failed. If it may be asked, leave has to be called.
func (c *circuit) enter(now time.Time) (may, tries bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failures < circuitFailures {
		return true, false
	}
	if c.probing || now.Before(c.until) {
		return false, false
	}
	c.probing = true
	return true, true
}

// outcome is how a question to the server ended.
type outcome int

const (
	answered outcome = iota
	failed
	undecided // says nothing about the server
)

func (c *circuit) leave(now time.Time, o outcome) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.probing = false
	switch o {
	case answered:
		c.failures = 0
	case failed:
		if c.failures++; c.failures >= circuitFailures {
			c.until = now.Add(circuitRest)
		}
	}
}

// trip leaves the server alone at once: a feeder found it away, at the time failed.
func (c *circuit) trip(now, failed time.Time) {
	if passed := now.Sub(failed); passed < 0 || passed >= circuitRest {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures, c.until = circuitFailures, failed.Add(circuitRest)
}
