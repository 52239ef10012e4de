package snapshot_test

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

func concurrentChecks() []check {
	return []check{
		{"concurrent/snapshots-of-one-agent", snapshotsTogether},
		{"concurrent/snapshots-of-two-agents", snapshotsApart},
		{"concurrent/one-instant", oneInstant},
		{"concurrent/restores-of-one-agent", restoresTogether},
	}
}

// try runs an operation that another may keep busy, and reports whether it was
// done.
func try(err error) bool {
	if amber.KindOf(err) == amber.KindBusy {
		return false
	}
	do(err)
	return true
}

func snapshotsTogether(w *site) {
	a := w.lived(tenant, "scout")
	w.tick()
	var mu sync.Mutex
	var all []wire.SnapshotMeta
	together(4, func(int) {
		m, err := w.engine.Snapshot(w.ctx, wire.SnapshotRequest{Tenant: tenant, Agent: a.id, Label: "at once"})
		if try(err) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, m)
		}
	})
	hold(len(all) > 0, "of four snapshots at once none was taken")
	slices.SortFunc(all, func(x, y wire.SnapshotMeta) int { return int(x.Counter - y.Counter) })
	for i, m := range all[1:] {
		follows(taken{m, a.model}, taken{all[i], a.model})
	}
	same(len(a.list()), len(all), "snapshots that are listed")
	held := a.model.clone()
	for _, m := range all {
		a.live()
		a.returns(taken{m, held})
	}
}

func snapshotsApart(w *site) {
	agents := []*resident{w.lived(tenant, "scout"), w.lived(tenant, "pilot"), w.lived(foreign, "scout")}
	w.tick()
	all := make([]taken, len(agents))
	together(len(agents), func(i int) {
		a := agents[i]
		m := get(w.engine.Snapshot(w.ctx, wire.SnapshotRequest{Tenant: a.tenant, Agent: a.id}))
		all[i] = taken{m, a.model.clone()}
	})
	for i, a := range agents {
		a.lists(all[i].ID)
		a.live()
		a.returns(all[i])
	}
}

// oneInstant writes a memory and then a note, again and again, while
// snapshots are taken: each holds everything that was acknowledged before it
// began, and no note without the memory before it.
func oneInstant(w *site) {
	a := w.made(tenant, "scout")
	p := newPairs(a)
	var instants []instant
	together(2, func(i int) {
		if i == 0 {
			p.write()
			return
		}
		instants = p.freeze(5)
	})
	hold(len(instants) > 0, "no snapshot was taken while the agent was written to")
	for i, x := range instants {
		f := a.fork(taken{SnapshotMeta: wire.SnapshotMeta{ID: x.id}}, amber.AgentID(fmt.Sprint("fork-", i)))
		m := get(f.read())
		memories, notes := len(m.Memories), int64(len(m.Notes))
		hold(notes >= x.least, "snapshot %d has %d notes, %d were acknowledged before it began", i, notes, x.least)
		hold(int64(memories) == notes || int64(memories) == notes+1, "snapshot %d has %d notes and %d memories: that is no one instant", i, notes, memories)
	}
}

// instant is a snapshot, and how many pairs were acknowledged before it began.
type instant struct {
	id    amber.SnapshotID
	least int64
}

// pairs is an agent that is written to while it is frozen.
type pairs struct {
	agent        *resident
	acknowledged atomic.Int64
	pace         chan struct{} // a pair is written for each; closed when all snapshots are taken
	progress     chan struct{} // has something after a pair; closed when no more come
}

func newPairs(a *resident) *pairs {
	return &pairs{agent: a, pace: make(chan struct{}, 20), progress: make(chan struct{}, 1)}
}

// write writes pairs until no more are wanted.
func (p *pairs) write() {
	defer close(p.progress)
	a := p.agent
	for range p.pace {
		n := p.acknowledged.Load()
		a.write(Memory{Kind: amber.WorkspaceFact, Content: fmt.Sprint("pair ", n)})
		a.writeNote(fmt.Sprint("pair-", n), "done\n")
		p.acknowledged.Add(1)
		select {
		case p.progress <- struct{}{}:
		default:
		}
	}
}

// want lets the writer write some pairs more.
func (p *pairs) want() {
	for range cap(p.pace) {
		select {
		case p.pace <- struct{}{}:
		default:
		}
	}
}

// freeze takes n snapshots, each after one pair more and while others are
// written, and stops the writer.
func (p *pairs) freeze(n int) (all []instant) {
	defer close(p.pace)
	a := p.agent
	for range n {
		select {
		case <-p.progress: // from before
		default:
		}
		p.want()
		<-p.progress
		p.want()
		least := p.acknowledged.Load()
		m, err := a.w.engine.Snapshot(a.w.ctx, wire.SnapshotRequest{Tenant: a.tenant, Agent: a.id})
		if try(err) {
			all = append(all, instant{m.ID, least})
		}
	}
	return all
}

func restoresTogether(w *site) {
	a := w.lived(tenant, "scout")
	one := a.snapshot("one")
	a.live()
	two := a.snapshot("two")
	a.live()
	w.tick()
	var mu sync.Mutex
	safety := 0
	together(2, func(i int) {
		r, err := w.engine.Restore(w.ctx, wire.RestoreRequest{SnapshotRef: a.ref([]taken{one, two}[i].ID)})
		if try(err) {
			mu.Lock()
			defer mu.Unlock()
			safety++
			hold(r.SafetySnapshot != "", "a restore took no safety snapshot")
		}
	})
	hold(safety > 0, "of two restores at once none was done")
	same(len(a.list()), 2+safety, "snapshots, the safety ones with them")
	got := get(a.read())
	isOf := func(s taken) bool { return cmp.Equal(s.model, got, cmpopts.EquateEmpty()) }
	hold(isOf(one) || isOf(two), "after two restores at once the agent is neither of both")
	a.model = got
	a.returns(one)
}
