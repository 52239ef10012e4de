package transfer

import (
	"slices"

	"github.com/amber-memory/amber"
)

// note deletes a note that the import made, or gives it back the text that an earlier import had written.
func (u *undoing) note(l amber.SyncLink) error {
	e := parseExtra(l.Extra)
	if e.Written == "" {
		return nil // it was undone before
	}
	now, err := u.store.Notes.ReadNote(u.ctx, l.Ref.ID)
	if amber.KindOf(err) == amber.KindNotFound {
		u.report.Gone++
		return nil
	}
	if err != nil {
		return err
	}
	links, err := u.store.Sync.Links(u.ctx, amber.LinkQuery{Tool: l.Tool, Fingerprint: l.Fingerprint})
	if err != nil {
		return err
	}
	earlier, err := u.earlierLink(l)
	if err != nil {
		return err
	}
	before := ""
	if earlier != nil {
		before = parseExtra(earlier.Extra).Written
	}
	switch text := amber.ContentDigest(now.Content); {
	case rewrote(links, l, text), text == before && text == e.Written: // another import takes it back in its turn
		u.in.Links = append(u.in.Links, released(l))
		return nil
	case text == before && text != e.Written: // an undo that was stopped has written it
		return u.noteBack(l)
	case text != e.Written:
		u.keep(l, "was changed since")
		return nil
	}
	if other, err := u.shared(l); other || err != nil {
		if other {
			u.keep(l, "an import of another format brought it, too")
		}
		return err
	}
	switch {
	case before != "":
		return u.restoreNote(l, before)
	case !e.Made:
		u.keep(l, "was there before: amber note log "+l.Ref.ID+" shows its former texts")
		return nil
	}
	if err := u.store.Notes.DeleteNote(u.ctx, l.Ref.ID, amber.NoteBy{}); err != nil {
		return err
	}
	u.report.Deleted++
	if err := u.forget(l, amber.Origin{}); err != nil {
		return err
	}
	return u.flush()
}

// rewrote reports whether a later import has written the text that a note has.
func rewrote(links []amber.SyncLink, l amber.SyncLink, text string) bool {
	return slices.ContainsFunc(links, func(o amber.SyncLink) bool {
		e := parseExtra(o.Extra)
		return e.Written == text && o.Chunk > l.Chunk // also one that was stopped right after
	})
}

// restoreNote writes the text that a note had before the import, which the history of notes holds.
func (u *undoing) restoreNote(l amber.SyncLink, digest string) error {
	was, found, err := u.former(l.Ref.ID, digest)
	if err != nil {
		return err
	}
	if !found {
		u.keep(l, "its former text is not among the last changes of the note: amber note log "+l.Ref.ID)
		return nil
	}
	if _, err := u.store.Notes.WriteNote(u.ctx, amber.NoteWrite{Name: l.Ref.ID, Content: was.Content, NoteBy: was.NoteBy}); err != nil {
		return err
	}
	return u.noteBack(l)
}

// noteBack counts a note that has its former text again.
func (u *undoing) noteBack(l amber.SyncLink) error {
	u.report.Restored++
	if err := u.forget(l, amber.Origin{}); err != nil {
		return err
	}
	return u.flush()
}

// maxFormer is how many changes of a note are looked at for a former text.
const maxFormer = 100

func (u *undoing) former(name, digest string) (note amber.Note, found bool, err error) {
	log, err := u.store.NoteLog.LogNote(u.ctx, name, maxFormer)
	if err != nil {
		return note, false, ignoring(err)
	}
	for _, c := range log {
		n, err := u.store.NoteLog.NoteAt(u.ctx, name, c.Commit)
		switch {
		case err != nil && ignoring(err) != nil:
			return note, false, err
		case err == nil && amber.ContentDigest(n.Content) == digest:
			return n, true, nil
		}
	}
	return note, false, nil
}

// ignoring is an error, unless it says that a history knows nothing.
func ignoring(err error) error {
	if kind := amber.KindOf(err); kind == amber.KindNotFound || kind == amber.KindUnsupported {
		return nil
	}
	return err
}

// released is a link of an import that has no part in its record any more.
func released(l amber.SyncLink) amber.SyncLink {
	e := parseExtra(l.Extra)
	l.Extra = extra{Epoch: e.Epoch, Own: e.Own}.String()
	return l
}

// shared reports whether an import of another format has brought a record, too.
func (u *undoing) shared(l amber.SyncLink) (bool, error) {
	made, err := List(u.ctx, u.store)
	if err != nil {
		return false, err
	}
	for _, r := range made {
		if r.Format == l.Tool || r.Undone {
			continue
		}
		links, err := u.store.Sync.Links(u.ctx, amber.LinkQuery{Tool: r.Format, Ref: l.Ref})
		if err != nil || slices.ContainsFunc(links, func(o amber.SyncLink) bool { return parseExtra(o.Extra).Digest != "" }) {
			return err == nil, err
		}
	}
	return false, nil
}
