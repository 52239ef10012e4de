package snapshot_test

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/promise"
	"github.com/amber-memory/amber/wire"
)

var (
	modelSnapshots = flag.Int("model.snapshots", 5, "how many snapshots of a changing agent are taken and restored")
	modelSeed      = flag.Uint64("model.seed", 1, "the seed of the changes")
)

// Snapshots with random changes, deletions and gc between them: each brings back
// the agent as it was. The agent is frozen, restored whole or in parts, forked
// and compared; snapshots are deleted and pruned, garbage is collected, the home
// is opened anew. In the end all snapshots that are left are restored in random
// order, and the repository is checked. Memories that were erased stay erased, and
// the control plane comes back only when the request asks for it. Equal seeds give
// equal histories.
func TestEverySnapshotBringsItsMomentBack(t *testing.T) {
	t.Parallel()
	for i := range uint64(4) {
		seed, snapshots := i, min(8, *modelSnapshots)
		if i == 3 {
			seed, snapshots = *modelSeed, *modelSnapshots
		}
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			h := &history{site: newSite(t), rng: rand.New(rand.NewPCG(seed, 0))}
			err := promise.Caught(func() {
				h.reopen()
				h.agent = h.made(tenant, "scout")
				h.run(snapshots)
			})
			if err != nil {
				last := h.trace[max(0, len(h.trace)-12):]
				t.Errorf("seed %d, operation %d: %v\nthe last operations:\n\t%s", seed, len(h.trace), err, strings.Join(last, "\n\t"))
			}
		})
	}
}

// history is one history while it is made.
type history struct {
	*site
	rng   *rand.Rand
	agent *resident
	kept  []taken          // snapshots that are there, oldest first
	gone  []amber.MemoryID // erased for good
	forks int
	trace []string
}

func (h *history) run(snapshots int) {
	for i := range snapshots {
		for range h.rng.IntN(7) {
			h.change()
		}
		h.note("snapshot %d", i)
		h.kept = append(h.kept, h.agent.snapshot(fmt.Sprint("snapshot ", i)))
		h.maintain()
	}
	h.note("restore everything that is left")
	for _, i := range h.rng.Perm(len(h.kept)) {
		h.restoreAll(h.kept[i])
	}
	h.lists()
	h.sweep()
	r := get(h.engine.CheckRepository(h.ctx, wire.CheckRequest{Tenant: tenant, ReadData: true}))
	hold(r.OK(), "the repository is damaged: %+v", r.Damaged)
	hold(2*r.Unused <= r.Bytes, "after gc %d of %d bytes are unused", r.Unused, r.Bytes)
}

// note adds an operation to the trace.
func (h *history) note(format string, args ...any) {
	h.trace = append(h.trace, fmt.Sprintf(format, args...))
}

func (h *history) chance(p float64) bool { return h.rng.Float64() < p }

// change makes one random change of the agent.
func (h *history) change() {
	a := h.agent
	ids := a.memories()
	notes := slices.Sorted(maps.Keys(a.model.Notes))
	key := []string{amber.StateExtractCursor, amber.StateLastConsolidation}[h.rng.IntN(2)]
	switch op := h.rng.IntN(12); {
	case op < 3 || len(ids) == 0:
		h.note("remember")
		a.remember()
	case op == 3:
		h.note("edit")
		a.edit(ids[h.rng.IntN(len(ids))])
	case op == 4:
		h.note("forget")
		a.forget(ids[h.rng.IntN(len(ids))])
	case op == 5 || len(notes) == 0:
		h.note("new note")
		a.note(fmt.Sprintf("folder-%d/note-%d", h.rng.IntN(3), h.said))
	case op == 6:
		h.note("change note")
		a.note(notes[h.rng.IntN(len(notes))])
	case op == 7:
		h.note("delete note")
		a.dropNote(notes[h.rng.IntN(len(notes))])
	case op == 8 && a.model.State[key] != "":
		h.note("clear state")
		a.clearState(key)
	case op == 9:
		h.note("erase")
		id := ids[h.rng.IntN(len(ids))]
		a.erase(id)
		h.gone = append(h.gone, id)
	case op == 10:
		h.note("save task")
		a.task(fmt.Sprint("task-", h.rng.IntN(5)))
	default:
		h.note("put state")
		a.state(key)
	}
}

// of returns the model of a snapshot without the memories that were erased since.
func (h *history) of(s taken) taken {
	s.model = s.model.clone()
	for _, id := range h.gone {
		delete(s.model.Memories, id)
	}
	return s
}

// maintain does one thing with the snapshots that are there.
func (h *history) maintain() {
	s := h.kept[h.rng.IntN(len(h.kept))]
	switch h.rng.IntN(10) {
	case 0, 1:
		h.restoreAll(s)
	case 2:
		h.restoreSome(s)
	case 3:
		h.fork(s)
	case 4:
		h.note("diff")
		h.agent.differ(s, h.kept[h.rng.IntN(len(h.kept))])
	case 5, 6:
		h.delete(s)
	case 7:
		h.prune()
	case 8:
		h.note("gc")
		h.sweep()
	default:
		h.note("open again")
		h.reopen()
	}
	h.agent.is(h.agent.model, "in its history")
	h.lists()
}

func (h *history) restoreAll(s taken) {
	control := h.chance(0.5)
	h.note("restore %s, control %t", s.Label, control)
	h.kept = append(h.kept, h.agent.comesBack(h.of(s), control))
}

func (h *history) restoreSome(s taken) {
	only := slices.DeleteFunc(parts(), func(string) bool { return h.chance(0.4) })
	if len(only) == 0 {
		only = []string{wire.PartNotes}
	}
	h.note("restore %v of %s", only, s.Label)
	a, before := h.agent, h.agent.model
	a.model = before.with(h.of(s).model, only...)
	r := wire.RestoreRequest{SnapshotRef: a.ref(s.ID), Only: only, DryRun: true}
	planned(a.restore(r), before.to(a.model))
	r.DryRun = false
	safety := a.restore(r).SafetySnapshot
	h.kept = append(h.kept, taken{wire.SnapshotMeta{ID: safety, Label: wire.LabelBeforeRestore + string(s.ID)}, before})
}

func (h *history) fork(s taken) {
	h.forks++
	h.note("fork %s", s.Label)
	f := h.agent.fork(s, amber.AgentID(fmt.Sprint("fork-", h.forks)))
	f.is(f.model, "after it was made as a fork")
}

func (h *history) delete(s taken) {
	if len(h.kept) == 1 {
		return
	}
	h.note("delete %s", s.Label)
	h.agent.deletes(s.ID)
	h.kept = slices.DeleteFunc(h.kept, func(x taken) bool { return x.ID == s.ID })
}

func (h *history) prune() {
	h.note("prune")
	h.pass(time.Hour)
	report := h.agent.prune(wire.PruneRequest{KeepLast: 2 + h.rng.IntN(4), KeepHourly: h.rng.IntN(5), KeepSafety: h.rng.IntN(4)})
	h.kept = slices.DeleteFunc(h.kept, func(x taken) bool { return slices.Contains(report.Deleted, x.ID) })
}

// lists ends the check unless exactly the snapshots of the history are there.
func (h *history) lists() {
	var want []amber.SnapshotID
	for _, s := range slices.Backward(h.kept) {
		want = append(want, s.ID)
	}
	h.agent.lists(want...)
}
