package openviking

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/amber-memory/amber"
)

// comparePage is how many memories are held at a time.
const comparePage = 100

// compareAfter is how long after an outage: the server may be busy with what came before it.
const compareAfter = 2 * time.Minute

// compare makes the server equal to the live memories by the listings of both: before the first
// feed of a place, after a restore and after an outage. The log is read on from its head before the listing, so
// that what changes meanwhile is taken again. A comparison that is cut short begins anew, and
// finds what it has written.
func (r *round) compare(ctx context.Context) error {
	head, err := r.s.o.Primary.Changes.Head(ctx)
	if err != nil {
		return err
	}
	if !r.notes.Compare { // for the next round, if this one does not come to the end
		r.notes.Compare, r.dirty = true, true
	}
	if err := r.list(ctx); err != nil {
		return err
	}
	r.s.files.comparing = true
	live, err := r.writeMissing(ctx)
	if err == nil {
		err = r.deleteOthers(ctx, live)
	}
	if err != nil {
		return err
	}
	r.s.files.comparing = false
	r.notes.Compare, r.notes.Settings, r.report.Compared = false, r.s.o.settings(), true
	if r.crowded { // not at once: they are busy
		r.notes.CompareAt = r.now().Add(compareAfter)
	}
	return r.save(ctx, head)
}

// writeMissing writes the present version of every live memory that was not listed, and returns
// the names of all of them.
func (r *round) writeMissing(ctx context.Context) (map[amber.MemoryID]string, error) {
	live, most := map[amber.MemoryID]string{}, batchFiles
	if r.budget.short() {
		most = shortMemories
	}
	out := outgoing{present: map[amber.MemoryID]string{}}
	err := r.s.eachLive(ctx, func(page []amber.Memory) error {
		for i := range page {
			m := &page[i]
			if !r.s.o.leaves(m.Scope) {
				r.report.Withheld++
				continue
			}
			f := r.file(m)
			live[m.ID] = f.URI
			if !slices.Contains(r.s.files.names[m.ID], f.URI) {
				r.add(&out, f)
			}
			if !out.full(most) {
				continue
			}
			if err := r.flushSome(ctx, &out); err != nil {
				return err
			}
		}
		if !r.spent() {
			return nil
		}
		return r.flushSome(ctx, &out)
	})
	if err == nil {
		err = r.flush(ctx, &out)
		r.later(r.takeStuck())
	}
	return live, err
}

// flushSome writes what is on its way, and ends a comparison that has no time for more.
func (r *round) flushSome(ctx context.Context, out *outgoing) error {
	if err := r.flush(ctx, out); err != nil {
		return err
	}
	r.later(r.takeStuck())
	return r.enough()
}

// enough ends a comparison whose budget is used up, once it has changed something: the next one
// begins anew, and one that a long listing leaves no time would never get further. With a short
// budget it is left to a longer one.
func (r *round) enough() error {
	if !r.spent() {
		return nil
	}
	if r.report.Written+r.report.Deleted > 0 {
		return errSpent
	}
	if !r.budget.short() {
		return nil
	}
	r.notes.Large, r.dirty = true, true
	return errSpent
}

// eachLive calls fn with every live memory, a page at a time.
func (s *Store) eachLive(ctx context.Context, fn func([]amber.Memory) error) error {
	q := amber.ListQuery{All: true, Limit: comparePage}
	for {
		page, err := s.o.Primary.Memories.List(ctx, q)
		if err != nil {
			return err
		}
		if err := fn(page.Items); err != nil {
			return err
		}
		if page.Next == "" {
			return nil
		}
		q.Cursor = page.Next
	}
}

// deleteOthers deletes the files that are not of the present version of a live memory. Files with
// names that are not ours stay: [Store.Verify] reports them.
func (r *round) deleteOthers(ctx context.Context, live map[amber.MemoryID]string) error {
	for _, id := range slices.Sorted(maps.Keys(r.s.files.names)) {
		keep := live[id]
		if slices.Equal(r.s.files.names[id], []string{keep}) {
			continue
		}
		if keep == "" && r.unreadable(ctx, id) {
			continue
		}
		if err := r.enough(); err != nil {
			return err
		}
		err := r.clear(ctx, id, keep, 0)
		if errors.Is(err, errBusy) {
			r.later([]amber.MemoryID{id})
			continue
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// unreadable reports whether a memory is there and cannot be read: a listing leaves it out.
func (r *round) unreadable(ctx context.Context, id amber.MemoryID) bool {
	_, err := r.s.o.Primary.Memories.Get(ctx, id)
	return err != nil && amber.KindOf(err) != amber.KindNotFound
}
