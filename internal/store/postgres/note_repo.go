package postgres

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

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
	t      *tx
	head   string // the commit of the branch; "" before the first one
	copied string // the commit that the copy of the notes is of
	root   string // the tree of head
	trees  map[string][]byte
}

var (
	_ gitobj.Reader    = (*noteRepo)(nil)
	_ notefile.Folders = (*noteRepo)(nil)
)

// openNotes reads what the branch ends with.
func openNotes(t *tx) (*noteRepo, error) {
	r := &noteRepo{t: t, trees: map[string][]byte{}}
	if err := t.Row(selectBranch, gitobj.MainBranch).Scan(&r.head, &r.copied); err != nil || r.head == "" {
		return r, err
	}
	err := r.Objects([]string{r.head}, func(oid string, raw []byte) error {
		c, err := gitobj.ReadCommit(oid, raw)
		r.root = c.Tree
		return damagedNotes(err)
	})
	return r, err
}

// damagedNotes is what a history answers that cannot be read. Errors of the database stay what they are.
func damagedNotes(err error) error {
	if amber.KindOf(err) == amber.KindDamaged && amber.HintOf(err) == "" {
		return notefile.Damaged(err)
	}
	return err
}

const opObjects = "read objects"

// Objects implements [gitobj.Reader].
func (r *noteRepo) Objects(oids []string, fn func(oid string, raw []byte) error) error {
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
			return damagedNotes(gitobj.Missing(oid))
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
	return oid, raw, damagedNotes(err)
}

// FirstParents implements [gitobj.Reader]. All of them come in one answer.
func (r *noteRepo) FirstParents(oid string, most int, fn func(oid string, raw []byte) error) error {
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
			return damagedNotes(err)
		}
		if n++; len(c.Parents) > 0 {
			next = c.Parents[0]
		} else {
			next = ""
		}
		return fn(oid, raw)
	})
	if err == nil && next != "" && n < most {
		err = damagedNotes(gitobj.Missing(next))
	}
	return pgerr.Wrap(opObjects, "", err)
}

// get returns a tree, read once.
func (r *noteRepo) get(oid string) ([]byte, error) {
	if raw, known := r.trees[oid]; known {
		return raw, nil
	}
	raw, err := gitobj.Getter(r)(oid)
	if err == nil {
		r.trees[oid] = raw
	}
	return raw, err
}

// ReadDir implements [notefile.Folders].
func (r *noteRepo) ReadDir(dir string) ([]fs.DirEntry, error) {
	tree, err := r.treeAt(dir)
	if err != nil {
		return nil, err
	}
	entries, err := r.entries(tree)
	list := make([]fs.DirEntry, len(entries))
	for i, e := range entries {
		list[i] = noteEntry{e}
	}
	return list, err
}

// Takes implements [notefile.Folders]: a tree has no names but those it lists.
func (r *noteRepo) Takes(string, string) bool { return false }

// treeAt returns the id of the tree of a folder.
func (r *noteRepo) treeAt(dir string) (string, error) {
	if dir == "" || dir == "." {
		if r.root == "" {
			return "", fs.ErrNotExist
		}
		return r.root, nil
	}
	parent, err := r.treeAt(path.Dir(dir))
	if err != nil {
		return "", err
	}
	entries, err := r.entries(parent)
	if err != nil {
		return "", err
	}
	at := slices.IndexFunc(entries, func(e gitobj.TreeEntry) bool { return e.Name == path.Base(dir) && e.IsTree() })
	if at < 0 {
		return "", fs.ErrNotExist
	}
	return entries[at].OID, nil
}

func (r *noteRepo) entries(tree string) ([]gitobj.TreeEntry, error) {
	raw, err := r.get(tree)
	if err != nil {
		return nil, err
	}
	entries, err := gitobj.ReadTree(tree, raw)
	return entries, damagedNotes(err)
}

// noteEntry is an entry of a tree as one of a folder.
type noteEntry struct{ e gitobj.TreeEntry }

func (n noteEntry) Name() string { return n.e.Name }
func (n noteEntry) IsDir() bool  { return n.e.IsTree() }

func (n noteEntry) Type() fs.FileMode {
	switch {
	case n.e.IsTree():
		return fs.ModeDir
	case n.e.IsFile():
		return 0
	case n.e.IsSymlink():
		return fs.ModeSymlink
	}
	return fs.ModeIrregular
}

// Info is not known: a tree says neither size nor time.
func (n noteEntry) Info() (fs.FileInfo, error) { return nil, errors.ErrUnsupported }

// put stores objects, in one statement. Each id is there once.
func (r *noteRepo) put(objects ...gitobj.Object) error {
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
func (r *noteRepo) commit(by amber.NoteBy, verb, name string, blob *gitobj.Object) (gitobj.Change, error) {
	var oid string
	var objects []gitobj.Object
	if blob != nil {
		oid, objects = blob.OID, []gitobj.Object{*blob}
	}
	tree, made, err := gitobj.PutFile(r.get, r.root, name+notefile.Suffix, oid)
	if err != nil {
		return gitobj.Change{}, damagedNotes(err)
	}
	at := r.t.Now.Time()
	c := gitobj.NewCommit(tree, r.head, notefile.Message(by, verb, name), at)
	if err := r.put(append(append(objects, made...), c)...); err != nil {
		return gitobj.Change{}, err
	}
	if err := r.move(c.OID); err != nil {
		return gitobj.Change{}, err
	}
	r.head, r.root = c.OID, tree
	said, err := gitobj.ReadCommit(c.OID, c.Raw)
	return gitobj.Change{OID: c.OID, Commit: said}, err
}

// move makes next the commit of the branch.
func (r *noteRepo) move(next string) (err error) {
	var n int64
	if r.head == "" {
		n, err = r.t.Exec(insertBranch, gitobj.MainBranch, next)
	} else {
		n, err = r.t.Exec(moveBranch, next, gitobj.MainBranch, r.head)
	}
	if err == nil && n == 0 {
		err = notefile.Moved(fmt.Errorf("the branch is at another commit, expected %s", orNone(r.head)))
	}
	return err
}

func orNone(oid string) string {
	if oid == "" {
		return "none"
	}
	return oid
}

// refs returns the branches and tags.
func (r *noteRepo) refs() (gitobj.Refs, error) {
	list, err := sqlrows.All(r.t.Tx, func(s sqlrows.Row) (ref gitobj.Ref, err error) {
		return ref, s.Scan(&ref.Name, &ref.OID)
	}, selectRefs)
	refs := gitobj.Refs{Head: gitobj.MainBranch, OID: r.head, Refs: list}
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
				return damagedNotes(err)
			}
			return fn(o)
		})
		if err != nil {
			return pgerr.Wrap(opObjects, "", err)
		}
	}
	return nil
}
