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
	report := must.Get(targettest.Run(t.Context(), func() (target.Target, error) { return dir.Open(root, dir.Options{}) }))(t)
	if len(report.NotRun) > 0 || len(report.Passed) == 0 {
		t.Errorf("%d checks passed, %q were not run", len(report.Passed), report.NotRun)
	}
}
