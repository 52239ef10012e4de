package postgres

import (
	"encoding/json"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/base/pgerr"
	"github.com/amber-memory/amber/internal/store/notefile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

const (
	selectBranch = `SELECT coalesce((SELECT oid FROM note_refs WHERE name = ?), ''), coalesce((SELECT commit_id FROM notes_head), '')`
	insertBranch = `INSERT INTO note_refs (name, oid) VALUES (?, ?) ON CONFLICT (name) DO NOTHING`
	moveBranch   = `UPDATE note_refs SET oid = ? WHERE name = ? AND oid = ?`
	selectRefs   = `SELECT name, oid FROM note_refs ORDER BY name`

	selectObjects    = `SELECT oid, raw FROM note_objects WHERE oid IN (SELECT value FROM json_each(?))`
	selectAllObjects = `SELECT oid, type, raw FROM note_objects WHERE oid > ? ORDER BY oid LIMIT ?`
	// A commit begins with "commit 123", a zero byte, "tree" and 40 digits. The first parent follows, or in a commit
	// without one its author, which is no id of an object. The code that reads the rows does not count on that. The
	// parent is a column of its own: under a policy a condition with a function in it uses no index.
	selectFirstParents = `WITH RECURSIVE line (n, oid, raw, parent) AS (
SELECT 1::int8, oid, raw, encode(substring(raw FROM position('\x00'::bytea IN raw) + 54 FOR 40), 'escape') COLLATE "C" FROM note_objects WHERE oid = ?1
UNION ALL
SELECT l.n + 1, o.oid, o.raw, encode(substring(o.raw FROM position('\x00'::bytea IN o.raw) + 54 FOR 40), 'escape') COLLATE "C"
FROM line l JOIN note_objects o ON o.oid = l.parent WHERE l.n < ?2::int8
) SELECT oid, raw FROM line ORDER BY n`

	// An object that is there and differs is damaged: an object with this id has these bytes.
	insertObjects = `INSERT INTO amber.note_objects (oid, type, raw) SELECT * FROM unnest($1::text[], $2::text[], $3::bytea[])
ON CONFLICT (gen, oid) DO UPDATE SET type = excluded.type, raw = excluded.raw
WHERE note_objects.raw <> excluded.raw OR note_objects.type <> excluded.type`
)

// noteRepo is the repository of the notes, for the time of one transaction. Each object is checked by its id when it is read.
type noteRepo struct {
	*notefile.History
	noteObjects
	copied string // the commit that the copy of the notes is of
}

// openNotes reads what the branch ends with.
func openNotes(t *tx) (*noteRepo, error) {
	r := &noteRepo{noteObjects: noteObjects{t}}
	var head string
	err := t.Row(selectBranch, gitobj.MainBranch).Scan(&head, &r.copied)
	if err == nil {
		r.History, err = notefile.OpenHistory(r.noteObjects, head)
	}
	return r, err
}

// noteObjects are the objects of the notes as rows.
type noteObjects struct{ t *tx }

var _ notefile.Objects = noteObjects{}

const opObjects = "read objects"

// Objects implements [gitobj.Reader].
func (r noteObjects) Objects(oids []string, fn func(oid string, raw []byte) error) error {
	list, err := json.Marshal(oids)
	if err != nil {
		return err
	}
	found := make(map[string]bool, len(oids))
	err = r.t.Each(selectObjects, []any{string(list)}, func(s sqlrows.Row) error {
		oid, raw, err := scanObject(s)
		if err != nil {
			return err
		}
		found[oid] = true
		return fn(oid, raw)
	})
	if err != nil {
		return pgerr.Wrap(opObjects, "", err) // others wrap it
	}
	for _, oid := range oids {
		if !found[oid] {
			return notefile.Unreadable(gitobj.Missing(oid))
		}
	}
	return nil
}

// scanObject reads an object, and checks that it is the one its id says.
func scanObject(s sqlrows.Row) (oid string, raw []byte, err error) {
	if err := s.Scan(&oid, &raw); err != nil {
		return "", nil, err
	}
	_, err = gitobj.CheckObject(oid, raw)
	return oid, raw, notefile.Unreadable(err)
}

// FirstParents implements [gitobj.Reader]. All of them come in one answer.
func (r noteObjects) FirstParents(oid string, most int, fn func(oid string, raw []byte) error) error {
	next, n := oid, 0
	err := r.t.Each(selectFirstParents, []any{oid, most}, func(s sqlrows.Row) error {
		if next == "" {
			return nil // who made the first commit has the name of an object
		}
		oid, raw, err := scanObject(s)
		if err != nil {
			return err
		}
		c, err := gitobj.ReadCommit(oid, raw)
		if err != nil {
			return notefile.Unreadable(err)
		}
		if n++; len(c.Parents) > 0 {
			next = c.Parents[0]
		} else {
			next = ""
		}
		return fn(oid, raw)
	})
	if err == nil && next != "" && n < most {
		err = notefile.Unreadable(gitobj.Missing(next))
	}
	return pgerr.Wrap(opObjects, "", err)
}

// Put implements [notefile.Objects], in one statement. Each id is there once.
func (r noteObjects) Put(objects ...gitobj.Object) error {
	oids, types, raws := make([]string, len(objects)), make([]string, len(objects)), make([][]byte, len(objects))
	for i, o := range objects {
		oids[i], types[i], raws[i] = o.OID, o.Type, o.Raw
	}
	if err := r.t.Ctx.Err(); err != nil {
		return err
	}
	c, ok := r.t.Conn.(*pgdb.Conn)
	if !ok {
		return fmt.Errorf("the transaction is one of %T, want one of PostgreSQL", r.t.Conn)
	}
	_, err := c.PG().Exec(r.t.Ctx, insertObjects, oids, types, raws)
	return err
}

// commit adds a commit that gives a note the text of a blob, or takes the note away, and makes the branch end with it.
// Errors: conflict when another program moved the branch meanwhile, without locking the head of the log.
func (r *noteRepo) commit(by amber.NoteBy, verb, name string, blob gitobj.Object) (gitobj.Change, error) {
	c, err := r.Commit(notefile.Message(by, verb, name), r.t.Now.Time(), map[string]gitobj.Object{name: blob})
	if err != nil {
		return gitobj.Change{}, err
	}
	if err := r.move(c.OID); err != nil {
		return gitobj.Change{}, err
	}
	r.Follow(c)
	return c, nil
}

// move makes next the commit of the branch.
func (r *noteRepo) move(next string) (err error) {
	var n int64
	if r.Head() == "" {
		n, err = r.t.Exec(insertBranch, gitobj.MainBranch, next)
	} else {
		n, err = r.t.Exec(moveBranch, next, gitobj.MainBranch, r.Head())
	}
	if err == nil && n == 0 {
		err = notefile.Moved(r.Head())
	}
	return err
}

// refs returns the branches and tags.
func (r *noteRepo) refs() (gitobj.Refs, error) {
	list, err := sqlrows.All(r.t.Tx, func(s sqlrows.Row) (ref gitobj.Ref, err error) {
		return ref, s.Scan(&ref.Name, &ref.OID)
	}, selectRefs)
	refs := gitobj.Refs{Head: gitobj.MainBranch, OID: r.Head(), Refs: list}
	if err == nil {
		if bad := refs.Check(); bad != nil {
			err = notefile.Damaged(bad)
		}
	}
	return refs, err
}

// objectsPage is how many objects are read together.
const objectsPage = 256

// eachObject hands out all objects there are, by their ids, in pages. Each is checked.
func (r *noteRepo) eachObject(fn func(gitobj.Object) error) error {
	for last, n := "", objectsPage; n == objectsPage; {
		n = 0
		err := r.t.Each(selectAllObjects, []any{last, objectsPage}, func(s sqlrows.Row) error {
			var kind string
			var raw []byte
			if err := s.Scan(&last, &kind, &raw); err != nil {
				return err
			}
			n++
			o, err := gitobj.CheckObject(last, raw)
			if err == nil && o.Type != kind {
				err = sqlrows.Damaged("read object", last, fmt.Errorf("its row says %q, its bytes say %q", kind, o.Type))
			}
			if err != nil {
				return notefile.Unreadable(err)
			}
			return fn(o)
		})
		if err != nil {
			return pgerr.Wrap(opObjects, "", err)
		}
	}
	return nil
}
