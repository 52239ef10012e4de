package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/guard/audited"
	"github.com/amber-memory/amber/internal/recall/search"
	"github.com/amber-memory/amber/store/home"
)

// generation is one of an agent, as this process knows it.
type generation struct {
	gen     int64
	current home.Current
	index   search.Cache // what readers have read of the index
}

// asApp is what every transaction of an agent begins with: the role that no policy lets past, and names that
// are looked for in one schema alone. %s is the schema.
const asApp = `SET LOCAL ROLE amber_app; SET LOCAL search_path = %s`

const selectLive = `SELECT coalesce(g.gen, 0), coalesce(g.number, 0), coalesce(g.incarnation, ''), a.device, coalesce(g.clock, 0), a.state, coalesce(m.home, '')
FROM amber_meta.agents a LEFT JOIN amber_meta.generations g ON g.gen = a.live_gen LEFT JOIN amber_meta.moves m ON m.id = a.move
WHERE a.tenant = $1 AND a.agent = $2`

// errNoAgent is for an agent that is not in the database.
func errNoAgent(agent amber.AgentID) error {
	return amber.Errorf(amber.KindNotFound, "open store", string(agent), "the agent does not exist")
}

// lookUp finds the live generation of an agent. Errors: not_found; refused for one that has moved, or is about to.
func (s *Server) lookUp(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, frozen bool) (*generation, error) {
	var g *generation
	err := s.db.Conn(ctx, func(c *pgx.Conn) (err error) {
		g, err = readLive(ctx, c, tenant, agent, frozen)
		return err
	})
	return g, pgerr.Wrap("open store", string(agent), err)
}

// readLive reads which generation is live. Frozen, it may be that of an agent that leaves or has left.
func readLive(ctx context.Context, c *pgx.Conn, tenant amber.TenantID, agent amber.AgentID, frozen bool) (*generation, error) {
	g := &generation{}
	var clock int64
	var state, home string
	err := c.QueryRow(ctx, selectLive, string(tenant), string(agent)).
		Scan(&g.gen, &g.current.Generation, &g.current.Incarnation, &g.current.Device, &clock, &state, &home)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil, errNoAgent(agent)
	case err != nil:
		return nil, err
	case state == stateDeleting:
		return nil, errNoAgent(agent)
	case state != stateLive && (!frozen || state == stateArriving):
		return nil, errAway(agent, state, home)
	case g.gen == 0:
		return nil, errNoAgent(agent)
	}
	g.current.Clock = amber.Stamp(clock)
	return g, nil
}

const (
	insertAgent = `INSERT INTO amber_meta.agents (tenant, agent, device) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`
	// A process that makes an agent waits here for another process that makes the same agent.
	lockAgent = `SELECT live_gen IS NOT NULL, state = 'live' FROM amber_meta.agents WHERE tenant = $1 AND agent = $2 FOR UPDATE`
	// The agent may have an earlier generation that was never live.
	insertGeneration = `INSERT INTO amber_meta.generations (tenant, agent, number, incarnation, state, clock)
SELECT $1, $2, coalesce(max(number), 0) + 1, $3, 'live', 0 FROM amber_meta.generations WHERE tenant = $1 AND agent = $2 RETURNING gen`
	setLive = `UPDATE amber_meta.agents SET live_gen = $3 WHERE tenant = $1 AND agent = $2`

	// fillGeneration makes what every generation has. %[1]d is its number among all, %[2]s its incarnation.
	fillGeneration = `SET LOCAL amber.gen = '%[1]d';
INSERT INTO amber.heads (log, live, incarnation) VALUES ('memory', true, '%[2]s'), ('control', true, '%[2]s');
INSERT INTO amber.incarnations (ordinal, id, first_seq) VALUES (1, '%[2]s', 1);
INSERT INTO amber_control.incarnations (ordinal, id, first_seq) VALUES (1, '%[2]s', 1);
INSERT INTO amber_control.queue_counts (state, entries) VALUES ('queued', 0), ('leased', 0), ('acked', 0), ('dead', 0)`
)

