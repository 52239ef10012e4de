package home

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strconv"
	"strings"
	"unicode"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// MoveState says what a move is doing to the folder.
type MoveState string

// The states of a move.
const (
	// MoveLeaving is from before the first byte is copied until the folder of the agent is one
	// without memory. No process reads or writes the agent meanwhile.
	MoveLeaving MoveState = "leaving"
	// MoveLeft is afterwards: the generation is a copy of what the agent was, and is kept.
	MoveLeft MoveState = "left"
	// MoveArriving is from before the first byte arrives until the generation that was built is
	// live and the old ones are gone. No process writes to the old one meanwhile.
	MoveArriving MoveState = "arriving"
)

// Move is what MOVED holds: where an agent went that lay in this folder, or where it comes from.
type Move struct {
	ID    string // of the move
	State MoveState
	// Generation is the one that leaves or has left; of an agent that arrives the one that was
	// live when the move began.
	Generation int64
	// Old is a copy that an earlier move has left here, which goes when an agent has arrived; 0: none.
	Old int64
	// Database is the id of the other end, Place says where it is, for people.
	Database string
	Place    string
}

// movedRecord is the form of MOVED.
//
//	amber-moved 1
//	move 0193c5a8-…
//	state leaving
//	generation 3
//	old 0
//	database 0193c5a8-…
//	place the PostgreSQL database amber on db.example.org
//	crc32c 1a2b3c4d
var movedRecord = record{
	name: movedName, magic: "amber-moved", version: 1,
	keys: []string{"move", "state", "generation", "old", "database", "place"},
}

func (m Move) marshal() []byte {
	return movedRecord.marshal(m.ID, string(m.State), strconv.FormatInt(m.Generation, 10), strconv.FormatInt(m.Old, 10), m.Database, m.Place)
}

// maxPlace bounds what is kept of the name of a place, in bytes.
const maxPlace = 1000

// OnePlace is a text as the place of a move: one line that is not too long.
func OnePlace(s string) string {
	s = strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?")))
	if len(s) > maxPlace {
		s = strings.ToValidUTF8(s[:maxPlace], "")
	}
	if s == "" {
		return "a database"
	}
	return s
}

// parseMove reads what marshal writes, every byte of it checked. Errors: too_new for a later version,
// damaged for anything else.
func parseMove(b []byte) (m Move, err error) {
	values, err := movedRecord.values(b)
	if err != nil {
		return m, err
	}
	m = Move{ID: values[0], State: MoveState(values[1]), Database: values[4], Place: values[5]}
	var ok bool
	if m.Generation, ok = parseGeneration(values[2]); !ok {
		return Move{}, movedRecord.damaged("the generation is not a positive number")
	}
	if values[3] != "0" {
		if m.Old, ok = parseGeneration(values[3]); !ok || m.Old >= m.Generation {
			return Move{}, movedRecord.damaged("the old generation is not a smaller number")
		}
	}
	switch m.State {
	case MoveLeaving, MoveLeft, MoveArriving:
	default:
		return Move{}, movedRecord.damaged("the state is none that a move has")
	}
	if err := errors.Join(amber.CheckID("move", m.ID), amber.CheckID("database", m.Database)); err != nil {
		return Move{}, movedRecord.damaged(err.Error())
	}
	if m.Place != OnePlace(m.Place) {
		return Move{}, movedRecord.damaged("the place is not one line")
	}
	if !bytes.Equal(b, m.marshal()) {
		return Move{}, movedRecord.damaged("the checksum does not match")
	}
	return m, nil
}

// Moved reads MOVED; nil where there is none. It changes nothing. Errors: damaged, too_new and
// those of the disk.
func (a *Agent) Moved() (*Move, error) {
	if _, err := a.o.FS.Lstat(a.path(movedName)); errors.Is(err, fs.ErrNotExist) {
		return nil, nil // as nearly always
	}
	b, err := fsx.ReadFile(a.o.FS, a.path(movedName), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diskerr.Own("read MOVED", a.path(movedName), err)
	}
	m, err := parseMove(b)
	if err != nil {
		e := &amber.Error{Op: "open agent", Kind: amber.KindOf(err), ID: string(a.agent), Err: err, Hint: amber.HintOf(err)}
		if e.Kind == amber.KindDamaged {
			e.Hint = "find out whether the agent has moved to a database before you remove " + a.path(movedName)
		}
		return nil, e
	}
	return &m, nil
}

