package daemon

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/block"
	"github.com/amber-memory/amber/internal/serve/near"
	"github.com/amber-memory/amber/wire"
)

// openNear listens for hooks; nil where that is not possible, and then hooks open the store
// themselves.
func (s *Daemon) openNear() *near.Listener {
	started := s.settings()
	l, err := near.Listen(near.OfServer(s.o.Home.Dir()), near.Options{
		Build: near.Build(s.o.Version, s.o.Commit),
		Settings: func() string {
			if s.settings() != started { // agents were opened with others
				return ""
			}
			return started
		},
		Context: s.context, Traffic: &s.traffic, Log: s.o.Log,
	})
	if err != nil {
		s.o.Log.Warn("hooks cannot ask this server and open the store themselves", "error", err)
		return nil
	}
	return l
}

// settings is the digest of what context depends on, as it is now.
func (s *Daemon) settings() string { return s.o.Config.Loaded().Config.ContextDigest() }

// context answers a hook. Errors: those of opening an agent and of the store.
func (s *Daemon) context(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, r wire.ContextRequest) (wire.ContextBlock, error) {
	a, release, err := s.pool.Agent(ctx, tenant, agent, false)
	if err != nil {
		return wire.ContextBlock{}, err
	}
	defer release()
	return block.Build(ctx, a.Store, a.Policy, r, a.Random)
}
