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
	"strconv"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/internal/names"
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
		return Refs{}, wrap(op, "", err)
	}
	who := fmt.Sprintf("%s <%s> %d +0000", Author, Email, UnixSeconds(at))
	oid := f.make(typeCommit, fmt.Appendf(nil, "tree %s\nauthor %s\ncommitter %s\n\n%s\n", root, who, who, strings.TrimRight(message, "\n")))
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

// sortName is what git sorts a tree by.
func sortName(e treeEntry) string {
	if e.isTree() {
		return e.name + "/"
	}
	return e.name
}

const (
	modeFolder     = "40000"
	modeFile       = "100644"
	modeExecutable = "100755"
)

// folder makes the tree of a folder and returns its id; "" for one below dir without any file.
func (f *fresh) folder(rel string, depth int) (string, error) {
	if depth > maxFreshDepth {
		return "", amberError(amber.KindInvalid, "", fmt.Errorf("folders are nested more than %d deep", maxFreshDepth), "")
	}
	entries, err := f.fsys.ReadDir(filepath.Join(f.dir, rel))
	if err != nil {
		return "", err
	}
	var tree []treeEntry
	for _, e := range entries {
		if names.IsGitSpecial(e.Name()) {
			continue
		}
		entry := treeEntry{name: e.Name()}
		path := filepath.Join(rel, e.Name())
		switch {
		case e.IsDir():
			entry.mode = modeFolder
			entry.oid, err = f.folder(path, depth+1)
		case e.Type().IsRegular():
			entry.mode, entry.oid, err = f.file(path)
		default:
			err = amberError(amber.KindInvalid, "", fmt.Errorf("%q is neither a file nor a folder", clip(path)), "")
		}
		if err != nil {
			return "", err
		}
		if entry.oid != "" {
			tree = append(tree, entry)
		}
	}
	if len(tree) == 0 && rel != "" {
		return "", nil
	}
	return f.make(typeTree, freshTree(tree)), nil
}

func freshTree(tree []treeEntry) []byte {
	slices.SortFunc(tree, func(x, y treeEntry) int { return strings.Compare(sortName(x), sortName(y)) })
	var b []byte
	for _, e := range tree {
		oid, _ := hex.DecodeString(e.oid) // made here
		b = append(fmt.Appendf(b, "%s %s\x00", e.mode, e.name), oid...)
	}
	return b
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
		return "", "", amberError(amber.KindQuota, "", fmt.Errorf("%q has more than %d bytes", clip(rel), MaxObjectBytes), "")
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

func objectHeader(kind string, size int64) string {
	return kind + " " + strconv.FormatInt(size, 10) + "\x00"
}

// make makes an object and returns its id.
func (f *fresh) make(kind string, content []byte) string {
	raw := append([]byte(objectHeader(kind, int64(len(content)))), content...)
	h := newHash(len(ZeroOID))
	h.Write(raw)
	oid := hex.EncodeToString(h.Sum(nil))
	f.made[oid] = raw
	return oid
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