// Gone says whether a generation cannot be read, because the agent has moved or is being moved. Errors: refused, and the
// hint says what to do; those of [Agent.Moved].
func (a *Agent) Gone(c Current) error {
	m, err := a.Moved()
	if err != nil || m == nil || m.ID == a.mover {
		return err
	}
	switch m.State {
	case MoveLeft: // what is live has no memory
		return amber.Errorf(amber.KindRefused, "open agent", string(a.agent), "the agent has moved to %s", m.Place).
			WithHint("set memory.backend to postgres to use the agent in " + m.Place + "; amber move --to sqlite brings the agent back")
	case MoveLeaving:
		if m.Generation == c.Generation {
			return a.away(*m)
		}
	}
	return nil
}

// Keeps reports whether a generation is one that a move has left, and that only who makes or forgets the move removes. Errors: those of
// [Agent.Moved].
func (a *Agent) Keeps(n int64) (bool, error) {
	m, err := a.Moved()
	return m != nil && m.ID != a.mover && (m.Generation == n || m.Old == n), err
}

// fixed is Gone for who wants to write.
func (a *Agent) fixed(c Current) error {
	m, err := a.Moved()
	if err != nil || m == nil || m.ID == a.mover || m.Generation != c.Generation {
		return err
	}
	return a.away(*m)
}

// atRest refuses what would take the folder from under a move: only it knows how that comes to its end.
func (a *Agent) atRest() error {
	m, err := a.Moved()
	if err != nil || m == nil || m.State == MoveLeft {
		return err
	}
	return a.away(*m)
}

func (a *Agent) away(m Move) error {
	way := "is being moved to"
	if m.State == MoveArriving {
		way = "is being moved here from"
	}
	return amber.Errorf(amber.KindRefused, "open agent", string(a.agent), "the agent %s %s", way, m.Place).
		WithHint("wait; if the move was interrupted, run amber move --resume or amber move --undo")
}

// Mover returns a handle that works in spite of a move: for the one who does it, inside [Agent.Operate].
func (a *Agent) Mover(id string) *Agent {
	return &Agent{dir: a.dir, tenant: a.tenant, agent: a.agent, o: a.o, turns: a.turns, mover: id}
}

// BeginMove notes a move, durably, while no process writes, and returns the generation that is
// live. From then on a process that opens the agent learns of the move. The state is leaving or
// arriving; BeginMove finds generation and old itself. The caller is inside [Agent.Operate].
// Errors: conflict where another move has not come to its end; those of Current and of the disk;
// busy.
func (a *Agent) BeginMove(ctx context.Context, m Move) (c Current, err error) {
	const op = "begin move"
	if _, err := a.settleRestore(); err != nil {
		return c, err
	}
	err = a.Exclusive(ctx, func(live Current) error {
		c = live
		before, err := a.Moved()
		switch {
		case err != nil:
			return err
		case before != nil && before.State != MoveLeft:
			return amber.Errorf(amber.KindConflict, op, string(a.agent), "another move of the agent has not come to its end").
				WithHint("amber move --resume, or amber move --undo")
		case before != nil && m.State == MoveArriving:
			m.Old = before.Generation
		case before != nil:
			return amber.Errorf(amber.KindConflict, op, string(a.agent), "the agent has moved to %s already", before.Place)
		}
		m.Generation = live.Generation
		return a.writeMove(op, m)
	})
	return c, err
}

// NoteMove replaces MOVED, durably. The caller is inside [Agent.Operate].
func (a *Agent) NoteMove(m Move) error { return a.writeMove("note move", m) }

// UndoBuilding removes what an interrupted move or restore has built. The caller is inside [Agent.Operate].
func (a *Agent) UndoBuilding() error {
	_, err := a.settleRestore()
	return err
}

// EndMove removes MOVED, durably. The caller is inside [Agent.Operate].
func (a *Agent) EndMove() error {
	if err := fsx.RemoveAll(a.o.FS, a.path(movedName)); err != nil {
		return diskerr.Own("end move", a.dir, err)
	}
	return nil
}

func (a *Agent) writeMove(op string, m Move) error {
	b := m.marshal()
	if again, err := parseMove(b); err != nil || again != m {
		return amber.Errorf(amber.KindInvalid, op, string(a.agent), "the move cannot be written down: %+v", m)
	}
	if err := fsx.Replace(a.o.FS, a.path(movedName), 0o600, b); err != nil {
		return diskerr.Own(op, a.dir, err)
	}
	return nil
}

// Adopt makes the generation that is being built write under the device of the agent that moves here.
func (r *Restore) Adopt(device string) error {
	if err := amber.CheckID("device", device); err != nil {
		return err
	}
	r.current.Device = device
	return nil
}
