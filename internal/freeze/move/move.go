// Package move takes an agent from the folder of a home to a PostgreSQL database, and back, with
// every row, number, stamp, lease, note and document as it is.
//
//	to postgres  MOVED (leaving) · name kept in the database · rows and notes copied and compared · one
//	             transaction makes them live · a generation without memory in the home · MOVED (left)
//	to sqlite    MOVED (arriving) · agent stopped in the database · files written and compared · one
//	             transaction says that it has moved · CURRENT · the old generations gone · no MOVED
//
// In both directions a transaction of the database decides: before it [Undo] brings back what was, after it [Resume]
// comes to the end. No process can open the agent between the first step and the decision, on either side. The old copy
// of the agent is kept where it was until [Forget].
package move

import (
	"cmp"
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

const opMove = "move agent"

// To says where an agent moves.
type To string

// The ends of a move.
const (
	Postgres To = "postgres"
	SQLite   To = "sqlite"
)

// ParseTo reads where an agent is to move. The error is of kind invalid.
func ParseTo(s string) (To, error) {
	switch to := To(s); to {
	case Postgres, SQLite:
		return to, nil
	}
	return "", amber.Errorf(amber.KindInvalid, opMove, "", "the end of the move is %.40q, want %s or %s", s, Postgres, SQLite).
		WithHint("amber move --to postgres, or amber move --to sqlite")
}

// Options name both ends. All but Carry, Progress and Step are required.
type Options struct {
	Server *postgres.Server
	Place  string // where the database is, for people
	Home   *home.Home
	Agent  *home.Agent // its folder, there or not
	Clock  amber.Clock
	Random io.Reader
	// Carry brings along what is kept about the agent beside it: how far its change logs were published. Run calls it
	// while no process can use the agent, before the move is decided, and again when a move is resumed; may be nil.
	Carry func(ctx context.Context, to To) error
	// Progress is called with the step that is being done; may be nil.
	Progress func(step string, done, total int64)
	// Step is called after each step; on an error the move stops there as if the process had died. For tests; may be nil.
	Step func(name string) error
}

// Table says how many rows of a table are moved.
type Table struct {
	File string `json:"file"` // as a home has it: "memory.db" or "control.db"
	Name string `json:"name"`
	Rows int64  `json:"rows"`
}

// Plan says what a move takes along.
type Plan struct {
	Agent     amber.AgentID `json:"agent"`
	To        To            `json:"to"`
	From      string        `json:"from"`  // where the agent is, for people
	Place     string        `json:"place"` // where it goes, for people
	Tables    []Table       `json:"tables"`
	Rows      int64         `json:"rows"`
	Bytes     int64         `json:"bytes"` // of rows in a database, of files in a home
	Notes     int           `json:"notes"`
	Documents int           `json:"documents"`
}

// Report says what a move did.
type Report struct {
	Agent     amber.AgentID  `json:"agent"`
	Move      string         `json:"move"` // its id
	To        To             `json:"to"`
	From      string         `json:"from"`
	Place     string         `json:"place"`
	Tables    []mirror.Table `json:"tables"` // empty where an earlier run has copied them
	Rows      int64          `json:"rows"`
	Objects   int            `json:"note_objects"` // of git
	Documents int            `json:"documents"`
	Undone    bool           `json:"undone"` // the agent is where it was
	// Kept is where the agent still lies as it was, until it is forgotten; "": nowhere.
	Kept string `json:"kept"`
}

// ErrStopped is in the error of a move that Options.Step has stopped.
var ErrStopped = errors.New("the move was stopped")

// mover makes one move.
type mover struct {
	Options
	folder *home.Agent // works in spite of the move
	note   home.Move
	report Report
}

// homePlace names the folder of the agent.
func (o Options) homePlace() string { return HomePlace(o.Home) }

// HomePlace names a home as the moves of its agents do.
func HomePlace(h *home.Home) string { return home.OnePlace("the home " + h.Dir()) }

// mirrored is the agent in the database.
func (o Options) mirrored() mirror.Agent {
	return mirror.Agent{Server: o.Server, Tenant: o.Agent.Tenant(), ID: o.Agent.ID()}
}

// move is what the database knows it by.
func (m *mover) move() postgres.Move {
	return postgres.Move{ID: m.note.ID, Tenant: m.Agent.Tenant(), Agent: m.Agent.ID(), Home: m.homePlace()}
}

func (m *mover) step(name string) error {
	if m.Step == nil {
		return nil
	}
	if err := m.Step(name); err != nil {
		return errors.Join(ErrStopped, err)
	}
	return nil
}

func (m *mover) carry(ctx context.Context) error {
	if m.Carry == nil {
		return nil
	}
	return m.Carry(ctx, m.report.To)
}

func (m *mover) progress(step string) {
	if m.Progress != nil {
		m.Progress(step, 0, 0)
	}
}

// Run moves an agent. On an error it is where it was, or the error says what to do. The agent's own store must be closed. Errors: not_found where
// the agent is not at the other end; conflict where there is one of this name at both, or another move has not come to its end; damaged for
// an agent whose files or rows are; busy; those of the database and the disk.
func Run(ctx context.Context, o Options, to To) (Report, error) {
	if err := Check(ctx, o, to); err != nil {
		return Report{}, err
	}
	m, err := o.newMover(ctx, to)
	if err != nil {
		return Report{}, err
	}
	if to == SQLite {
		if err := o.keepFolder(ctx); err != nil {
			return Report{}, err
		}
	}
	begun := false
	err = o.Agent.Operate(ctx, func() error {
		c, err := o.Agent.BeginMove(ctx, m.note)
		if err != nil {
			return err
		}
		begun, m.note.Generation = true, c.Generation
		now, err := o.Agent.Moved()
		if err != nil {
			return err
		}
		m.note = *now
		if err = m.step("noted"); err == nil {
			err = m.goOn(ctx)
		}
		if err == nil || errors.Is(err, ErrStopped) {
			return err
		}
		return m.giveUp(ctx, err)
	})
	if err != nil && begun && amber.HintOf(err) == "" {
		err = &amber.Error{Op: opMove, Kind: amber.KindOf(err), ID: string(o.Agent.ID()), Err: err, Hint: "amber move --resume, or amber move --undo"}
	}
	return m.report, err
}

// Check says what keeps an agent from moving, as far as both ends know without reading it. Errors: not_found, conflict and refused
// of [Run].
func Check(ctx context.Context, o Options, to To) error {
	if err := o.check(); err != nil {
		return err
	}
	return o.movable(ctx, to)
}

// check refuses options that lack something.
func (o Options) check() error {
	if o.Server == nil || o.Home == nil || o.Agent == nil || o.Clock == nil || o.Random == nil {
		return amber.Errorf(amber.KindInternal, opMove, "", "both ends, a clock and a random source are required")
	}
	return nil
}

// newMover makes what a new move is.
func (o Options) newMover(ctx context.Context, to To) (*mover, error) {
	id, err := amber.NewUUID(o.Clock(), o.Random)
	if err != nil {
		return nil, err
	}
	database, err := o.Server.Identity(ctx)
	if err != nil {
		return nil, err
	}
	state := home.MoveLeaving
	if to == SQLite {
		state = home.MoveArriving
	}
	return o.moverOf(home.Move{ID: id, State: state, Database: database, Place: home.OnePlace(o.Place)}), nil
}

func (o Options) moverOf(note home.Move) *mover {
	m := &mover{Options: o, folder: o.Agent.Mover(note.ID), note: note}
	m.report = Report{Agent: o.Agent.ID(), Move: note.ID, To: Postgres, From: o.homePlace(), Place: note.Place, Tables: []mirror.Table{}}
	if note.State == home.MoveArriving {
		m.report.To, m.report.From, m.report.Place = SQLite, note.Place, o.homePlace()
	}
	return m
}

// movable looks whether the agent is where it is to move from, and not where it is to move to.
func (o Options) movable(ctx context.Context, to To) error {
	id := string(o.Agent.ID())
	if note, err := o.Agent.Moved(); err != nil {
		return err
	} else if note != nil && note.State != home.MoveLeft {
		return amber.Errorf(amber.KindConflict, opMove, id, "a move of the agent has not come to its end").WithHint("amber move --resume, or amber move --undo")
	}
	st, err := o.Server.Standing(ctx, o.Agent.Tenant(), o.Agent.ID())
	if err != nil {
		return err
	}
	here := sqlite.IsHere(o.Agent)
	switch {
	case here && st.Live():
		return amber.Errorf(amber.KindConflict, opMove, id, "the name is that of an agent in %s and of another one in %s", o.homePlace(), o.Place).
			WithHint("delete one of them, or choose another agent with --agent")
	case to == Postgres && st.Live():
		return amber.Errorf(amber.KindConflict, opMove, id, "the agent is in %s already", o.Place).WithHint("set memory.backend to postgres")
	case to == SQLite && here:
		return amber.Errorf(amber.KindConflict, opMove, id, "the agent is in %s already", o.homePlace()).WithHint("set memory.backend to sqlite")
	case to == Postgres && !here:
		if _, err := o.Agent.Current(); err != nil {
			return err
		}
		return amber.Errorf(amber.KindNotFound, opMove, id, "the agent is not in %s", o.homePlace())
	case to == SQLite && !st.Live():
		_, _, err := o.Server.Live(ctx, o.Agent.Tenant(), o.Agent.ID()) // says where it is
		return err
	}
	return nil
}

// keepFolder makes a folder without memory where there is none.
func (o Options) keepFolder(ctx context.Context) error {
	_, _, err := o.Agent.Create(ctx, func(dir string, _ home.Current) error { return sqlite.LeaveElsewhere(dir) })
	return err
}

// goOn comes to the end of a move, wherever it is.
func (m *mover) goOn(ctx context.Context) error {
	if m.note.State == home.MoveArriving {
		return m.arrive(ctx)
	}
	return m.leave(ctx)
}

// undoWithin is how long a move that failed tries to bring back what was before.
const undoWithin = 30 * time.Second

// giveUp brings back what was before a move that failed, or comes to the end of one that was decided.
func (m *mover) giveUp(ctx context.Context, cause error) error {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoWithin)
	defer cancel()
	if err := m.undo(late); err != nil {
		hint := "amber move --resume, or amber move --undo"
		if amber.KindOf(err) == amber.KindConflict { // it was decided
			if m.goOn(late) == nil {
				return nil
			}
			hint = "amber move --resume"
		}
		return &amber.Error{Op: opMove, Kind: amber.KindOf(cause), ID: string(m.Agent.ID()), Err: cause, Hint: hint}
	}
	return &amber.Error{Op: opMove, Kind: amber.KindOf(cause), ID: string(m.Agent.ID()), Err: cause, Hint: cmp.Or(amber.HintOf(cause), "the agent is where it was; try again")}
}

