package tui

import (
	"context"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
)

// notesPage is screen 4: notes by name.
func (m noteScreen) notesPage() *window.Page {
	p := &window.Page{Title: "Notes", Empty: "There are no notes yet. Type\n  :note write decisions/database \"We chose PostgreSQL\""}
	p.Load = func(ctx context.Context, _ string) (window.Batch, error) {
		list, err := m.src.Store.Notes.ListNotes(ctx)
		var b window.Batch
		for _, n := range list {
			b.Rows = append(b.Rows, window.Row{
				ID: n.Name, Title: n.Name, Side: cli.ByteSize(n.Bytes) + " " + m.When(n.UpdatedAt), Command: "amber note show " + quoted(n.Name), Value: n,
			})
		}
		return b, err
	}
	p.Detail = func(ctx context.Context, r window.Row) (window.Document, error) {
		n, err := m.src.Store.Notes.ReadNote(ctx, r.ID)
		return m.noteDocument(n), err
	}
	p.Actions = []window.Action{
		p.OnRow("l", "log", "show every change of the note; then d shows one of them", func(r window.Row) tea.Cmd { return m.Push(m.noteLogPage(r.ID)) }),
		p.OnRow("d", "diff", "show the last change of the note", func(r window.Row) tea.Cmd { return m.noteDiff(r.ID, "") }),
		p.OnRow("e", "edit", "edit the note in $EDITOR; each change is a commit", func(r window.Row) tea.Cmd { return m.editNote(r.ID) }),
	}
	return p
}

func (m noteScreen) noteDocument(n amber.Note) window.Document {
	return window.Document{}.Head(n.Name).Facts(cli.ByteSize(n.Bytes), "commit "+shortCommit(n.Commit), m.When(n.UpdatedAt)).Blank().Text(n.Content)
}

func shortCommit(commit string) string { return commit[:min(len(commit), 12)] }

// noteLogPage lists the changes of a note, the newest first.
func (m noteScreen) noteLogPage(name string) *window.Page {
	p := &window.Page{Title: "Log of " + name}
	p.Load = m.noteLog(name)
	p.Detail = func(ctx context.Context, r window.Row) (window.Document, error) {
		n, err := m.src.Store.NoteLog.NoteAt(ctx, name, r.ID)
		return m.noteDocument(n), err
	}
	p.Actions = []window.Action{p.OnRow("d", "diff", "show what this change did", func(r window.Row) tea.Cmd { return m.noteDiff(name, r.ID) })}
	return p
}

// noteLog reads the changes of a note. The contract has no cursor, so each load reads twice as many
// as the one before.
func (m noteScreen) noteLog(name string) func(ctx context.Context, after string) (window.Batch, error) {
	return func(ctx context.Context, after string) (window.Batch, error) {
		limit := window.PageSize
		if _, err := fmt.Sscan(after, &limit); err != nil {
			limit = window.PageSize
		}
		list, err := m.src.Store.NoteLog.LogNote(ctx, name, limit)
		b := window.Batch{Replace: true}
		for _, c := range list {
			b.Rows = append(b.Rows, window.Row{ID: c.Commit, Title: shortCommit(c.Commit) + " " + c.Op, Side: m.When(c.At), Command: "amber note log " + quoted(name), Value: c})
		}
		if len(list) == limit && limit < amber.MaxPageSize {
			b.Next = fmt.Sprint(min(2*limit, amber.MaxPageSize))
		}
		return b, err
	}
}

// noteDiff shows what a commit did to a note; "" is the last one.
func (m noteScreen) noteDiff(name, commit string) tea.Cmd {
	return window.Known(m.Shell, func(ctx context.Context) (window.Document, error) { return m.compareNote(ctx, name, commit) }, func(d window.Document) tea.Cmd {
		return m.PushDocument("Diff of "+name, d)
	})
}

// compareNote compares a note after a commit with the note before it.
func (m noteScreen) compareNote(ctx context.Context, name, commit string) (window.Document, error) {
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
	d := window.Document{}.Facts("commit "+shortCommit(log[at].Commit), log[at].Op, log[at].At.String()).Blank()
	return append(d, window.Diff(before, after)...), nil
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
