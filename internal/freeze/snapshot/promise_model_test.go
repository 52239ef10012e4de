package snapshot_test

import (
	"maps"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Memory is what a restore has to bring back of a memory.
type Memory struct {
	Kind    amber.MemoryKind
	Title   string
	Content string
	Tags    []string // sorted
}

// Model is what a restore has to bring back of an agent. Memories are those
// that are not deleted.
type Model struct {
	Memories map[amber.MemoryID]Memory
	Notes    map[string]string // text by name, without ".md"
	State    map[string]string // document by key
	Tasks    map[string]string // goal by id, of the control plane
}

func emptyModel() Model {
	return Model{map[amber.MemoryID]Memory{}, map[string]string{}, map[string]string{}, map[string]string{}}
}

// clone returns a copy whose maps are its own.
func (m Model) clone() Model {
	next := emptyModel()
	maps.Copy(next.Memories, m.Memories)
	maps.Copy(next.Notes, m.Notes)
	maps.Copy(next.State, m.State)
	maps.Copy(next.Tasks, m.Tasks)
	return next
}

// with returns m with some parts of another model; the tasks stay.
func (m Model) with(o Model, parts ...string) Model {
	next := m.clone()
	o = o.clone()
	for _, p := range parts {
		switch p {
		case wire.PartMemory:
			next.Memories = o.Memories
		case wire.PartNotes:
			next.Notes = o.Notes
		case wire.PartState:
			next.State = o.State
		}
	}
	return next
}

// parts are the names of the parts of an agent.
func parts() []string { return []string{wire.PartMemory, wire.PartNotes, wire.PartState} }

// delta counts what differs from one map to another.
type delta struct{ added, changed, removed int64 }

func (d delta) mirrored() delta { return delta{d.removed, d.changed, d.added} }

// deltas are those of the parts of an agent.
type deltas struct{ memories, notes, state delta }

func (d deltas) mirrored() deltas {
	return deltas{d.memories.mirrored(), d.notes.mirrored(), d.state.mirrored()}
}

// to counts what changes from m to o.
func (m Model) to(o Model) deltas {
	return deltas{
		countOps(changes(m.Memories, o.Memories)),
		countOps(changes(m.Notes, o.Notes)),
		countOps(changes(m.State, o.State)),
	}
}

// changes returns the operation on each key that differs between a and b.
func changes[K comparable, V any](a, b map[K]V) map[K]amber.Op {
	ops := map[K]amber.Op{}
	for k := range a {
		if _, ok := b[k]; !ok {
			ops[k] = amber.OpDelete
		}
	}
	for k, v := range b {
		if was, ok := a[k]; !ok {
			ops[k] = amber.OpInsert
		} else if !cmp.Equal(was, v, cmpopts.EquateEmpty()) {
			ops[k] = amber.OpUpdate
		}
	}
	return ops
}

func countOps[K comparable](ops map[K]amber.Op) (d delta) {
	for _, op := range ops {
		switch op {
		case amber.OpInsert:
			d.added++
		case amber.OpUpdate:
			d.changed++
		case amber.OpDelete:
			d.removed++
		}
	}
	return d
}
