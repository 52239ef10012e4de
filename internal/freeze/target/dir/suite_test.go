package dir_test

import (
	"testing"

	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/freeze/target/dir"
	"github.com/amber-memory/amber/internal/freeze/target/targettest"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	passed := must.Get(targettest.Run(t.Context(), func() (target.Target, error) { return dir.Open(root, dir.Options{}) }))(t)
	must.Equal(t, "checks that passed", len(passed), len(targettest.Checks()))
}
