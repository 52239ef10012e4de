package shelf

import (
	"context"
	"errors"
	"path"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/vaultrow"
)

// The bounds of rows are those of files.
const (
	_ uint = vaultrow.MaxBytes - maxLine - MaxFileLimit
	_ uint = maxLine + MaxFileLimit - vaultrow.MaxBytes
	_ uint = vaultrow.HeadBytes - maxLine
)

// inRows lets fn work on the rows of a transaction.
func inRows(fn func(volume) error) func(vaultrow.Tx) error {
	return func(t vaultrow.Tx) error { return fn(&rows{tx: t}) }
}

// rows is a vault in the rows of a database, in one transaction: what is written is durable at its end, or undone.
type rows struct {
	tx    vaultrow.Tx
	known map[string]vaultrow.File // what was listed, by place below the generation; nil once something was written
}

func (r *rows) names(ctx context.Context, _ string, _ bool) (rels []string, exists bool, err error) {
	if err := ended(ctx); err != nil {
		return nil, false, err
	}
	list, exists, err := r.tx.List()
	if err != nil {
		return nil, false, err
	}
	r.known = map[string]vaultrow.File{}
	for _, f := range list {
		rel := path.Join(vaultDir, f.Place[:min(2, len(f.Place))], f.Place)
		r.known[rel] = f
		rels = append(rels, rel)
	}
	return rels, exists, nil
}

// find implements volume: any name has a place.
func (r *rows) find(_, name string) (rel string, there bool, err error) {
	return path.Join(vaultDir, place(name)), true, nil
}

func (r *rows) file(rel string) (f vaultrow.File, found bool, err error) {
	if r.known != nil {
		f, found = r.known[rel]
		return f, found, nil
	}
	return r.tx.Look(path.Base(rel))
}

func (r *rows) head(op, rel string) (header, error) {
	f, found, err := r.file(rel)
	if err != nil {
		return header{}, err
	}
	if !found {
		return header{}, notFound(op, rel)
	}
	h, err := headOf(op, rel, f.Head[:min(len(f.Head), maxLine)], f.Size)
	return h, mend(err)
}

func (r *rows) bytes(rel string) (n int64, there bool) {
	f, found, err := r.file(rel)
	return f.Size, found && err == nil
}

func (r *rows) read(op, rel string) ([]byte, error) {
	b, found, err := r.tx.Read(path.Base(rel))
	if err == nil && !found {
		err = notFound(op, rel)
	}
	return b, mend(err)
}

func (r *rows) write(_, rel string, b []byte) error {
	r.known = nil
	return r.tx.Put(path.Base(rel), b)
}

func (r *rows) remove(op, name string) error {
	r.known = nil
	there, err := r.tx.Remove(amber.ContentDigest(name))
	if err == nil && !there {
		err = notFound(op, name)
	}
	return err
}

// sync implements volume: what a transaction sees is committed, and a server that waits for a standby has waited for it.
func (r *rows) sync(string, string) error { return nil }

func (r *rows) path(rel string) string {
	return "amber.vault_files of the database, place " + path.Base(rel)
}

// mend says what helps where there is no folder.
func mend(err error) error {
	if e, ok := errors.AsType[*amber.Error](err); ok && e.Kind == amber.KindDamaged {
		e.Hint = "restore a snapshot, or put or delete the file again"
	}
	return err
}
