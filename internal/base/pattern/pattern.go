// Package pattern has regular expressions that are compiled when they are first used: every hook of an agent host starts a process, and most
// need none of them.
package pattern

import (
	"regexp"
	"sync"
)

// Of returns the regular expression that expr describes. It must describe one.
func Of(expr string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })
}
