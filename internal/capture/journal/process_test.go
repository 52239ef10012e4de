package journal_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/must"
)

// childJob holds what a child does: the spool, the session, its own name, and how many entries it appends.
const childJob = "AMBER_JOURNAL_TEST_JOB"

// child is the test binary as another process. It appends entries and prints every one that was acknowledged.
func child(job string) int {
	args := strings.Split(job, "\n")
	n, err := strconv.Atoi(args[3])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	j, err := journal.Open(args[0], journal.Options{Clock: time.Now, SegmentBytes: 256 << 10})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	s := journal.Session{Host: "test", ID: amber.SessionID(args[1])}
	for i := range n {
		seq, err := j.Append(context.Background(), s, journal.Entry{Payload: said(args[2], i)})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		fmt.Println(seq, args[2], i)
	}
	return 0
}

// said is the i-th payload of a child, up to some 60 KB long.
func said(name string, i int) []byte {
	text := fmt.Appendf(nil, "%s %d;", name, i)
	if i%3 == 0 {
		text = bytes.Repeat(text, 1+(i*37)%5000)
	}
	return text
}

func childCommand(dir string, s journal.Session, name string, n int) *exec.Cmd {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childJob+"="+strings.Join([]string{dir, string(s.ID), name, strconv.Itoa(n)}, "\n"))
	cmd.Stderr = os.Stderr
	return cmd
}

// answers collects what children say they were told.
type answers struct {
	mu    sync.Mutex
	acked map[int64]string // payloads
	twice []string
}

// listen reads the answers of one child to the end, a line that was cut off not counted.
func (a *answers) listen(out io.Reader, each func()) {
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return
		}
		var seq int64
		var name string
		var i int
		_, err = fmt.Sscan(line, &seq, &name, &i)
		a.mu.Lock()
		if _, ok := a.acked[seq]; ok || err != nil {
			a.twice = append(a.twice, line)
		}
		a.acked[seq] = string(said(name, i))
		a.mu.Unlock()
		each()
	}
}

// TestProcessPerEvent has 200 processes append one entry each to one session, 40 at a time.
func TestProcessPerEvent(t *testing.T) {
	t.Parallel()
	const processes, atOnce = 200, 40
	dir := spoolDir(t)
	a := &answers{acked: map[int64]string{}}
	places := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i := range processes {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			out, err := childCommand(dir, one, fmt.Sprint("process-", i), 1).Output()
			if err != nil {
				t.Errorf("process %d: %v", i, err)
			}
			a.listen(bytes.NewReader(out), func() {})
		})
	}
	wg.Wait()
	must.Equal(t, "sequences given twice", len(a.twice), 0)
	must.Equal(t, "sequences", len(a.acked), processes)
	checkCrowd(t, on(t, nil, dir), one, a.acked)
}

// TestKilledProcesses kills processes in the middle of appending to one session. Nothing they were told is lost
// or there twice.
func TestKilledProcesses(t *testing.T) {
	t.Parallel()
	dir := spoolDir(t)
	random := rand.New(rand.NewPCG(*firstSeed, 7))
	total := 0
	for trial := range *trials {
		s := journal.Session{Host: "test", ID: amber.SessionID(fmt.Sprint("trial ", trial))}
		acked := killSome(t, dir, s, 3, 1+random.IntN(40))
		j := on(t, nil, dir)
		if report, err := j.Recover(t.Context()); err != nil || len(report.Failed) > 0 || report.Damaged > 0 {
			t.Fatalf("trial %d: recover: %+v, %v", trial, report, err)
		}
		frames := mustRead(t, j, s.Key(), 0)
		seen := map[string]bool{}
		for i, f := range frames {
			text := string(f.Payload)
			if want, ok := acked[f.Seq]; f.Seq != int64(i+1) || ok && want != text || seen[text] {
				t.Errorf("trial %d: frame %d has sequence %d and %.30q", trial, i, f.Seq, text)
			}
			seen[text] = true
			delete(acked, f.Seq)
		}
		must.Equal(t, fmt.Sprintf("trial %d: acknowledged entries that are gone", trial), len(acked), 0)
		total += len(frames)
		mustAppend(t, j, s, entry(1))
	}
	t.Logf("%d trials, %d entries", *trials, total)
}

// killSome starts processes that append, kills all of them after so many answers, and returns the answers.
func killSome(t *testing.T, dir string, s journal.Session, processes, after int) map[int64]string {
	t.Helper()
	a := &answers{acked: map[int64]string{}}
	enough := make(chan struct{})
	left := after
	var wg sync.WaitGroup
	var children []*exec.Cmd
	for i := range processes {
		cmd := childCommand(dir, s, fmt.Sprint("child-", i), 1<<30)
		out := must.Get(cmd.StdoutPipe())(t)
		must.Do(t, cmd.Start())
		children = append(children, cmd)
		wg.Go(func() {
			a.listen(out, func() {
				a.mu.Lock()
				defer a.mu.Unlock()
				if left--; left == 0 {
					close(enough)
				}
			})
		})
	}
	over := make(chan struct{})
	go func() {
		defer close(over)
		wg.Wait()
	}()
	select {
	case <-enough:
	case <-over:
		t.Error("every process ended by itself")
	}
	for _, cmd := range children {
		must.Do(t, cmd.Process.Kill())
	}
	<-over
	for _, cmd := range children {
		_ = cmd.Wait()
	}
	must.Equal(t, "sequences given twice", len(a.twice), 0)
	return a.acked
}
