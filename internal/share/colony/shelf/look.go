package shelf

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/pattern"
)

var (
	shardName = pattern.Of(`^[0-9a-f]{2}$`)
	fileName  = pattern.Of(`^[0-9a-f]{64}$`)
)

// names returns what lies in the folder of the vault, below the generation and
// in order, and whether there is such a folder. Temporary files of writers that
// died mean nothing; with sweep, which needs the turn, they are removed.
func (v folder) names(ctx context.Context, op string, sweep bool) (rels []string, exists bool, err error) {
	for _, dir := range []string{path.Dir(vaultDir), vaultDir} {
		if exists, err = v.isFolder(op, dir); err != nil || !exists {
			return nil, false, err
		}
	}
	shards, err := v.entries(op, vaultDir, sweep)
	if err != nil {
		return nil, true, err
	}
	for _, d := range shards {
		if err := ended(ctx); err != nil {
			return nil, true, err
		}
		dir := path.Join(vaultDir, d.Name())
		if !d.IsDir() || !shardName().MatchString(d.Name()) {
			rels = append(rels, dir)
			continue
		}
		files, err := v.entries(op, dir, sweep)
		if err != nil {
			return nil, true, err
		}
		for _, f := range files {
			rels = append(rels, path.Join(dir, f.Name()))
		}
	}
	return rels, true, nil
}

// entries returns the entries of a folder but for temporary files. A folder that
// vanished is empty.
func (v folder) entries(op, dir string, sweep bool) ([]fs.DirEntry, error) {
	list, err := v.fs.ReadDir(v.path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, disk(op, dir, err)
	}
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool {
		temporary := strings.HasPrefix(e.Name(), fsx.TempPrefix) && !e.IsDir()
		if temporary && sweep {
			// A temporary file that cannot be removed now does no harm: the next writer tries again.
			_ = v.fs.Remove(filepath.Join(v.path(dir), e.Name()))
		}
		return temporary
	}), nil
}

// heads reads the first line of each file, by name. Errors: not_found when one
// vanished meanwhile, damaged for the first that is no file of a vault.
func heads(ctx context.Context, v volume, op string, rels []string) ([]header, error) {
	list := make([]header, 0, len(rels))
	for _, rel := range rels {
		if err := ended(ctx); err != nil {
			return nil, err
		}
		if !belongs(rel) {
			return nil, damaged(op, rel, "this file does not belong in a vault")
		}
		h, err := v.head(op, rel)
		if err != nil {
			return nil, err
		}
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b header) int { return strings.Compare(a.Name, b.Name) })
	return list, nil
}

// belongs reports whether a file of a vault may lie there.
func belongs(rel string) bool {
	base := path.Base(rel)
	return fileName().MatchString(base) && rel == path.Join(vaultDir, base[:2], base)
}

// tries is how often a vault is looked at that changes meanwhile, before its
// writers have to wait.
const tries = 4

// list returns every file of the vault. Their names are those of one moment: a
// file that is moved is never in neither place. A file that is replaced meanwhile
// is there as it was or as it is, whatever is said of others.
func (s *Shelf) list(ctx context.Context, op string) (list []header, err error) {
	same := false
	for range tries {
		err = s.read(ctx, func(v volume) (err error) {
			list, same, err = steady(ctx, v, op)
			return err
		})
		if err != nil || same {
			return list, err
		}
	}
	err = s.write(ctx, func(v volume) error {
		rels, _, err := v.names(ctx, op, true)
		if err == nil {
			list, err = heads(ctx, v, op, rels)
		}
		return err
	})
	return list, err
}

// steady looks at the names before and after it reads the files, and reports
// whether they are the same.
func steady(ctx context.Context, v volume, op string) (list []header, same bool, err error) {
	before, _, err := v.names(ctx, op, false)
	if err != nil {
		return nil, false, err
	}
	list, err = heads(ctx, v, op, before)
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return nil, false, err
	}
	after, _, aerr := v.names(ctx, op, false)
	return list, err == nil && slices.Equal(before, after), aerr
}

// usage is what a vault holds.
type usage struct {
	exists bool // a caller has put a file, once
	files  int64
	bytes  int64
}

// count counts files and bytes. A damaged file counts with all its bytes, and does not keep a caller from putting
// another file.
func count(ctx context.Context, v volume, sweep bool) (u usage, err error) {
	const op = "look at vault"
	rels, exists, err := v.names(ctx, op, sweep)
	if err != nil {
		return usage{}, err
	}
	u.exists = exists
	for _, rel := range rels {
		if err := ended(ctx); err != nil {
			return usage{}, err
		}
		size, there, err := size(v, op, rel)
		if err != nil {
			return usage{}, err
		}
		if there {
			u.files++
			u.bytes += size
		}
	}
	return u, nil
}

// size returns the bytes of a file's content.
func size(v volume, op, rel string) (n int64, there bool, err error) {
	h, err := v.head(op, rel)
	switch amber.KindOf(err) {
	case "":
		return h.Size, true, nil
	case amber.KindNotFound:
		return 0, false, nil
	case amber.KindDamaged, amber.KindTooNew:
		n, there = v.bytes(rel)
		return n, there, nil
	}
	return 0, false, err
}
