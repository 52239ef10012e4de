package gitobj

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/names"
)

// FreshCommit makes a new repository in dir/.git whose whole history is one commit of the files that dir holds, on the branch
// main, and returns its refs: a history without a past. The same files, message and time give the same commit. No filter,
// attribute or list of ignored files has a say. Files with names that mean something to git (.git, .gitmodules and
// whatever a file system takes for them) are left out of the commit, empty folders too.
//
// Nothing is synced. Errors: conflict when there is a repository; invalid for anything but files and folders, and
// for folders more than 100 deep; quota for a file over [MaxObjectBytes]; damaged when a file changes meanwhile; those of [Build].
func FreshCommit(ctx context.Context, o Options, dir, message string, at time.Time) (Refs, error) {
	const op = "make first commit"
	if o.FS == nil {
		o.FS = fsx.OS()
	}
	f := &fresh{ctx: ctx, fsys: o.FS, dir: dir, blobs: map[string]string{}, made: map[string][]byte{}}
	root, err := f.folder("", 0)
	if err != nil {
		return Refs{}, wrap(op, err)
	}
	oid := f.make(typeCommit, commitContent(root, "", strings.TrimRight(message, "\n")+"\n", at))
	refs := Refs{Head: MainBranch, OID: oid, Refs: []Ref{{Name: MainBranch, OID: oid}}}
	if err := Build(ctx, o, dir, refs, f.yield); err != nil {
		return Refs{}, err
	}
	return refs, nil
}

// maxFreshDepth bounds how deep folders may be nested.
const maxFreshDepth = 100

// fresh is a commit that is being made: first its ids, then its objects.
type fresh struct {
	ctx   context.Context
	fsys  fsx.FS
	dir   string
	blobs map[string]string // the path of a file, by its id
	made  map[string][]byte // commit and trees, by their ids
}

// folder makes the tree of a folder and returns its id; "" for one below dir without any file.
func (f *fresh) folder(rel string, depth int) (string, error) {
	if depth > maxFreshDepth {
		return "", amberError(amber.KindInvalid, "", fmt.Errorf("folders are nested more than %d deep", maxFreshDepth))
	}
	entries, err := f.fsys.ReadDir(filepath.Join(f.dir, rel))
	if err != nil {
		return "", err
	}
	var tree []TreeEntry
	for _, e := range entries {
		if names.IsGitSpecial(e.Name()) {
			continue
		}
		entry := TreeEntry{Name: e.Name()}
		path := filepath.Join(rel, e.Name())
		switch {
		case e.IsDir():
			entry.Mode = modeFolder
			entry.OID, err = f.folder(path, depth+1)
		case e.Type().IsRegular():
			entry.Mode, entry.OID, err = f.file(path)
		default:
			err = amberError(amber.KindInvalid, "", fmt.Errorf("%q is neither a file nor a folder", clip.Name(path)))
		}
		if err != nil {
			return "", err
		}
		if entry.OID != "" {
			tree = append(tree, entry)
		}
	}
	if len(tree) == 0 && rel != "" {
		return "", nil
	}
	return f.make(typeTree, treeContent(tree)), nil
}

// file hashes a file.
func (f *fresh) file(rel string) (mode, oid string, err error) {
	if err := f.ctx.Err(); err != nil {
		return "", "", err
	}
	file, err := f.fsys.OpenFile(filepath.Join(f.dir, rel), os.O_RDONLY, 0)
	if err != nil {
		return "", "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", "", err
	}
	if info.Size() > MaxObjectBytes {
		return "", "", amberError(amber.KindQuota, "", fmt.Errorf("%q has more than %d bytes", clip.Name(rel), MaxObjectBytes))
	}
	mode = modeFile
	if info.Mode().Perm()&0o100 != 0 {
		mode = modeExecutable
	}
	h := newHash(len(ZeroOID))
	io.WriteString(h, objectHeader(typeBlob, info.Size())) // a hash takes everything
	if _, err := io.Copy(h, io.LimitReader(file, info.Size())); err != nil {
		return "", "", err
	}
	oid = hex.EncodeToString(h.Sum(nil))
	f.blobs[oid] = rel
	return mode, oid, nil
}

// make makes an object and returns its id.
func (f *fresh) make(kind string, content []byte) string {
	o := newObject(kind, content)
	f.made[o.OID] = o.Raw
	return o.OID
}

// yield hands out the objects, in the order of their ids. A file that is another one by now has another id.
func (f *fresh) yield(yield func(oid string, raw []byte) error) error {
	for _, oid := range slices.Sorted(maps.Keys(f.made)) {
		if err := yield(oid, f.made[oid]); err != nil {
			return err
		}
	}
	for _, oid := range slices.Sorted(maps.Keys(f.blobs)) {
		content, err := fsx.ReadFile(f.fsys, filepath.Join(f.dir, f.blobs[oid]), MaxObjectBytes)
		if err != nil {
			return err
		}
		raw := append([]byte(objectHeader(typeBlob, int64(len(content)))), content...)
		if err := yield(oid, raw); err != nil {
			return err
		}
	}
	return nil
}
