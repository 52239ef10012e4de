package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
)

// The states of an agent. A process may open an agent only in the first.
const (
	stateLive     = "live"
	stateArriving = "arriving" // its rows are copied from a home
	stateLeaving  = "leaving"  // its rows are copied to a home
	stateMoved    = "moved"    // it lives in a home
	stateDeleting = "deleting" // its rows are being removed
)

// errAway is for an agent that is not live here.
func errAway(agent amber.AgentID, state, home string) error {
	if home == "" {
		home = "a home"
	}
	switch state {
	case stateArriving:
		return amber.Errorf(amber.KindRefused, "open store", string(agent), "the agent is being moved into the database from %s", home).
			WithHint("wait; if the move was interrupted, run amber move --resume or amber move --undo there")
	case stateLeaving:
		return amber.Errorf(amber.KindRefused, "open store", string(agent), "the agent is being moved to %s", home).
			WithHint("wait; if the move was interrupted, run amber move --resume or amber move --undo there")
	case stateMoved:
		return amber.Errorf(amber.KindRefused, "open store", string(agent), "the agent has moved to %s", home).
			WithHint("set memory.backend to sqlite there; amber move --to postgres, run there, brings the agent back")
	}
	// Its deletion has begun: the rows that are left belong to no agent any more.
	return amber.Errorf(amber.KindNotFound, "open store", string(agent), "the agent is %s", state)
}

// Move is the way of an agent into the database, or out of it, as the database knows it.
type Move struct {
	ID      string
	Tenant  amber.TenantID
	Agent   amber.AgentID
	Arrives bool   // false: it leaves
	Decided bool   // arrives: it is live here. Leaves: it is live here never again
	Done    bool   // the home knows that
	Home    string // the other end, for people
	Gen     int64  // leaves: the generation. Arrives: the copy of an earlier move that it replaces; 0: none
}

// Standing is what an agent is in the database.
type Standing struct {
	State string // "" where there is none; "live", "arriving", "leaving", "moved"
	Gen   int64  // the generation that is live, or was; 0: none
	Move  *Move  // that the state is about; nil: none
}

// Live reports whether the agent can be used.
func (s Standing) Live() bool { return s.State == stateLive }

// Moved reports whether the database has a copy of an agent that lives in a home.
func (s Standing) Moved() bool { return s.State == stateMoved }

