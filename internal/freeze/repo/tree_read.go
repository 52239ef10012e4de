package repo

import (
	"context"
	"fmt"
	"io"

	"github.com/amber-memory/amber"
)

func (s *stream) tree(ctx context.Context, id ID) ([]TreeEntry, error) {
	b, err := s.typed(ctx, id, KindTree)
	if err != nil {
		return nil, err
	}
	entries, err := parseTree(b.Data)
	if err != nil {
		return nil, damaged("read tree", id.String(), err)
	}
	return entries, nil
}

// WalkTree calls fn for everything below a folder, parents before what is in
// them, in the order of names. Paths are joined by slashes. Errors: those of
// [Repo.Tree]; damaged for more than [MaxTreeEntries], or deeper than
// [MaxTreeDepth]; that of fn, as it is.
func (r *Repo) WalkTree(ctx context.Context, root ID, fn func(path string, e TreeEntry) error) error {
	w := treeWalk{stream: r.newStream(), fn: fn}
	return w.folder(ctx, root, "", 1)
}

// treeWalk is one walk through a tree.
type treeWalk struct {
	stream  *stream
	fn      func(path string, e TreeEntry) error
	entries int
	seen    map[ID]bool // folders that need not be walked again; nil: all are
}

func (w *treeWalk) folder(ctx context.Context, id ID, prefix string, depth int) error {
	if depth > MaxTreeDepth {
		return damaged("read tree", id.String(), fmt.Errorf("the tree is %d folders deep, too deep", depth))
	}
	entries, err := w.stream.tree(ctx, id)
	if err != nil {
		return err
	}
	if w.entries += len(entries); w.entries > MaxTreeEntries {
		return damaged("read tree", id.String(), fmt.Errorf("the tree has more than %d files and folders", MaxTreeEntries))
	}
	for _, e := range entries {
		if err := w.fn(prefix+e.Name, e); err != nil {
			return err
		}
		if e.Mode != ModeDir || w.seen[e.Tree] {
			continue
		}
		if w.seen != nil {
			w.seen[e.Tree] = true
		}
		if err := w.folder(ctx, e.Tree, prefix+e.Name+"/", depth+1); err != nil {
			return err
		}
	}
	return nil
}

// TreeBlobs calls fn for every blob that a folder needs, trees and parts of
// files, each once. Errors: those of [Repo.WalkTree]; that of fn, as it is.
func (r *Repo) TreeBlobs(ctx context.Context, root ID, fn func(ID, Kind) error) error {
	if err := fn(root, KindTree); err != nil {
		return err
	}
	files := map[ID]bool{}
	w := treeWalk{stream: r.newStream(), seen: map[ID]bool{root: true}}
	w.fn = func(_ string, e TreeEntry) error {
		if e.Mode == ModeDir && !w.seen[e.Tree] {
			return fn(e.Tree, KindTree)
		}
		for _, id := range e.Parts {
			if files[id] {
				continue
			}
			files[id] = true
			if err := fn(id, KindFile); err != nil {
				return err
			}
		}
		return nil
	}
	return w.folder(ctx, root, "", 1)
}

// ReadFile writes the content of a file, part by part, each checked. Errors:
// invalid for an entry that is no file; those of [Repo.Get]; damaged; those of
// w, as they are.
func (r *Repo) ReadFile(ctx context.Context, e TreeEntry, w io.Writer) error {
	if err := e.check(); err != nil || e.Mode == ModeDir {
		return amber.Errorf(amber.KindInvalid, "read file", e.Name, "the entry is a folder")
	}
	s := r.newStream()
	for i, id := range e.Parts {
		b, err := s.typed(ctx, id, KindFile)
		if err != nil {
			return err
		}
		if int64(len(b.Data)) != partSize(e.Size, i) {
			return damaged("read file", id.String(),
				fmt.Errorf("part %d of a file of %d bytes has %d bytes", i, e.Size, len(b.Data)))
		}
		if _, err := w.Write(b.Data); err != nil {
			return err
		}
	}
	return nil
}
