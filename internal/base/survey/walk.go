package survey

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/names"
	"github.com/amber-memory/amber/wire"
)

// The bounds of a survey where Options names no others.
const (
	DefaultMaxFiles = 100_000
	DefaultMaxDepth = 64
	// MaxSkipped bounds how much of what was skipped is listed one by one.
	MaxSkipped = 1000
)

// Options bounds a survey.
type Options struct {
	Part string // goes into each Skipped
	// Skip leaves out a path without a word, a folder with all that is in it; nil leaves out nothing.
	Skip         func(rel string, dir bool) bool
	MaxFiles     int   // files and folders; default DefaultMaxFiles
	MaxDepth     int   // of folders in folders; default DefaultMaxDepth
	MaxFileBytes int64 // 0: any size
	// FollowRoot resolves symbolic links on the way to the root and the root itself. Without it a root that is a link
	// is refused. Nothing below the root is ever followed.
	FollowRoot bool
}

func (o Options) withDefaults() Options {
	if o.MaxFiles <= 0 {
		o.MaxFiles = DefaultMaxFiles
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = DefaultMaxDepth
	}
	return o
}

// Walk surveys the folder root. Empty folders are entries. Skipped lists links, devices, names that cannot be restored
// everywhere, names that differ in case alone from one before them, and files that are too large, too deep, too many
// or may not be read. A file that vanishes meanwhile was not there. Errors satisfy errors.Is for [fs.ErrNotExist] when
// there is no root, and for [syscall.ENOTDIR] when it is no folder or, without FollowRoot, a link.
func Walk(fsys fsx.FS, root string, o Options) (Survey, error) {
	if o.FollowRoot {
		resolved, err := filepath.EvalSymlinks(root)
		if err != nil {
			return Survey{}, fmt.Errorf("survey: %w", err)
		}
		root = resolved
	}
	info, err := fsys.Lstat(root)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "survey", Path: root, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return Survey{}, fmt.Errorf("survey: %w", err)
	}
	w := &walk{fsys: fsys, o: o.withDefaults(), survey: Survey{Root: root}}
	if err := w.folder("", keyOf(info), 0); err != nil {
		return Survey{}, fmt.Errorf("survey: %w", err)
	}
	slices.SortFunc(w.survey.Entries, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
	return w.survey, nil
}

type walk struct {
	fsys   fsx.FS
	o      Options
	survey Survey
	seen   int
	full   bool // the bound of files is reached
}

func (w *walk) skip(path, reason, detail string) {
	if len(w.survey.Skipped) == MaxSkipped {
		w.survey.Unlisted++
		return
	}
	path = strings.ToValidUTF8(path, "\uFFFD")
	w.survey.Skipped = append(w.survey.Skipped, wire.Skipped{Part: w.o.Part, Path: path, Reason: reason, Detail: detail})
}

// folder surveys one folder, which had the given key when it was found.
func (w *walk) folder(rel string, key Key, depth int) error {
	dir := filepath.Join(w.survey.Root, filepath.FromSlash(rel))
	entries, err := w.fsys.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) && rel != "":
		return nil
	case err != nil && rel != "":
		w.skip(rel, wire.SkipUnreadable, cause(err))
		return nil
	case err != nil:
		return err
	}
	before, skipped := len(w.survey.Entries), len(w.survey.Skipped)
	twins := make(map[string]string, len(entries))
	for _, e := range entries {
		if w.full {
			break
		}
		if err := w.visit(rel, e, twins, depth); err != nil {
			return err
		}
	}
	// Had the folder been exchanged for a link, all that was seen in it may lie outside of the root.
	if info, err := w.fsys.Lstat(dir); err != nil || !info.IsDir() || !sameFile(keyOf(info), key) {
		w.survey.Entries, w.survey.Skipped = w.survey.Entries[:before], w.survey.Skipped[:skipped]
		w.skip(rel, wire.SkipTorn, "the folder was replaced while it was read")
	}
	return nil
}

func sameFile(a, b Key) bool { return a.Device == b.Device && a.Inode == b.Inode }

// visit surveys one entry of the folder dir. twins holds the names that were taken in it, folded.
func (w *walk) visit(dir string, d fs.DirEntry, twins map[string]string, depth int) error {
	rel := d.Name()
	if dir != "" {
		rel = dir + "/" + rel
	}
	if w.o.Skip != nil && w.o.Skip(rel, d.IsDir()) {
		return nil
	}
	if w.seen++; w.seen > w.o.MaxFiles {
		w.full = true
		w.skip(rel, wire.SkipTooLarge, fmt.Sprintf("this and all later files: more than %d files", w.o.MaxFiles))
		return nil
	}
	if !w.named(rel, d.Name(), twins) {
		return nil
	}
	info, err := d.Info()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		w.skip(rel, wire.SkipUnreadable, cause(err))
		return nil
	}
	e, ok := entryOf(rel, info)
	switch {
	case !ok:
		w.skip(rel, wire.SkipNotRegular, kindOf(info.Mode()))
	case e.Mode == Dir && depth+1 > w.o.MaxDepth:
		w.skip(rel, wire.SkipTooLarge, fmt.Sprintf("more than %d folders deep", w.o.MaxDepth))
	case w.o.MaxFileBytes > 0 && e.Size > w.o.MaxFileBytes:
		w.skip(rel, wire.SkipTooLarge, fmt.Sprintf("%d bytes, at most %d are captured", e.Size, w.o.MaxFileBytes))
	default:
		twins[names.Fold(d.Name())] = d.Name()
		w.survey.Entries = append(w.survey.Entries, e)
		if e.Mode == Dir {
			return w.folder(rel, e.Key, depth+1)
		}
	}
	return nil
}

// named reports whether an entry can be restored under its name, beside those that were taken before it.
func (w *walk) named(rel, name string, twins map[string]string) bool {
	err := names.CheckName(name)
	if err == nil && len(rel) > names.MaxPath {
		err = fmt.Errorf("path is longer than %d bytes", names.MaxPath)
	}
	if twin, taken := twins[names.Fold(name)]; err == nil && taken {
		err = fmt.Errorf("differs from %q in case alone", twin)
	}
	if err != nil {
		w.skip(rel, wire.SkipBadName, err.Error())
	}
	return err == nil
}

func kindOf(mode fs.FileMode) string {
	switch mode.Type() {
	case fs.ModeSymlink:
		return "a symbolic link"
	case fs.ModeNamedPipe:
		return "a fifo"
	case fs.ModeSocket:
		return "a socket"
	}
	return "a device"
}

// cause is an error without its path, which the entry names already.
func cause(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}
