package snapshot_test

import (
	"slices"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/promise"
)

// check is a promise of the contracts in package wire.
type check struct {
	name string
	run  func(w *site)
}

// The engine keeps what [wire.Snapshotter] and [wire.RepositoryChecker]
// promise, each promise in a home of its own.
func TestKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	for _, c := range slices.Concat(
		snapshotChecks(), restoreChecks(), partChecks(), forkChecks(), listChecks(), keepChecks(), pruneChecks(), pruneRuleChecks(),
		verifyChecks(), diffChecks(), requestChecks(),
	) {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := newSite(t)
			must.NoError(t, promise.Caught(func() { w.reopen(); c.run(w) }))
		})
	}
}
