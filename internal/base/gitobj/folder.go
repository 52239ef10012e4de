package gitobj

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zlib"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// LooseTemp begins the name of an object that is being written. A writer that dies leaves it in the folder objects.
const LooseTemp = "tmp_obj_"

// Folder has the objects of a repository in a folder: each in a file of its own, or many in a pack. It starts no program. It is not
// safe for concurrent use; other programs may use the repository meanwhile.
type Folder struct {
	fsys   fsx.FS
	dir    string // objects
	loose  looseReader
	packs  []*packFile
	known  bool // the packs are those that there are
	idSize int  // of the id that was asked for last
}

var _ Reader = (*Folder)(nil)

// OpenFolder returns the objects of the repository gitDir. It opens nothing yet.
func OpenFolder(fsys fsx.FS, gitDir string) *Folder {
	dir := filepath.Join(gitDir, "objects")
	return &Folder{fsys: fsys, dir: dir, loose: looseReader{fsys: fsys, dir: dir}}
}

// Close closes the packs.
func (f *Folder) Close() error {
	var err error
	for _, p := range f.packs {
		err = errors.Join(err, p.close())
	}
	f.packs, f.known = nil, false
	return err
}

// Get returns an object. The error is of kind damaged where there is none, or another one than its id says.
func (f *Folder) Get(oid string) ([]byte, error) {
	raw, err := f.read(oid)
	if errors.Is(err, errNoObject) && f.known { // git gc may have made other packs since
		if err := f.Close(); err != nil {
			return nil, err
		}
		raw, err = f.read(oid)
	}
	if errors.Is(err, errNoObject) {
		err = missingObject(oid)
		if f.loose.has(oid) {
			err = badObject(oid, "is damaged")
		}
	}
	return raw, err
}

// errNoObject is returned for an object that no file holds as its id says.
var errNoObject = errors.New("no such object")

func (f *Folder) read(oid string) ([]byte, error) {
	if !isOID(oid) {
		return nil, errNoObject
	}
	f.idSize = len(oid) / 2
	if raw, ok := f.loose.read(oid); ok {
		return raw, nil
	}
	if err := f.list(); err != nil {
		return nil, err
	}
	for _, p := range f.packs {
		raw, err := p.read(oid, f)
		if err == nil {
			err = checkOID(oid, raw)
		}
		if !errors.Is(err, errNoObject) {
			return raw, err
		}
	}
	return nil, errNoObject
}

// list opens the packs.
func (f *Folder) list() error {
	if f.known {
		return nil
	}
	dir := filepath.Join(f.dir, "pack")
	entries, err := f.fsys.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, e := range entries {
		if !isPack(e.Name()) {
			continue
		}
		p, err := openPack(f.fsys, filepath.Join(dir, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue // git gc has removed it since
		}
		if err != nil {
			return err
		}
		f.packs = append(f.packs, p)
	}
	f.known = true
	return nil
}

// Objects implements [Reader].
func (f *Folder) Objects(oids []string, fn func(oid string, raw []byte) error) error {
	for _, oid := range oids {
		raw, err := f.Get(oid)
		if err == nil {
			err = fn(oid, raw)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// FirstParents implements [Reader].
func (f *Folder) FirstParents(oid string, most int, fn func(oid string, raw []byte) error) error {
	for ; most > 0; most-- {
		raw, err := f.Get(oid)
		if err == nil {
			err = fn(oid, raw)
		}
		if err != nil {
			return err
		}
		before := parents(raw)
		if len(before) == 0 {
			return nil
		}
		oid = before[0]
	}
	return nil
}

// Put stores objects, each in a file of its own, and returns once they are durable. Put writes no object again that is there. The
// caller is the only one who calls Put.
func (f *Folder) Put(objects ...Object) error {
	dirs := []string{f.dir}
	for _, o := range objects {
		at := f.loose.path(o.OID)
		if _, err := f.Get(o.OID); err == nil {
			if f.loose.has(o.OID) { // its writer may have died before its name was durable
				dirs = append(dirs, filepath.Dir(at))
			}
			continue
		}
		if err := f.store(at, o); err != nil {
			return err
		}
		dirs = append(dirs, filepath.Dir(at))
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if err := f.fsys.SyncDir(dir); err != nil {
			return err
		}
	}
	return nil
}

// store writes the file of an object. Its name is not durable yet.
func (f *Folder) store(at string, o Object) error {
	if err := f.fsys.Mkdir(filepath.Dir(at), dirPerm); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	temp := filepath.Join(f.dir, LooseTemp+o.OID) // git takes a file of another name beside the objects for a damaged one
	file, err := f.fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm&^0o200)
	if err != nil {
		return err
	}
	zip := zlib.NewWriter(file)
	_, err = zip.Write(o.Raw)
	if err = errors.Join(err, zip.Close()); err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = f.fsys.Rename(temp, at)
	}
	if err != nil {
		return errors.Join(err, fsx.Remove(f.fsys, temp))
	}
	return nil
}

// Sweep removes what a writer that died left among the objects. The caller is the only writer.
func (f *Folder) Sweep() error {
	var all error
	for _, dir := range []string{f.dir, filepath.Join(f.dir, "pack")} {
		entries, err := f.fsys.ReadDir(dir)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		all = errors.Join(all, err)
		for _, e := range entries {
			if !e.IsDir() && strings.HasPrefix(e.Name(), "tmp_") {
				all = errors.Join(all, fsx.Remove(f.fsys, filepath.Join(dir, e.Name())))
			}
		}
	}
	return all
}