const (
	moveColumns  = `m.id, m.tenant, m.agent, m.arrives, m.decided, m.done, m.home, m.gen`
	selectMove   = `SELECT ` + moveColumns + ` FROM amber_meta.moves m WHERE m.id = $1`
	selectState  = `SELECT a.state, coalesce(a.live_gen, 0), a.move FROM amber_meta.agents a WHERE a.tenant = $1 AND a.agent = $2`
	selectID     = `SELECT id::text FROM amber_meta.identity`
	lockMoves    = `SELECT pg_advisory_xact_lock(hashtextextended('amber move %s %s', 0))`
	insertMove   = `INSERT INTO amber_meta.moves (id, tenant, agent, arrives, home, gen, before) VALUES ($1, $2, $3, $4, $5, $6, $7)`
	reserveAgent = `INSERT INTO amber_meta.agents (tenant, agent, device, state, move) VALUES ($1, $2, $3, 'arriving', $4) ON CONFLICT DO NOTHING`
	setState     = `UPDATE amber_meta.agents SET state = $3, move = $4 WHERE tenant = $1 AND agent = $2`
	setLeaving   = `UPDATE amber_meta.agents SET state = 'leaving', move = $3 WHERE tenant = $1 AND agent = $2 AND state = 'live' RETURNING live_gen`
	setStateOf   = `UPDATE amber_meta.agents SET state = $3 WHERE tenant = $1 AND agent = $2 AND state = $4 AND move = $5`
	setDecided   = `UPDATE amber_meta.moves SET decided = true WHERE id = $1 AND NOT decided`
	setDone      = `UPDATE amber_meta.moves SET done = true WHERE id = $1 AND decided`
	deleteMove   = `DELETE FROM amber_meta.moves WHERE id = $1`
	deleteMoves  = `DELETE FROM amber_meta.moves WHERE tenant = $1 AND agent = $2 AND done`
	deleteAgent  = `DELETE FROM amber_meta.agents WHERE tenant = $1 AND agent = $2 AND state = $3 AND move = $4`
	undoArrival  = `UPDATE amber_meta.agents a SET state = 'moved', move = m.before FROM amber_meta.moves m WHERE m.id = a.move AND a.tenant = $1 AND a.agent = $2 AND a.state = 'arriving' AND m.id = $3`
	undoLeaving  = `UPDATE amber_meta.agents SET state = 'live', move = '' WHERE tenant = $1 AND agent = $2 AND state IN ('leaving', 'moved') AND move = $3`
	setDropping  = `UPDATE amber_meta.generations SET state = 'dropping' WHERE tenant = $1 AND agent = $2`
	// The rows that an interrupted arrival has filled belong to no agent. Locks come in the order of a switch: work,
	// agent, generation.
	deleteWork = `DELETE FROM amber_meta.work WHERE kind = 'generation' AND tenant = $1 AND agent = $2 AND holder IN
 (SELECT incarnation FROM amber_meta.generations WHERE tenant = $1 AND agent = $2 AND from_snapshot = $3)`
	dropBuilding = `UPDATE amber_meta.generations SET state = 'dropping' WHERE tenant = $1 AND agent = $2 AND from_snapshot = $3 AND state = 'building'`
	// A process that builds a generation would put it in the place of the one that leaves.
	isBuilt     = `SELECT EXISTS (SELECT 1 FROM amber_meta.work WHERE kind = 'generation' AND tenant = $1 AND agent = $2 AND until > now())`
	giveUpBuilt = `DELETE FROM amber_meta.work WHERE kind = 'generation' AND tenant = $1 AND agent = $2`
	chooseGen   = `SELECT set_config('amber.gen', $1::int8::text, true)`
	lockHeads   = `SELECT log FROM amber.heads ORDER BY log DESC FOR UPDATE`
	stopHeads   = `UPDATE amber.heads SET live = false, rev = rev + 1`
	startHeads  = `UPDATE amber.heads SET live = true, rev = rev + 1`
)

// Identity is the id of the database, which is the same wherever it is reached.
func (s *Server) Identity(ctx context.Context) (id string, err error) {
	err = s.db.Conn(ctx, func(c *pgx.Conn) error { return c.QueryRow(ctx, selectID).Scan(&id) })
	return id, pgerr.Wrap("look at database", "", err)
}

// Standing returns what the database knows of an agent: its state, its live generation and its move.
func (s *Server) Standing(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (st Standing, err error) {
	err = s.db.Conn(ctx, func(c *pgx.Conn) (err error) {
		st, err = readStanding(ctx, c, tenant, agent)
		return err
	})
	return st, pgerr.Wrap("look at agent", string(agent), err)
}

func readStanding(ctx context.Context, c *pgx.Conn, tenant amber.TenantID, agent amber.AgentID) (st Standing, err error) {
	var move string
	err = c.QueryRow(ctx, selectState, string(tenant), string(agent)).Scan(&st.State, &st.Gen, &move)
	if errors.Is(err, pgx.ErrNoRows) {
		return Standing{}, nil
	}
	if err == nil && move != "" {
		st.Move, err = readMove(ctx, c, move)
	}
	return st, err
}

// FindMove returns a move; nil where it never began, or was undone or forgotten.
func (s *Server) FindMove(ctx context.Context, id string) (m *Move, err error) {
	err = s.db.Conn(ctx, func(c *pgx.Conn) (err error) {
		m, err = readMove(ctx, c, id)
		return err
	})
	return m, pgerr.Wrap("look at move", id, err)
}

func readMove(ctx context.Context, c *pgx.Conn, id string) (*Move, error) {
	m := &Move{}
	err := c.QueryRow(ctx, selectMove, id).Scan(&m.ID, (*string)(&m.Tenant), (*string)(&m.Agent), &m.Arrives, &m.Decided, &m.Done, &m.Home, &m.Gen)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, nil
	}
	return m, err
}

// selectKept are what moves have left in homes: an agent that came from there, or that lives there now.
const selectKept = `SELECT m.home, m.id = a.move AND a.state = 'moved' FROM amber_meta.moves m JOIN amber_meta.agents a USING (tenant, agent)
WHERE m.tenant = $1 AND m.agent = $2 AND m.decided AND (m.arrives OR m.id = a.move AND a.state = 'moved') ORDER BY m.created_at`

