package postgres

import (
	"context"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/internal/store/sqlcore"
)

// Options say how a store works.
type Options struct {
	// Clock is what times are taken from; nil is that of the server.
	Clock amber.Clock
	// Random is where ids come from; nil is that of the server.
	Random io.Reader
	Queue  amber.QueueOptions
	// Model turns texts into vectors, for questions in other words; nil searches by words
	// alone.
	Model search.Model
	// Crowded reports whether the machine has more to do than it can; nil: never.
	Crowded func() bool
	// MeaningOnly answers questions by the model alone, for measuring.
	MeaningOnly bool
	// OneByOne gives each write a transaction of its own, also where others wait to
	// write. Benchmarks and tests compare with it.
	OneByOne bool
	// Plain asks one question at a time, as a store of files does. Tests compare with it.
	Plain bool
	// SetAside is called for each row that was left out of an answer because it
	// cannot be read, also from several goroutines. It may be nil.
	SetAside func(amber.SetAside)
	// Existing opens an agent that is there and makes none.
	Existing bool
	// Frozen opens an agent that may leave, or have left, to read from it.
	Frozen bool
}

// Store is an agent's memory and control plane in a database. It is safe for concurrent
// use, also by several programs on one agent.
type Store struct {
	*sqlcore.Contracts
	memory  *database
	control *database
}

const backendName = "postgres"

// Open opens the store of an agent, made now if there is no such agent. The server stays open
// when the store is closed. Errors: invalid; not_found where nothing is to be made; refused for one that
// has moved, or is about to; those of a database that cannot be reached.
func (s *Server) Open(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, o Options) (*Store, error) {
	if _, err := amber.ParseTenantID(string(tenant)); err != nil {
		return nil, err
	}
	if _, err := amber.ParseAgentID(string(agent)); err != nil {
		return nil, err
	}
	if o.Clock == nil {
		o.Clock = s.Now
	}
	if o.Random == nil {
		o.Random = s.o.Random
	}
	g, err := s.lookUp(ctx, tenant, agent, o.Frozen)
	if !o.Existing && !o.Frozen && amber.KindOf(err) == amber.KindNotFound {
		g, err = s.create(ctx, tenant, agent)
	}
	if err != nil {
		return nil, err
	}
	core, index := &sqlcore.Options{
		Clock: o.Clock, Random: o.Random, Queue: o.Queue.WithDefaults(), Model: o.Model, Crowded: o.Crowded, MeaningOnly: o.MeaningOnly,
		SetAside: o.SetAside, Wrap: pgerr.Wrap, Backend: backendName,
	}, &sqlcore.Indexer{}
	database := func(log string) *database {
		return &database{
			server: s, tenant: tenant, agent: agent, log: log, line: s.lines.Of(lineKey{tenant, agent, log}), o: o, core: core, live: g,
		}
	}
	st := &Store{memory: database(logMemory), control: database(logControl)}
	st.memory.index = index
	st.Contracts = sqlcore.New(st.memory, st.control, index, core)
	if o.Frozen {
		return st, nil
	}
	if err := st.CatchUp(ctx); err != nil {
		return nil, err
	}
	return st, nil
}

// Parts returns the contracts this backend has.
func (s *Store) Parts() amber.Parts {
	p := s.Contracts.Parts()
	p.Documents = documents{s.memory}
	p.Notes, p.NoteLog = s.Notes(), s.Notes()
	return p
}

// Store returns the resolved value.
func (s *Store) Store() amber.Store { return amber.NewStore(s.Parts()) }

// Generation is the number of the generation that was live last.
func (s *Store) Generation() int64 {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	return s.memory.live.current.Generation
}

// Close ends the use of the store. It may be called twice.
func (s *Store) Close() error {
	s.Settle()
	s.memory.close()
	s.control.close()
	return nil
}
