package transfer

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Record implements [foreign.Sink]. The versions are stored as they are, if this import may say so: the store puts a
// version that a file claims of a memory of its own beside that memory.
func (c *carrier) Record(at foreign.Place, versions []amber.SyncMemory) error {
	if !c.o.wants(Memories) {
		return nil
	}
	if err := c.look(); err != nil {
		return err
	}
	c.report.Memories.Read++
	head := versions[len(versions)-1]
	if c.met[string(head.ID)] {
		c.Skip(at, "memory %s is in the file twice", head.ID)
		return nil
	}
	c.met[string(head.ID)] = true
	for i := range versions {
		v := &versions[i]
		c.cleanRecord(&v.Memory)
		if err := (amber.SyncRecord{Memory: v}).Check(); err != nil {
			c.refuse(at, err)
			return nil
		}
	}
	head = versions[len(versions)-1]
	if !c.o.Since.IsZero() && head.UpdatedAt.Before(c.o.Since) {
		c.report.Older++
		return nil
	}
	c.sample("memory", cmp.Or(head.Title, firstLine(head.Content)))
	return c.settleRecord(at, versions)
}

// cleanRecord is clean for a memory that brings its own digest and form.
func (c *carrier) cleanRecord(m *amber.Memory) {
	was := m.Content
	c.clean(m)
	if m.Content != was {
		m.ContentDigest = amber.ContentDigest(m.Content)
	}
	m.DuplicateCount = 0
	foreign.FillLists(m)
	if len(m.Foreign) == 0 {
		m.Foreign = map[string]json.RawMessage(nil)
	}
}

func (c *carrier) settleRecord(at foreign.Place, versions []amber.SyncMemory) error {
	head := versions[len(versions)-1]
	key := foreign.Key{string(head.ID)}
	p := pending{at: at, key: key, fate: isRecord, memory: head, before: versions[:len(versions)-1]}
	p.digest = foreign.Hex(foreign.Digest("record", rowDigest(head.Memory, head.DeletedAt), originText(head.Origin)))
	link, was, linked, err := c.linked("memory", key)
	if err != nil {
		return err
	}
	if linked && was.Digest == p.digest {
		c.report.Memories.Known++
		return nil
	}
	if linked && was.Digest == "" { // it was undone: it comes back as a later version
		p.fate, p.epoch, p.before = recordAgain, was.Epoch, nil
		p.memory.Origin = amber.Origin{Device: c.format, Counter: link.Version.Counter + 1, Clock: max(head.Origin.Clock, link.Version.Clock)}
		p.memory.Saw = []amber.Origin{link.Version}
	}
	return c.add(p)
}

// knows reports whether a version of a memory that is here is known: as the newest, or in its history.
func (c *carrier) knows(p pending, now *amber.SyncMemory) (bool, error) {
	if now.Origin == p.memory.Origin {
		return true, nil
	}
	history, err := amber.All(c.ctx, c.store.Memories.History, p.memory.ID)
	return slices.ContainsFunc(history, func(m amber.Memory) bool { return m.Origin == p.memory.Origin }), err
}

func originText(o amber.Origin) string {
	b, err := json.Marshal(o)
	if err != nil {
		return ""
	}
	return string(b)
}

// RelationRecord implements [foreign.Sink].
func (c *carrier) RelationRecord(at foreign.Place, r amber.Relation) error {
	if !c.o.wants(Memories) {
		return nil
	}
	c.hold(related{at: at, from: r.From, to: r.To, typ: r.Type, strength: r.Strength, created: r.CreatedAt, whole: &r})
	return nil
}
