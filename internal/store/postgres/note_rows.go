package postgres

import (
	"context"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/store/sqlcore"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/store/home"
)

// NoteRows are the rows of the notes of one generation, inside a transaction of code that carries agents. The
// transaction began with [Enter].
type NoteRows struct {
	ctx  context.Context
	conn *pgdb.Conn
}

// NotesIn returns the notes of the generation that a transaction is about.
func NotesIn(ctx context.Context, c *pgdb.Conn) NoteRows { return NoteRows{ctx, c} }

func (n NoteRows) open() (*noteRepo, error) {
	return openNotes(sqlcore.NewTx(&sqlrows.Tx{Ctx: n.ctx, Conn: n.conn, Current: home.Current{}, Overwrite: leave}, &sqlcore.Options{Backend: backendName}))
}

// Refs returns the branches and tags; none before the first note. Errors: damaged.
func (n NoteRows) Refs() (gitobj.Refs, error) {
	r, err := n.open()
	if err != nil {
		return gitobj.Refs{}, err
	}
	return r.refs()
}

// Objects hands out every object, each compared with its id. Errors: damaged; those of yield.
func (n NoteRows) Objects(yield func(oid string, raw []byte) error) error {
	r, err := n.open()
	if err != nil {
		return err
	}
	return r.eachObject(func(o gitobj.Object) error { return yield(o.OID, o.Raw) })
}

// Checkout writes the files of the notes, as the branch main ends with them, into a folder that has none of them. Errors: conflict
// where the file system takes two names for one; damaged.
func (n NoteRows) Checkout(dir string) error {
	r, err := n.open()
	if err != nil || r.Head() == "" {
		return err
	}
	return r.Checkout(n.ctx, fsx.OS(), dir)
}

// Put stores objects. Their ids are those of their bytes.
func (n NoteRows) Put(objects ...gitobj.Object) error {
	r, err := n.open()
	if err != nil {
		return err
	}
	return r.Put(objects...)
}

const (
	deleteRefs      = `DELETE FROM note_refs`
	deleteNotesHead = `DELETE FROM notes_head`
)

// SetRefs makes these the branches and tags, and makes the copy of the notes, by which they are found, one of what main ends with. All
// objects are there. Errors: invalid for refs that contradict each other; conflict when another branch than main is checked out;
// unsupported for ids that are not SHA-1; damaged.
func (n NoteRows) SetRefs(refs gitobj.Refs) error {
	if len(refs.Refs) > 0 {
		if err := checkNoteRefs(refs); err != nil {
			return err
		}
	}
	r, err := n.open()
	if err != nil {
		return err
	}
	if _, err := r.t.Exec(deleteRefs); err != nil {
		return err
	}
	for _, ref := range refs.Refs {
		if _, err := r.t.Exec(insertBranch, ref.Name, ref.OID); err != nil {
			return err
		}
	}
	if r, err = n.open(); err != nil || r.Head() == r.copied {
		return err
	}
	if r.Head() != "" {
		return r.renewCopy()
	}
	gone, err := r.t.NoteBlobs()
	if err != nil {
		return err
	}
	for name := range gone {
		if err := r.t.DeleteNote(name); err != nil {
			return err
		}
	}
	_, err = r.t.Exec(deleteNotesHead)
	return err
}
