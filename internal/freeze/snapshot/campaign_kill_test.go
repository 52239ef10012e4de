package snapshot_test

import (
	"context"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// A process that snapshots, restores, prunes and collects garbage is killed at
// any moment, again and again, while others write. Each time every snapshot is
// whole and everything works, and whatever was acknowledged is live, or in a
// snapshot that was taken before a restore.
func TestKilledProcessesLoseNothingThatWasAcknowledged(t *testing.T) {
	t.Parallel()
	c := newCampaign(t)
	c.w.remember("the first")
	c.w.note("first", "the first\n")
	c.w.state("first", `{"first":true}`)
	c.w.snapshot()
	phases := filepath.Join(c.logs, "phases")
	must.Do(t, os.WriteFile(phases, nil, 0o600))
	writers := startWriters(t, c.w, c.logs, phases)
	for i := range max(1, *campaignKills) {
		c.killed(i)
		c.verify()
		c.collect()
		c.work()
	}
	for _, p := range writers {
		p.end(t)
	}
	states := []map[amber.MemoryID]string{texts(t, c.w.store)}
	for _, s := range c.w.list() {
		if strings.HasPrefix(s.Label, wire.LabelBeforeRestore) {
			p := c.w.past(s.ID)
			states = append(states, texts(t, p.store))
			p.close(t)
		}
	}
	written := acknowledged(t, c.logs)
	for _, a := range written {
		must.Hold(t, inOneOf(a, states), "%s was acknowledged and is nowhere", a.id)
	}
	c.w.mustCheck()
	t.Logf("%d memories acknowledged, looked for in %d states; killed during %v", len(written), len(states), c.during)
}

// campaign is an agent whose operations are killed.
type campaign struct {
	t      *testing.T
	w      *world
	logs   string
	began  time.Time
	during map[string]int // what was killed
}

func newCampaign(t *testing.T) *campaign {
	return &campaign{t: t, w: newWorld(t), logs: t.TempDir(), began: time.Now(), during: map[string]int{}}
}

// killed runs a process that operates, kills it at any moment and opens the
// agent again.
func (c *campaign) killed(i int) {
	c.t.Helper()
	log := filepath.Join(c.logs, fmt.Sprintf("operator-%d", i))
	p := run(c.t, "operate", c.w.dir, log, strconv.FormatInt(c.began.UnixNano(), 10))
	<-p.lines                                  // it is about to begin
	time.Sleep(rand.N(500 * time.Millisecond)) // so that kills hit it anywhere in its work
	p.kill()
	must.NoError(c.t, c.w.store.Close())
	c.w = openWorld(c.t, c.w.dir)
	c.during[at(c.t, readLines(c.t, log))]++
}

// at returns what an operator was at when it was killed.
func at(t *testing.T, lines []string) string {
	t.Helper()
	if len(lines) == 0 {
		return "nothing"
	}
	last := lines[len(lines)-1]
	what, rest, _ := strings.Cut(last, " ")
	switch what {
	case "failed":
		t.Fatalf("an operation failed: %s", rest)
	case "end":
		return "nothing"
	}
	what, _, _ = strings.Cut(rest, " ")
	return what
}

// any returns a snapshot that is there.
func (c *campaign) any() amber.SnapshotID {
	c.t.Helper()
	list := c.w.list()
	return list[rand.IntN(len(list))].ID
}

// verify fails unless every snapshot is whole.
func (c *campaign) verify() {
	c.t.Helper()
	for _, s := range c.w.list() {
		if r := must.Get(c.w.engine.VerifySnapshot(c.t.Context(), wire.VerifyRequest{SnapshotRef: ref(s.ID)}))(c.t); !r.OK() {
			c.t.Fatalf("snapshot %s: %+v", s.ID, r.Damaged)
		}
	}
	c.w.mustVerify(c.any())
	if r := must.Get(c.w.engine.CheckRepository(c.t.Context(), wire.CheckRequest{Tenant: "default"}))(c.t); !r.OK() {
		c.t.Fatalf("the repository: %+v", r.Damaged)
	}
}

// work fails unless everything works again.
func (c *campaign) work() {
	c.t.Helper()
	c.w.restore(c.w.snapshot().ID)
}

// collect collects garbage, and fails if something is left of what was killed.
func (c *campaign) collect() {
	c.t.Helper()
	engine := must.Get(snapshot.New(snapshot.Options{Home: c.w.home, Clock: hasty(c.began), Random: crand.Reader}))(c.t)
	must.Get(engine.CollectGarbage(c.t.Context(), wire.GCRequest{Tenant: "default"}))(c.t)
	if left := c.w.leftovers(); len(left) > 0 {
		c.t.Fatalf("left over: %q", left)
	}
}

// leftovers returns what an operation makes for itself and must not leave.
func (w *world) leftovers() (left []string) {
	w.t.Helper()
	c := must.Get(w.agent.Current())(w.t)
	live := strconv.FormatInt(c.Generation, 10)
	must.Do(w.t, filepath.WalkDir(w.dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // others write
		}
		if err != nil {
			return err
		}
		name, parent := d.Name(), filepath.Base(filepath.Dir(path))
		switch {
		case parent == "scratch", parent == "gen" && name != live, name == "RESTORING", strings.HasPrefix(name, fsx.TempPrefix):
			left = append(left, path)
		}
		if name == ".git" {
			return filepath.SkipDir
		}
		return nil
	}))
	return left
}

