package postgres

import "github.com/amber-memory/amber"

// renewCopy makes the copy of the notes anew of what the branch ends with. Files that are no text of a note are left out.
func (r *noteRepo) renewCopy() error {
	gone, err := r.t.NoteBlobs()
	if err != nil {
		return err
	}
	blobs, err := r.Blobs(r.t.Ctx)
	if err != nil {
		return err
	}
	err = r.Load(r.t.Ctx, blobs, func(n amber.Note, content []byte) error {
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
	r.copied = r.Head()
	return r.t.PutNotesHead(r.Head())
}
