//go:build unix

package hook_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/capture/hook"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestAFifoIsNoTranscript: a hook that waited for another process to write to a fifo
// would never end.
func TestAFifoIsNoTranscript(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	path := h.path(copilotLog)
	must.Do(t, os.MkdirAll(filepath.Dir(path), 0o755))
	must.Do(t, syscall.Mkfifo(path, 0o600))
	if ev := h.stop(hook.Copilot, path, nil); ev.Answer != "" {
		t.Errorf("%q", ev.Answer)
	}
}
