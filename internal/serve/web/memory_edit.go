package web

import (
	"cmp"
	"context"
	"html/template"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/amber-memory/amber"
)

// Bounds of the texts that a form holds, in bytes of the page, so that the page stays small.
const (
	maxEdited = 32 << 10
	maxAside  = 12 << 10 // of a summary, and of the metadata
)

// memoryConflict is the text that another writer has given a memory meanwhile, and how it differs.
type memoryConflict struct {
	Theirs amber.Memory
	Diffs  []fieldDiff // from what they wrote to what the visitor did
}

func (v memoryScreens) editMemory(ctx context.Context, store amber.Store) error {
	m, err := store.Memories.Get(ctx, amber.MemoryID(v.r.PathValue("id")))
	if err != nil {
		return err
	}
	return v.showEdit(formOf(m), 200)
}

func (v memoryScreens) showEdit(f memoryForm, status int) error {
	return v.renderStatus(status, "memory-edit", screen{Title: "Edit memory", Nav: "memories", Command: v.command("edit", string(f.ID), "…", "--if-revision", strconv.FormatInt(f.Revision, 10))}, f)
}

// formOf is a memory as a form shows it.
func formOf(m amber.Memory) memoryForm {
	f := memoryForm{
		ID: m.ID, Revision: m.Revision, Kind: string(m.Kind), Title: m.Title, Content: m.Content, Summary: m.Summary,
		Tags: strings.Join(m.Tags, "\n"), Meta: metaText(m.Metadata), Project: m.ProjectID, Kinds: amber.MemoryKinds(), ContentFixed: fixed(m.Content),
	}
	f.SummaryFixed, f.MetaFixed = fixed(m.Summary) != "" || inPage(m.Summary) > maxAside, inPage(f.Meta) > maxAside
	for k, val := range m.Metadata {
		if strings.ContainsAny(k, "=\r\n") || strings.ContainsAny(val, "\r\n") || strings.TrimSpace(k) != k || strings.TrimSpace(val) != val {
			f.MetaFixed = true
		}
	}
	return f
}

// inPage is how many bytes of a page a text takes.
func inPage(s string) int { return len(template.HTMLEscapeString(s)) }

// fixed says why a text cannot go through a form and come back as it was; "" where it can.
func fixed(s string) string {
	switch {
	case inPage(s) > maxEdited:
		return "The text has " + size(int64(len(s))) + ", more than a form holds. The command line changes it."
	case strings.ContainsAny(s, "\x00\r") || !utf8.ValidString(s):
		return "The text holds characters that a browser would change. The command line changes it."
	}
	return ""
}

// saveMemory stores the input of a form, unless another writer was faster: then the page shows both texts, and the
// visitor decides.
func (v memoryScreens) saveMemory(ctx context.Context, store amber.Store) error {
	id := amber.MemoryID(v.r.PathValue("id"))
	f := v.readForm()
	f.ID = id
	f.Revision, _ = strconv.ParseInt(v.field("revision"), 10, 64)
	if f.Revision <= 0 { // without a revision the edit would win over every other
		return amber.Errorf(amber.KindInvalid, "edit memory", string(id), "the form names no revision")
	}
	m, err := store.Memories.Get(ctx, id)
	if err != nil {
		return v.keepText(f, err)
	}
	if m.Revision == f.Revision {
		r, err := f.edit(m)
		if err == nil {
			_, err = store.Editor.Edit(ctx, r)
		}
		if err == nil {
			return v.redirect(v.path("memories", string(id)))
		}
		if amber.KindOf(err) != amber.KindConflict {
			return v.keepText(f, err)
		}
		if m, _ = store.Memories.Get(ctx, id); m.Revision == f.Revision { // not the revision: it would be a duplicate
			return v.keepText(f, err)
		}
	}
	f.Conflict, f.Revision = &memoryConflict{Theirs: m, Diffs: f.against(m)}, m.Revision
	return v.showEdit(f, 409)
}

// against is how the fields that the form has differ from a memory.
func (f memoryForm) against(m amber.Memory) (diffs []fieldDiff) {
	was := formOf(m)
	for _, d := range []struct {
		name, theirs, yours string
		missing             bool
	}{
		{"text", was.Content, f.Content, f.ContentFixed != ""},
		{"title", was.Title, f.Title, false},
		{"kind", was.Kind, f.Kind, false},
		{"tags", was.Tags, strings.Join(lines(f.Tags), "\n"), false},
		{"summary", was.Summary, f.Summary, f.SummaryFixed},
		{"metadata", was.Meta, f.Meta, f.MetaFixed},
	} {
		if !d.missing && d.theirs != d.yours {
			diffs = append(diffs, diffOf(d.name, d.theirs, d.yours))
		}
	}
	return diffs
}

// keepText shows the form again with what went wrong.
func (v memoryScreens) keepText(f memoryForm, err error) error {
	f.Problem = err.Error()
	return v.showEdit(f, amber.KindOf(err).HTTPStatus())
}

