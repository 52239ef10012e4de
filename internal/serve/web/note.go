package web

import (
	"context"
	"html/template"
	"net/http"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/linediff"
	"github.com/amber-memory/amber/internal/base/words"
)

// Bounds of the screens of a note.
const (
	mostDiff   = 400      // lines of a difference
	shownDiff  = 40 << 10 // bytes of the page that a difference may take
	aroundDiff = 3        // lines before and behind a change
	mostLog    = 100
)

// noteData is what the screen of a note shows.
type noteData struct {
	Name     string
	URL      string
	Note     *amber.Note // nil: it was deleted
	Commit   string      // "": as it is now
	Source   bool
	Drawn    template.HTML
	Text     long
	Cut      bool
	Log      []noteChange
	MoreLog  bool
	Diff     *noteDiff
	Form     *noteForm
	Deleting bool
	Problem  string
	Editable bool
	Base     string // what a change is based on
}

type noteChange struct {
	amber.NoteCommit
	Before string // the change before it; "": it is the first
	By     string // who made it; "": the owner
}

// noteDiff is what differs between two changes.
type noteDiff struct {
	From, To string
	Edits    []linediff.Edit
	Cut      bool
	Same     bool
}

// noteForm is a note that is being written.
type noteForm struct {
	Name     string // of a new one
	URL      string
	Base     string // what the text was made of; "": nothing
	Text     string
	Problem  string
	Theirs   *noteDiff // what another writer has stored meanwhile, against the text
	TheirURL string
	Gone     bool // another writer has deleted the note meanwhile
}

func (v noteScreens) note(ctx context.Context, store amber.Store) error {
	d := noteData{Name: v.r.PathValue("name"), Commit: v.query("commit"), Source: v.query("view") == "source", Deleting: v.query("delete") != ""}
	d.URL = v.path("notes", d.Name)
	err := d.read(ctx, store)
	if err != nil {
		return err
	}
	if v.query("from") != "" && v.query("to") != "" {
		if d.Diff, err = diffNotes(ctx, store, d.Name, v.query("from"), v.query("to")); err != nil {
			return err
		}
	}
	if v.query("edit") != "" && d.Note != nil && v.may("write") && d.Editable {
		d.Form = &noteForm{URL: d.URL, Base: d.Base, Text: d.Note.Content}
	}
	return v.renderNote(http.StatusOK, d)
}

func (v noteScreens) renderNote(status int, d noteData) error {
	words := []string{"note", "show", d.Name}
	if d.Diff != nil || d.Note == nil || d.Commit != "" {
		words[1] = "log"
	}
	return v.renderStatus(status, "note", screen{Title: visible(clip.Marked(d.Name, 200)), Nav: "notes", Command: v.command(words...)}, d)
}

// read reads the note, or what is known of one that was deleted.
func (d *noteData) read(ctx context.Context, store amber.Store) error {
	note, err := store.Notes.ReadNote(ctx, d.Name)
	if d.Commit != "" {
		note, err = store.NoteLog.NoteAt(ctx, d.Name, d.Commit)
	}
	if err != nil && (amber.KindOf(err) != amber.KindNotFound || d.Commit != "") {
		return err
	}
	log, lerr := store.NoteLog.LogNote(ctx, d.Name, mostLog+1)
	if err != nil && (lerr != nil || len(log) == 0) {
		return err
	}
	d.fillLog(log)
	if err != nil {
		return nil // it was deleted: its changes are shown
	}
	d.Note, d.Base = &note, noteBase(note)
	d.Editable = d.Commit == "" && fixed(note.Content) == ""
	if d.Source {
		d.Text = fitted(note.Content, 2*shownWhole)
		d.Cut = d.Text.Cut
	} else {
		d.Drawn, d.Cut = drawn(note.Content)
	}
	return nil
}

func (d *noteData) fillLog(log []amber.NoteCommit) {
	d.MoreLog = len(log) > mostLog
	for i, c := range log[:min(mostLog, len(log))] {
		change := noteChange{NoteCommit: c}
		if i+1 < len(log) && log[i+1].Op != "delete" && c.Op != "delete" {
			change.Before = log[i+1].Commit
		}
		if c.Trust != "" {
			change.By = "by " + words.Author(c.Trust, c.Author)
		}
		d.Log = append(d.Log, change)
	}
}

// diffNotes compares a note as two changes left it.
func diffNotes(ctx context.Context, store amber.Store, name, from, to string) (*noteDiff, error) {
	a, err := store.NoteLog.NoteAt(ctx, name, from)
	if err != nil {
		return nil, err
	}
	b, err := store.NoteLog.NoteAt(ctx, name, to)
	if err != nil {
		return nil, err
	}
	return newDiff(from, to, a.Content, b.Content), nil
}

// newDiff compares two texts as far as a page shows it.
func newDiff(from, to, a, b string) *noteDiff {
	edits := linediff.Lines(a, b)
	d := &noteDiff{From: from, To: to, Same: !linediff.Differ(edits)}
	near := make([]bool, len(edits))
	for i, e := range edits {
		if e.Op != linediff.Same {
			for j := max(0, i-aroundDiff); j <= min(len(edits)-1, i+aroundDiff); j++ {
				near[j] = true
			}
		}
	}
	left := shownDiff
	for i, e := range edits {
		if !near[i] {
			continue
		}
		if len(d.Edits) >= mostDiff || left <= 0 {
			d.Cut = true
			return d
		}
		e.Text = brief(e.Text, min(left, 2<<10))
		left -= len(marked(e.Text))
		d.Edits = append(d.Edits, e)
	}
	return d
}
