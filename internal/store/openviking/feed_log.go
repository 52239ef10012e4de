package openviking

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/amber-memory/amber"
)

const (
	changesPage = 500
	// A step takes so many memories: a whole batch, or few where time is short.
	stepMemories  = 200
	shortMemories = 16
	// quietEntries of other scopes are read before the cursor moves for them alone.
	quietEntries = 256
)

// work brings the server up to date.
func (r *round) work(ctx context.Context) error {
	if r.s.outage.Swap(false) {
		r.notes.uncheckedSince(amber.Time{})
		r.dirty = true
	}
	if !r.notes.CompareAt.IsZero() && !waits(r.now(), r.notes.CompareAt) && !r.budget.short() {
		r.notes.Compare, r.notes.CompareAt, r.dirty = true, amber.Time{}, true
		r.s.files = files{fence: r.cursor.Fence}
	}
	if r.notes.Compare {
		if err := r.compare(ctx); err != nil {
			return err
		}
	}
	if err := r.again(ctx); err != nil {
		return err
	}
	for {
		more, err := r.step(ctx)
		if amber.KindOf(err) == amber.KindConflict && r.failed == nil {
			r.s.files = files{fence: r.cursor.Fence}
			err = r.compare(ctx) // a restore: the log is another one
			more = err == nil
		}
		if err != nil {
			return err
		}
		if !more {
			return r.end(ctx)
		}
		if r.spent() { // behind the first step: every feed gets further
			return errSpent
		}
	}
}

// end is the rest of a round that is at the end of the log. Files that wait for more time are not
// done.
func (r *round) end(ctx context.Context) error {
	err := r.mend(ctx)
	if err == nil && len(r.notes.Rewrite) > 0 {
		return errSpent
	}
	return err
}

// changed is what a part of the change log amounts to.
type changed struct {
	ids     []amber.MemoryID            // in the order of their first change
	counts  map[amber.MemoryID]int      // changes of each
	created map[amber.MemoryID]bool     // those that were only created
	also    map[amber.MemoryID][]string // names that were seen, beside those that are known
	next    amber.Position
	entries int
	end     bool // of the log
}

func (c *changed) add(e amber.Change) {
	id, err := amber.ParseMemoryID(e.Key)
	if e.Scope != amber.ChangeMemory || err != nil {
		return
	}
	if c.counts[id] == 0 {
		c.ids, c.created[id] = append(c.ids, id), true
	}
	c.counts[id]++
	c.created[id] = c.created[id] && e.Op == amber.OpInsert
}

// gather reads the log up to as many memories as a step takes.
func (r *round) gather(ctx context.Context) (changed, error) {
	c := changed{counts: map[amber.MemoryID]int{}, created: map[amber.MemoryID]bool{}, next: r.cursor.Position}
	limit := stepMemories
	if r.budget.short() {
		limit = shortMemories
	}
	for {
		page, err := r.s.o.Primary.Changes.Changes(ctx, c.next, changesPage)
		if err != nil {
			return c, err
		}
		for _, e := range page {
			c.add(e)
			c.next = e.Position
			if c.entries++; len(c.ids) >= limit {
				return c, nil
			}
		}
		if len(page) < changesPage {
			c.end = true
			return c, nil
		}
	}
}

// step takes a part of the log and moves the cursor behind it. More is false at the end of the log.
func (r *round) step(ctx context.Context) (more bool, err error) {
	c, err := r.gather(ctx)
	if err != nil {
		return false, err
	}
	r.report.Changes += c.entries
	later, err := r.apply(ctx, c)
	if err != nil {
		return false, err
	}
	r.later(later)
	if len(c.ids) > 0 || c.entries >= quietEntries {
		if err := r.save(ctx, c.next); err != nil {
			return false, err
		}
	}
	return !c.end, nil
}

// again takes memories that are not known by the log: files that a recall found to be out of
// date, files that are damaged or were left by a short feed, and of a forced round what is in
// quarantine.
func (r *round) again(ctx context.Context) error {
	suspects := r.s.takeSuspects()
	if waits(r.now(), r.notes.AgainAt) {
		r.s.suspect(suspects...)
		return nil
	}
	ids, also := slices.Clone(r.notes.Rewrite), map[amber.MemoryID][]string{}
	for _, uri := range suspects {
		if n, ok := r.parse(uri); ok {
			ids, also[n.id] = append(ids, n.id), append(also[n.id], uri)
		}
	}
	if r.budget.Force && !r.report.Compared {
		for _, q := range r.notes.Quarantine {
			ids = append(ids, q.ID)
		}
	}
	slices.Sort(ids)
	r.tired = !r.budget.Force && r.notes.AgainDelay > 0 // others do not wait for files that were busy before
	defer func() { r.tired = false }()
	counts := map[amber.MemoryID]int{} // how often they changed is not known any more
	for _, id := range ids {
		counts[id] = math.MaxInt - moreRevisions
	}
	var later []amber.MemoryID
	for some := range slices.Chunk(slices.Compact(ids), stepMemories) {
		left, err := r.apply(ctx, changed{ids: some, counts: counts, also: also})
		if err != nil {
			r.s.suspect(suspects...)
			return err
		}
		later = append(later, left...)
	}
	if len(later) == 0 && r.notes.AgainDelay > 0 {
		r.notes.AgainDelay, r.dirty = 0, true
	}
	if !slices.Equal(r.notes.Rewrite, later) {
		r.notes.Rewrite, r.dirty = nil, true
	}
	r.later(later)
	return nil
}

// later notes memories whose files could not be looked for in the time there was, or were busy: the
// log is not held up by them. Where they are too many, a comparison finds them.
func (r *round) later(ids []amber.MemoryID) {
	if len(ids) == 0 {
		return
	}
	r.dirty = true
	if r.tired && !waits(r.now(), r.notes.AgainAt) {
		r.notes.AgainDelay = doubled(r.notes.AgainDelay)
		r.notes.AgainAt = r.now().Add(time.Duration(r.notes.AgainDelay) * time.Millisecond)
	}
	if !r.notes.rewrite(ids...) {
		r.notes.Compare, r.crowded = true, true
	}
}
