package daemon

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/contextblock"
	"github.com/amber-memory/amber/internal/serve/hooksocket"
	"github.com/amber-memory/amber/wire"
)

// openNear listens for hooks; nil where that is not possible, and then hooks open the store
// themselves.
func (s *Daemon) openNear() *hooksocket.Listener {
	started := s.settings()
	l, err := hooksocket.Listen(hooksocket.OfServer(s.o.Home.Dir()), hooksocket.Options{
		Build: hooksocket.Build(s.o.Version, s.o.Commit),
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
	return contextblock.Build(ctx, a.Store, a.Policy, r, a.Random)
}
