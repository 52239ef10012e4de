package tui

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
)

// editing is a text in the user's editor.
type editing struct {
	what   string // "memory 5f3a91c0"
	text   string // as it was read, or as it was last edited
	stored string // what the store said when it was read
	path   string // of the file; "" before there is one
	// save stores a text over the version that was read, and says what it did. Errors: conflict when
	// that version is not the last one any more.
	save func(ctx context.Context, text string) (done string, err error)
	// again reads the last version, and how to save over it.
	again func(ctx context.Context) (editing, error)
}

// editor gives texts to the editor of the user, and stores what comes back.
type editor struct{ *Model }

// readMemory reads a memory to edit it.
func (m memoryScreen) readMemory(ctx context.Context, id amber.MemoryID) (editing, error) {
	mem, err := m.src.Store.Memories.Get(ctx, id)
	return editing{
		what: "memory " + cli.ShortID(string(id)), text: mem.Content, stored: mem.Content,
		save: func(ctx context.Context, text string) (string, error) {
			now, err := m.edit(ctx, amber.EditRequest{ID: id, IfRevision: mem.Revision, Content: &text})
			return fmt.Sprintf("stored as revision %d; u writes the revision before", now.Revision), err
		},
		again: func(ctx context.Context) (editing, error) { return m.readMemory(ctx, id) },
	}, err
}

// editMemory opens a memory in the editor.
func (m memoryScreen) editMemory(id amber.MemoryID) tea.Cmd {
	return editor(m).editRead(func(ctx context.Context) (editing, error) { return m.readMemory(ctx, id) })
}

// editRead reads something and opens it in the editor.
func (m editor) editRead(read func(ctx context.Context) (editing, error)) tea.Cmd {
	p := m.Page()
	return window.Known(m.Shell, read, func(e editing) tea.Cmd {
		return m.openEditor(p, e)
	})
}

// openEditor gives the terminal to the editor.
func (m editor) openEditor(p *window.Page, e editing) tea.Cmd {
	type ready struct {
		path string
		run  *exec.Cmd
	}
	prepare := func(context.Context) (r ready, err error) {
		if r.path = e.path; r.path == "" {
			if r.path, err = m.src.Desk.Keep(e.what, e.text); err != nil {
				return r, err
			}
		}
		r.run, err = m.src.Desk.Editor(r.path)
		return r, err
	}
	return window.Ask(m.Shell, prepare, func(r ready, err error) tea.Cmd {
		e.path = r.path
		if err != nil {
			return m.Fail(err)
		}
		return m.Out.Exec(r.run, func(err error) tea.Msg {
			return window.Answer(func() tea.Cmd { return m.edited(p, e, err) })
		})
	})
}

// edited takes back what the editor left.
func (m editor) edited(p *window.Page, e editing, failure error) tea.Cmd {
	if failure != nil {
		return m.Fail(amber.Errorf(amber.KindInternal, "edit", e.what, "the editor failed: %w; the text is in %s", failure, e.path))
	}
	return window.Ask(m.Shell, func(context.Context) (string, error) { return m.src.Desk.Read(e.path) }, func(text string, err error) tea.Cmd {
		if err != nil {
			return m.notSaved(p, e, err)
		}
		if !strings.HasSuffix(e.text, "\n") {
			text = strings.TrimSuffix(text, "\n") // editors end the last line
		}
		e.text = text
		if text == e.stored {
			m.Say("the text is as it was, so nothing was stored")
			return m.drop(e)
		}
		return m.save(p, e)
	})
}

// save stores what was edited. Where that fails the text stays in its file.
func (m editor) save(p *window.Page, e editing) tea.Cmd {
	return window.Ask(m.Shell, func(ctx context.Context) (string, error) { return e.save(ctx, e.text) }, func(done string, err error) tea.Cmd {
		if err != nil {
			return m.notSaved(p, e, err)
		}
		m.Say(done)
		return tea.Batch(m.drop(e), m.Reload(p))
	})
}

// drop removes the file of a text that is stored.
func (m editor) drop(e editing) tea.Cmd {
	return window.Do(m.Shell, func(context.Context) error { return m.src.Desk.Drop(e.path) }, func(err error) tea.Cmd {
		if err != nil {
			return m.Fail(err)
		}
		return nil
	})
}

// notSaved shows why a text was not stored, beside what the store says now.
func (m editor) notSaved(p *window.Page, e editing, failure error) tea.Cmd {
	return window.Ask(m.Shell, e.again, func(now editing, err error) tea.Cmd {
		d := window.ErrorDocument(failure).Blank().Text("Nothing is lost: your text is in " + e.path).Blank()
		var actions []window.Action
		if err != nil {
			d = append(d, window.ErrorDocument(err)...)
		} else {
			now.text, now.path = e.text, e.path
			d = d.Head("from what is stored now (-) to your text (+)")
			d = append(d, window.Diff(now.stored, e.text)...)
			actions = append(actions, window.Key("e", "edit again", "edit your text again, to be stored over what is there now", func() tea.Cmd {
				m.Pop()
				return m.openEditor(p, now)
			}, nil))
		}
		return m.PushDocument("Not stored", d, actions...)
	})
}
