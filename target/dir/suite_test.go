package dir_test

import (
	"testing"

	"github.com/amber-memory/amber/target"
	"github.com/amber-memory/amber/target/dir"
	"github.com/amber-memory/amber/target/targettest"
)

func TestKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	report, err := targettest.Run(t.Context(), func() (target.Target, error) { return dir.Open(root, dir.Options{}) })
	if err != nil {
		t.Error(err)
	}
	if len(report.NotRun) > 0 || len(report.Passed) == 0 {
		t.Errorf("%d checks passed, %q were not run", len(report.Passed), report.NotRun)
	}
}