// hasty returns a clock that is ahead, a day and more than another for each
// second since the campaign began, so that the grace time of garbage is over.
func hasty(began time.Time) amber.Clock {
	ahead := 25*time.Hour + time.Since(began)*100_000
	return func() time.Time { return time.Now().Add(ahead) }
}

// operate is a process that works on snapshots until it is killed. It logs what
// it begins and what it ends.
func operate(c *child, args []string) error {
	log := args[0]
	nano, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return err
	}
	engine, err := c.engine()
	if err != nil {
		return err
	}
	fmt.Println("ready")
	o := operator{child: c, engine: engine, began: time.Unix(0, nano), log: log}
	for err == nil && !c.stopped(0) {
		steps := []func(context.Context) error{o.snapshot, o.restore, o.restore, o.prune, o.collect, o.verify}
		err = steps[rand.IntN(len(steps))](context.Background())
	}
	if err != nil {
		err = errors.Join(err, appendLine(log, "failed "+err.Error()))
	}
	return err
}

type operator struct {
	child  *child
	engine *snapshot.Engine
	began  time.Time
	log    string
}

// do logs what is begun and what is done.
func (o *operator) do(what string, fn func() error) error {
	if err := appendLine(o.log, "begin "+what); err != nil {
		return err
	}
	if err := fn(); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return appendLine(o.log, "end "+what)
}

func (o *operator) snapshot(ctx context.Context) error {
	return o.do("snapshot", func() error {
		return must.Err(o.engine.Snapshot(ctx, wire.SnapshotRequest{Tenant: "default", Agent: "default"}))
	})
}

// anyOf returns one of the newest snapshots.
func anyOf(ctx context.Context, engine *snapshot.Engine) (amber.SnapshotID, error) {
	page, err := engine.ListSnapshots(ctx, wire.SnapshotQuery{Tenant: "default", Agent: "default", Limit: amber.MaxPageSize})
	if err != nil {
		return "", err
	}
	return page.Items[rand.IntN(len(page.Items))].ID, nil
}

func (o *operator) restore(ctx context.Context) error {
	id, err := anyOf(ctx, o.engine)
	if err != nil {
		return err
	}
	return o.do("restore", func() error {
		return must.Err(o.engine.Restore(ctx, wire.RestoreRequest{SnapshotRef: ref(id)}))
	})
}

func (o *operator) prune(ctx context.Context) error {
	return o.do("prune", func() error {
		return must.Err(o.engine.PruneSnapshots(ctx, wire.PruneRequest{Tenant: "default", Agent: "default", KeepLast: 4, KeepSafety: 1_000_000}))
	})
}

func (o *operator) collect(ctx context.Context) error {
	return o.do("gc", func() error {
		engine, err := o.child.engine(func(l *snapshot.Options) { l.Clock = hasty(o.began) })
		if err == nil {
			_, err = engine.CollectGarbage(ctx, wire.GCRequest{Tenant: "default"})
		}
		return err
	})
}

func (o *operator) verify(ctx context.Context) error {
	id, err := anyOf(ctx, o.engine)
	if err != nil {
		return err
	}
	return o.do("verify", func() error {
		r, err := o.engine.VerifySnapshot(ctx, wire.VerifyRequest{SnapshotRef: ref(id), ReadData: true})
		if err == nil && !r.OK() {
			err = fmt.Errorf("%+v", r.Damaged)
		}
		return err
	})
}
