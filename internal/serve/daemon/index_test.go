package daemon

import (
	"context"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/serve/hooksocket"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

func isNever() bool { return false }

// slowIndex makes one vector a step, which takes a second.
type slowIndex struct {
	now  *time.Time
	left int
}

func (x *slowIndex) IndexBacklog(context.Context) (wire.IndexStatus, error) {
	return wire.IndexStatus{Passages: 100, Pending: int64(x.left), Model: "m"}, nil
}

func (x *slowIndex) SyncIndex(ctx context.Context, progress func(int), pause func()) error {
	for ; x.left > 0 && ctx.Err() == nil; x.left-- {
		*x.now = x.now.Add(time.Second)
		pause()
		progress(1)
	}
	return ctx.Err()
}

// The worker leaves an agent after a while, and comes back for the rest.
func TestIndexWorkIsBounded(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	clock := func() time.Time { return now }
	d := &Daemon{o: Options{Clock: clock}, traffic: hooksocket.Traffic{Clock: clock, Crowded: isNever}}
	x := &slowIndex{now: &now, left: 7}
	made, more, err := d.indexFor(t.Context(), x)
	must.NoError(t, err)
	must.Hold(t, made == 5 && more, "%d vectors, more %v; want 5 in the first slice", made, more)
	made, more, err = d.indexFor(t.Context(), x)
	must.NoError(t, err)
	must.Hold(t, made == 2 && !more, "%d vectors, more %v; want the last 2", made, more)
}

// It ends with the server.
func TestIndexWorkEnds(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	clock := func() time.Time { return now }
	d := &Daemon{o: Options{Clock: clock}, traffic: hooksocket.Traffic{Clock: clock, Crowded: isNever}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := d.indexFor(ctx, &slowIndex{now: &now, left: 7})
	must.Is(t, "work of a server that has ended", err, context.Canceled)
}

func TestHealthOfIndexesIsThatOfAllAgents(t *testing.T) {
	t.Parallel()
	var x indexes
	at := time.Unix(1000, 0)
	must.Hold(t, x.health() == nil, "something is known of no agent")
	x.note(server.AgentName{Tenant: "a", Agent: "b"}, wire.IndexStatus{Passages: 3, Pending: 1, Model: "m"}, at)
	x.note(server.AgentName{Tenant: "a", Agent: "c"}, wire.IndexStatus{Passages: 4, Waiting: 2, Model: "m"}, at)
	x.note(server.AgentName{Tenant: "a", Agent: "b"}, wire.IndexStatus{Passages: 5, Model: "m"}, at)
	must.Equal(t, "health", *x.health(), wire.IndexHealth{Passages: 9, Waiting: 2, Model: "m"})
}

// To count an index reads all of it, so it is not done at every write.
func TestIndexesAreCountedNowAndThen(t *testing.T) {
	t.Parallel()
	var x indexes
	at, n := time.Unix(1000, 0), server.AgentName{Tenant: "a", Agent: "b"}
	must.Hold(t, x.isDue(n, at, false), "an index that was never counted is not due")
	for _, c := range []struct {
		passed  time.Duration
		changed bool
		want    bool
	}{{time.Second, true, false}, {indexChanged, true, true}, {indexChanged, false, false}, {indexCounted, false, true}, {-time.Second, false, true}} {
		x.note(n, wire.IndexStatus{Passages: 3, Model: "m"}, at)
		must.Hold(t, x.isDue(n, at.Add(c.passed), c.changed) == c.want, "after %v, changed %v: due is not %v", c.passed, c.changed, c.want)
	}
	x.note(n, wire.IndexStatus{Passages: 3, Model: "m"}, at)
	must.Hold(t, !x.isDue(n, at.Add(time.Second), true) && x.isDue(n, at.Add(indexChanged), false), "a change that was not counted at once is forgotten")
	x.note(n, wire.IndexStatus{Passages: 3, Pending: 1, Model: "m"}, at)
	must.Hold(t, x.isDue(n, at.Add(indexChanged), false), "an index that was not complete is not due")
}

// An index that is complete and was counted gives no reason to visit its agent again and again: each visit is a transaction.
func TestACompleteIndexIsLeftAlone(t *testing.T) {
	t.Parallel()
	d, n := &Daemon{o: Options{Clock: func() time.Time { return time.Unix(1001, 0) }}}, server.AgentName{Tenant: "a", Agent: "b"}
	a := &op.Agent{Tenant: n.Tenant, ID: n.Agent}
	d.indexes.note(n, wire.IndexStatus{Passages: 3, Model: "m"}, time.Unix(1000, 0))
	must.NoError(t, d.countIndex(t.Context(), a, false))
	must.Is(t, "vectors that were not counted", d.countIndex(t.Context(), a, true), errNotNow)
	d.indexes.note(n, wire.IndexStatus{Passages: 3, Pending: 1, Model: "m"}, time.Unix(1000, 0))
	must.Is(t, "vectors that are missing", d.countIndex(t.Context(), a, false), errNotNow)
}