// interrupted returns the move that the folder records. It refuses one to or from another database.
func (o Options) interrupted(ctx context.Context) (*mover, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	note, err := o.Agent.Moved()
	if err != nil {
		return nil, err
	}
	if note == nil {
		return nil, o.noMove(ctx)
	}
	database, err := o.Server.Identity(ctx)
	if err != nil {
		return nil, err
	}
	if database != note.Database {
		return nil, amber.Errorf(amber.KindRefused, opMove, string(o.Agent.ID()), "the move is between this home and %s, and the configuration names another database", note.Place).
			WithHint("set memory.backends.postgres.dsn_file to the file with the address of " + note.Place)
	}
	return o.moverOf(*note), nil
}

// noMove says that there is nothing to go on with here, and where there is.
func (o Options) noMove(ctx context.Context) error {
	e := amber.Errorf(amber.KindNotFound, opMove, string(o.Agent.ID()), "no move of the agent was begun in %s", o.homePlace())
	if st, err := o.Server.Standing(ctx, o.Agent.Tenant(), o.Agent.ID()); err == nil && st.Move != nil && !st.Move.Done && !st.Live() {
		return e.WithHint("a move is under way in " + st.Move.Home + ": run the command there")
	}
	return e
}

// Resume comes to the end of a move that was interrupted. Errors: not_found where there is none; those of [Run].
func Resume(ctx context.Context, o Options) (Report, error) {
	var report Report
	err := o.inOperation(ctx, func(m *mover) error {
		err := m.goOn(ctx)
		report = m.report
		return err
	})
	return report, err
}

