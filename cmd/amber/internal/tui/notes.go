package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// notesPage is screen 4: notes by name.
func (m noteScreen) notesPage() *page {
	p := &page{title: "Notes", empty: "There are no notes yet. Type\n  :note write decisions/database \"We chose PostgreSQL\""}
	p.load = func(ctx context.Context, _ string) (batch, error) {
		list, err := m.src.Store.Notes.ListNotes(ctx)
		var b batch
		for _, n := range list {
			b.rows = append(b.rows, row{
				id: n.Name, title: n.Name, side: cli.ByteSize(n.Bytes) + " " + m.when(n.UpdatedAt), command: "amber note show " + quoted(n.Name), value: n,
			})
		}
		return b, err
	}
	p.detail = func(ctx context.Context, r row) (document, error) {
		n, err := m.src.Store.Notes.ReadNote(ctx, r.id)
		return m.noteDocument(n), err
	}
	here := func(fn func(name string) tea.Cmd) func() tea.Cmd {
		return func() tea.Cmd {
			r, _ := p.current()
			return fn(r.id)
		}
	}
	some := func() bool { _, ok := p.current(); return ok }
	p.actions = []action{
		{"l", "log", "show every change of the note; then d shows one of them", here(func(name string) tea.Cmd { return m.push(m.noteLogPage(name)) }), some},
		{"d", "diff", "show the last change of the note", here(func(name string) tea.Cmd { return m.noteDiff(name, "") }), some},
		{"e", "edit", "edit the note in $EDITOR; each change is a commit", here(m.editNote), some},
	}
	return p
}

func (m noteScreen) noteDocument(n amber.Note) document {
	return document{}.head(n.Name).facts(cli.ByteSize(n.Bytes), "commit "+shortCommit(n.Commit), m.when(n.UpdatedAt)).blank().text(n.Content)
}

func shortCommit(commit string) string { return commit[:min(len(commit), 12)] }

// noteLogPage lists the changes of a note, the newest first.
func (m noteScreen) noteLogPage(name string) *page {
	p := &page{title: "Log of " + name}
	p.load = m.noteLog(name)
	p.detail = func(ctx context.Context, r row) (document, error) {
		n, err := m.src.Store.NoteLog.NoteAt(ctx, name, r.id)
		return m.noteDocument(n), err
	}
	p.actions = []action{{"d", "diff", "show what this change did", func() tea.Cmd {
		r, _ := p.current()
		return m.noteDiff(name, r.id)
	}, func() bool { _, ok := p.current(); return ok }}}
	return p
}

// noteLog reads the changes of a note. The contract has no cursor, so each load reads twice as many
// as the one before.
func (m noteScreen) noteLog(name string) func(ctx context.Context, after string) (batch, error) {
	return func(ctx context.Context, after string) (batch, error) {
		limit := pageSize
		if _, err := fmt.Sscan(after, &limit); err != nil {
			limit = pageSize
		}
		list, err := m.src.Store.NoteLog.LogNote(ctx, name, limit)
		b := batch{replace: true}
		for _, c := range list {
			b.rows = append(b.rows, row{id: c.Commit, title: shortCommit(c.Commit) + " " + c.Op, side: m.when(c.At), command: "amber note log " + quoted(name), value: c})
		}
		if len(list) == limit && limit < amber.MaxPageSize {
			b.next = fmt.Sprint(min(2*limit, amber.MaxPageSize))
		}
		return b, err
	}
}

// noteDiff shows what a commit did to a note; "" is the last one.
func (m noteScreen) noteDiff(name, commit string) tea.Cmd {
	return known(m.shell, func(ctx context.Context) (document, error) { return m.compareNote(ctx, name, commit) }, func(d document) tea.Cmd {
		return m.pushDocument("Diff of "+name, d)
	})
}

// compareNote compares a note after a commit with the note before it.
func (m noteScreen) compareNote(ctx context.Context, name, commit string) (document, error) {
	log, err := m.src.Store.NoteLog.LogNote(ctx, name, amber.MaxPageSize)
	if err != nil {
		return nil, err
	}
	at := 0
	for at < len(log) && commit != "" && log[at].Commit != commit {
		at++
	}
	if at >= len(log) {
		return nil, amber.Errorf(amber.KindNotFound, "compare note", name, "commit %s is not among the last %d changes", shortCommit(commit), len(log))
	}
	text := func(i int) (string, error) {
		if i >= len(log) || log[i].Op == "delete" {
			return "", nil
		}
		n, err := m.src.Store.NoteLog.NoteAt(ctx, name, log[i].Commit)
		return n.Content, err
	}
	after, err := text(at)
	if err != nil {
		return nil, err
	}
	before, err := text(at + 1)
	if err != nil {
		return nil, err
	}
	d := document{}.facts("commit "+shortCommit(log[at].Commit), log[at].Op, log[at].At.String()).blank()
	return append(d, diff(before, after)...), nil
}

// editNote opens a note in the editor.
func (m noteScreen) editNote(name string) tea.Cmd {
	return editor(m).editRead(func(ctx context.Context) (editing, error) { return m.readNote(ctx, name) })
}

// readNote reads a note to edit it. The contract of notes knows no condition, so a change by others
// is looked for right before the write.
func (m noteScreen) readNote(ctx context.Context, name string) (editing, error) {
	n, err := m.src.Store.Notes.ReadNote(ctx, name)
	return editing{
		what: "note " + name, text: n.Content, stored: n.Content,
		save: func(ctx context.Context, text string) (string, error) {
			now, err := m.src.Store.Notes.ReadNote(ctx, name)
			if err != nil && amber.KindOf(err) != amber.KindNotFound {
				return "", err
			}
			if now.Content != n.Content {
				return "", amber.Errorf(amber.KindConflict, "edit note", name, "the note was changed meanwhile, by commit %s", shortCommit(now.Commit))
			}
			stored, err := m.src.Store.Notes.WriteNote(ctx, amber.NoteWrite{Name: name, Content: text})
			if err == nil {
				m.written(ctx)
			}
			return "stored as commit " + shortCommit(stored.Commit), err
		},
		again: func(ctx context.Context) (editing, error) { return m.readNote(ctx, name) },
	}, err
}
