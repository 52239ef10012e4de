package sqlite_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	mathrand "math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/sqlite"
)

var queueEntries = flag.Int("queue.entries", 150, "how many entries two processes claim under random kills")

// workQueue is the queue of that test: leases so short that killed workers
// are soon replaced.
var workQueue = amber.QueueOptions{Lease: 500 * time.Millisecond, MaxInFlight: 64, MaxAttempts: 50, Backoff: time.Millisecond, MaxBackoff: 5 * time.Millisecond}

// work claims entries until none is left. Each claim saves a result under its
// fence and prints entry and fence when the result is accepted.
func work(ctx context.Context, s *sqlite.Store, name string) error {
	for {
		c, err := s.Claim(ctx, name)
		switch {
		case errors.Is(err, amber.ErrQueueEmpty):
			b, err := s.Backpressure(ctx)
			if err != nil {
				return err
			}
			if b.Queued == 0 && b.Leased == 0 {
				return nil
			}
			time.Sleep(time.Millisecond) // the rest is leased to others
			continue
		case err != nil:
			return err
		}
		if mathrand.IntN(20) == 0 {
			err = s.Nack(ctx, amber.Nack{Lease: c.Lease, Reason: "not now"})
		} else {
			err = finish(ctx, s, c, name)
		}
		if err != nil && amber.KindOf(err) != amber.KindConflict { // a lost lease is another's work now
			return err
		}
	}
}

func finish(ctx context.Context, s *sqlite.Store, c amber.Claim, name string) error {
	_, err := s.SaveResult(ctx, amber.Result{
		TaskID: c.Envelope.TaskID, NodeID: c.Envelope.NodeID, Producer: name, Status: amber.ResultOK,
		Payload: c.Envelope.EntryID, Fence: c.Lease.Fence,
	})
	if err != nil {
		return err
	}
	fmt.Println(c.Envelope.EntryID, c.Lease.Fence)
	return s.Ack(ctx, c.Lease)
}

func TestTwoProcessesClaimUnderKills(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home")
	s := openIn(t, dir)
	for i := range *queueEntries {
		id := fmt.Sprintf("entry-%d", i)
		must.Do(t, s.Publish(t.Context(), amber.Envelope{EntryID: id, TaskID: "task", NodeID: id}))
	}
	fences, kills := claimUnderKills(t, dir)
	b := must.Get(s.Backpressure(t.Context()))(t)
	t.Logf("%d entries, %d kills, %d dead", *queueEntries, kills, b.Dead)
	if b.Queued != 0 || b.Leased != 0 {
		t.Errorf("%d queued, %d leased; every entry ends acked or dead", b.Queued, b.Leased)
	}
	results := must.Get(amber.All(t.Context(), s.ListResults, "task"))(t)
	if len(results)+b.Dead < *queueEntries {
		t.Errorf("%d results and %d dead of %d entries", len(results), b.Dead, *queueEntries)
	}
	for _, r := range results {
		if newest := fences[r.NodeID]; r.Fence < newest {
			t.Errorf("%s: the result of fence %d stands, %d was accepted", r.NodeID, r.Fence, newest)
		}
	}
	healthy(t, s)
}

// claimUnderKills runs two workers until the queue is empty, killing one of
// them at random and starting another in its place. It returns the newest
// fence under which each node's result was accepted.
func claimUnderKills(t *testing.T, dir string) (fences map[string]int64, kills int) {
	fences = map[string]int64{}
	lines := make(chan string)
	workers := []*exec.Cmd{start(t, lines, "work", dir, "a"), start(t, lines, "work", dir, "b")}
	tick := time.NewTicker(40 * time.Millisecond)
	defer tick.Stop()
	for running := 2; running > 0; {
		select {
		case line := <-lines:
			entry, fence, complete := strings.Cut(line, " ")
			if line == "" {
				running--
			} else if n, err := parseFence(fence); complete && err == nil {
				if n <= fences[entry] {
					t.Errorf("%s: a result under fence %d was accepted after %d", entry, n, fences[entry])
				}
				fences[entry] = n
			}
		case <-tick.C:
			i := mathrand.IntN(2)
			if running == 2 && kills < 100 && workers[i].Process.Kill() == nil {
				kills++
				_ = workers[i].Wait() // killed, or done in this moment
				workers[i] = start(t, lines, "work", dir, fmt.Sprintf("w%d", kills))
				running++
			}
		}
	}
	for _, w := range workers {
		must.NoError(t, w.Wait())
	}
	return fences, kills
}

func parseFence(s string) (n int64, err error) {
	_, err = fmt.Sscanf(s, "%d", &n)
	return n, err
}
