package postgres

import (
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// loadedNotes is how many notes are read together.
const loadedNotes = 16

// load calls fn with each of some notes, with its last commit and without text, and with what its file holds; nil for a file that is too
// large for a note.
func (r *noteRepo) load(names []string, blobs map[string]string, fn func(amber.Note, []byte) error) error {
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	files := make([]string, len(names))
	for i, name := range names {
		files[i] = name + notefile.Suffix
	}
	changes, err := gitobj.LastChanges(r.t.Ctx, r, r.head, files)
	if err != nil {
		return damagedNotes(err)
	}
	for part := range slices.Chunk(names, loadedNotes) {
		texts, sizes, err := r.texts(part, blobs)
		if err != nil {
			return err
		}
		for _, name := range part {
			note := noteBy(name, "", changes[name+notefile.Suffix])
			note.Bytes = sizes[blobs[name]]
			if err := fn(note, texts[blobs[name]]); err != nil {
				return err
			}
		}
	}
	return nil
}

// texts returns what the files of some notes hold, by their blobs, without those that are too large.
func (r *noteRepo) texts(names []string, blobs map[string]string) (texts map[string][]byte, sizes map[string]int64, err error) {
	texts, sizes = map[string][]byte{}, map[string]int64{}
	oids := make([]string, len(names))
	for i, name := range names {
		oids[i] = blobs[name]
	}
	slices.Sort(oids)
	err = r.Objects(slices.Compact(oids), func(oid string, raw []byte) error {
		content, err := gitobj.ReadBlob(oid, raw)
		if sizes[oid] = int64(len(content)); len(content) <= amber.MaxContentBytes {
			texts[oid] = content
		}
		return damagedNotes(err)
	})
	return texts, sizes, err
}

// renewCopy makes the copy of the notes anew of what the branch ends with. Files that are no text of a note are left out.
func (r *noteRepo) renewCopy() error {
	gone, err := r.t.NoteBlobs()
	if err != nil {
		return err
	}
	blobs, err := r.blobs()
	if err != nil {
		return err
	}
	names := make([]string, 0, len(blobs))
	for name := range blobs {
		names = append(names, name)
	}
	err = r.load(names, blobs, func(n amber.Note, content []byte) error {
		n.Content = string(content)
		if content == nil || amber.CheckNoteContent(n.Content) != nil {
			return nil
		}
		delete(gone, n.Name)
		return r.t.PutNote(n, blobs[n.Name])
	})
	if err != nil {
		return err
	}
	for name := range gone {
		if err := r.t.DeleteNote(name); err != nil {
			return err
		}
	}
	r.copied = r.head
	return r.t.PutNotesHead(r.head)
}