// create makes an agent, unless it is there. Where several processes make the same agent at the same time, one of them
// does.
func (s *Server) create(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (*generation, error) {
	now := s.Now()
	device, err := amber.NewUUID(now, s.o.Random)
	if err != nil {
		return nil, err
	}
	incarnation, err := amber.NewUUID(now, s.o.Random)
	if err != nil {
		return nil, err
	}
	var g *generation
	entry := audited.Begin(ctx)
	err = s.db.Update(ctx, pgdb.Work{
		Setup: fmt.Sprintf(asApp, "amber"),
		Do: func(c *pgdb.Conn, _ []string) (err error) {
			var fresh bool
			g, fresh, err = makeAgent(ctx, c.PG(), tenant, agent, device, incarnation)
			if err == nil && fresh && entry != nil {
				err = entry.Enter(ctx, c, amber.At(now), nil, "")
			}
			return err
		},
		Committed: func(ctx context.Context, c *pgdb.Conn) (bool, error) {
			there, err := readLive(ctx, c.PG(), tenant, agent, false)
			if amber.KindOf(err) == amber.KindNotFound {
				return false, nil
			}
			g = there
			return err == nil, err
		},
	})
	if entry != nil {
		entry.Done(err)
	}
	return g, pgerr.Wrap("make agent", string(agent), err)
}

// makeAgent makes an agent, unless it is there, which fresh says.
func makeAgent(ctx context.Context, c *pgx.Conn, tenant amber.TenantID, agent amber.AgentID, device, incarnation string) (_ *generation, fresh bool, _ error) {
	if _, err := c.Exec(ctx, insertAgent, string(tenant), string(agent), device); err != nil {
		return nil, false, err
	}
	var made, live bool
	if err := c.QueryRow(ctx, lockAgent, string(tenant), string(agent)).Scan(&made, &live); err != nil {
		return nil, false, err
	}
	if !live {
		return nil, false, amber.Errorf(amber.KindBusy, "make agent", string(agent), "an agent of this name is being deleted").
			WithHint(fmt.Sprintf("amber agent delete %s --tenant %s --no-snapshot finishes that", agent, tenant))
	}
	if !made {
		var gen int64
		if err := c.QueryRow(ctx, insertGeneration, string(tenant), string(agent), incarnation).Scan(&gen); err != nil {
			return nil, false, err
		}
		if err := c.PgConn().Exec(ctx, fmt.Sprintf(fillGeneration, gen, incarnation)).Close(); err != nil {
			return nil, false, err
		}
		if _, err := c.Exec(ctx, setLive, string(tenant), string(agent), gen); err != nil {
			return nil, false, err
		}
	}
	g, err := readLive(ctx, c, tenant, agent, false)
	return g, !made, err
}

// setting names a generation for a transaction.
func (g *generation) setting() string {
	return "SET LOCAL amber.gen = '" + strconv.FormatInt(g.gen, 10) + "'"
}

// Has reports whether an agent is in the database. It is true also for an agent that moves or has moved: the error of
// opening that agent says so.
func (s *Server) Has(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (bool, error) {
	_, err := s.lookUp(ctx, tenant, agent, false)
	switch amber.KindOf(err) {
	case amber.KindNotFound:
		return false, nil
	case amber.KindRefused:
		return true, nil
	}
	return err == nil, err
}

// Listed is an agent of a database.
type Listed struct {
	Tenant     amber.TenantID
	ID         amber.AgentID
	Generation int64 // 0 where none is live
	Deleting   bool  // its deletion was begun and is to be finished
	Moving     bool  // it is on its way to a home, or from one
	Moved      bool  // it lives in a home, and this is what a move has kept
}

// Usable reports whether the agent can be opened.
func (l Listed) Usable() bool { return !l.Deleting && !l.Moving && !l.Moved }

const selectListed = `SELECT a.tenant, a.agent, coalesce(g.number, 0), a.state = 'deleting', a.state IN ('arriving', 'leaving'), a.state = 'moved' FROM amber_meta.agents a LEFT JOIN amber_meta.generations g ON g.gen = a.live_gen
WHERE ($1 = '' OR a.tenant = $1) AND (a.live_gen IS NOT NULL OR a.state <> 'live') ORDER BY a.tenant, a.agent`

// List returns the agents of a tenant, of every tenant for "", also those that move or have moved, and those whose deletion was interrupted.
func (s *Server) List(ctx context.Context, tenant amber.TenantID) ([]Listed, error) {
	list, err := pgdb.Collect(ctx, s.db, pgx.RowToStructByPos[Listed], selectListed, string(tenant))
	return list, pgerr.Wrap("list agents", string(tenant), err)
}

const selectAgents = `SELECT agent FROM amber_meta.agents WHERE tenant = $1 AND live_gen IS NOT NULL AND state = 'live' ORDER BY agent`

// Agents returns the agents of a tenant.
func (s *Server) Agents(ctx context.Context, tenant amber.TenantID) ([]amber.AgentID, error) {
	ids, err := pgdb.Collect(ctx, s.db, pgx.RowTo[amber.AgentID], selectAgents, string(tenant))
	return ids, pgerr.Wrap("list agents", string(tenant), err)
}

const selectTenants = `SELECT DISTINCT tenant FROM amber_meta.agents WHERE live_gen IS NOT NULL AND state = 'live' ORDER BY tenant`

// Tenants returns the tenants that have an agent.
func (s *Server) Tenants(ctx context.Context) ([]amber.TenantID, error) {
	ids, err := pgdb.Collect(ctx, s.db, pgx.RowTo[amber.TenantID], selectTenants)
	return ids, pgerr.Wrap("list tenants", "", err)
}
