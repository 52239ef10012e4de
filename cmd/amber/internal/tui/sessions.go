package tui

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
	"github.com/amber-memory/amber/internal/base/words"
)

// sessionsPage is screen 3: sessions, the last used first.
func (m sessionScreen) sessionsPage() *window.Page {
	p := &window.Page{Title: "Sessions", Empty: "There are no sessions yet. Hooks of an agent host record them:\n  amber setup claude-code"}
	p.Load = func(ctx context.Context, after string) (window.Batch, error) {
		list, err := m.src.Store.Sessions.ListSessions(ctx, amber.SessionQuery{Limit: window.PageSize, Cursor: amber.Cursor(after)})
		b := window.Batch{Next: string(list.Next), Note: asideNote(list.SetAside)}
		for _, s := range list.Items {
			b.Rows = append(b.Rows, m.sessionRow(s))
		}
		return b, err
	}
	p.Look = func(r window.Row) window.Document { return m.sessionDocument(r.Value.(amber.Session)) }
	p.Open = func(r window.Row) tea.Cmd { return m.Push(m.turnsPage(r.Value.(amber.Session))) }
	p.Actions = []window.Action{
		p.OnRow("a", "activity", "show which tools, files and commands the session used", func(r window.Row) tea.Cmd { return m.Push(m.activityPage(r.Value.(amber.Session))) }),
	}
	return p
}

func (m sessionScreen) sessionRow(s amber.Session) window.Row {
	return window.Row{
		ID: string(s.ID), Title: s.Name, Side: words.State(s) + " " + m.When(s.UpdatedAt), Text: s.Summary,
		Command: "amber session show " + quoted(string(s.ID)), Value: s,
	}
}

func (m sessionScreen) sessionDocument(s amber.Session) window.Document {
	d := window.Document{}.Head(s.Name).Facts(string(s.ID), words.State(s), "started "+m.When(s.StartedAt), "updated "+m.When(s.UpdatedAt))
	d = d.Fact("project", s.Project).Fact("directory", s.Directory).Fact("host", words.Host(s.Binding)).Fact("parent", string(s.Parent)).Fact("trust", string(s.Trust))
	if !s.EndedAt.IsZero() {
		d = d.Fact("ended", m.When(s.EndedAt))
	}
	if s.Summary != "" {
		d = d.Blank().Text(s.Summary)
	}
	return d.Blank().Dim("enter shows the turns, a the activity")
}

// turnsPage lists what was said in a session, the newest first.
func (m sessionScreen) turnsPage(s amber.Session) *window.Page {
	fold := false
	p := &window.Page{Title: "Turns of " + s.Name, Empty: "Nothing was said in this session."}
	p.Look = func(r window.Row) window.Document { return m.turnDocument(r.Value.([]amber.Turn)) }
	p.Load = m.turnsLoad(s.ID, fold)
	p.Actions = []window.Action{
		window.Key("f", "fold tools", "fold what tools printed into one line, or unfold it", func() tea.Cmd {
			fold = !fold
			p.Load = m.turnsLoad(s.ID, fold)
			return m.Reload(p)
		}, nil),
		window.Key("a", "activity", "show which tools, files and commands the session used", func() tea.Cmd { return m.Push(m.activityPage(s)) }, nil),
	}
	return p
}

// turnsLoad reads the last turns. The contract has no cursor, so each load reads twice as many as
// the one before.
func (m sessionScreen) turnsLoad(id amber.SessionID, fold bool) func(ctx context.Context, after string) (window.Batch, error) {
	return func(ctx context.Context, after string) (window.Batch, error) {
		limit := window.PageSize
		if n, err := strconv.Atoi(after); err == nil {
			limit = n
		}
		turns, err := amber.LastTurns(ctx, m.src.Store.Turns, id, limit)
		slices.Reverse(turns)
		b := window.Batch{Rows: m.turnRows(id, turns, fold), Replace: true}
		if len(turns) == limit {
			b.Next = strconv.Itoa(2 * limit)
		}
		return b, err
	}
}

// turnRows makes a row of each turn, or of each run of turns of tools.
func (m sessionScreen) turnRows(id amber.SessionID, turns []amber.Turn, fold bool) (rows []window.Row) {
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
		rows = append(rows, window.Row{
			ID: string(run[0].ID), Lead: fmt.Sprintf("%-10s", run[0].Role), Title: title, Side: m.When(run[0].CreatedAt), Text: run[0].Content,
			Command: "amber session show " + quoted(string(id)), Value: run,
		})
		i += n
	}
	return rows
}

func (m sessionScreen) turnDocument(run []amber.Turn) (d window.Document) {
	for _, t := range slices.Backward(run) { // the oldest first
		d = d.Head(string(t.Role)).Facts(t.CreatedAt.String(), string(t.Trust)).Text(t.Content).Blank()
	}
	return d
}

// activityPage lists what an agent did in a session.
func (m sessionScreen) activityPage(s amber.Session) *window.Page {
	p := &window.Page{Title: "Activity of " + s.Name, Empty: "No tool, file or command was recorded in this session."}
	p.Load = func(ctx context.Context, _ string) (window.Batch, error) {
		list, err := m.src.Store.Activities.ListActivity(ctx, s.ID, "")
		var b window.Batch
		for _, a := range list {
			side := words.Count(a.Count, "time", "times")
			if a.Failed > 0 {
				side += fmt.Sprintf(", %d failed", a.Failed)
			}
			b.Rows = append(b.Rows, window.Row{
				ID: string(a.Kind) + " " + a.Name, Lead: fmt.Sprintf("%-11s", a.Kind), Title: a.Name, Side: side, Text: a.Name,
				Command: "amber session activity " + quoted(string(s.ID)), Value: a,
			})
		}
		return b, err
	}
	p.Look = func(r window.Row) window.Document {
		a := r.Value.(amber.Activity)
		return window.Document{}.Head(a.Name).Facts(string(a.Kind), r.Side, a.Status, "first "+m.When(a.FirstAt), "last "+m.When(a.LastAt)).Blank().Text(a.Detail)
	}
	return p
}
