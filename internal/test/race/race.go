// Package race marks tests in which goroutines meet, for packages whose other tests ask one question after the other
// and are too slow with the race detector.
package race

import "testing"

// Lane marks a test as one of the lane of the race detector, which make test-race runs. It stands first in the test:
// scripts/raced.sh finds it there.
func Lane(t testing.TB) { t.Helper() }