// inOperation runs fn with the interrupted move while no other process works on it.
func (o Options) inOperation(ctx context.Context, fn func(m *mover) error) error {
	if _, err := o.interrupted(ctx); err != nil { // without a folder there is nothing to lock
		return err
	}
	return o.Agent.Operate(ctx, func() error {
		m, err := o.interrupted(ctx)
		if err != nil {
			return err
		}
		return fn(m)
	})
}

// Undo brings back what was before a move that was interrupted. Errors: not_found where there is none; conflict for one that was
// decided, which [Resume] brings to its end.
func Undo(ctx context.Context, o Options) (Report, error) {
	var report Report
	err := o.inOperation(ctx, func(m *mover) error {
		if m.note.State == home.MoveLeft {
			return m.decided()
		}
		err := m.undo(ctx)
		report = m.report
		return err
	})
	return report, err
}

func (m *mover) decided() error {
	to := SQLite
	if m.note.State == home.MoveArriving {
		to = Postgres
	}
	return amber.Errorf(amber.KindConflict, "undo move", string(m.Agent.ID()), "the move has come to its end: the agent lives in %s", m.report.Place).
		WithHint("amber move --resume if it was interrupted; amber move --to " + string(to) + " moves the agent back")
}

// undo brings back what was: in the database first, which knows whether it still can be.
func (m *mover) undo(ctx context.Context) error {
	m.progress("undo")
	c, err := m.Agent.Current()
	if err != nil {
		return err
	}
	if c.Generation != m.note.Generation {
		return m.decided()
	}
	if err := m.Server.UndoMove(ctx, m.move()); err != nil {
		if amber.KindOf(err) == amber.KindConflict {
			return m.decided()
		}
		return err
	}
	if err := m.folder.UndoBuilding(); err != nil {
		return err
	}
	if old := m.note.Old; old != 0 {
		left := m.note
		left.State, left.Generation, left.Old = home.MoveLeft, old, 0
		err = m.folder.NoteMove(left)
	} else {
		err = m.folder.EndMove()
	}
	if err != nil {
		return err
	}
	m.report.Undone = true
	// The rows that were filled in belong to no agent: if they cannot be removed now, the next sweep removes them.
	_, _ = mirror.Sweep(ctx, m.Server)
	return nil
}