// KeptElsewhere names what homes have of an agent, as far as moves tell, without the home of a name.
func (s *Server) KeptElsewhere(ctx context.Context, tenant amber.TenantID, agent amber.AgentID, but string) (places []string, err error) {
	err = s.db.Conn(ctx, func(c *pgx.Conn) error {
		rows, err := c.Query(ctx, selectKept, string(tenant), string(agent))
		if err != nil {
			return err
		}
		var home string
		var lives bool
		_, err = pgx.ForEachRow(rows, []any{&home, &lives}, func() error {
			place := "the copy that a move has left in " + home + ", unless amber move --forget was run there"
			if lives {
				place = "the agent itself, which has moved to " + home
			}
			if (home != but || lives) && !slices.Contains(places, place) {
				places = append(places, place)
			}
			return nil
		})
		return err
	})
	return places, pgerr.Wrap("look at moves", string(agent), err)
}

// moving runs a transaction that changes what an agent is. They come one after the other; done says whether one was committed.
func (s *Server) moving(ctx context.Context, op string, m Move, do func(c *pgx.Conn) error, done func(ctx context.Context, c *pgx.Conn) (bool, error)) error {
	quoted := func(s string) string { return strings.ReplaceAll(s, "'", "''") }
	return pgerr.Wrap(op, string(m.Agent), s.db.Update(ctx, pgdb.Work{
		Setup:     Enter(0) + "; " + fmt.Sprintf(lockMoves, quoted(string(m.Tenant)), quoted(string(m.Agent))),
		Do:        func(c *pgdb.Conn, _ []string) error { return do(c.PG()) },
		Committed: func(ctx context.Context, c *pgdb.Conn) (bool, error) { return done(ctx, c.PG()) },
	}))
}

// known reports whether a move is there, as far as it has to be.
func known(id string, is func(*Move) bool) func(context.Context, *pgx.Conn) (bool, error) {
	return func(ctx context.Context, c *pgx.Conn) (bool, error) {
		m, err := readMove(ctx, c, id)
		return err == nil && is(m), err
	}
}

// one runs a statement that has to change one row.
func one(ctx context.Context, c *pgx.Conn, sql string, args ...any) error {
	tag, err := c.Exec(ctx, sql, args...)
	if err == nil && tag.RowsAffected() != 1 {
		err = amber.Errorf(amber.KindConflict, "move agent", "", "the agent or the move is not what it was a moment ago").WithHint("try again")
	}
	return err
}

// BeginArrival keeps the name of an agent that comes from a home, with the device that it has there. From here on no
// process can open or make an agent of that name. A copy that an earlier move has left stays as it is. Errors: conflict
// for an agent that lives here; busy for one that another move is about.
func (s *Server) BeginArrival(ctx context.Context, m Move, device string) error {
	const op = "begin move"
	return s.moving(ctx, op, m, func(c *pgx.Conn) error {
		st, err := readStanding(ctx, c, m.Tenant, m.Agent)
		if err != nil {
			return err
		}
		before := ""
		switch {
		case st.State == stateLive:
			return amber.Errorf(amber.KindConflict, op, string(m.Agent), "an agent of this name lives in the database").
				WithHint("choose another agent with --agent, or another database")
		case st.State == stateMoved && st.Move != nil && !st.Move.Done, st.State != "" && st.State != stateMoved:
			return otherMove(op, m.Agent, st)
		case st.Move != nil:
			before = st.Move.ID
		}
		if _, err := c.Exec(ctx, insertMove, m.ID, string(m.Tenant), string(m.Agent), true, m.Home, st.Gen, before); err != nil {
			return err
		}
		if st.State == "" {
			return one(ctx, c, reserveAgent, string(m.Tenant), string(m.Agent), device, m.ID)
		}
		return one(ctx, c, setState, string(m.Tenant), string(m.Agent), stateArriving, m.ID)
	}, known(m.ID, func(m *Move) bool { return m != nil }))
}

func otherMove(op string, agent amber.AgentID, st Standing) error {
	home := "a home"
	if st.Move != nil {
		home = st.Move.Home
	}
	return amber.Errorf(amber.KindBusy, op, string(agent), "another move of the agent is under way, between the database and %s", home).
		WithHint("run amber move --resume or amber move --undo there")
}

