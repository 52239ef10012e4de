package snapshot_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// Two processes begin an operation on one agent. The second one waits for the first, and returns
// busy when it may not wait that long.
func TestTheSecondOperationWaits(t *testing.T) {
	t.Parallel()
	for _, first := range []string{"snapshot", "restore"} {
		for _, second := range []string{"snapshot", "restore"} {
			t.Run(second+" during "+first, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t)
				w.remember("the first")
				id := w.snapshot().ID
				p := run(t, "pause", w.dir, first, string(id))
				if line := <-p.lines; line != "paused" {
					t.Fatalf("the process says %q", line)
				}
				must.Fail(work(w.hurried(), second, id))(t, "a "+second+" that cannot wait", amber.KindBusy)
				w.remember("meanwhile") // writers do not wait for either
				var wait sync.WaitGroup
				var made amber.SnapshotID
				var err error
				wait.Go(func() { made, err = work(w.engine, second, id) })
				before := p.end(t)
				wait.Wait()
				if err != nil {
					t.Fatalf("a %s that waits: %v", second, err)
				}
				if len(before) != 1 {
					t.Fatalf("the first process says %q", before)
				}
				w.mustFollow(amber.SnapshotID(before[0]), made)
				w.mustVerify(made)
				w.mustCheck()
			})
		}
	}
}

// mustFollow fails unless one snapshot is the next in the chain of the other.
func (w *world) mustFollow(first, second amber.SnapshotID) {
	w.t.Helper()
	a := must.Get(w.engine.ShowSnapshot(w.t.Context(), ref(first)))(w.t)
	b := must.Get(w.engine.ShowSnapshot(w.t.Context(), ref(second)))(w.t)
	if b.Counter != a.Counter+1 || b.Parent != a.Digest {
		w.t.Errorf("the second snapshot has number %d and parent %q, want %d and %q", b.Counter, b.Parent, a.Counter+1, a.Digest)
	}
}

// hurried returns an engine that hardly waits for anybody.
func (w *world) hurried() *snapshot.Engine {
	w.t.Helper()
	h := must.Get(home.At(w.dir, home.Options{Clock: time.Now, Random: rand.Reader, Wait: 20 * time.Millisecond}))(w.t)
	return must.Get(snapshot.New(snapshot.Options{Home: h, Clock: time.Now, Random: rand.Reader, Wait: 20 * time.Millisecond}))(w.t)
}

// work does one operation and returns the snapshot it has made.
func work(engine *snapshot.Engine, what string, id amber.SnapshotID) (amber.SnapshotID, error) {
	ctx := context.Background()
	if what == "snapshot" {
		meta, err := engine.Snapshot(ctx, wire.SnapshotRequest{Tenant: "default", Agent: "default"})
		return meta.ID, err
	}
	report, err := engine.Restore(ctx, wire.RestoreRequest{SnapshotRef: ref(id)})
	return report.SafetySnapshot, err
}

// pauseAmid is a process that stops in the midst of an operation, says so, and
// goes on when its standard input is closed. It prints the snapshot it made.
func pauseAmid(c *child, args []string) error {
	var once sync.Once
	engine, err := c.engine(func(o *snapshot.Options) {
		o.Progress = func(string, int64, int64) {
			once.Do(func() {
				fmt.Println("paused")
				<-c.stop
			})
		}
	})
	if err != nil {
		return err
	}
	id, err := work(engine, args[0], amber.SnapshotID(args[1]))
	fmt.Println(id)
	return err
}
