package web

import (
	"context"
	"net/http"

	"github.com/amber-memory/amber"
)

// renderNewNote shows the form for a new note.
func (v noteScreens) renderNewNote(status int, f noteForm) error {
	f.URL = v.path("notes")
	return v.renderStatus(status, "note_new", screen{Title: "New note", Nav: "notes", Command: v.command("note", "write", "NAME", "-")}, f)
}

// newNote stores a note under a name that no note has.
func (v noteScreens) newNote(ctx context.Context, store amber.Store) error {
	f := noteForm{Name: v.field("name"), Text: v.text("content")}
	name, err := amber.CheckNoteName(f.Name)
	if err != nil {
		f.Problem = err.Error()
		return v.renderNewNote(http.StatusBadRequest, f)
	}
	if _, err := store.Notes.ReadNote(ctx, name); err == nil {
		f.Problem, f.TheirURL = "There is a note of this name already. Choose another name, or edit that note.", v.path("notes", name)
		return v.renderNewNote(http.StatusConflict, f)
	} else if amber.KindOf(err) != amber.KindNotFound {
		return err
	}
	if _, err := store.Notes.WriteNote(ctx, amber.NoteWrite{Name: name, Content: f.Text}); err != nil {
		f.Problem = err.Error()
		return v.renderNewNote(amber.KindOf(err).HTTPStatus(), f)
	}
	return v.redirect(v.path("notes", name))
}

// saveNote stores an edited note, if no other writer has changed it meanwhile. After any error, the form comes
// again with the text.
func (v noteScreens) saveNote(ctx context.Context, store amber.Store) error {
	name := v.r.PathValue("name")
	f := noteForm{URL: v.path("notes", name), Base: v.field("base"), Text: v.text("content")}
	var err error
	if _, rerr := store.Notes.ReadNote(ctx, name); f.Base == "" && rerr == nil {
		err = amber.Errorf(amber.KindConflict, "write note", name, "somebody else has written this note anew")
	} else if f.Base == "" { // it was deleted meanwhile, and its writer knows
		_, err = store.Notes.WriteNote(ctx, amber.NoteWrite{Name: name, Content: f.Text})
	} else {
		_, err = v.remote.ReplaceNote(ctx, amber.Note{Name: name, Commit: f.Base}, f.Text)
	}
	if err == nil {
		return v.redirect(f.URL)
	}
	f.Problem = err.Error()
	if amber.KindOf(err) == amber.KindConflict {
		theirs, rerr := store.Notes.ReadNote(ctx, name)
		switch {
		case rerr == nil:
			f.Problem = "Somebody else has changed this note meanwhile. Your text is below, and nothing was stored."
			f.Base, f.Theirs, f.TheirURL = noteBase(theirs), newDiff("theirs", "yours", theirs.Content, f.Text), addQuery(f.URL, "view", "source")
		case amber.KindOf(rerr) == amber.KindNotFound:
			f.Problem = "Somebody else has deleted this note meanwhile. Your text is below, and nothing was stored."
			f.Base, f.Gone = "", true
		}
	}
	return v.renderNote(amber.KindOf(err).HTTPStatus(), noteData{Name: name, URL: f.URL, Form: &f, Note: &amber.Note{Name: name}, Editable: true})
}

// noteBase is what an edit of a note is based on.
func noteBase(n amber.Note) string {
	if n.Commit != "" {
		return n.Commit
	}
	return amber.ContentDigest(n.Content)
}

// deleteNote removes a note whose deletion was spelt out.
func (v noteScreens) deleteNote(ctx context.Context, store amber.Store) error {
	name := v.r.PathValue("name")
	d := noteData{Name: name, URL: v.path("notes", name), Deleting: true}
	problem, status := "", http.StatusBadRequest
	if v.field("word") != "delete" {
		problem = "The word is not delete: the note is still there."
	} else {
		err := v.remote.RemoveNote(ctx, amber.Note{Name: name, Commit: v.field("base")})
		if err == nil {
			return v.redirect(v.path("notes"))
		}
		if amber.KindOf(err) != amber.KindConflict {
			return err
		}
		problem, status = "Somebody else has changed this note meanwhile. Look at it again before you delete it.", http.StatusConflict
	}
	v.log.forget()
	if err := d.read(ctx, store); err != nil {
		return err
	}
	d.Problem = problem
	return v.renderNote(status, d)
}
