package notefile

import (
	"context"
	"maps"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
)

// loadedNotes is how many notes are read together.
const loadedNotes = 16

// Load calls fn with each of some notes, with its last commit and without text, and with what its file holds; nil for a file that is too
// large for a note. Errors: damaged; those of fn.
func (h *History) Load(ctx context.Context, blobs map[string]string, fn func(amber.Note, []byte) error) error {
	if len(blobs) == 0 {
		return nil
	}
	names := slices.Sorted(maps.Keys(blobs))
	files := make([]string, len(names))
	for i, name := range names {
		files[i] = name + Suffix
	}
	changes, err := gitobj.LastChanges(ctx, h.objects, h.head, files)
	if err != nil {
		return Unreadable(err)
	}
	for part := range slices.Chunk(names, loadedNotes) {
		texts, sizes, err := h.texts(part, blobs)
		if err != nil {
			return err
		}
		for _, name := range part {
			note := Note(name, "", changes[name+Suffix])
			note.Bytes = sizes[blobs[name]]
			if err := fn(note, texts[blobs[name]]); err != nil {
				return err
			}
		}
	}
	return nil
}

// texts returns what the files of some notes hold, by their blobs, without those that are too large.
func (h *History) texts(names []string, blobs map[string]string) (texts map[string][]byte, sizes map[string]int64, err error) {
	texts, sizes = map[string][]byte{}, map[string]int64{}
	oids := make([]string, len(names))
	for i, name := range names {
		oids[i] = blobs[name]
	}
	slices.Sort(oids)
	err = h.objects.Objects(slices.Compact(oids), func(oid string, raw []byte) error {
		content, err := gitobj.ReadBlob(oid, raw)
		if sizes[oid] = int64(len(content)); len(content) <= amber.MaxContentBytes {
			texts[oid] = content
		}
		return Unreadable(err)
	})
	return texts, sizes, Unreadable(err)
}

// Lacks reports whether one of some notes, by the ids of their blobs, has a text that is one of a note, and returns its name. Errors: damaged.
func (h *History) Lacks(blobs map[string]string) (name string, err error) {
	for part := range slices.Chunk(slices.Sorted(maps.Keys(blobs)), loadedNotes) {
		texts, _, err := h.texts(part, blobs)
		if err != nil {
			return "", err
		}
		for _, name := range part {
			if text, small := texts[blobs[name]]; small && amber.CheckNoteContent(string(text)) == nil {
				return name, nil
			}
		}
	}
	return "", nil
}

// Committed is what a branch holds, or how it differs from an earlier commit.
type Committed struct {
	Head    string
	Whole   bool         // these are all notes; what is not among them is gone
	Notes   []amber.Note // with their text, the commit that wrote it and the time of that commit
	Removed []string
}

// Since returns the notes that differ from those of a commit. For a commit that the repository does not know, "" among them, it returns
// all notes. A file that is too large for a note or no text does not count. Errors: damaged.
func (h *History) Since(ctx context.Context, commit string) (Committed, error) {
	c := Committed{Head: h.head, Whole: true}
	blobs, err := h.Blobs(ctx)
	if err != nil {
		return c, err
	}
	if before, known, err := h.before(ctx, commit); err != nil {
		return c, err
	} else if known {
		c.Whole = false
		for name, blob := range before {
			switch blobs[name] {
			case blob:
				delete(blobs, name)
			case "":
				c.Removed = append(c.Removed, name)
			}
		}
	}
	err = h.Load(ctx, blobs, func(n amber.Note, content []byte) error {
		if n.Content = string(content); content == nil || amber.CheckNoteContent(n.Content) != nil {
			c.Removed = append(c.Removed, n.Name)
			return nil
		}
		c.Notes = append(c.Notes, n)
		return nil
	})
	slices.Sort(c.Removed)
	return c, err
}

// before returns the files of the notes of a commit; false where the repository does not have it.
func (h *History) before(ctx context.Context, commit string) (map[string]string, bool, error) {
	if commit == "" {
		return nil, false, nil
	}
	old, err := h.At(commit)
	if amber.KindOf(err) == amber.KindDamaged {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	blobs, err := old.Blobs(ctx)
	return blobs, err == nil, err
}

// Checkout writes the files of the notes into a folder that has none of them. Errors: conflict where the file system takes two names
// for one; damaged.
func (h *History) Checkout(ctx context.Context, fsys fsx.FS, dir string) error {
	blobs, err := h.Blobs(ctx)
	if err != nil {
		return err
	}
	named := map[string][]string{}
	for _, name := range slices.Sorted(maps.Keys(blobs)) { // which are safe: their rule is that of note names
		named[blobs[name]] = append(named[blobs[name]], name)
	}
	for part := range slices.Chunk(slices.Sorted(maps.Keys(named)), checkedOut) {
		err := h.objects.Objects(part, func(oid string, raw []byte) error {
			content, err := gitobj.ReadBlob(oid, raw)
			if err != nil {
				return Unreadable(err)
			}
			for _, name := range named[oid] {
				if err := WriteNew(fsys, filepath.Join(dir, filepath.FromSlash(name+Suffix)), content); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return Unreadable(err)
		}
	}
	return nil
}

// checkedOut is how many files are read together for a work tree.
const checkedOut = 256
