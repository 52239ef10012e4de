package redact

import (
	"regexp"
	"sync"
)

// exprs holds regular expressions by pattern, each compiled when it is first
// needed: most texts need none, and compiling all takes longer than many a
// process lives. It is safe for concurrent use; the zero exprs is empty.
type exprs struct {
	mu       sync.RWMutex
	compiled map[string]*regexp.Regexp
}

// match returns where pattern and its groups match at the start of text, nil
// if they do not.
func (e *exprs) match(pattern, text string) []int {
	e.mu.RLock()
	expr := e.compiled[pattern]
	e.mu.RUnlock()
	if expr == nil {
		expr = e.compile(pattern)
	}
	return expr.FindStringSubmatchIndex(text)
}

// compile adds the expression of pattern, which is one of ours and valid.
func (e *exprs) compile(pattern string) *regexp.Regexp {
	expr := regexp.MustCompile(`^(?:` + pattern + `)`)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.compiled == nil {
		e.compiled = make(map[string]*regexp.Regexp)
	}
	e.compiled[pattern] = expr
	return expr
}
