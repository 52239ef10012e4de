package repo

import (
	"context"
	"time"

	"github.com/amber-memory/amber"
)

// Endangered returns those of the needed blobs that no pack holds which is
// there and not condemned, each once. A snapshot calls it before it publishes
// its manifest, with everything it needs, the inner manifest too, and stores
// again what comes back: [Writer.Copy] does that for blobs that can still be
// read. It loads the index anew. Errors: those of needed, [Repo.Condemned] and
// [Repo.Reload].
func (r *Repo) Endangered(ctx context.Context, needed func(fn func(ID, Kind) error) error) ([]ID, error) {
	// First the lists, then what is there: a pack that is deleted meanwhile was
	// on a list, and one that is not there is seen not to be.
	condemned, err := r.Condemned(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.Reload(ctx); err != nil {
		return nil, err
	}
	var lost []ID
	seen := map[ID]bool{}
	err = needed(func(id ID, _ Kind) error {
		if !seen[id] && !r.hasOutside(id, condemned) {
			lost = append(lost, id)
		}
		seen[id] = true
		return nil
	})
	return lost, err
}

// InTime says whether a snapshot that began at a time may still be published. A snapshot that takes longer than half
// the grace time of gc may rely on packs that were condemned after it had read the lists. The error is of kind
// conflict.
func InTime(began, now amber.Time, grace time.Duration) error {
	took := now.Time().Sub(began.Time()).Abs() // a clock that was set back tells nothing either
	if took <= grace/2 {
		return nil
	}
	return amber.Errorf(amber.KindConflict, "publish snapshot", "", "the snapshot took %s, longer than half the grace time of gc", took.String()).
		WithHint("raise snapshot.gc.grace, then run amber snapshot create")
}

// StoreAgain stores blobs once more, outside of packs that are about to go, and
// reads back what it wrote. Errors: those of [Writer.Copy], [Writer.Flush] and
// [Repo.ReadBack].
func (r *Repo) StoreAgain(ctx context.Context, ids []ID, avoid map[ID]bool) (Report, error) {
	w := r.NewWriter(ctx)
	defer w.Close()
	w.Avoid(avoid)
	if err := w.Copy(ctx, ids); err != nil {
		return Report{}, err
	}
	report, err := w.Flush(ctx)
	if err != nil {
		return Report{}, err
	}
	return report, r.ReadBack(ctx, w.Written())
}

// Copy stores blobs again from what the repository holds of them, byte for
// byte, unless they lie in packs that the writer does not avoid. They keep their
// ids and what they are sealed with. When the repository is locked the checksums
// of encrypted blobs are compared, and not their contents. Errors: those of
// [Repo.Read]; that of the pack that could not be stored.
func (w *Writer) Copy(ctx context.Context, ids []ID) error {
	plan, err := w.repo.plan(ids)
	if err != nil {
		return err
	}
	return w.repo.readPlan(ctx, plan, true, func(b Blob) error {
		return w.enqueue(ctx, b.entry, b.stored, true)
	})
}
