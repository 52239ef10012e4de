package inmem

import (
	"context"
	"io"
	"sync"

	"github.com/amber-memory/amber"
)

// Options are what a snapshotter works with. All of them are required.
type Options struct {
	Clock  amber.Clock
	Random io.Reader // ids are made of it; it is read by one goroutine at a time
}

// Snapshotter holds agents and their snapshots. It is safe for concurrent use:
// operations happen one after the other, so that none is ever busy.
type Snapshotter struct {
	clock  amber.Clock
	random io.Reader

	mu     sync.Mutex
	agents map[key]*live
	vaults map[amber.TenantID]*vault
	open   map[key]amber.Consolidation
}

var (
	_ amber.Snapshotter       = (*Snapshotter)(nil)
	_ amber.RepositoryChecker = (*Snapshotter)(nil)
)

// New returns a snapshotter without agents. The error is of kind invalid.
func New(o Options) (*Snapshotter, error) {
	if o.Clock == nil || o.Random == nil {
		return nil, amber.Errorf(amber.KindInvalid, "make snapshotter", "inmem", "it needs a clock and a source of randomness")
	}
	return &Snapshotter{
		clock: o.Clock, random: o.Random,
		agents: map[key]*live{}, vaults: map[amber.TenantID]*vault{}, open: map[key]amber.Consolidation{},
	}, nil
}

func (s *Snapshotter) now() amber.Time { return amber.At(s.clock()) }

// run takes the snapshotter's turn and runs f in it, unless ctx has ended.
func (s *Snapshotter) run(ctx context.Context, op string, f func() error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return &amber.Error{Op: op, Kind: amber.KindUnreachable, Err: err}
	}
	return f()
}

// vault returns the repository of a tenant. The caller holds the mutex.
func (s *Snapshotter) vault(tenant amber.TenantID) *vault {
	if s.vaults[tenant] == nil {
		s.vaults[tenant] = &vault{blobs: map[string][]byte{}, shelves: map[amber.AgentID]*shelf{}}
	}
	return s.vaults[tenant]
}

// find returns a snapshot. The caller holds the mutex. Errors: not_found.
func (s *Snapshotter) find(ref amber.SnapshotRef) (*snapshot, error) {
	shelf := s.vault(ref.Tenant).shelf(ref.Agent)
	for _, x := range shelf.snapshots {
		if x.meta.ID == ref.ID {
			return x, nil
		}
	}
	why := "agent " + string(ref.Agent) + " has no such snapshot"
	if _, deleted := shelf.stubs[ref.ID]; deleted {
		why = "it was deleted"
	}
	return nil, notFound("find snapshot", string(ref.ID), why)
}

func checkNames(tenant amber.TenantID, agent amber.AgentID) error {
	if _, err := amber.ParseTenantID(string(tenant)); err != nil {
		return err
	}
	_, err := amber.ParseAgentID(string(agent))
	return err
}

func checkRef(ref amber.SnapshotRef) error {
	if err := checkNames(ref.Tenant, ref.Agent); err != nil {
		return err
	}
	_, err := amber.ParseSnapshotID(string(ref.ID))
	return err
}
