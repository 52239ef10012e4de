package inmem

import (
	"encoding/json"
	"fmt"

	"github.com/amber-memory/amber"
)

// Agent is a handle of one agent, whether it exists or not. Safe for
// concurrent use. Every method but Make answers not_found for an agent that
// does not exist.
type Agent struct {
	s   *Snapshotter
	key key
}

// key names an agent.
type key struct {
	tenant amber.TenantID
	agent  amber.AgentID
}

// live is an agent that exists.
type live struct {
	contents   Contents
	device     string
	generation int64
	old        map[int64]Contents // generations that no snapshot holds
}

// Agent returns the handle of an agent; it makes none. The error is of kind
// invalid.
func (s *Snapshotter) Agent(tenant amber.TenantID, agent amber.AgentID) (*Agent, error) {
	if err := checkNames(tenant, agent); err != nil {
		return nil, err
	}
	return &Agent{s, key{tenant, agent}}, nil
}

// Make makes the agent, empty. Errors: conflict when it exists.
func (a *Agent) Make() error {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	if a.s.agents[a.key] != nil {
		return amber.Errorf(amber.KindConflict, "make agent", string(a.key.agent), "it exists")
	}
	return a.s.make(a.key, Contents{}.clone())
}

// make adds an agent with a device of its own. The caller holds the mutex.
func (s *Snapshotter) make(k key, c Contents) error {
	device, err := amber.NewUUID(s.clock(), s.random)
	if err != nil {
		return err
	}
	s.agents[k] = &live{contents: c, device: device, generation: 1, old: map[int64]Contents{}}
	return nil
}

// Contents returns everything the agent is.
func (a *Agent) Contents() (Contents, error) {
	var c Contents
	err := a.do("read agent", func(l *live) error {
		c = l.contents.clone()
		return nil
	})
	return c, err
}

// Old returns what the agent was in an older generation that a restore has
// kept, see [amber.RestoreReport]. Errors: not_found when it was not kept.
func (a *Agent) Old(generation int64) (Contents, error) {
	var c Contents
	err := a.do("read generation", func(l *live) error {
		old, ok := l.old[generation]
		if !ok {
			return notFound("read generation", fmt.Sprint(generation), "it was not kept")
		}
		c = old.clone()
		return nil
	})
	return c, err
}

// Replace makes the agent what c says, unchecked.
func (a *Agent) Replace(c Contents) error {
	return a.do("replace agent", func(l *live) error {
		l.contents = c.clone()
		return nil
	})
}

// Remember adds a memory. Errors: invalid.
func (a *Agent) Remember(m Memory) (amber.MemoryID, error) {
	m, err := m.normalize()
	if err != nil {
		return "", err
	}
	var id amber.MemoryID
	err = a.do("remember", func(l *live) error {
		u, err := amber.NewUUID(a.s.clock(), a.s.random)
		id = amber.MemoryID(u)
		if err == nil {
			l.contents.Memories[id] = m
		}
		return err
	})
	return id, err
}

// normalize applies the rules of every memory.
func (m Memory) normalize() (Memory, error) {
	r, err := amber.WriteRequest{Kind: m.Kind, Title: m.Title, Content: m.Content, Tags: m.Tags}.Normalize()
	return Memory{Kind: r.Kind, Title: r.Title, Content: r.Content, Tags: r.Tags}, err
}

// Edit replaces a memory. Errors: invalid; not_found.
func (a *Agent) Edit(id amber.MemoryID, m Memory) error {
	m, err := m.normalize()
	if err != nil {
		return err
	}
	return a.do("edit", func(l *live) error {
		if _, ok := l.contents.Memories[id]; !ok {
			return notFound("edit", string(id), "there is no such memory")
		}
		l.contents.Memories[id] = m
		return nil
	})
}

// Forget removes a memory. Errors: not_found.
func (a *Agent) Forget(id amber.MemoryID) error {
	return a.do("forget", func(l *live) error { return remove(l.contents.Memories, id, "forget") })
}

// WriteNote writes a note. Errors: invalid for its name.
func (a *Agent) WriteNote(name, text string) error {
	name, err := amber.CheckNoteName(name)
	if err != nil {
		return err
	}
	return a.do("write note", func(l *live) error {
		l.contents.Notes[name] = text
		return nil
	})
}

// DeleteNote removes a note. Errors: not_found.
func (a *Agent) DeleteNote(name string) error {
	return a.do("delete note", func(l *live) error { return remove(l.contents.Notes, name, "delete note") })
}

// PutState puts a document under a key; "" clears the key. Errors: invalid for
// a key that is none, or a document that is no JSON.
func (a *Agent) PutState(key, doc string) error {
	if err := amber.CheckID("state key", key); err != nil {
		return err
	}
	if doc != "" && !json.Valid([]byte(doc)) {
		return amber.Errorf(amber.KindInvalid, "put state", key, "the document is no JSON")
	}
	return a.do("put state", func(l *live) error {
		l.contents.State[key] = doc
		if doc == "" {
			delete(l.contents.State, key)
		}
		return nil
	})
}

func remove[K ~string, V any](m map[K]V, k K, op string) error {
	if _, ok := m[k]; !ok {
		return notFound(op, string(k), "there is no such thing")
	}
	delete(m, k)
	return nil
}

// do runs f on the agent, in its turn.
func (a *Agent) do(op string, f func(l *live) error) error {
	a.s.mu.Lock()
	defer a.s.mu.Unlock()
	l := a.s.agents[a.key]
	if l == nil {
		return noAgent(op, a.key)
	}
	return f(l)
}

func noAgent(op string, k key) error {
	return notFound(op, string(k.agent), "tenant "+string(k.tenant)+" has no such agent")
}

func notFound(op, id, why string) error { return amber.Errorf(amber.KindNotFound, op, id, "%s", why) }