// Forget erases what a move has kept where the agent was: in the home where it lives in the database, and the other way round. Errors:
// not_found where nothing is kept; refused where the other end may not have the agent.
func Forget(ctx context.Context, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, err
	}
	note, err := o.Agent.Moved()
	if err != nil {
		return Report{}, err
	}
	if note != nil {
		return o.forgetHere(ctx)
	}
	report := Report{Agent: o.Agent.ID(), To: SQLite, From: o.Place, Place: o.homePlace(), Tables: []mirror.Table{}}
	if _, err := o.Server.ForgetMoved(ctx, o.Agent.Tenant(), o.Agent.ID()); err != nil {
		return report, err
	}
	return report, o.discardOld(ctx)
}

// kept reports whether the database has a copy that is to be forgotten.
func (o Options) kept(ctx context.Context) (bool, error) {
	st, err := o.Server.Standing(ctx, o.Agent.Tenant(), o.Agent.ID())
	return st.Moved(), err
}

// Keeps names what [Forget] would erase. Errors: not_found where that is nothing; conflict while a move is under way.
func Keeps(ctx context.Context, o Options) (string, error) {
	if err := o.check(); err != nil {
		return "", err
	}
	note, err := o.Agent.Moved()
	if err != nil {
		return "", err
	}
	if note != nil && note.State != home.MoveLeft {
		return "", amber.Errorf(amber.KindConflict, "forget moved agent", string(o.Agent.ID()), "the move has not come to its end").
			WithHint("amber move --resume, or amber move --undo")
	}
	if note != nil {
		return o.oldFolder(*note), nil
	}
	there, err := o.kept(ctx)
	if err == nil && !there {
		err = amber.Errorf(amber.KindNotFound, "forget moved agent", string(o.Agent.ID()), "no move has left a copy of the agent in %s or in %s", o.homePlace(), o.Place)
	}
	return "the rows of the agent in " + o.Place, err
}

func (o Options) oldFolder(note home.Move) string {
	return filepath.Clean(o.Agent.GenDir(home.Current{Generation: note.Generation}))
}

// forgetHere removes the copy in the home.
func (o Options) forgetHere(ctx context.Context) (Report, error) {
	var report Report
	err := o.inOperation(ctx, func(m *mover) error {
		const op = "forget moved agent"
		if m.note.State != home.MoveLeft {
			return amber.Errorf(amber.KindConflict, op, string(m.Agent.ID()), "the move has not come to its end").WithHint("amber move --resume, or amber move --undo")
		}
		have, err := m.Server.FindMove(ctx, m.note.ID)
		if err != nil {
			return err
		}
		if have == nil || !have.Decided {
			st, err := m.Server.Standing(ctx, m.Agent.Tenant(), m.Agent.ID())
			if err != nil {
				return err
			}
			if !st.Live() {
				return amber.Errorf(amber.KindRefused, op, string(m.Agent.ID()), "%s knows nothing of the agent, so the copy in the home may be the last one", m.note.Place)
			}
		}
		report = m.report
		if err := m.folder.RemoveGeneration(ctx, m.note.Generation); err != nil {
			return err
		}
		return m.folder.EndMove()
	})
	return report, err
}

// discardOld removes generations in the database that are going.
func (o Options) discardOld(ctx context.Context) error {
	_, err := mirror.Sweep(ctx, o.Server)
	return err
}