// Arrive decides an arrival, in the transaction that makes its generation live.
func Arrive(ctx context.Context, c *pgx.Conn, m Move) error {
	if err := one(ctx, c, setStateOf, string(m.Tenant), string(m.Agent), stateLive, stateArriving, m.ID); err != nil {
		return err
	}
	return one(ctx, c, setDecided, m.ID)
}

// BeginDeparture stops an agent: who writes is done before it or is refused. It returns the generation that leaves. Errors: not_found;
// busy for one that another move is about, or of which a generation is being built; refused for one that lives elsewhere.
func (s *Server) BeginDeparture(ctx context.Context, m Move) (gen int64, err error) {
	const op = "begin move"
	err = s.moving(ctx, op, m, func(c *pgx.Conn) error {
		st, err := readStanding(ctx, c, m.Tenant, m.Agent)
		switch {
		case err != nil:
			return err
		case st.State == "" || st.State == stateLive && st.Gen == 0:
			return errNoAgent(m.Agent)
		case st.State == stateMoved:
			return errAway(m.Agent, st.State, st.home())
		case st.State != stateLive:
			return otherMove(op, m.Agent, st)
		}
		gen, err = s.depart(ctx, c, m)
		return err
	}, known(m.ID, func(m *Move) bool {
		if m != nil {
			gen = m.Gen
		}
		return m != nil
	}))
	return gen, err
}

func (st Standing) home() string {
	if st.Move == nil {
		return ""
	}
	return st.Move.Home
}

// depart locks what writers lock, in the order of a switch: the work, the agent, the heads.
func (s *Server) depart(ctx context.Context, c *pgx.Conn, m Move) (gen int64, err error) {
	var built bool
	if err := c.QueryRow(ctx, isBuilt, string(m.Tenant), string(m.Agent)).Scan(&built); err != nil {
		return 0, err
	}
	if built {
		return 0, amber.Errorf(amber.KindBusy, "begin move", string(m.Agent), "another generation of the agent is being built").
			WithHint("wait until the restore is done, and try again")
	}
	if _, err := c.Exec(ctx, giveUpBuilt, string(m.Tenant), string(m.Agent)); err != nil {
		return 0, err
	}
	if err := c.QueryRow(ctx, setLeaving, string(m.Tenant), string(m.Agent), m.ID).Scan(&gen); err != nil {
		return 0, err
	}
	if _, err := c.Exec(ctx, chooseGen, gen); err != nil {
		return 0, err
	}
	for _, sql := range []string{lockHeads, stopHeads} {
		if _, err := c.Exec(ctx, sql); err != nil {
			return 0, err
		}
	}
	_, err = c.Exec(ctx, insertMove, m.ID, string(m.Tenant), string(m.Agent), false, m.Home, gen, "")
	return gen, err
}

// Depart decides a departure: the agent is not live here any more. It may be repeated. Errors: conflict where the move was undone.
func (s *Server) Depart(ctx context.Context, m Move) error {
	return s.moving(ctx, "decide move", m, func(c *pgx.Conn) error {
		have, err := readMove(ctx, c, m.ID)
		if err != nil || have != nil && have.Decided {
			return err
		}
		if err := one(ctx, c, setStateOf, string(m.Tenant), string(m.Agent), stateMoved, stateLeaving, m.ID); err != nil {
			return err
		}
		return one(ctx, c, setDecided, m.ID)
	}, known(m.ID, func(m *Move) bool { return m != nil && m.Decided }))
}

// EndMove notes that the home knows of a decision. It may be repeated.
func (s *Server) EndMove(ctx context.Context, m Move) error {
	return s.moving(ctx, "end move", m, func(c *pgx.Conn) error {
		_, err := c.Exec(ctx, setDone, m.ID)
		return err
	}, known(m.ID, func(m *Move) bool { return m == nil || m.Done }))
}

