package web

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strconv"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/linediff"
)

// How much of the texts of a conflict is shown.
const (
	conflictShown  = 8 << 10  // of each side; marks may take as much again
	conflictEdited = 24 << 10 // of all sides together in the field where they are joined
)

// conflictScreens are the conflicts of synchronized memories, and how a visitor settles one.
type conflictScreens struct{ *visit }

func conflictRoutes(p *Page) {
	p.get("/conflicts", on(conflictScreens.conflicts))
	p.get("/conflicts/{id}", func(v *visit) error { return conflictScreens{v}.conflict("", nil) })
	p.post("/conflicts/{id}", on(conflictScreens.settle))
}

// conflictsData is what the list of conflicts shows.
type conflictsData struct {
	Count   int64 // all of them
	More    int64 // those that the report does not spell out
	Rows    []amber.SyncConflict
	Next    int // 0: this is the last page
	Settled bool
}

func (v conflictScreens) conflicts() error {
	report, err := v.syncReport()
	if err != nil {
		return err
	}
	d := conflictsData{Count: report.ConflictCount, Settled: v.query("settled") != ""}
	d.More = d.Count - int64(len(report.Conflicts))
	d.Rows, d.Next = part(report.Conflicts, v.query("from"))
	return v.render("conflicts", screen{Title: "Conflicts", Nav: "conflicts", Command: v.command("sync", "status")}, d)
}

// part is a page of a list that the API answers as a whole, and where the next one begins.
func part[T any](all []T, from string) (page []T, next int) {
	start, err := strconv.Atoi(from)
	if err != nil || start < 0 || start > len(all) {
		start = 0
	}
	if end := start + pageSize; end < len(all) {
		return all[start:end], end
	}
	return all[start:], 0
}

// syncReport is what sync left to people. An agent that nothing is synced with has nothing of it.
func (v conflictScreens) syncReport() (amber.SyncReport, error) {
	report, err := v.remote.SyncReport(v.r.Context(), "")
	if amber.KindOf(err) == amber.KindUnsupported {
		return amber.SyncReport{}, nil
	}
	return report, err
}

// conflictData is what the screen of one conflict shows.
type conflictData struct {
	ID      amber.MemoryID
	Seen    string         // names all that is shown
	Sides   []conflictSide // the one that every place shows first
	Diffs   []conflictDiff
	Title   string
	Text    string // all texts, to be joined
	Fixed   string // why they cannot be joined in a field; "" where they can
	Problem string
}

// conflictSide is one version.
type conflictSide struct {
	amber.SyncVersion
	Name string // "A"
	Key  string // names the version in a form
	Kept bool
	Body long
}

// conflictDiff is how a side differs from what every place shows.
type conflictDiff struct {
	Name  string
	Edits []linediff.Edit
}

func (v conflictScreens) conflict(problem string, typed *conflictData) error {
	c, err := v.findConflict()
	if err != nil {
		return err
	}
	d := newConflictData(c)
	d.Problem = problem
	if typed != nil {
		d.Title, d.Text = typed.Title, typed.Text
	}
	return v.render("conflict", screen{Title: "One memory, two texts", Nav: "conflicts", Command: v.command("edit", string(c.ID), "TEXT")}, d)
}

// findConflict returns the conflict in the path. Errors: not_found.
func (v conflictScreens) findConflict() (amber.SyncConflict, error) {
	report, err := v.syncReport()
	if err != nil {
		return amber.SyncConflict{}, err
	}
	id := v.r.PathValue("id")
	for _, c := range report.Conflicts {
		if string(c.ID) == id {
			return c, nil
		}
	}
	return amber.SyncConflict{}, amber.Errorf(amber.KindNotFound, "find conflict", clip.Marked(id, 80), "the memory is in no conflict; somebody may have settled it")
}

func newConflictData(c amber.SyncConflict) conflictData {
	d := conflictData{ID: c.ID, Seen: conflictKey(c), Title: c.Kept.Title}
	total := 0
	for i, s := range versions(c) {
		side := conflictSide{SyncVersion: s, Name: string(rune('A' + i%26)), Key: versionKey(s), Kept: i == 0, Body: fitted(s.Content, 2*conflictShown)}
		d.Sides = append(d.Sides, side)
		total += len(s.Content)
		if d.Title == "" {
			d.Title = s.Title
		}
		if s.Deleted {
			continue
		}
		if d.Text != "" {
			d.Text += "\n\n-----\n\n"
		}
		d.Text += s.Content
		if i > 0 && !c.Kept.Deleted && !side.Body.Cut && !d.Sides[0].Body.Cut {
			d.Diffs = append(d.Diffs, conflictDiff{side.Name, linediff.Lines(c.Kept.Content, s.Content)})
		}
	}
	if d.Fixed = fixed(d.Text); total > conflictEdited {
		d.Fixed = "The texts are too long for a field."
	}
	if d.Fixed != "" {
		d.Text = ""
	}
	return d
}

