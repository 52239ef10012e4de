package sqlite

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/storetest"
)

var queueSeed = flag.Uint64("queue.seed", 0, "seed of the random queue operations; 0 takes a new one")

// queuePlay makes random moves on a queue.
type queuePlay struct {
	s      *Store
	clock  *storetest.Clock
	r      *rand.Rand
	leases []amber.Lease // also lost ones
	fences map[int64]bool
}

func (p *queuePlay) lease() amber.Lease {
	if len(p.leases) == 0 {
		return amber.Lease{EntryID: "none"}
	}
	return p.leases[p.r.IntN(len(p.leases))]
}

// move makes one move. Refusals are part of the game; any other error ends it.
func (p *queuePlay) move(t *testing.T) {
	ctx := t.Context()
	var err error
	switch n := p.r.IntN(10); {
	case n < 3:
		e := amber.Envelope{EntryID: fmt.Sprint("e", p.r.IntN(40)), TaskID: "t", NodeID: fmt.Sprint("n", p.r.IntN(5)), Priority: p.r.IntN(3)}
		if p.r.IntN(3) == 0 {
			e.NotBefore = amber.At(p.clock.Now().Add(time.Duration(p.r.IntN(20)) * time.Second))
		}
		err = p.s.Publish(ctx, e)
	case n < 6:
		var c amber.Claim
		if c, err = p.s.Claim(ctx, "c"); err == nil {
			if p.fences[c.Lease.Fence] {
				t.Fatalf("fence %d was issued twice", c.Lease.Fence)
			}
			p.fences[c.Lease.Fence] = true
			p.leases = append(p.leases, c.Lease)
		}
	case n == 6:
		err = p.s.Ack(ctx, p.lease())
	case n == 7:
		err = p.s.Nack(ctx, amber.Nack{Lease: p.lease()})
	case n == 8:
		_, err = p.s.Renew(ctx, p.lease())
	default:
		p.clock.Advance(time.Duration(p.r.IntN(30)-8) * time.Second)
		if p.r.IntN(50) == 0 {
			p.clock.Advance(sqlcore.AckedFor)
		}
	}
	switch amber.KindOf(err) {
	case "", amber.KindConflict, amber.KindQuota, amber.KindNotFound, amber.KindBusy:
	default:
		t.Fatal(err)
	}
}

func TestQueueCountsHoldThroughEveryMove(t *testing.T) {
	t.Parallel()
	seed := *queueSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("seed %d; repeat with -queue.seed=%d", seed, seed)
	o := amber.QueueOptions{MaxInFlight: 4, MaxQueued: 12, MaxAttempts: 2, Lease: 10 * time.Second, MaxBackoff: 4 * time.Second}
	s, clock := freshStore(t, o)
	p := &queuePlay{s: s, clock: clock, r: rand.New(rand.NewPCG(seed, 1)), fences: map[int64]bool{}}
	for range 400 {
		p.move(t)
		must.Do(t, s.control.View(t.Context(), "check", "", (*tx).CheckCounters))
		b := must.Get(s.Backpressure(t.Context()))(t)
		if b.Leased < 0 || b.Leased > o.MaxInFlight || b.Available != o.MaxInFlight-b.Leased || b.Queued > o.MaxQueued+o.MaxInFlight {
			t.Fatalf("counts %+v break the bounds %+v", b, o)
		}
	}
	if len(p.fences) == 0 {
		t.Fatal("nothing was ever claimed")
	}
}

func TestMiscountIsDamage(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	must.Do(t, s.Publish(t.Context(), amber.Envelope{EntryID: "e", TaskID: "t", NodeID: "n"}))
	check := func() error { return s.control.View(t.Context(), "check", "", (*tx).CheckCounters) }
	must.Do(t, check())
	meddle(t, s.control, `UPDATE queue_counts SET entries = 2 WHERE state = 'queued'`)
	must.Kind(t, "check of a wrong count", check(), amber.KindDamaged)
}

