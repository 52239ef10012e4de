package tui

import (
	"context"
	"errors"
	"fmt"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
	"github.com/amber-memory/amber/internal/base/words"
)

// undoLog is what was forgotten here and can be brought back, the last of it last.
type undoLog struct{ forgotten [][]amber.Memory }

// forget asks before it forgets the chosen memories.
func (m memoryScreen) forget(p *window.Page) tea.Cmd {
	var list []amber.Memory
	d := window.Document{}.Text("Recall and lists do not show it any more. Its history stays, and u brings it back.").Blank()
	for _, r := range p.Chosen() {
		list = append(list, r.Value.(amber.Memory))
		d = d.Text("- " + window.OneLine(r.Title, 200))
	}
	question := fmt.Sprintf("Forget %s?", words.Count(int64(len(list)), "memory", "memories"))
	return m.Confirm(question, d, func() tea.Cmd {
		return window.Ask(m.Shell, func(ctx context.Context) ([]amber.Memory, error) { return m.delete(ctx, list) }, func(gone []amber.Memory, err error) tea.Cmd {
			p.Marked = nil
			if len(gone) > 0 {
				m.edits.forgotten = append(m.edits.forgotten, gone)
				m.Say(fmt.Sprintf("forgot %s; u brings back what was forgotten", words.Count(int64(len(gone)), "memory", "memories")))
			}
			if err != nil {
				m.Fail(err)
			}
			return m.Reload(p)
		})
	})
}

// delete forgets memories, and returns those that it forgot.
func (m memoryScreen) delete(ctx context.Context, list []amber.Memory) (gone []amber.Memory, err error) {
	for _, mem := range list {
		if e := m.src.Store.LongTerm.Delete(ctx, mem.ID); e != nil {
			err = errors.Join(err, e)
			continue
		}
		gone = append(gone, mem)
	}
	return gone, err
}

// undo brings back what was forgotten here last; else it writes the revision before the last
// of the memory under the cursor.
func (m memoryScreen) undo(p *window.Page) tea.Cmd {
	if n := len(m.edits.forgotten); n > 0 {
		list := m.edits.forgotten[n-1]
		d := window.Document{}
		for _, mem := range list {
			d = d.Text("- " + window.OneLine(m.memoryRow(mem).Title, 200))
		}
		return m.Confirm(fmt.Sprintf("Bring back %s?", words.Count(int64(len(list)), "memory", "memories")), d, func() tea.Cmd { return m.remember(p, list) })
	}
	r, ok := p.Current()
	if !ok {
		return m.Say("nothing was forgotten here, so there is nothing to bring back")
	}
	return m.undoEdit(p, amber.MemoryID(r.ID))
}

// remember brings back what was forgotten last. A memory that could not be brought back stays there to be tried
// again.
func (m memoryScreen) remember(p *window.Page, list []amber.Memory) tea.Cmd {
	last := len(m.edits.forgotten) - 1
	m.edits.forgotten = m.edits.forgotten[:last]
	return window.Ask(m.Shell, func(ctx context.Context) ([]amber.Memory, error) { return m.bringBack(ctx, list) }, func(left []amber.Memory, err error) tea.Cmd {
		text := "brought back " + words.Count(int64(len(list)-len(left)), "memory", "memories")
		if m.src.BringBack == nil {
			text += ", under new ids: the history stays with the old ones"
		}
		if err != nil {
			m.edits.forgotten = append(m.edits.forgotten, left)
		}
		return m.Done(p, text, err)
	})
}

// bringBack makes forgotten memories live again, and returns those that it could not.
func (m memoryScreen) bringBack(ctx context.Context, list []amber.Memory) (left []amber.Memory, err error) {
	for _, mem := range list {
		if e := m.bringOneBack(ctx, mem); e != nil {
			left, err = append(left, mem), errors.Join(err, e)
		}
	}
	m.written(ctx)
	return left, err
}

func (m memoryScreen) bringOneBack(ctx context.Context, mem amber.Memory) error {
	if m.src.BringBack != nil {
		_, err := m.src.BringBack(ctx, mem)
		return err
	}
	_, err := m.src.Store.LongTerm.Write(ctx, mem.AsRequest())
	return err
}

// written brings what was stored into the index.
func (m *Model) written(ctx context.Context) {
	if m.src.Written != nil {
		m.src.Written(ctx)
	}
}

// undoEdit shows the revision before the last and asks whether to write it again.
func (m memoryScreen) undoEdit(p *window.Page, id amber.MemoryID) tea.Cmd {
	return window.Ask(m.Shell, func(ctx context.Context) ([]amber.Memory, error) {
		return amber.All(ctx, m.src.Store.Memories.History, id)
	}, func(list []amber.Memory, err error) tea.Cmd {
		switch {
		case err != nil:
			return m.Fail(err)
		case len(list) < 2:
			return m.Say("the memory has one revision, so there is no earlier one to write")
		}
		now, then := list[len(list)-1], list[len(list)-2]
		question := fmt.Sprintf("Write revision %d again?", then.Revision)
		return m.Confirm(question, memoryDiff(now, then), func() tea.Cmd { return m.writeRevision(p, now, then) })
	})
}

// writeRevision makes a memory say what an earlier revision said, as a new revision.
func (m memoryScreen) writeRevision(p *window.Page, now, then amber.Memory) tea.Cmd {
	r := then.AsEdit(now.Revision)
	return window.Ask(m.Shell, func(ctx context.Context) (amber.Memory, error) { return m.edit(ctx, r) }, func(mem amber.Memory, err error) tea.Cmd {
		return m.Done(p, fmt.Sprintf("revision %d says what revision %d said", mem.Revision, then.Revision), err)
	})
}

// edit changes a memory, and brings the change into the index.
func (m *Model) edit(ctx context.Context, r amber.EditRequest) (amber.Memory, error) {
	mem, err := m.src.Store.Editor.Edit(ctx, r)
	if err == nil {
		m.written(ctx)
	}
	return mem, err
}