// versionKey names a version.
func versionKey(s amber.SyncVersion) string {
	return fmt.Sprintf("%d.%d.%s", s.Origin.Counter, uint64(s.Origin.Clock), s.Origin.Device)
}

// versions are all sides of a conflict, the one that every place shows first.
func versions(c amber.SyncConflict) []amber.SyncVersion {
	return append([]amber.SyncVersion{c.Kept}, c.Others...)
}

// conflictKey names all versions of a conflict and what they say, so that none is settled that was not shown.
func conflictKey(c amber.SyncConflict) string {
	h := sha256.New()
	for _, s := range versions(c) {
		_, _ = fmt.Fprintf(h, "%q %t %q %q\n", versionKey(s), s.Deleted, s.Title, s.Content) // a hash takes everything
	}
	return hex.EncodeToString(h.Sum(nil))
}

// settle makes one text of several. Where the conflict changed since the visitor looked at it, the page shows it
// again.
func (v conflictScreens) settle() error {
	typed := &conflictData{Title: v.field("title"), Text: v.text("text")}
	c, err := v.findConflict()
	if err != nil {
		return v.overtaken(err, typed)
	}
	if conflictKey(c) != v.r.PostForm.Get("seen") {
		return v.conflict("The memory was changed since this screen was drawn. This is how it is now; what you typed is still in the field.", typed)
	}
	err = v.choose(v.r.Context(), c, typed)
	switch amber.KindOf(err) {
	case "":
		return v.redirect(v.path("conflicts") + "?settled=1")
	case amber.KindConflict, amber.KindInvalid:
		return v.conflict(err.Error(), typed)
	}
	return v.overtaken(err, typed)
}

// overtaken answers where there is no conflict any more: a text that was typed for it is shown, to be taken elsewhere.
func (v conflictScreens) overtaken(err error, typed *conflictData) error {
	if amber.KindOf(err) != amber.KindNotFound || v.field("keep") != "joined" || typed.Text == "" {
		return err
	}
	typed.ID = amber.MemoryID(v.r.PathValue("id"))
	return v.renderStatus(http.StatusNotFound, "conflict_over", screen{Title: "The conflict is over", Nav: "conflicts"}, typed)
}

// choose does what the form says.
func (v conflictScreens) choose(ctx context.Context, c amber.SyncConflict, typed *conflictData) error {
	store, err := v.remote.Store(ctx)
	if err != nil {
		return err
	}
	r := amber.EditRequest{ID: c.ID}
	if m, err := store.Memories.Get(ctx, c.ID); err == nil {
		if m.Origin != c.Kept.Origin { // since the conflict was read
			return amber.Errorf(amber.KindConflict, "settle conflict", string(c.ID), "the memory was changed just now")
		}
		r.IfRevision = m.Revision
	} else if amber.KindOf(err) != amber.KindNotFound { // deleted here
		return err
	}
	if v.field("keep") == "joined" {
		r.Title, r.Content = &typed.Title, &typed.Text
		_, err = store.Editor.Edit(ctx, r)
		return err
	}
	for _, s := range versions(c) {
		switch {
		case versionKey(s) != v.r.PostForm.Get("keep"):
			continue
		case s.Deleted && v.field("word") != "delete":
			return amber.Errorf(amber.KindInvalid, "settle conflict", string(c.ID), "nothing was deleted: type the word delete")
		case s.Deleted:
			return store.LongTerm.Delete(ctx, c.ID)
		}
		asWhole(ctx, store, &r, s)
		_, err = store.Editor.Edit(ctx, r)
		return err
	}
	return amber.Errorf(amber.KindInvalid, "settle conflict", string(c.ID), "the form chooses no version")
}

// asWhole makes an edit take a version as it was, with the fields that a conflict does not hold.
func asWhole(ctx context.Context, store amber.Store, r *amber.EditRequest, s amber.SyncVersion) {
	// Where it fails, its title and its text are what was chosen.
	_ = amber.Each(ctx, store.Memories.History, r.ID, func(m amber.Memory) error {
		if m.Origin == s.Origin {
			*r = m.AsEdit(r.IfRevision)
		}
		return nil
	})
	r.Title, r.Content = &s.Title, &s.Content
}
