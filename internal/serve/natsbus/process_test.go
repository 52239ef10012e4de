package natsbus_test

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	mathrand "math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/serve/natsbus"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// child does one job: "broker DIR PORT", "write HOME URL" or "finish HOME URL".
func child(ctx context.Context, job []string) error {
	switch job[0] {
	case "broker":
		return runBroker(ctx, job[1], job[2])
	case "write":
		return runWriter(ctx, job[1], job[2])
	case "finish":
		return runFinish(ctx, job[1], job[2])
	}
	return fmt.Errorf("no such job: %q", job)
}

// runBroker serves until ctx ends, and prints its port when it does.
func runBroker(ctx context.Context, dir, port string) error {
	n, err := strconv.Atoi(port)
	if err != nil {
		return err
	}
	s, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: n, NoLog: true, NoSigs: true, JetStream: true, StoreDir: dir,
		JetStreamMaxMemory: 64 << 20, JetStreamMaxStore: 1 << 30,
	})
	if err != nil {
		return err
	}
	s.Start()
	if !s.ReadyForConnections(patience) {
		return errors.New("the server does not start")
	}
	fmt.Println(s.Addr().(*net.TCPAddr).Port)
	<-ctx.Done()
	s.Shutdown()
	s.WaitForShutdown()
	return nil
}

// household is the agents of a home and the workers that publish what changes.
type household struct {
	stores  []*sqlite.Store
	logs    map[string]amber.ChangeLog // by agent and name
	workers []*events.Mutations
	bus     *natsbus.Bus
}

var agents = []amber.AgentID{"ada", "bob"}

func openStores(ctx context.Context, dir string) (*household, error) {
	h, _, err := home.Open(dir, home.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return nil, err
	}
	hh := &household{logs: map[string]amber.ChangeLog{}}
	for _, id := range agents {
		a, err := h.Agent("acme", id)
		if err != nil {
			return nil, err
		}
		s, err := sqlite.Open(ctx, a, sqlite.Options{Clock: time.Now, Random: rand.Reader})
		if err != nil {
			return nil, err
		}
		hh.stores = append(hh.stores, s)
		hh.logs[string(id)+"/memory"] = s.Store().Changes
		hh.logs[string(id)+"/control"] = s.Store().ControlChanges
	}
	return hh, nil
}