// UndoMove makes an agent what it was before a move. The caller knows that the home has nothing that was written since: an arrival is
// not decided, and a departure has made nothing live. It may be repeated. Errors: conflict for an arrival that is decided, and
// for a departure that is done.
func (s *Server) UndoMove(ctx context.Context, m Move) error {
	const op = "undo move"
	return s.moving(ctx, op, m, func(c *pgx.Conn) error {
		have, err := readMove(ctx, c, m.ID)
		if err != nil || have == nil {
			return err
		}
		if have.Done || have.Arrives && have.Decided {
			return amber.Errorf(amber.KindConflict, op, string(m.Agent), "the move has come to its end").WithHint("amber move --resume")
		}
		if have.Arrives {
			err = s.undoArrival(ctx, c, *have)
		} else {
			err = s.undoDeparture(ctx, c, *have)
		}
		if err != nil {
			return err
		}
		return one(ctx, c, deleteMove, m.ID)
	}, known(m.ID, func(m *Move) bool { return m == nil }))
}

func (s *Server) undoArrival(ctx context.Context, c *pgx.Conn, m Move) error {
	// Another caller may have deleted the name here. Then there is nothing to bring back.
	return giveUp(ctx, c, m, func() (err error) {
		if m.Gen != 0 {
			_, err = c.Exec(ctx, undoArrival, string(m.Tenant), string(m.Agent), m.ID)
		} else {
			_, err = c.Exec(ctx, deleteAgent, string(m.Tenant), string(m.Agent), stateArriving, m.ID)
		}
		return err
	})
}

// giveUp ends the lease of what an arrival has filled so far, and marks that as going.
func giveUp(ctx context.Context, c *pgx.Conn, m Move, between func() error) error {
	if _, err := c.Exec(ctx, deleteWork, string(m.Tenant), string(m.Agent), m.ID); err != nil {
		return err
	}
	if err := between(); err != nil {
		return err
	}
	_, err := c.Exec(ctx, dropBuilding, string(m.Tenant), string(m.Agent), m.ID)
	return err
}

func (s *Server) undoDeparture(ctx context.Context, c *pgx.Conn, m Move) error {
	st, err := readStanding(ctx, c, m.Tenant, m.Agent)
	if err != nil || st.State == "" || st.State == stateDeleting {
		return err // another caller has deleted the agent here, and there is nothing to bring back
	}
	if err := one(ctx, c, undoLeaving, string(m.Tenant), string(m.Agent), m.ID); err != nil {
		return err
	}
	if _, err := c.Exec(ctx, chooseGen, m.Gen); err != nil {
		return err
	}
	_, err = c.Exec(ctx, startHeads)
	return err
}

// GiveUpArrival gives up what an interrupted arrival has filled, so that another generation can be built at once.
func (s *Server) GiveUpArrival(ctx context.Context, m Move) error {
	return s.moving(ctx, "resume move", m, func(c *pgx.Conn) error { return giveUp(ctx, c, m, func() error { return nil }) },
		func(context.Context, *pgx.Conn) (bool, error) { return false, nil })
}

// ForgetMoved removes an agent that lives in a home now from the database; its rows go with its generations, which are to be discarded; the
// last one is returned. 0: there was none. Errors: refused where the home may not have it yet.
func (s *Server) ForgetMoved(ctx context.Context, tenant amber.TenantID, agent amber.AgentID) (gen int64, err error) {
	const op = "forget moved agent"
	m := Move{Tenant: tenant, Agent: agent}
	err = s.moving(ctx, op, m, func(c *pgx.Conn) error {
		gen = 0
		st, err := readStanding(ctx, c, tenant, agent)
		if err != nil || st.State != stateMoved {
			return err
		}
		if st.Move != nil && !st.Move.Done {
			return amber.Errorf(amber.KindRefused, op, string(agent), "the move to %s has not come to its end", st.Move.Home).
				WithHint("run amber move --resume there")
		}
		gen = st.Gen
		id := ""
		if st.Move != nil {
			id = st.Move.ID
		}
		if err := one(ctx, c, deleteAgent, string(tenant), string(agent), stateMoved, id); err != nil {
			return err
		}
		if _, err := c.Exec(ctx, deleteMoves, string(tenant), string(agent)); err != nil {
			return err
		}
		_, err = c.Exec(ctx, setDropping, string(tenant), string(agent)) // those that restores have kept, too
		return err
	}, func(ctx context.Context, c *pgx.Conn) (bool, error) {
		st, err := readStanding(ctx, c, tenant, agent)
		return err == nil && st.State != stateMoved, err
	})
	return gen, err
}
