package mirror

import (
	"context"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
)

// Generation is one of an agent.
type Generation struct {
	Gen      int64 // its number among all of the database
	Number   int64 // its number among those of the agent
	State    string
	Replaces int64  // the number of the one it replaces; 0 where there was none, or where that is gone
	From     string // what it was made of
	Safety   string // the snapshot that holds the one it replaced
	Building bool   // its owner lives
}

// The states of a generation that others ask for.
const (
	Live = "live"
	Old  = "old"
	New  = "building"
)

const selectGenerations = `SELECT g.gen, g.number, g.state, coalesce(o.number, 0), g.from_snapshot, g.safety, ` + leased + `
FROM amber_meta.generations g LEFT JOIN amber_meta.generations o ON o.gen = g.replaces WHERE g.tenant = $1 AND g.agent = $2 ORDER BY g.number`

// Generations returns all of an agent, the oldest first.
func Generations(ctx context.Context, a Agent) (list []Generation, err error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	list, err = pgdb.Collect(ctx, a.Server.DB(), pgx.RowToStructByPos[Generation], selectGenerations, string(a.Tenant), string(a.ID))
	return list, pgerr.Wrap("list generations", string(a.ID), err)
}

// Find returns the generation of a number. Errors: not_found.
func Find(ctx context.Context, a Agent, number int64) (Generation, error) {
	list, err := Generations(ctx, a)
	for _, g := range list {
		if g.Number == number {
			return g, err
		}
	}
	if err == nil {
		err = amber.Errorf(amber.KindNotFound, "find generation", string(a.ID), "the agent has no generation %d", number)
	}
	return Generation{}, err
}
