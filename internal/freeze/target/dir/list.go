package dir

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// List implements [target.Target]. It reads one folder at a time.
func (d *Dir) List(ctx context.Context, prefix string, fn func(target.Object) error) error {
	return d.list(ctx, "", prefix, fn)
}

// list goes through the folder whose name, with a slash at its end, is below;
// "" is the target's own.
func (d *Dir) list(ctx context.Context, below, prefix string, fn func(target.Object) error) error {
	const op = "list objects"
	if err := target.Alive(ctx, op, prefix); err != nil {
		return err
	}
	entries, err := d.entries(op, below)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := target.Alive(ctx, op, prefix); err != nil {
			return err
		}
		name := below + e.Name()
		if target.CheckObjectName(name) != nil {
			continue // also too deep: no name below is shorter
		}
		switch {
		case e.IsDir() && mayHold(name+"/", prefix):
			err = d.list(ctx, name+"/", prefix, fn)
		case e.Type().IsRegular() && strings.HasPrefix(name, prefix):
			err = tell(op, name, e, fn)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// entries returns what is in a folder in the order of the names that objects
// have: a folder stands where the names below it do, "a.b" before "a/b".
func (d *Dir) entries(op, below string) ([]fs.DirEntry, error) {
	entries, err := d.fs.ReadDir(filepath.Join(d.root, filepath.FromSlash(below)))
	switch {
	case below == "" && errors.Is(err, fs.ErrNotExist):
		return nil, d.gone()
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil // gone meanwhile
	case err != nil:
		return nil, diskError(op, below, err)
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(sortName(a), sortName(b)) })
	return entries, nil
}

func sortName(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}
	return e.Name()
}

// mayHold reports whether a name below the folder can begin with the prefix.
func mayHold(folder, prefix string) bool {
	return strings.HasPrefix(folder, prefix) || strings.HasPrefix(prefix, folder)
}

func tell(op, name string, e fs.DirEntry, fn func(target.Object) error) error {
	info, err := e.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // gone meanwhile
	case err != nil:
		return diskError(op, name, err)
	}
	return fn(target.Object{Name: name, Size: info.Size(), Modified: amber.At(info.ModTime())})
}
