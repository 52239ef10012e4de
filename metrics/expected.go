package metrics

import "sync"

// maxExpected bounds how many values of one label are expected.
const maxExpected = 512

// expected is a set of values for a label that somebody else knows. Safe for
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
