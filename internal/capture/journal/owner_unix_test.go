//go:build unix

package journal_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

// It changes the umask of the process, so it does not run beside others.
func TestTheJournalIsReadByItsOwnerAlone(t *testing.T) {
	dir := spoolDir(t)
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	fill(t, on(t, nil, dir), one, 2)
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		must.Equal(t, "mode of "+path, info.Mode().Perm()&0o077, 0)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	for _, dir := range []string{"", "spool", "./spool"} {
		must.Fail(journal.Open(dir, journal.Options{Clock: today}))(t, "no folder to keep it in", amber.KindInvalid)
	}
}
