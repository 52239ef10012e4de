package letta

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// place names an element of a list.
func place(what string, n int64) string { return fmt.Sprintf("%s %d", what, n) }

// agent gives out the blocks and the messages of an agent.
func (d *document) agent(a foreign.Object, at string) error {
	d.found = true
	who := a.Text("name")
	ids := a.Texts("block_ids")
	if _, listed := a["block_ids"]; !listed && d.old != nil {
		ids = d.order
	}
	for _, id := range ids {
		b, ok := d.blocks[id]
		switch {
		case !ok:
			d.to.Skip(d.at(at), "agent has the block %.40q, which is not in the file", id)
		case !b.told:
			b.told = true
			d.blocks[id] = b
			if err := d.memory(who, b); err != nil {
				return err
			}
		}
	}
	return d.conversation(who, at, a.List("messages"))
}

// leftBlocks gives out the blocks that belong to no agent.
func (d *document) leftBlocks() error {
	for _, id := range d.order {
		if b := d.blocks[id]; !b.told {
			if err := d.memory("", b); err != nil {
				return err
			}
		}
	}
	return nil
}

// take reports whether a key is free, and takes it.
func (d *document) take(at foreign.Place, what string, key ...string) bool {
	k := what + "\x00" + strings.Join(key, "\x00")
	if before, taken := d.used[k]; taken {
		d.to.Skip(at, "%s is in %s already", what, before)
		return false
	}
	d.used[k] = at.String()
	return true
}

// memory gives out the memory of a block.
func (d *document) memory(who string, b block) error {
	at, label := d.at(b.at), b.Text("label")
	if strings.TrimSpace(b.Text("value")) == "" {
		d.to.Skip(at, "block %.60q is empty", label)
		return nil
	}
	if !d.take(at, "the block "+label+" of an agent of this name", who, label) {
		return nil
	}
	m := foreign.Memory{
		Place: at, Key: foreign.Key{who, label}, Kind: amber.WorkspaceFact, Title: label, Topic: label, Content: b.Text("value"),
		Summary: b.Text("description"), Tags: b.Texts("tags"),
	}
	if label == "human" {
		m.Kind = amber.UserFact
	}
	created, err1 := b.Time("created_at")
	updated, err2 := b.Time("updated_at")
	if err := cmp.Or(err1, err2); err != nil {
		d.to.Skip(at, "%v", err)
		return nil
	}
	m.CreatedAt, m.UpdatedAt = cmp.Or(created, d.created), cmp.Or(updated, created, d.created)
	m.ProjectID = d.o.Project
	m.Keep(b.rest())
	if own := b.Sub("metadata").Sub("amber"); own != nil {
		exported(&m, own, d.o)
	}
	return d.to.Memory(m)
}

// rest returns what else a block says.
func (b block) rest() foreign.Object {
	rest := b.Without("id", "label", "value", "description", "tags", "created_at", "updated_at", "metadata")
	return rest.With("metadata", b.Sub("metadata").Without("amber"))
}

// exported takes what an export of Amber wrote about a memory.
func exported(m *foreign.Memory, own foreign.Object, o foreign.Options) {
	m.AmberID = own.Text("id")
	if slices.Contains(amber.MemoryKinds(), amber.MemoryKind(own.Text("kind"))) {
		m.TakeOwn(own, o.Project)
		m.Tags, m.Foreign = own.Texts("tags"), nil
	}
}