// Taking back what expired is kept also when the claim that did it gets
// nothing.
func TestClaimThatGetsNothingKeepsWhatExpired(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for _, c := range []struct {
		name string
		want error
		prep func(t *testing.T, s *Store, clock *storetest.Clock)
	}{
		{"empty", amber.ErrQueueEmpty, func(*testing.T, *Store, *storetest.Clock) {}},
		{"full", amber.ErrQueueFull, func(t *testing.T, s *Store, clock *storetest.Clock) {
			clock.Advance(time.Second)
			must.Do(t, s.Publish(ctx, amber.Envelope{EntryID: "b", TaskID: "t", NodeID: "n"}))
			// Both leases are out; one lasts longer than the other.
			meddle(t, s.control, `UPDATE queue SET state = 'leased', expires_at = 9223372036854775807 WHERE entry_id = 'b'`)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s, clock := freshStore(t, amber.QueueOptions{MaxAttempts: 1, MaxInFlight: 1})
			must.Do(t, s.Publish(ctx, amber.Envelope{EntryID: "a", TaskID: "t", NodeID: "n"}))
			must.Get(s.Claim(ctx, "slow"))(t)
			c.prep(t, s, clock)
			clock.Advance(time.Minute)
			got := entriesOf(t, s.Parts().ControlChanges, func() {
				if _, err := s.Claim(ctx, "c"); err != c.want {
					t.Fatalf("claim: got %v, want %v itself", err, c.want)
				}
			})
			want := []amber.Change{{Op: amber.OpUpdate, Scope: amber.ChangeControl, Key: "queue/a"}}
			must.Equal(t, "entries", got, want, cmp.AllowUnexported(amber.Time{}))
			dead := must.Get(s.DeadEntries(ctx, amber.Paging{}))(t).Items
			if len(dead) != 1 || !cmp.Equal(dead[0].Reasons, []string{"lease expired (consumer slow)"}) {
				t.Errorf("dead entries are %+v", dead)
			}
		})
	}
}

func TestAckedEntryIsForgottenInTime(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, clock := freshStore(t, amber.QueueOptions{})
	entry := func(id string) amber.Envelope {
		return amber.Envelope{EntryID: id, TaskID: "t", NodeID: "n", Payload: "secret"}
	}
	must.Do(t, s.Publish(ctx, entry("old")))
	must.Do(t, s.Ack(ctx, must.Get(s.Claim(ctx, "c"))(t).Lease))
	rows := func() int64 {
		return count(t, s.control, `SELECT count(*) FROM queue WHERE entry_id = 'old' AND payload = ''`)
	}

	clock.Advance(sqlcore.AckedFor - time.Millisecond)
	must.Do(t, s.Publish(ctx, entry("other")))
	must.Equal(t, "acked entries without payload", rows(), 1)
	must.Do(t, s.Publish(ctx, entry("old")))
	changed := entry("old")
	changed.Payload = "x"
	must.Kind(t, "publish with other bytes while it is remembered", s.Publish(ctx, changed), amber.KindConflict)

	clock.Advance(time.Millisecond)
	got := entriesOf(t, s.Parts().ControlChanges, func() { must.Do(t, s.Publish(ctx, entry("new"))) })
	want := []amber.Change{
		{Op: amber.OpDelete, Scope: amber.ChangeControl, Key: "queue/old"},
		{Op: amber.OpInsert, Scope: amber.ChangeControl, Key: "queue/new"},
	}
	must.Equal(t, "entries", got, want, cmp.AllowUnexported(amber.Time{}))
	must.Equal(t, "acked entries after their time", rows(), 0)
	must.Do(t, s.Publish(ctx, changed))
}

// An entry whose time has come takes its place by priority at once, however
// many wait for theirs.
func TestDelayedEntriesWaitApart(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, clock := freshStore(t, amber.QueueOptions{})
	now := amber.At(clock.Now())
	for i := range 20 {
		must.Do(t, s.Publish(ctx, amber.Envelope{EntryID: fmt.Sprint("late", i), TaskID: "t", NodeID: "n", Priority: i, NotBefore: now.Add(time.Duration(20-i) * time.Second)}))
	}
	must.Do(t, s.Publish(ctx, amber.Envelope{EntryID: "due", TaskID: "t", NodeID: "n"}))
	ready := func() int64 {
		return count(t, s.control, `SELECT count(*) FROM queue INDEXED BY queue_queued WHERE state = 'queued' AND due = 1`)
	}
	must.Equal(t, "entries that are due", ready(), 1)
	clock.Advance(10 * time.Second)
	must.Equal(t, "most urgent of those that became due", must.Get(s.Claim(ctx, "c"))(t).Envelope.EntryID, "late19")
	must.Equal(t, "ready entries: the nine others that became due and the first", ready(), 10)
}

// entriesOf returns what f adds to a change log, without position and time.
func entriesOf(t *testing.T, log amber.ChangeLog, f func()) []amber.Change {
	t.Helper()
	head := must.Get(log.Head(t.Context()))(t)
	f()
	got := must.Get(log.Changes(t.Context(), head, 1000))(t)
	for i := range got {
		got[i].Position, got[i].At = "", amber.Time{}
	}
	return got
}
