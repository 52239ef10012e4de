package fsx_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// holdLock, when set, turns the test binary into a process that takes the lock file named by it.
const holdLock = "FSX_TEST_HOLD_LOCK"

func TestMain(m *testing.M) {
	if path := os.Getenv(holdLock); path != "" {
		os.Exit(hold(path))
	}
	os.Exit(m.Run())
}

// hold takes the exclusive lock, says so, and keeps it until standard input ends.
func hold(path string) int {
	if _, err := fsx.AcquireLock(context.Background(), path, fsx.Exclusive); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("locked")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

// startHolder returns a process that holds the exclusive lock, and the pipe whose end ends it.
func startHolder(t *testing.T, path string) (*exec.Cmd, io.Closer) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), holdLock+"="+path)
	cmd.Stderr = os.Stderr
	in := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	must.Equal(t, "the holder says", must.Get(bufio.NewReader(out).ReadString('\n'))(t), "locked\n")
	return cmd, in
}
