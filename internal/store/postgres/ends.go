package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
)

// AgentName names an agent of the database.
type AgentName struct {
	Tenant amber.TenantID
	Agent  amber.AgentID
}

// End is where the change logs of an agent end. Two that are equal say that nothing was written between, and that no other generation
// became live.
type End struct {
	Generation      int64 // among those of all agents
	Memory, Control int64 // numbers of the last entries
}

const selectEnds = `SELECT tenant, agent, gen, coalesce(memory, 0), coalesce(control, 0) FROM amber_meta.ends($1, $2)`

// Ends returns where the change logs of agents end, in one statement, however many they are. Those that are not there are left out.
func (s *Server) Ends(ctx context.Context, names []AgentName) (ends map[AgentName]End, err error) {
	tenants, agents := make([]string, len(names)), make([]string, len(names))
	for i, n := range names {
		tenants[i], agents[i] = string(n.Tenant), string(n.Agent)
	}
	ends = make(map[AgentName]End, len(names))
	err = s.db.View(ctx, fmt.Sprintf(asApp, "amber"), func(c *pgdb.Conn, _ []string) error {
		rows, err := c.PG().Query(ctx, selectEnds, tenants, agents)
		if err != nil {
			return err
		}
		var n AgentName
		var e End
		_, err = pgx.ForEachRow(rows, []any{(*string)(&n.Tenant), (*string)(&n.Agent), &e.Generation, &e.Memory, &e.Control}, func() error {
			ends[n] = e
			return nil
		})
		return err
	})
	return ends, pgerr.Wrap("look at change logs", "", err)
}

const selectEverybody = `SELECT tenant, agent FROM amber_meta.agents WHERE live_gen IS NOT NULL AND state = 'live' ORDER BY tenant, agent`

// Everybody returns the agents of all tenants.
func (s *Server) Everybody(ctx context.Context) ([]AgentName, error) {
	names, err := pgdb.Collect(ctx, s.db, pgx.RowToStructByPos[AgentName], selectEverybody)
	return names, pgerr.Wrap("list agents", "", err)
}
