package postgres

import (
	"context"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/home"
)

// Clock is this machine's.
func (s *Server) Clock() amber.Clock { return s.o.Clock }

// NewID mints a UUIDv7 at the time of the server.
func (s *Server) NewID() (string, error) { return amber.NewUUID(s.Now(), s.o.Random) }

// Live is the live generation of an agent: its number among all generations of the
// database, and what a home calls CURRENT. Errors: not_found; refused for one that has moved, or is about to.
func (s *Server) Live(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (gen int64, c home.Current, err error) {
	g, err := s.lookUp(ctx, tenant, agent, false)
	if err != nil {
		return 0, c, err
	}
	return g.gen, g.current, nil
}

// Frozen is Live for an agent that may be leaving or may have left: no process writes to the agent then.
func (s *Server) Frozen(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (gen int64, c home.Current, err error) {
	g, err := s.lookUp(ctx, tenant, agent, true)
	if err != nil {
		return 0, c, err
	}
	return g.gen, g.current, nil
}

// Enter is what a transaction on the rows of a generation begins with: the role that no policy lets
// past, names that are looked for in schema amber alone, the generation.
func Enter(gen int64) string {
	g := generation{gen: gen}
	return fmt.Sprintf(asApp, schemaOf[logMemory]) + "; " + g.setting()
}
