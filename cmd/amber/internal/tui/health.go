package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
	"github.com/amber-memory/amber/wire"
)

// healthPage is screen 9: counts, the word of the store about itself, and the doctor.
func (m healthScreen) healthPage() *window.Page {
	p := &window.Page{Title: "Health"}
	p.Load = m.healthLoad(nil)
	p.Look = func(r window.Row) window.Document { return r.Value.(window.Document) }
	p.Actions = []window.Action{window.Key("r", "doctor", "check the home, the agent, its databases, notes and keys", func() tea.Cmd {
		m.Say("the doctor is checking …")
		return window.Known(m.Shell, m.src.Doctor, func(c wire.Checkup) tea.Cmd {
			verdict := "no check failed"
			if !c.OK {
				verdict = "a check FAILED"
			}
			m.Say("the doctor is done: " + verdict)
			p.Load = m.healthLoad(c.Checks)
			p.Cursor, p.Top = 0, 0
			p.Rows = nil
			return m.Reload(p)
		})
	}, nil)}
	return p
}

// healthLoad lists findings of the doctor, then what the store says.
func (m healthScreen) healthLoad(findings []wire.Finding) func(ctx context.Context, after string) (window.Batch, error) {
	return func(ctx context.Context, _ string) (b window.Batch, err error) {
		for _, f := range findings {
			b.Rows = append(b.Rows, findingRow(f))
		}
		h, err := m.src.Store.LongTerm.Health(ctx)
		if err != nil {
			return b, err
		}
		b.Rows = append(b.Rows, window.Row{
			ID: "store", Title: "store " + h.Backend, Side: string(h.Status), Command: "amber doctor",
			Value: window.Document{}.Head(h.Backend).Facts(string(h.Status)).Text(h.Detail).Blank().Dim("r runs the doctor"),
		})
		stats, err := m.src.Store.Stats.Stats(ctx)
		switch amber.KindOf(err) {
		case "":
			b.Rows = append(b.Rows, statsRows(stats)...)
		case amber.KindUnsupported:
			err = nil
		}
		return b, err
	}
}

// findingRow is a check of the doctor. Its outcome is a word, not a colour.
func findingRow(f wire.Finding) window.Row {
	word := map[wire.FindingStatus]string{wire.FindingOK: "ok", wire.FindingWarning: "WARN", wire.FindingFailed: "FAIL", wire.FindingNotChecked: "----"}[f.Status]
	d := window.Document{}.Head(f.Code).Facts(string(f.Status), string(f.Kind)).Blank().Text(f.Detail)
	if f.Hint != "" {
		d = d.Blank().Fact("hint", f.Hint)
	}
	return window.Row{ID: f.Code, Lead: fmt.Sprintf("%-5s", word), Title: f.Code, Side: f.Detail, Text: f.Detail, Command: "amber doctor", Value: d}
}

func statsRows(s amber.Stats) (rows []window.Row) {
	kinds := window.Document{}.Head("memories by kind")
	for _, k := range slices.Sorted(maps.Keys(s.ByKind)) {
		kinds = kinds.Text(fmt.Sprintf("%-18s %d", k, s.ByKind[k]))
	}
	kinds = kinds.Blank().Head("by trust")
	for _, k := range slices.Sorted(maps.Keys(s.ByTrust)) {
		kinds = kinds.Text(fmt.Sprintf("%-18s %d", k, s.ByTrust[k]))
	}
	kinds = kinds.Blank().Head("by scope")
	for _, k := range slices.Sorted(maps.Keys(s.ByScope)) {
		kinds = kinds.Text(fmt.Sprintf("%-18s %d", k, s.ByScope[k]))
	}
	add := func(name, count string) {
		d := window.Document{}.Head(name).Text(count)
		if name == "memories" {
			d = kinds
		}
		rows = append(rows, window.Row{ID: name, Title: name, Side: count, Command: "amber stats", Value: d})
	}
	for _, c := range []struct {
		name string
		n    int64
	}{
		{"memories", s.Memories},
		{"forgotten", s.Deleted},
		{"revisions", s.Revisions},
		{"relations", s.Relations},
		{"sessions", s.Sessions},
		{"turns", s.Turns},
		{"loops", s.Loops},
		{"compactions", s.Compactions},
		{"changes", s.Changes},
	} {
		add(c.name, fmt.Sprint(c.n))
	}
	add("size", cli.ByteSize(s.Bytes))
	return rows
}
