package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
)

// pollEvery is how often the change logs are read while the screen is open.
const pollEvery = time.Second

// maxLive bounds the changes that are kept.
const maxLive = 500

// live is the end of both change logs, since the program began.
type live struct {
	page    *window.Page
	logs    [2]amber.ChangeLog // of memory, of the control plane
	at      [2]amber.Position
	known   bool // at is set
	reading bool
	paused  bool
	ticking bool
	rows    []window.Row // the newest first
	count   int
}

// livePage is screen 8: the event stream.
func (m liveScreen) livePage() *window.Page {
	p := &window.Page{Title: "Live", Empty: "Nothing has changed since the program began. Changes by every process appear here."}
	v := &live{page: p, logs: [2]amber.ChangeLog{m.src.Store.Changes, m.src.Store.ControlChanges}}
	m.live = v
	p.Load = v.load()
	p.Detail = m.changeDetail
	p.Actions = []window.Action{window.Key("p", "pause", "stop the stream, or let it go on; nothing is lost meanwhile", func() tea.Cmd {
		v.paused = !v.paused
		v.name()
		if v.paused {
			return m.Say("paused; changes are shown when the stream goes on")
		}
		return m.poll()
	}, nil)}
	return p
}

func (v *live) name() {
	v.page.Title = "Live"
	if v.paused {
		v.page.Title = "Live (paused)"
	}
}

// load hands out the rows as they are now.
func (v *live) load() func(ctx context.Context, after string) (window.Batch, error) {
	rows := append([]window.Row(nil), v.rows...)
	return func(context.Context, string) (window.Batch, error) { return window.Batch{Rows: rows}, nil }
}

// beginLive notes where the logs end, so that what follows is shown.
func (m liveScreen) beginLive() tea.Cmd {
	v := m.live
	logs := v.logs
	heads := func(ctx context.Context) (at [2]amber.Position, err error) {
		for i, log := range logs {
			at[i], err = log.Head(ctx)
			if err != nil && amber.KindOf(err) != amber.KindUnsupported {
				return at, err
			}
		}
		return at, nil
	}
	return window.Ask(m.Shell, heads, func(at [2]amber.Position, err error) tea.Cmd {
		if err != nil {
			v.page.Err = err
		} else {
			v.at, v.known, v.page.Err = at, true, nil
		}
		return m.tick()
	})
}

// tick lets the logs be read after a while.
func (m liveScreen) tick() tea.Cmd {
	if m.live.ticking {
		return nil
	}
	m.live.ticking = true
	return m.Out.Tick(pollEvery, func(time.Time) tea.Msg {
		return window.Answer(func() tea.Cmd {
			m.live.ticking = false
			return m.poll()
		})
	})
}

// poll reads what is new while its page is shown.
func (m liveScreen) poll() tea.Cmd {
	v := m.live
	switch {
	case !v.known && !v.paused:
		return m.beginLive()
	case v.paused || v.reading || m.Page() != v.page:
		return m.tick()
	}
	v.reading = true
	logs, at := v.logs, v.at
	type news struct {
		changes []amber.Change
		at      [2]amber.Position
		full    bool
	}
	read := func(ctx context.Context) (n news, err error) {
		n.at = at
		for i, log := range logs {
			list, err := log.Changes(ctx, at[i], window.PageSize)
			if err != nil && amber.KindOf(err) != amber.KindUnsupported {
				return n, err
			}
			if len(list) > 0 {
				n.at[i] = list[len(list)-1].Position
			}
			n.changes, n.full = append(n.changes, list...), n.full || len(list) == window.PageSize
		}
		return n, nil
	}
	return window.Ask(m.Shell, read, func(n news, err error) tea.Cmd {
		v.reading = false
		switch amber.KindOf(err) {
		case "":
			v.at, v.page.Err = n.at, nil
			v.add(m.Model, n.changes)
		case amber.KindConflict: // a restore replaced the log
			v.known = false
		default:
			v.page.Err = err
		}
		if n.full && err == nil {
			return tea.Batch(m.Follow(v.page), m.poll())
		}
		return tea.Batch(m.Follow(v.page), m.tick())
	})
}

// add puts changes on top. The cursor stays on its row unless it is on the first.
func (v *live) add(m *Model, list []amber.Change) {
	p := v.page
	p.Loaded = true
	if len(list) == 0 {
		return
	}
	kept, _ := p.Current()
	first := p.Cursor == 0
	for _, c := range list {
		v.count++
		v.rows = append([]window.Row{liveScreen{m}.changeRow(v.count, c)}, v.rows...)
	}
	v.rows = v.rows[:min(len(v.rows), maxLive)]
	p.Rows, p.Load = v.rows, v.load()
	if first {
		p.Cursor, p.DocOf = 0, ""
		return
	}
	p.GoTo(kept.ID)
}

func (m liveScreen) changeRow(n int, c amber.Change) window.Row {
	return window.Row{
		ID: fmt.Sprintf("%d %s", n, c.Key), Lead: fmt.Sprintf("%s %-7s %-10s ", c.At.Time().Format("15:04:05"), c.Op, c.Scope), Title: c.Key,
		Text: c.Key, Command: changeCommand(c), Value: c,
	}
}

// changeCommand shows what a change is about.
func changeCommand(c amber.Change) string {
	switch c.Scope {
	case amber.ChangeMemory:
		return "amber history " + quoted(c.Key)
	case amber.ChangeSession, amber.ChangeTurn:
		return "amber session show " + quoted(c.Key)
	case amber.ChangeNote:
		return "amber note show " + quoted(c.Key)
	}
	return ""
}

// changeDetail shows a change, and the memory that it is about.
func (m liveScreen) changeDetail(ctx context.Context, r window.Row) (window.Document, error) {
	c := r.Value.(amber.Change)
	d := window.Document{}.Head(string(c.Op)+" "+string(c.Scope)).Facts(c.Key, c.At.String()).Fact("before", c.OldDigest).Fact("after", c.NewDigest).Fact("position", string(c.Position))
	if c.Scope != amber.ChangeMemory || c.Op == amber.OpDelete {
		return d, nil
	}
	mem, err := m.src.Store.Memories.Get(ctx, amber.MemoryID(c.Key))
	if err != nil {
		return d.Blank().Dim("as it is now: " + err.Error()), nil
	}
	return append(d.Blank().Dim("as it is now:").Blank(), memoryScreen(m).memoryDocument(mem)...), nil
}
