package tui

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/words"
)

// sessionsPage is screen 3: sessions, the last used first.
func (m sessionScreen) sessionsPage() *page {
	p := &page{title: "Sessions", empty: "There are no sessions yet. Hooks of an agent host record them:\n  amber setup claude-code"}
	p.load = func(ctx context.Context, after string) (batch, error) {
		list, err := m.src.Store.Sessions.ListSessions(ctx, amber.SessionQuery{Limit: pageSize, Cursor: amber.Cursor(after)})
		b := batch{next: string(list.Next), note: asideNote(list.SetAside)}
		for _, s := range list.Items {
			b.rows = append(b.rows, m.sessionRow(s))
		}
		return b, err
	}
	p.look = func(r row) document { return m.sessionDocument(r.value.(amber.Session)) }
	p.open = func(r row) tea.Cmd { return m.push(m.turnsPage(r.value.(amber.Session))) }
	p.actions = []action{
		{"a", "activity", "show which tools, files and commands the session used", func() tea.Cmd {
			r, _ := p.current()
			return m.push(m.activityPage(r.value.(amber.Session)))
		}, func() bool { _, ok := p.current(); return ok }},
	}
	return p
}

func (m sessionScreen) sessionRow(s amber.Session) row {
	return row{
		id: string(s.ID), title: s.Name, side: words.State(s) + " " + m.when(s.UpdatedAt), text: s.Summary,
		command: "amber session show " + quoted(string(s.ID)), value: s,
	}
}

func (m sessionScreen) sessionDocument(s amber.Session) document {
	d := document{}.head(s.Name).facts(string(s.ID), words.State(s), "started "+m.when(s.StartedAt), "updated "+m.when(s.UpdatedAt))
	d = d.fact("project", s.Project).fact("directory", s.Directory).fact("host", words.Host(s.Binding)).fact("parent", string(s.Parent)).fact("trust", string(s.Trust))
	if !s.EndedAt.IsZero() {
		d = d.fact("ended", m.when(s.EndedAt))
	}
	if s.Summary != "" {
		d = d.blank().text(s.Summary)
	}
	return d.blank().dim("enter shows the turns, a the activity")
}

// turnsPage lists what was said in a session, the newest first.
func (m sessionScreen) turnsPage(s amber.Session) *page {
	fold := false
	p := &page{title: "Turns of " + s.Name, empty: "Nothing was said in this session."}
	p.look = func(r row) document { return m.turnDocument(r.value.([]amber.Turn)) }
	p.load = m.turnsLoad(s.ID, fold)
	p.actions = []action{
		{"f", "fold tools", "fold what tools printed into one line, or unfold it", func() tea.Cmd {
			fold = !fold
			p.load = m.turnsLoad(s.ID, fold)
			return m.reload(p)
		}, nil},
		{"a", "activity", "show which tools, files and commands the session used", func() tea.Cmd { return m.push(m.activityPage(s)) }, nil},
	}
	return p
}

// turnsLoad reads the last turns. The contract has no cursor, so each load reads twice as many as
// the one before.
func (m sessionScreen) turnsLoad(id amber.SessionID, fold bool) func(ctx context.Context, after string) (batch, error) {
	return func(ctx context.Context, after string) (batch, error) {
		limit := pageSize
		if n, err := strconv.Atoi(after); err == nil {
			limit = n
		}
		turns, err := amber.LastTurns(ctx, m.src.Store.Turns, id, limit)
		slices.Reverse(turns)
		b := batch{rows: m.turnRows(id, turns, fold), replace: true}
		if len(turns) == limit {
			b.next = strconv.Itoa(2 * limit)
		}
		return b, err
	}
}

// turnRows makes a row of each turn, or of each run of turns of tools.
func (m sessionScreen) turnRows(id amber.SessionID, turns []amber.Turn, fold bool) (rows []row) {
	for i := 0; i < len(turns); {
		n := 1
		for fold && turns[i].Role == amber.RoleTool && i+n < len(turns) && turns[i+n].Role == amber.RoleTool {
			n++
		}
		run := turns[i : i+n]
		title := run[0].Content
		if fold && run[0].Role == amber.RoleTool {
			title = fmt.Sprintf("[%s folded]", words.Count(int64(n), "output", "outputs"))
		}
		rows = append(rows, row{
			id: string(run[0].ID), lead: fmt.Sprintf("%-10s", run[0].Role), title: title, side: m.when(run[0].CreatedAt), text: run[0].Content,
			command: "amber session show " + quoted(string(id)), value: run,
		})
		i += n
	}
	return rows
}

func (m sessionScreen) turnDocument(run []amber.Turn) (d document) {
	for _, t := range slices.Backward(run) { // the oldest first
		d = d.head(string(t.Role)).facts(t.CreatedAt.String(), string(t.Trust)).text(t.Content).blank()
	}
	return d
}

// activityPage lists what an agent did in a session.
func (m sessionScreen) activityPage(s amber.Session) *page {
	p := &page{title: "Activity of " + s.Name, empty: "No tool, file or command was recorded in this session."}
	p.load = func(ctx context.Context, _ string) (batch, error) {
		list, err := m.src.Store.Activities.ListActivity(ctx, s.ID, "")
		var b batch
		for _, a := range list {
			side := words.Count(a.Count, "time", "times")
			if a.Failed > 0 {
				side += fmt.Sprintf(", %d failed", a.Failed)
			}
			b.rows = append(b.rows, row{
				id: string(a.Kind) + " " + a.Name, lead: fmt.Sprintf("%-11s", a.Kind), title: a.Name, side: side, text: a.Name,
				command: "amber session activity " + quoted(string(s.ID)), value: a,
			})
		}
		return b, err
	}
	p.look = func(r row) document {
		a := r.value.(amber.Activity)
		return document{}.head(a.Name).facts(string(a.Kind), r.side, a.Status, "first "+m.when(a.FirstAt), "last "+m.when(a.LastAt)).blank().text(a.Detail)
	}
	return p
}