func openHousehold(ctx context.Context, dir, url string) (*household, error) {
	hh, err := openStores(ctx, dir)
	if err != nil {
		return nil, err
	}
	hh.bus, err = natsbus.Open(ctx, natsbus.Options{URL: url, JetStream: true, ReconnectWait: 5 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	for name, log := range hh.logs {
		agent, _, _ := strings.Cut(name, "/")
		hh.workers = append(hh.workers, &events.Mutations{
			Log: log, Tenant: "acme", Agent: amber.AgentID(agent), Publisher: hh.bus,
			Cursor: events.FileCursor{Path: filepath.Join(dir, "published", name)}, FromBeginning: true,
			Interval: 10 * time.Millisecond, After: impatient,
		})
	}
	return hh, nil
}

// impatient waits less than asked: a test has no minute.
func impatient(d time.Duration) <-chan time.Time { return time.After(min(d, 50*time.Millisecond)) }

func (hh *household) close(ctx context.Context) error {
	var err error
	if hh.bus != nil {
		err = hh.bus.Close(ctx)
	}
	for _, s := range hh.stores {
		err = errors.Join(err, s.Close())
	}
	return err
}

// runWriter writes and publishes until ctx ends, and prints a line for every
// write that is acknowledged.
func runWriter(ctx context.Context, dir, url string) error {
	hh, err := openHousehold(ctx, dir, url)
	if err != nil {
		return err
	}
	var wg sync.WaitGroup
	for _, w := range hh.workers {
		wg.Go(func() { _ = w.Run(ctx) })
	}
	for i := 0; ctx.Err() == nil; i++ {
		s := hh.stores[i%len(hh.stores)]
		if i%3 == 0 {
			_, err = s.Store().Tasks.SaveTask(ctx, amber.Task{ID: fmt.Sprintf("t%d-%d", os.Getpid(), i), Goal: "go on", State: amber.TaskQueued}, 0)
		} else {
			_, err = s.Write(ctx, amber.WriteRequest{Content: fmt.Sprintf("process %d remembers number %d", os.Getpid(), i)})
		}
		if err != nil {
			break
		}
		fmt.Println("ok")
	}
	wg.Wait()
	if ctx.Err() == nil {
		return err
	}
	return hh.close(context.WithoutCancel(ctx))
}

// runFinish publishes what is left.
func runFinish(ctx context.Context, dir, url string) error {
	hh, err := openHousehold(ctx, dir, url)
	if err != nil {
		return err
	}
	for _, w := range hh.workers {
		for {
			n, err := w.Step(ctx)
			if err == nil && n == 0 {
				break
			}
			if err != nil {
				<-impatient(time.Second)
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return hh.close(ctx)
}

// process is a copy of the test binary at work.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	lines chan string
}

func spawn(t *testing.T, job ...string) *process {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+strings.Join(job, " "))
	cmd.Stderr = os.Stderr
	in := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	p := &process{cmd, in, make(chan string, 1<<16)}
	go func() { // ends with the process
		defer close(p.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			p.lines <- s.Text()
		}
	}()
	t.Cleanup(p.kill)
	return p
}

// kill ends the process as a crash would.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	for range p.lines {
	}
	_ = p.cmd.Wait()
	_ = p.stdin.Close()
}

// Brokers and publishers are killed again and again, and the network between
// them holds everything back for a while: every change arrives at least once, and
// for the first time in the order of its log.
func TestKilledBrokersAndPublishersLoseNothing(t *testing.T) {
	t.Parallel()
	seed := mathrand.Uint64()
	t.Logf("seed %d", seed)
	chance := mathrand.New(mathrand.NewPCG(seed, 0))
	dir, store := t.TempDir(), t.TempDir()
	startBroker := func(port string) (*process, string) {
		p := spawn(t, "broker", store, port)
		return p, <-p.lines
	}
	broker, port := startBroker("-1")
	wire := newProxy(t, "127.0.0.1:"+port)
	url := wire.url()
	writer := spawn(t, "write", dir, url)
	acked, kills := 0, map[string]int{}
	round := max(80, *eventCount/12)
	write := func(n int) {
		for ; n > 0; n-- {
			if _, ok := <-writer.lines; !ok {
				t.Fatal("the writer is gone")
			}
			acked++
		}
	}
	for acked < *eventCount {
		write(1 + chance.IntN(round))
		switch chance.IntN(4) {
		case 0:
			kills["broker"]++
			broker.kill()
			write(1 + chance.IntN(round))
			broker, _ = startBroker(port)
		case 1:
			kills["writer"]++
			writer.kill()
			writer = spawn(t, "write", dir, url)
		case 2:
			kills["both"]++
			broker.kill()
			write(1 + chance.IntN(round))
			writer.kill()
			writer = spawn(t, "write", dir, url)
			write(1)
			broker, _ = startBroker(port)
		case 3:
			kills["network"]++
			wire.freeze()
			write(1 + chance.IntN(round))
			if chance.IntN(2) == 0 {
				wire.cut() // the bytes under way are lost
			}
			wire.thaw()
		}
	}
	writer.kill()
	last := spawn(t, "finish", dir, url)
	for range last.lines {
	}
	must.Do(t, last.cmd.Wait())

	hh := must.Get(openStores(t.Context(), dir))(t)
	want := map[string][]string{}
	total := 0
	for name, log := range hh.logs {
		want[name] = positions(t, log)
		total += len(want[name])
	}
	must.Do(t, hh.close(t.Context()))
	if total < acked {
		t.Fatalf("%d changes are in the logs, %d writes were acknowledged", total, acked)
	}
	got, arrived := arrivals(t, port, want)
	t.Logf("%d changes, %d arrived, kills %v", total, arrived, kills)
	must.Equal(t, "first arrivals", got, want)
}

func positions(t *testing.T, log amber.ChangeLog) []string {
	t.Helper()
	var out []string
	for at := amber.Position(""); ; {
		changes := must.Get(log.Changes(t.Context(), at, 1000))(t)
		for _, c := range changes {
			at = c.Position
			out = append(out, string(c.Position)+"/"+string(c.Scope)+"/"+c.Key)
		}
		if len(changes) < 1000 {
			return out
		}
	}
}

// arrivals reads the stream and tells the first arrival of every event apart by
// the log that has it.
func arrivals(t *testing.T, port string, logs map[string][]string) (first map[string][]string, all int) {
	t.Helper()
	log := map[string]string{}
	for name, list := range logs {
		for _, id := range list {
			log[id] = name
		}
	}
	b := &broker{opts: server.Options{Port: must.Get(strconv.Atoi(port))(t)}}
	first = map[string][]string{}
	seen := map[string]bool{}
	list := b.kept(t, natsbus.DefaultStream)
	for _, m := range list {
		e := decode(t, m)
		name := log[e.ID]
		if !seen[e.ID] {
			first[name] = append(first[name], e.ID)
		}
		seen[e.ID] = true
		if want := "amber.memory.mutated.acme." + strings.Split(name, "/")[0]; e.Subject != want {
			t.Errorf("%s came to %s, want %s", e.ID, e.Subject, want)
		}
	}
	return first, len(list)
}
