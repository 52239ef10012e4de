package metrics

import "sync"

// other is the value of a label for what is not in its set.
const other = "other"

// closed is a set of values for a label.
type closed map[string]bool

func newClosed(values ...string) closed {
	c := closed{}
	for _, v := range values {
		c[v] = true
	}
	return c
}

// of returns v if it is in the set, other if not.
func (c closed) of(v string) string {
	if c[v] {
		return v
	}
	return other
}

// maxExpected bounds how many values of one label are expected.
const maxExpected = 512

// expected is a set of values for a label that another part of the program provides. Safe for
// concurrent use.
type expected struct {
	mu  sync.RWMutex
	set closed
}

func (e *expected) add(values []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.set == nil {
		e.set = closed{}
	}
	for _, v := range values {
		if len(e.set) < maxExpected {
			e.set[v] = true
		}
	}
}

func (e *expected) of(v string) string {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.set.of(v)
}
