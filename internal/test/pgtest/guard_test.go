package pgtest

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/test/must"
)

// envDie makes the test binary start a server and end without a word.
const envDie = "AMBER_PGTEST_DIE"

// die starts a server, suspends it, names its folder and kills this process.
func die() {
	s, err := Start(context.Background(), Options{})
	if err == nil {
		err = s.Suspend()
	}
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString(s.dir.path)
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	panic(err)
}

// TestNothingOutlivesTheTestBinary kills a test binary whose server is suspended, the state in
// which a server can least notice it.
func TestNothingOutlivesTheTestBinary(t *testing.T) {
	t.Parallel()
	need(t, must.Err(findServer(debian)))
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), envDie+"=1")
	out, err := cmd.Output()
	must.Error(t, "the end of the test binary", err)
	f := &folder{path: string(out)}
	if !strings.HasPrefix(f.path, "/tmp/ambpg-") {
		t.Fatalf("the test binary says %q, want the folder of its server (%v)", out, err)
	}
	must.Do(t, f.empty(ctx))
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for must.Err(os.Stat(f.path)) == nil {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s is still there", f.path)
		}
	}
}
