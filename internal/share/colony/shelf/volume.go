package shelf

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/store/home"
)

// vaultDir is the folder of the vault below the generation.
const vaultDir = "state/vault"

// volume is the vault in one generation: a folder, or rows of a database. Places are those below the generation, in rows too.
type volume interface {
	// names returns the places of all files in order. exists says whether a caller has ever put a file. With sweep,
	// which needs the turn, names removes temporary files of writers that died.
	names(ctx context.Context, op string, sweep bool) (rels []string, exists bool, err error)
	// find returns the place of a name. Where it is not there, no file of that name is.
	find(op, name string) (rel string, there bool, err error)
	// head returns what the first line of a file says, checked against where it lies
	// and how long it is. Errors: not_found, damaged, too_new.
	head(op, rel string) (header, error)
	// bytes returns how many bytes a file has, whatever they are.
	bytes(rel string) (n int64, there bool)
	// read returns a whole file. Errors: not_found, damaged.
	read(op, rel string) ([]byte, error)
	// write puts a file, whatever was there. Only for the holder of the turn, like remove.
	write(op, rel string, b []byte) error
	// remove removes a file. Errors: not_found.
	remove(op, name string) error
	// sync returns when what is seen at a place is durable.
	sync(op, rel string) error
	// path says where a person finds a place.
	path(rel string) string
}

// folder is a vault of files.
type folder struct {
	fs  fsx.FS
	gen string
}

func (s *Shelf) folder(c home.Current) folder {
	return folder{fs: s.o.FS, gen: s.agent.GenDir(c)}
}

// path returns the path of something below the generation.
func (v folder) path(rel string) string { return filepath.Join(v.gen, filepath.FromSlash(rel)) }

// isFolder reports whether a folder is there. A link or anything else in its
// place is damage.
func (v folder) isFolder(op, rel string) (bool, error) {
	info, err := v.fs.Lstat(v.path(rel))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil
	case err != nil:
		return false, disk(op, rel, err)
	case !info.IsDir():
		return false, damaged(op, rel, "want a folder")
	}
	return true, nil
}

// find reports whether the folder that a file lies in is there, and returns where
// the file lies below the generation.
func (v folder) find(op, name string) (rel string, there bool, err error) {
	rel = path.Join(vaultDir, place(name))
	for _, dir := range []string{path.Dir(vaultDir), vaultDir, path.Dir(rel)} {
		if there, err = v.isFolder(op, dir); err != nil || !there {
			return rel, false, err
		}
	}
	return rel, true, nil
}

// get returns a file with its content, everything checked. Errors: not_found,
// damaged, too_new.
func get(v volume, op, name string) (header, string, error) {
	rel, there, err := v.find(op, name)
	if err != nil {
		return header{}, "", err
	}
	if !there {
		return header{}, "", notFound(op, name)
	}
	b, err := v.read(op, rel)
	if amber.KindOf(err) == amber.KindNotFound {
		return header{}, "", notFound(op, name)
	}
	if err != nil {
		return header{}, "", err
	}
	h, content, err := decode(b)
	if err == nil && h.Name != name {
		err = errors.New("the first line names another file")
	}
	if err != nil {
		return header{}, "", about(unfit(op, rel, err), name)
	}
	return h, content, nil
}

func (v folder) read(op, rel string) ([]byte, error) {
	b, err := fsx.ReadFile(v.fs, v.path(rel), maxLine+MaxFileLimit)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, notFound(op, rel)
	}
	if err != nil {
		return nil, disk(op, rel, err)
	}
	return b, nil
}

func (v folder) bytes(rel string) (n int64, there bool) {
	info, err := v.fs.Lstat(v.path(rel))
	if err != nil || !info.Mode().IsRegular() {
		return 0, err == nil
	}
	return info.Size(), true
}

