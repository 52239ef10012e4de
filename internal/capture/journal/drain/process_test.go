package drain_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/test/must"

	mathrand "math/rand/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// childJob holds what a child does: "append" or "drain", the home, and its
// name.
const childJob = "AMBER_DRAIN_TEST_JOB"

// child is the test binary as another process. One appends events and prints
// every prompt that was acknowledged, the other drains; both go on until they
// are killed.
func child(job string) int {
	args := strings.Split(job, "\n")
	work := childAppends
	if args[0] == "drain" {
		work = childDrains
	}
	if err := work(args[1], args[2]); err != nil {
		fmt.Fprintln(os.Stderr, args[0], err)
		return 1
	}
	return 0
}

// agentAt returns the agent and the journal in a home.
func agentAt(dir string) (*home.Agent, *journal.Journal, error) {
	h, _, err := home.Open(dir, home.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return nil, nil, err
	}
	agent, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	if err != nil {
		return nil, nil, err
	}
	j, err := journal.Open(agent.SpoolDir(), journal.Options{Clock: time.Now, SegmentBytes: 8 << 10})
	return agent, j, err
}

func childAppends(dir, name string) error {
	_, j, err := agentAt(dir)
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		id := fmt.Sprintf("%s %d", name, i)
		ev := prompt(0, id)
		if i%20 == 19 { // now and then the session ends, its folder is removed, and it goes on
			ev.Kind, ev.Prompt = journal.HostSessionEnd, ""
		}
		ev.EventID = amber.ContentDigest(id)[:32]
		b, err := json.Marshal(ev)
		if err != nil {
			return err
		}
		if _, err := j.Append(context.Background(), one, journal.Entry{Payload: b}); err != nil {
			return err
		}
		if ev.Prompt != "" {
			fmt.Println(id)
		}
	}
}

func childDrains(dir, _ string) error {
	for {
		if _, err := drainAll(dir, drain.Options{ClearEvery: 1}); err != nil {
			return err
		}
		fmt.Println("drained")
	}
}

// drainAll opens the store in a home, drains once and returns everything that
// was said.
func drainAll(dir string, o drain.Options) (_ []string, err error) {
	agent, j, err := agentAt(dir)
	if err != nil {
		return nil, err
	}
	s, err := sqlite.Open(context.Background(), agent, sqlite.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	o.Journal, o.Store, o.Clock = j, s, time.Now
	d, err := drain.New(o)
	if err != nil {
		return nil, err
	}
	report, err := d.Once(context.Background())
	if err = errors.Join(err, report.Err()); err != nil {
		return nil, fmt.Errorf("%w %v", err, report.Failed)
	}
	if report.Damaged+report.Quarantined > 0 {
		return nil, fmt.Errorf("%+v", report)
	}
	turns, err := amber.LastTurns(context.Background(), s, one.ID, 1_000_000)
	var out []string
	for _, t := range turns {
		out = append(out, t.Content)
	}
	return out, err
}

// TestKilledProcessesLoseNothing kills processes that append and processes
// that drain, at random, and then looks whether everything that was ever
// acknowledged is in the store, once.
func TestKilledProcessesLoseNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "home")
	seed := mathrand.Uint64()
	random := mathrand.New(mathrand.NewPCG(seed, 0))
	var acked []string
	for trial := range *trials {
		var writers [3]*exec.Cmd // of one session
		var heard [len(writers)]chan []string
		for i := range writers {
			writer, lines := start(t, "append", dir, fmt.Sprintf("writer-%d-%d", trial, i))
			began := make(chan bool)
			writers[i], heard[i] = writer, make(chan []string, 1)
			go func() { heard[i] <- listen(lines, began) }()
			<-began
		}
		drainer, drains := start(t, "drain", dir, "")
		rounds := make(chan []string, 1)
		go func() { rounds <- listen(drains, make(chan bool)) }()
		pause(time.Duration(random.IntN(120)) * time.Millisecond)
		kill(t, drainer, rounds)
		if random.IntN(2) == 0 {
			pause(time.Duration(random.IntN(20)) * time.Millisecond)
		}
		for i, writer := range writers {
			acked = append(acked, kill(t, writer, heard[i])...)
		}
	}
	got := must.Get(drainAll(dir, drain.Options{}))(t)
	seen := map[string]int{}
	for _, g := range got {
		seen[g]++
	}
	lost, twice := 0, 0
	for _, a := range acked {
		if seen[a] == 0 {
			lost++
		}
	}
	for _, n := range seen {
		if n > 1 {
			twice++
		}
	}
	if lost+twice > 0 {
		t.Errorf("of %d acknowledged events %d are lost, %d are there twice; seed %d", len(acked), lost, twice, seed)
	}
	if len(acked) < *trials {
		t.Errorf("only %d events in %d trials", len(acked), *trials)
	}
	t.Logf("%d trials, %d acknowledged, %d in the store, %d lost, %d twice", *trials, len(acked), len(got), lost, twice)
}

func start(t *testing.T, job, dir, name string) (*exec.Cmd, io.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childJob+"="+strings.Join([]string{job, dir, name}, "\n"))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.Do(t, err)
	return cmd, out
}

// kill kills a process and returns what it had said by then.
func kill(t *testing.T, cmd *exec.Cmd, heard <-chan []string) []string {
	t.Helper()
	must.NoError(t, cmd.Process.Kill())
	lines := <-heard
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code >= 0 {
		t.Errorf("a process ended with %d before it was killed", code)
	}
	return lines
}

// listen returns the lines that came whole. It closes began once the first line has come, or the end.
func listen(r io.Reader, began chan<- bool) []string {
	b := bufio.NewReader(r)
	var lines []string
	for {
		line, err := b.ReadString('\n')
		if len(lines) == 0 {
			close(began)
		}
		if err != nil {
			return slices.Clip(lines)
		}
		lines = append(lines, strings.TrimSpace(line))
	}
}

// pause lets the others work.
func pause(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	<-timer.C
}
