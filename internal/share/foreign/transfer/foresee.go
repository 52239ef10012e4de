package transfer

import (
	"slices"

	"github.com/amber-memory/amber"
)

// foresee counts what storing a batch would change, by the rules of the store.
func (c *carrier) foresee(batch []pending) error {
	now, err := c.stored(batch)
	if err != nil {
		return err
	}
	held, err := c.held(now)
	if err != nil {
		return err
	}
	for i, p := range batch {
		follows := p.fate == isNew || p.follows(now[i].Memory, held[i])
		if follows {
			c.foreseen[p.memory.ID] = p.memory.DeletedAt.IsZero()
		}
		if p.fate == isNew {
			c.report.Memories.New++
		} else {
			c.countChanged(p, follows)
		}
	}
	return nil
}

// follows reports whether a row would take the place of what is stored: it is later, and the import has a say in that.
func (p *pending) follows(now *amber.SyncMemory, held bool) bool {
	if now == nil || !p.memory.Origin.After(now.Origin) {
		return false
	}
	return held || p.vouched && slices.Contains(p.memory.Saw, now.Origin)
}

// held reports of each memory whether this import has a say in it.
func (c *carrier) held(records []amber.SyncRecord) ([]bool, error) {
	marks := make([]amber.SyncMark, len(records))
	for i, r := range records {
		if r.Memory != nil {
			marks[i] = r.Mark()
		}
	}
	return c.store.Sync.Held(c.ctx, place(c.format, c.trust), marks)
}

// foreseeRelations counts the relations that would be stored, and reports those that the store would not take.
func (c *carrier) foreseeRelations(fresh []made) error {
	ends := make([]amber.SyncRecord, 0, 2*len(fresh))
	for _, r := range fresh {
		ends = append(ends, r.ends...)
	}
	held, err := c.held(ends)
	if err != nil {
		return err
	}
	here := relationsHere{}
	for i, r := range fresh {
		if err := here.add(c.ctx, c.store.Relations, r.from); err != nil {
			return err
		}
		say := (held[2*i] || c.foreseen[r.from]) && (held[2*i+1] || c.foreseen[r.to])
		if say && !here.has(r.related) {
			c.report.Relations.New++
			continue
		}
		if err := c.passedOver(r.related, here); err != nil {
			return err
		}
	}
	return nil
}
