package colony_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
)

var (
	histories    = flag.Int("colony.histories", 20, "how many random histories of two machines are run")
	outageStride = flag.Int("colony.stride", 3, "every how many requests of an operation one fails; 1: each")
)

// history is what two machines do to one label, one after the other, while
// requests fail.
type history struct {
	*bench
	draw     *rand.Rand
	machines [2]*colony.Vault
	memos    [2]*memo
	told     [2]bool // a machine may miss what the other removed
	// may are the texts that the newest snapshot may hold: what was
	// acknowledged last, and what was tried since. any says that it may be
	// whatever is there.
	may   []string
	any   bool
	acked bool // a backup was
	log   []string
	count int
}

func newHistory(t *testing.T, n uint64) *history {
	h := &history{bench: newBench(t), draw: rand.New(rand.NewPCG(*seed, n))}
	for i := range h.machines {
		h.memos[i] = &memo{}
		h.machines[i] = h.openOn(h.backend(), func(o *colony.Options) {
			skew := time.Duration(h.draw.IntN(120)-60) * time.Second
			o.Witness, o.Clock = h.memos[i], func() time.Time { return h.now().Add(skew) }
			o.Random = randomness(n*2 + uint64(i))
		})
		h.machines[i].SetPartChars(80)
	}
	return h
}

func (h *history) backend() colony.Backend {
	if h.draw.IntN(2) == 0 {
		return colonytest.Unconditional(h.fake)
	}
	return h.fake
}

// disturb has a request fail, sometimes.
func (h *history) disturb() {
	h.fake.Before = nil
	if h.draw.IntN(2) == 0 {
		return
	}
	left := h.draw.IntN(15)
	fault := faults[[]string{"unreachable", "refused", "quota", "lost"}[h.draw.IntN(4)]]
	whole := h.draw.IntN(2) == 0 // from then on
	h.fake.Before = func(colonytest.Request) colonytest.Fault {
		if left--; left == -1 || left < 0 && whole {
			return fault
		}
		return colonytest.Fault{}
	}
}

func (h *history) note(format string, args ...any) {
	h.log = append(h.log, fmt.Sprintf(format, args...))
}

func (h *history) fatal(format string, args ...any) {
	h.t.Helper()
	h.t.Fatalf("%s\nafter\n%s\nwith %q", fmt.Sprintf(format, args...), strings.Join(h.log, "\n"), names(h.fake, ""))
}

// step does one thing and checks what holds after everything.
func (h *history) step() {
	h.pass(time.Duration(h.draw.IntN(5000)) * time.Millisecond)
	if h.draw.IntN(10) == 0 {
		h.pass(colony.DefaultGrace)
	}
	i := h.draw.IntN(2)
	h.disturb()
	switch h.draw.IntN(8) {
	case 0, 1, 2, 3:
		h.save(i)
	case 4, 5:
		h.load(i)
	case 6:
		h.prune(i)
	case 7:
		h.remove(i)
	}
	h.fake.Before = nil
	h.check()
}

func (h *history) save(i int) {
	h.count++
	text := fmt.Sprint("text ", h.count)
	if len(h.may) > 0 && h.draw.IntN(3) == 0 {
		text = h.may[h.draw.IntN(len(h.may))] // once more
	}
	if h.draw.IntN(3) == 0 {
		text += bulky(uint64(h.count), 100)
	}
	r, err := h.machines[i].Backup(h.t.Context(), doc(text), colony.BackupOptions{Keep: h.draw.IntN(4), Force: h.draw.IntN(6) == 0})
	h.note("%d backs up %.12q as %s: %v", i, text, r.ID, err)
	switch {
	case err != nil:
		h.failed(err)
		h.may = append(h.may, text)
	case r.SupersededBy != "":
		h.fatal("nobody else is at work, and %s is newer", r.SupersededBy)
	default:
		h.may, h.any, h.acked, h.told[i] = []string{text}, false, true, false
	}
}

// failed ends the test for an error that no fault explains.
func (h *history) failed(err error) {
	h.t.Helper()
	switch amber.KindOf(err) {
	case amber.KindUnreachable, amber.KindRefused, amber.KindQuota:
		if h.fake.Before != nil {
			return
		}
	}
	h.fatal("%v", err)
}

func (h *history) load(i int) {
	r, err := h.machines[i].Restore(h.t.Context(), "")
	h.note("%d restores %.12q: %v", i, r.Documents["MEMORY.md"], err)
	switch kind := amber.KindOf(err); {
	case err == nil:
		h.holds(r)
	case kind == amber.KindUntrusted && h.told[i]:
	case (kind == amber.KindNotFound || kind == amber.KindDamaged) && len(h.complete()) == 0:
	default:
		h.failed(err)
	}
}

func (h *history) complete() []colony.SnapshotID {
	ids, _ := complete(h.fake.Files(), "x")
	return ids
}

func (h *history) holds(r colony.Restored) {
	h.t.Helper()
	if !h.any && !slices.Contains(h.may, r.Documents["MEMORY.md"]) {
		h.fatal("restored %q, want one of %q", r.Documents, h.may)
	}
}

func (h *history) prune(i int) {
	keep := 1 + h.draw.IntN(3)
	before := h.complete()
	r, err := h.machines[i].Prune(h.t.Context(), keep, false)
	h.note("%d prunes to %d: %d deleted, %d failed: %v", i, keep, len(r.Deleted), len(r.Failed), err)
	if err != nil && !(amber.KindOf(err) == amber.KindDamaged && len(before) == 0) {
		h.failed(err)
	}
	if after := h.complete(); len(after) < min(keep, len(before)) {
		h.fatal("complete were %s and are %s", before, after)
	}
}

func (h *history) remove(i int) {
	ids := h.complete()
	if len(ids) == 0 {
		return
	}
	id := ids[h.draw.IntN(len(ids))]
	_, err := h.machines[i].Delete(h.t.Context(), id, false)
	h.note("%d deletes %s: %v", i, id, err)
	if err != nil {
		h.failed(err)
	}
	h.any, h.told[1-i] = true, true
	for _, other := range ids {
		if other != id && !slices.Contains(h.complete(), other) {
			h.fatal("%s is gone, too", other)
		}
	}
}

// check reads the vault as a new client would, one without a witness.
func (h *history) check() {
	h.t.Helper()
	ids, _ := complete(h.fake.Files(), "x")
	r, err := h.open(nil).Restore(h.t.Context(), "")
	kind := amber.KindOf(err)
	switch {
	case err == nil:
		h.holds(r)
	case len(ids) > 0 || h.acked && !h.any:
		h.fatal("restore: %v", err)
	case kind == amber.KindNotFound && len(names(h.fake, "cmem.x.")) > 0:
		h.fatal("files are there, and restore says %v", err)
	}
}

func TestHistories(t *testing.T) {
	t.Parallel()
	for n := range *histories {
		h := newHistory(t, uint64(n))
		for range 30 {
			h.step()
		}
	}
}
