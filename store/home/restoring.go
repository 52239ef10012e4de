package home

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// note is what RESTORING holds: which generation is being built, and which one
// it is to replace. It lies there from before the first byte is built until
// the new CURRENT is known to be durable, or everything built is gone.
type note struct {
	generation  int64
	incarnation string
	replaces    int64
	from        string // what is restored: the id of a snapshot
}

// noteRecord is the form of RESTORING; a valid file has at most 513 bytes.
//
//	amber-restoring 1
//	generation 4
//	incarnation 0193c5a8-…
//	replaces 3
//	from 0193c5a8-…
//	crc32c 1a2b3c4d
var noteRecord = record{
	name: restoringName, magic: "amber-restoring", version: 1,
	keys: []string{"generation", "incarnation", "replaces", "from"},
}

func (n note) marshal() []byte {
	return noteRecord.marshal(strconv.FormatInt(n.generation, 10), n.incarnation, strconv.FormatInt(n.replaces, 10), n.from)
}

// parseNote reads what marshal writes, every byte of it checked. Errors:
// too_new for a later version, damaged for anything else.
func parseNote(b []byte) (note, error) {
	values, err := noteRecord.values(b)
	if err != nil {
		return note{}, err
	}
	var first, second bool
	n := note{incarnation: values[1], from: values[3]}
	n.generation, first = parseGeneration(values[0])
	n.replaces, second = parseGeneration(values[2])
	if !first || !second || n.generation <= n.replaces {
		return note{}, noteRecord.damaged("want two generations, the second greater than the first")
	}
	if err := errors.Join(amber.CheckID("incarnation", n.incarnation), amber.CheckID("from", n.from)); err != nil {
		return note{}, noteRecord.damaged(err.Error())
	}
	if !bytes.Equal(b, n.marshal()) {
		return note{}, noteRecord.damaged("the checksum does not match")
	}
	return n, nil
}

// stage says how far a restore came.
type stage int

const (
	building stage = iota + 1 // CURRENT names the old generation
	switched                  // CURRENT names the new one, perhaps not durably
)

// stage compares the note with CURRENT. A note that names neither the live generation nor its
// successor is damage: the program does not guess what it meant.
func (n note) stage(c Current) (stage, error) {
	switch {
	case c.Generation == n.generation && c.Incarnation == n.incarnation:
		return switched, nil
	case c.Generation == n.replaces:
		return building, nil
	}
	return 0, noteRecord.damaged(fmt.Sprintf("the file names the generations %d and %d, and CURRENT names %d", n.replaces, n.generation, c.Generation))
}

// readNote reads RESTORING and reports whether there is one. Errors: damaged,
// too_new and those of the disk.
func (a *Agent) readNote() (n note, found bool, err error) {
	b, err := fsx.ReadFile(a.o.FS, a.path(restoringName), maxRecord)
	if errors.Is(err, fs.ErrNotExist) {
		return note{}, false, nil
	}
	if err != nil {
		return note{}, true, a.badNote(diskerr.Own("read RESTORING", a.path(restoringName), err))
	}
	if n, err = parseNote(b); err != nil {
		return note{}, true, a.badNote(err)
	}
	return n, true, nil
}

// badNote says whose note it is and, where it is broken, the way out.
func (a *Agent) badNote(err error) error {
	e := &amber.Error{Op: "settle restore", Kind: amber.KindOf(err), ID: string(a.agent), Err: err, Hint: amber.HintOf(err)}
	if e.Kind == amber.KindDamaged {
		e.Hint = "the agent still works in the generation that CURRENT names; remove " + a.path(restoringName) + " to be able to restore again"
	}
	return e
}

// Restoring is a restore that has not come to its end.
type Restoring struct {
	From       string // what is restored
	Generation int64  // the one that is built
	Replaces   int64  // the one that was live when it began
	Switched   bool   // the new generation is live
	Running    bool   // an operation is under way, so it is most likely this one
}

// Restoring tells about a restore that is under way or was interrupted; nil
// when there is none. It changes nothing. Errors: those of Current; damaged and
// too_new for a note that cannot be believed.
func (a *Agent) Restoring() (*Restoring, error) {
	n, found, err := a.readNote()
	if !found || err != nil {
		return nil, err
	}
	c, err := a.Current()
	if err != nil {
		return nil, err
	}
	s, err := n.stage(c)
	if err != nil {
		return nil, a.badNote(err)
	}
	return &Restoring{
		From: n.from, Generation: n.generation, Replaces: n.replaces,
		Switched: s == switched, Running: a.operating(),
	}, nil
}
