package sqlite_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

var processSaves = flag.Int("process.saves", 40, "how many memories each of sixteen processes saves")

// childVariable says what a copy of the test binary is to do instead of
// testing: real processes, which can be killed, are what these tests are
// about.
const childVariable = "AMBER_SQLITE_TEST_CHILD"

func TestMain(m *testing.M) {
	job := os.Getenv(childVariable)
	if job == "" {
		os.Exit(m.Run())
	}
	if err := child(strings.Fields(job)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child does one job: "save DIR NAME N", "together DIR NAME N", "batches DIR NAME", "vectors DIR",
// "open DIR", "work DIR NAME" or "drain DIR".
func child(job []string) error {
	ctx := context.Background()
	h, _, err := home.Open(job[1], home.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return err
	}
	agent, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	if err != nil {
		return err
	}
	o := sqlite.Options{Clock: time.Now, Random: rand.Reader, Queue: workQueue}
	if job[0] == "vectors" {
		o.Model = letterModel{}
	}
	s, err := sqlite.Open(ctx, agent, o)
	if err != nil {
		return err
	}
	switch job[0] {
	case "open":
		return s.Close()
	case "batches":
		return errors.Join(saveBatches(ctx, s, job[2]), s.Close())
	case "vectors":
		return errors.Join(s.SyncIndex(ctx, func(n int) { fmt.Println("made", n) }, nil), s.Close())
	case "save":
		n, err := strconv.Atoi(job[3])
		if err != nil {
			return err
		}
		err = save(ctx, s, job[2], n)
		return errors.Join(err, s.Close())
	case "together":
		n, err := strconv.Atoi(job[3])
		if err != nil {
			return err
		}
		return errors.Join(saveTogether(ctx, s, job[2], n), s.Close())
	case "work":
		return errors.Join(work(ctx, s, job[2]), s.Close())
	case "drain":
		return errors.Join(drain(ctx, s), s.Close())
	}
	return fmt.Errorf("no such job: %q", job)
}

// save stores n memories and prints the id of each once it is acknowledged,
// with the time it took.
func save(ctx context.Context, s *sqlite.Store, name string, n int) error {
	for i := range n {
		begin := time.Now()
		ack, err := s.Write(ctx, amber.WriteRequest{Content: fmt.Sprintf("process %s remembers number %d", name, i)})
		if err != nil {
			return fmt.Errorf("save %d: %w", i, err)
		}
		fmt.Println(ack.ID, time.Since(begin).Microseconds())
	}
	return nil
}

// saveTogether is save by 64 writers at once.
func saveTogether(ctx context.Context, s *sqlite.Store, name string, n int) error {
	errs := make([]error, 64)
	var wg sync.WaitGroup
	for w := range errs {
		wg.Go(func() { errs[w] = save(ctx, s, fmt.Sprintf("%s, writer %d,", name, w), n) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// start runs a copy of the test binary and sends the lines it prints to
// lines.
func start(t *testing.T, lines chan<- string, job ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+strings.Join(job, " "))
	cmd.Stderr = os.Stderr
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	go func() { // ends with the process, whose output it drains
		read(out, lines)
		lines <- "" // this process has said everything
	}()
	return cmd
}

func read(out io.Reader, lines chan<- string) {
	in := bufio.NewScanner(out)
	for in.Scan() {
		lines <- in.Text()
	}
}

// collect receives until n processes have said everything.
func collect(lines <-chan string, n int, each func(line string)) {
	for n > 0 {
		line := <-lines
		if line == "" {
			n--
			continue
		}
		each(line)
	}
}

// saved is what the savers acknowledged.
type saved struct {
	ids     []amber.MemoryID
	longest time.Duration
}

func (s *saved) line(line string) {
	id, micros, complete := strings.Cut(line, " ")
	n, err := strconv.Atoi(micros)
	if !complete || err != nil {
		return // a line cut by the kill is no acknowledgement
	}
	s.ids = append(s.ids, amber.MemoryID(id))
	s.longest = max(s.longest, time.Duration(n)*time.Microsecond)
}

const processes = 16

func TestSixteenProcessesSaveAtOnce(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	each := *processSaves
	lines := make(chan string, processes)
	var cmds []*exec.Cmd
	for i := range processes {
		cmds = append(cmds, start(t, lines, "save", dir, strconv.Itoa(i), strconv.Itoa(each)))
	}
	var got saved
	collect(lines, processes, got.line)
	for i, cmd := range cmds {
		must.Kind(t, fmt.Sprint("process ", i), cmd.Wait(), "")
	}
	s := openIn(t, dir)
	stats := must.Get(s.Stats(t.Context()))(t)
	t.Logf("%d of %d stored; the longest wait of one save was %s", stats.Memories, processes*each, got.longest)
	if stats.Memories != int64(processes*each) || len(got.ids) != processes*each {
		t.Errorf("%d acknowledged, %d stored, want %d", len(got.ids), stats.Memories, processes*each)
	}
	healthy(t, s)
}

func TestKilledWritersLoseNothingAcknowledged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	random := mathrand.New(mathrand.NewPCG(mathrand.Uint64(), 0))
	lines := make(chan string, processes)
	var got saved
	var wg sync.WaitGroup
	busy := make(chan struct{})
	wg.Go(func() {
		collect(lines, processes, func(line string) {
			if got.line(line); len(got.ids) == 3*processes {
				close(busy)
			}
		})
	})
	var cmds []*exec.Cmd
	for i := range processes {
		cmds = append(cmds, start(t, lines, "save", dir, strconv.Itoa(i), "1000"))
	}
	<-busy // every kill meets writers at work
	for _, i := range random.Perm(processes) {
		time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond) // so that kills hit writers anywhere in their work
		must.NoError(t, cmds[i].Process.Kill())
	}
	for _, cmd := range cmds {
		_ = cmd.Wait() // killed
	}
	wg.Wait()
	s := openIn(t, dir)
	for _, id := range got.ids {
		must.NoError(t, must.Err(s.Get(t.Context(), id)))
	}
	t.Logf("%d acknowledged before their writers were killed, all there", len(got.ids))
	healthy(t, s)
}

// TestKilledGroupsLoseNothingAcknowledged kills processes in each of which 64
// writers share transactions.
func TestKilledGroupsLoseNothingAcknowledged(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	var got saved
	for round := range 3 {
		lines := make(chan string, 64)
		cmd := start(t, lines, "together", dir, strconv.Itoa(round), "1000")
		enough := len(got.ids) + 100 + mathrand.IntN(200)
		collect(lines, 1, func(line string) {
			if got.line(line); len(got.ids) == enough {
				must.NoError(t, cmd.Process.Kill())
			}
		})
		_ = cmd.Wait() // killed
	}
	s := openIn(t, dir)
	for _, id := range got.ids {
		must.NoError(t, must.Err(s.Get(t.Context(), id)))
	}
	log := must.Get(s.Changes(t.Context(), "", 100_000))(t)
	for i, c := range log {
		_, seq, err := c.Position.Parse()
		if must.NoError(t, err); seq != int64(i+1) {
			t.Fatalf("entry %d of the change log has the number %d", i+1, seq)
		}
	}
	stats := must.Get(s.Stats(t.Context()))(t)
	must.Equal(t, "entries of the change log", int64(len(log)), stats.Memories)
	t.Logf("%d acknowledged, %d stored", len(got.ids), stats.Memories)
	healthy(t, s)
}

// healthy fails where a check of the databases finds something.
func healthy(t *testing.T, s *sqlite.Store) {
	t.Helper()
	for _, f := range s.Check(t.Context()) {
		must.Hold(t, f.Err == nil, "%s of %s: %v", f.Check, f.File, f.Err)
	}
	must.NoError(t, s.DeepCheck(t.Context()))
}
