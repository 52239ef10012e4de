package tui

import (
	"context"
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
)

// pollEvery is how often the change logs are read while the screen is open.
const pollEvery = time.Second

// maxLive bounds the changes that are kept.
const maxLive = 500

// live is the end of both change logs, since the program began.
type live struct {
	page    *page
	logs    [2]amber.ChangeLog // of memory, of the control plane
	at      [2]amber.Position
	known   bool // at is set
	reading bool
	paused  bool
	ticking bool
	rows    []row // the newest first
	count   int
}

// livePage is screen 8: the event stream.
func (m liveScreen) livePage() *page {
	p := &page{title: "Live", empty: "Nothing has changed since the program began. Changes by every process appear here."}
	v := &live{page: p, logs: [2]amber.ChangeLog{m.src.Store.Changes, m.src.Store.ControlChanges}}
	m.live = v
	p.load = v.load()
	p.detail = m.changeDetail
	p.actions = []action{{"p", "pause", "stop the stream, or let it go on; nothing is lost meanwhile", func() tea.Cmd {
		v.paused = !v.paused
		v.name()
		if v.paused {
			return m.say("paused; changes are shown when the stream goes on")
		}
		return m.poll()
	}, nil}}
	return p
}

func (v *live) name() {
	v.page.title = "Live"
	if v.paused {
		v.page.title = "Live (paused)"
	}
}

// load hands out the rows as they are now.
func (v *live) load() func(ctx context.Context, after string) (batch, error) {
	rows := append([]row(nil), v.rows...)
	return func(context.Context, string) (batch, error) { return batch{rows: rows}, nil }
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
	return ask(m.shell, heads, func(at [2]amber.Position, err error) tea.Cmd {
		if err != nil {
			v.page.err = err
		} else {
			v.at, v.known, v.page.err = at, true, nil
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
	return m.out.Tick(pollEvery, func(time.Time) tea.Msg {
		return answer(func() tea.Cmd {
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
	case v.paused || v.reading || m.page() != v.page:
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
			list, err := log.Changes(ctx, at[i], pageSize)
			if err != nil && amber.KindOf(err) != amber.KindUnsupported {
				return n, err
			}
			if len(list) > 0 {
				n.at[i] = list[len(list)-1].Position
			}
			n.changes, n.full = append(n.changes, list...), n.full || len(list) == pageSize
		}
		return n, nil
	}
	return ask(m.shell, read, func(n news, err error) tea.Cmd {
		v.reading = false
		switch amber.KindOf(err) {
		case "":
			v.at, v.page.err = n.at, nil
			v.add(m.Model, n.changes)
		case amber.KindConflict: // a restore replaced the log
			v.known = false
		default:
			v.page.err = err
		}
		if n.full && err == nil {
			return tea.Batch(m.follow(v.page), m.poll())
		}
		return tea.Batch(m.follow(v.page), m.tick())
	})
}

// add puts changes on top. The cursor stays on its row unless it is on the first.
func (v *live) add(m *Model, list []amber.Change) {
	p := v.page
	p.loaded = true
	if len(list) == 0 {
		return
	}
	kept, _ := p.current()
	first := p.cursor == 0
	for _, c := range list {
		v.count++
		v.rows = append([]row{liveScreen{m}.changeRow(v.count, c)}, v.rows...)
	}
	v.rows = v.rows[:min(len(v.rows), maxLive)]
	p.rows, p.load = v.rows, v.load()
	if first {
		p.cursor, p.docOf = 0, ""
		return
	}
	p.goTo(kept.id)
}

func (m liveScreen) changeRow(n int, c amber.Change) row {
	return row{
		id: fmt.Sprintf("%d %s", n, c.Key), lead: fmt.Sprintf("%s %-7s %-10s ", c.At.Time().Format("15:04:05"), c.Op, c.Scope), title: c.Key,
		text: c.Key, command: changeCommand(c), value: c,
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
func (m liveScreen) changeDetail(ctx context.Context, r row) (document, error) {
	c := r.value.(amber.Change)
	d := document{}.head(string(c.Op)+" "+string(c.Scope)).facts(c.Key, c.At.String()).fact("before", c.OldDigest).fact("after", c.NewDigest).fact("position", string(c.Position))
	if c.Scope != amber.ChangeMemory || c.Op == amber.OpDelete {
		return d, nil
	}
	mem, err := m.src.Store.Memories.Get(ctx, amber.MemoryID(c.Key))
	if err != nil {
		return d.blank().dim("as it is now: " + err.Error()), nil
	}
	return append(d.blank().dim("as it is now:").blank(), memoryScreen(m).memoryDocument(mem)...), nil
}