func (v folder) head(op, rel string) (header, error) {
	f, err := v.fs.OpenFile(v.path(rel), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return header{}, notFound(op, rel)
	}
	if err != nil {
		return header{}, disk(op, rel, err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return header{}, disk(op, rel, err)
	}
	if !info.Mode().IsRegular() {
		return header{}, damaged(op, rel, "want a regular file")
	}
	b, err := io.ReadAll(io.LimitReader(f, maxLine))
	if err != nil {
		return header{}, disk(op, rel, err)
	}
	return headOf(op, rel, b, info.Size())
}

// headOf makes sense of the beginning of a file that has so many bytes.
func headOf(op, rel string, b []byte, size int64) (header, error) {
	line, _, ok := bytes.Cut(b, []byte("\n"))
	if !ok {
		return header{}, damaged(op, rel, "the first line has no end")
	}
	h, err := parseLine(line)
	switch {
	case err != nil:
	case path.Join(vaultDir, place(h.Name)) != rel:
		err = errors.New("the first line names another file")
	case size != int64(len(line))+1+h.Size:
		return header{}, about(damaged(op, rel, "the length does not match the first line"), h.Name)
	}
	if err != nil {
		return header{}, unfit(op, rel, err)
	}
	return h, nil
}

// unfit says why a file cannot be believed.
func unfit(op, rel string, err error) error {
	if errors.Is(err, errTooNew) {
		return bad(amber.KindTooNew, op, rel, err)
	}
	return damaged(op, rel, err.Error())
}

// known returns what the first line of a file says; nil when there is no file, and
// with heals also when it is damaged.
func known(v volume, op, name string, heals bool) (*header, error) {
	rel, there, err := v.find(op, name)
	if err != nil || !there {
		return nil, err
	}
	h, err := v.head(op, rel)
	switch k := amber.KindOf(err); {
	case k == amber.KindNotFound, k == amber.KindDamaged && heals:
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &h, nil
}

// settled returns why a change was not made, once what was seen instead is
// durable: the process that put it may have died before that, and the caller builds on it.
func settled(v volume, op, name string, why error) error {
	rel, there, err := v.find(op, name)
	if err == nil && there {
		err = v.sync(op, rel)
	}
	if err != nil {
		return err
	}
	return why
}

func (v folder) sync(op, rel string) error {
	if err := v.fs.SyncDir(v.path(path.Dir(rel))); err != nil {
		return disk(op, rel, err)
	}
	return nil
}

// put writes a file, whatever was there, and returns once it is durable. Only
// for the holder of the turn.
func put(v volume, op string, h header, content string) error {
	b, err := encode(h, content)
	if err != nil {
		return bad(amber.KindInternal, op, h.Name, err)
	}
	return v.write(op, path.Join(vaultDir, place(h.Name)), b)
}

func (v folder) write(op, rel string, b []byte) error {
	if err := fsx.MkdirAll(v.fs, v.path(path.Dir(rel)), 0o700); err != nil {
		return disk(op, path.Dir(rel), err)
	}
	if err := fsx.Replace(v.fs, v.path(rel), 0o600, b); err != nil {
		return disk(op, rel, err)
	}
	return nil
}

// remove removes a file and returns once it is durably gone. Only for the holder
// of the turn. Errors: not_found, after which it is durably gone as well: the process that
// removed it before may have died on the way.
func (v folder) remove(op, name string) error {
	rel, there, err := v.find(op, name)
	if err != nil {
		return err
	}
	if !there {
		return notFound(op, name)
	}
	info, err := v.fs.Lstat(v.path(rel))
	missing := errors.Is(err, fs.ErrNotExist)
	switch {
	case missing:
	case err != nil:
		return disk(op, rel, err)
	case info.IsDir():
		return damaged(op, rel, "a folder, want a file")
	default:
		if err := v.fs.Remove(v.path(rel)); err != nil {
			return disk(op, rel, err)
		}
	}
	if err := v.fs.SyncDir(v.path(path.Dir(rel))); err != nil {
		return disk(op, rel, err)
	}
	if missing {
		return notFound(op, name)
	}
	return nil
}
