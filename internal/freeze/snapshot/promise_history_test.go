package snapshot_test

import (
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

// Snapshots with random changes, deletions and gc between them: each brings back
// the agent as it was. The agent is frozen, restored whole or in parts, forked
// and compared; snapshots are deleted and pruned, garbage is collected, the home
// is opened anew. In the end all snapshots that are left are restored in random
// order. Equal seeds give equal histories.
func TestHistoriesOfSnapshots(t *testing.T) {
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
	kept  []taken // snapshots that are there, oldest first
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
	switch op := h.rng.IntN(10); {
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
	default:
		h.note("put state")
		a.state(key)
	}
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
	h.note("restore %s", s.Label)
	safety := h.agent.returns(s)
	h.kept = append(h.kept, safety)
}

func (h *history) restoreSome(s taken) {
	only := slices.DeleteFunc(parts(), func(string) bool { return h.chance(0.4) })
	if len(only) == 0 {
		only = []string{wire.PartNotes}
	}
	h.note("restore %v of %s", only, s.Label)
	a, before := h.agent, h.agent.model
	a.model = before.with(s.model, only...)
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
