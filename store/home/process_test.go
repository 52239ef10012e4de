package home_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// startChild starts another process and returns once it is in the middle of its job. Closing the pipe lets
// it finish.
func startChild(t *testing.T, job, dir string) (*exec.Cmd, io.Closer) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childJob+"="+job, childHome+"="+dir)
	cmd.Stderr = os.Stderr
	in := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || line != "inside\n" {
		t.Fatalf("the child said %q, %v", line, err)
	}
	return cmd, in
}

// kill ends the process with no chance to clean up.
func kill(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	must.Do(t, cmd.Process.Kill())
	_ = cmd.Wait()
}

// checkBusy checks that the door is closed now.
func checkBusy(t *testing.T, dir string, d door) {
	t.Helper()
	o := options(nil)
	o.Wait = time.Millisecond
	err := d.enter(t.Context(), handle(t, dir, o), func(home.Current) error { return nil })
	must.Kind(t, d.name+" beside the other process", err, amber.KindBusy)
}

// TestOthersGoOnWhenAProcessEnds has writers and fences wait for another process that is killed inside, or
// finishes in peace.
func TestOthersGoOnWhenAProcessEnds(t *testing.T) {
	t.Parallel()
	jobs := []struct {
		job   string
		keeps []door
	}{
		{"write", []door{writesMemory, standsStill}},
		{"exclusive", []door{writesMemory, writesControl, standsStill}},
	}
	ends := []struct {
		name string
		end  func(t *testing.T, cmd *exec.Cmd, in io.Closer)
	}{
		{"killed", func(t *testing.T, cmd *exec.Cmd, _ io.Closer) { kill(t, cmd) }},
		{"finished", func(t *testing.T, cmd *exec.Cmd, in io.Closer) {
			must.Do(t, errors.Join(in.Close(), cmd.Wait()))
		}},
	}
	for _, job := range jobs {
		for _, end := range ends {
			t.Run(job.job+" "+end.name, func(t *testing.T) {
				t.Parallel()
				dir, c := madeHome(t)
				cmd, in := startChild(t, job.job, dir)
				done := make(chan error)
				for _, d := range job.keeps {
					checkBusy(t, dir, d)
					a := handle(t, dir, options(nil))
					go func() {
						done <- d.enter(t.Context(), a, func(got home.Current) error {
							must.Equal(t, d.name, got, c)
							return nil
						})
					}()
				}
				end.end(t, cmd, in)
				for range job.keeps {
					must.NoError(t, <-done)
				}
			})
		}
	}
}

// TestCreationOfAKilledProcessIsBegunAgain kills a process that was filling a new agent.
func TestCreationOfAKilledProcessIsBegunAgain(t *testing.T) {
	t.Parallel()
	dir := homeDir(t)
	cmd, _ := startChild(t, "create", dir)
	if _, err := os.Lstat(filepath.Join(agentDir(dir), "gen", "1", "half.db")); err != nil {
		t.Fatalf("the child built nothing: %v", err)
	}
	checkBusy(t, dir, door{"create", func(ctx context.Context, a *home.Agent, _ func(home.Current) error) error {
		_, _, err := a.Create(ctx, build(fsx.OS()))
		return err
	}})
	kill(t, cmd)
	a := handle(t, dir, options(nil))
	must.Fail(a.Current())(t, "current", amber.KindNotFound)
	makeAgent(t, fsx.OS(), a)
	checkClean(t, fsx.OS(), a)
}
