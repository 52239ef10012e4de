package inmem

import (
	"encoding/json"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
)

// Memory is what an agent remembers under one id.
type Memory struct {
	Kind    amber.MemoryKind `json:"kind"`
	Title   string           `json:"title"`
	Content string           `json:"content"`
	Tags    []string         `json:"tags"` // sorted, none twice
}

func (m Memory) equal(o Memory) bool {
	return m.Kind == o.Kind && m.Title == o.Title && m.Content == o.Content && slices.Equal(m.Tags, o.Tags)
}

// Contents is everything an agent is.
type Contents struct {
	Memories map[amber.MemoryID]Memory
	Notes    map[string]string // text by name
	State    map[string]string // JSON document by key
}

// clone returns a copy that shares nothing, without nil maps.
func (c Contents) clone() Contents {
	next := Contents{map[amber.MemoryID]Memory{}, map[string]string{}, map[string]string{}}
	for id, m := range c.Memories {
		m.Tags = slices.Clone(m.Tags)
		next.Memories[id] = m
	}
	maps.Copy(next.Notes, c.Notes)
	maps.Copy(next.State, c.State)
	return next
}

// take takes the parts over that are named; the others stay.
func (c *Contents) take(from Contents, parts []string) {
	for _, p := range parts {
		switch p {
		case amber.PartMemory:
			c.Memories = from.Memories
		case amber.PartNotes:
			c.Notes = from.Notes
		case amber.PartState:
			c.State = from.State
		}
	}
}

// allParts are the parts of an agent, in the order they are told.
var allParts = [...]string{amber.PartMemory, amber.PartNotes, amber.PartState}

// part is one part of an agent as it is stored: JSON with sorted keys, so that
// equal parts are equal bytes.
type part struct {
	name  string
	count int64
	data  []byte
}

func (c Contents) parts() []part {
	return []part{
		encode(amber.PartMemory, c.Memories), encode(amber.PartNotes, c.Notes), encode(amber.PartState, c.State),
	}
}

func encode[K ~string, V any](name string, m map[K]V) part {
	data, err := json.Marshal(m)
	if err != nil {
		panic("inmem: a map of texts always marshals: " + err.Error())
	}
	return part{name: name, count: int64(len(m)), data: data}
}

// decode reads what encode wrote into the part of that name.
func (c *Contents) decode(name string, data []byte) error {
	switch name {
	case amber.PartMemory:
		return json.Unmarshal(data, &c.Memories)
	case amber.PartNotes:
		return json.Unmarshal(data, &c.Notes)
	}
	return json.Unmarshal(data, &c.State)
}