// edit is what the form changes of a memory. The error is of kind invalid.
func (f memoryForm) edit(m amber.Memory) (amber.EditRequest, error) {
	was := formOf(m)
	r := amber.EditRequest{ID: m.ID, IfRevision: f.Revision}
	if f.Content != was.Content && f.ContentFixed == "" {
		r.Content = &f.Content
	}
	if f.Title != was.Title {
		r.Title = &f.Title
	}
	if f.Summary != was.Summary && !f.SummaryFixed {
		r.Summary = &f.Summary
	}
	if kind := amber.MemoryKind(f.Kind); f.Kind != was.Kind {
		r.Kind = &kind
	}
	if tags := lines(f.Tags); strings.Join(tags, "\n") != was.Tags {
		r.Tags = &tags
	}
	meta, err := f.metadata()
	if err == nil && !f.MetaFixed && metaText(meta) != was.Meta {
		r.Metadata = &meta
	}
	return r, err
}

// undoMemory writes an earlier revision again.
func (v memoryScreens) undoMemory(ctx context.Context, store amber.Store) error {
	id := amber.MemoryID(v.r.PathValue("id"))
	n, _ := strconv.ParseInt(v.field("revision"), 10, 64)
	live, _ := strconv.ParseInt(v.field("live"), 10, 64)
	past, err := readPast(ctx, store, id, v.field("revision"), "")
	if err != nil {
		return err
	}
	if m := past.chosen[0]; m.ID != "" && m.DeletedAt.IsZero() && live > 0 {
		if _, err := store.Editor.Edit(ctx, m.AsEdit(live)); err != nil {
			return err
		}
		return v.redirect(v.path("memories", string(id)))
	}
	return amber.Errorf(amber.KindNotFound, "undo", string(id), "there is no revision %d to write again", n)
}

func (v memoryScreens) askToForget(ctx context.Context, store amber.Store) error {
	m, err := store.Memories.Get(ctx, amber.MemoryID(v.r.PathValue("id")))
	if err != nil {
		return err
	}
	return v.render("forget", screen{Title: "Forget 1 memory", Nav: "memories", Command: v.command("forget", string(m.ID))}, forgetData{Memories: []amber.Memory{m}, Word: "forget"})
}

func (v memoryScreens) forgetMemory(ctx context.Context, store amber.Store) error {
	id := amber.MemoryID(v.r.PathValue("id"))
	if v.field("word") != "forget" {
		m, err := store.Memories.Get(ctx, id)
		if err != nil {
			return err
		}
		return v.render("forget", screen{Title: "Forget 1 memory", Nav: "memories"}, forgetData{Memories: []amber.Memory{m}, Word: "forget", Wrong: true})
	}
	if err := store.LongTerm.Delete(ctx, id); err != nil {
		return err
	}
	return v.redirect(v.path("memories", string(id)))
}

// rememberAgain writes a forgotten memory again, as a new one.
func (v memoryScreens) rememberAgain(ctx context.Context, store amber.Store) error {
	past, err := readPast(ctx, store, amber.MemoryID(v.r.PathValue("id")), "", "")
	if err != nil {
		return err
	}
	m, gone := latest(past.ends, amber.Memory{})
	if !gone || m.Content == "" {
		return amber.Errorf(amber.KindInvalid, "remember again", string(m.ID), "the memory is not forgotten, or was erased")
	}
	ack, err := store.LongTerm.Write(ctx, m.AsRequest())
	if err != nil {
		return err
	}
	return v.redirect(v.path("memories", string(ack.ID)))
}

// eraseData asks whether to erase, or reports what was erased.
type eraseData struct {
	ID     amber.MemoryID
	Title  string
	Wrong  bool
	Report *amber.EraseReport
}

func (v memoryScreens) askToErase(ctx context.Context, store amber.Store) error {
	return v.showErase(ctx, store, eraseData{})
}

func (v memoryScreens) showErase(ctx context.Context, store amber.Store, d eraseData) error {
	d.ID = amber.MemoryID(v.r.PathValue("id"))
	if d.Report == nil {
		past, err := readPast(ctx, store, d.ID, "", "")
		if err != nil {
			return err
		}
		m, _ := latest(past.ends, amber.Memory{})
		d.Title = cmp.Or(m.Title, m.Content)
	}
	return v.render("erase", screen{Title: "Erase a memory", Nav: "memories", Command: v.command("forget", string(d.ID), "--erase")}, d)
}

func (v memoryScreens) eraseMemory(ctx context.Context, store amber.Store) error {
	id := v.r.PathValue("id")
	if v.field("word") != id {
		return v.showErase(ctx, store, eraseData{Wrong: true})
	}
	report, err := store.Eraser.Erase(ctx, amber.MemoryID(id))
	if err != nil {
		return err
	}
	return v.showErase(ctx, store, eraseData{Report: &report})
}
