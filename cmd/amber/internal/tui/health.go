package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/wire"
)

// healthPage is screen 9: counts, the word of the store about itself, and the doctor.
func (m healthScreen) healthPage() *page {
	p := &page{title: "Health"}
	p.load = m.healthLoad(nil)
	p.look = func(r row) document { return r.value.(document) }
	p.actions = []action{{"r", "doctor", "check the home, the agent, its databases, notes and keys", func() tea.Cmd {
		m.say("the doctor is checking …")
		return known(m.shell, m.src.Doctor, func(c wire.Checkup) tea.Cmd {
			verdict := "no check failed"
			if !c.OK {
				verdict = "a check FAILED"
			}
			m.say("the doctor is done: " + verdict)
			p.load = m.healthLoad(c.Checks)
			p.cursor, p.top = 0, 0
			p.rows = nil
			return m.reload(p)
		})
	}, nil}}
	return p
}

// healthLoad lists findings of the doctor, then what the store says.
func (m healthScreen) healthLoad(findings []wire.Finding) func(ctx context.Context, after string) (batch, error) {
	return func(ctx context.Context, _ string) (b batch, err error) {
		for _, f := range findings {
			b.rows = append(b.rows, findingRow(f))
		}
		h, err := m.src.Store.LongTerm.Health(ctx)
		if err != nil {
			return b, err
		}
		b.rows = append(b.rows, row{
			id: "store", title: "store " + h.Backend, side: string(h.Status), command: "amber doctor",
			value: document{}.head(h.Backend).facts(string(h.Status)).text(h.Detail).blank().dim("r runs the doctor"),
		})
		stats, err := m.src.Store.Stats.Stats(ctx)
		switch amber.KindOf(err) {
		case "":
			b.rows = append(b.rows, statsRows(stats)...)
		case amber.KindUnsupported:
			err = nil
		}
		return b, err
	}
}

// findingRow is a check of the doctor. Its outcome is a word, not a colour.
func findingRow(f wire.Finding) row {
	word := map[wire.FindingStatus]string{wire.FindingOK: "ok", wire.FindingWarning: "WARN", wire.FindingFailed: "FAIL", wire.FindingNotChecked: "----"}[f.Status]
	d := document{}.head(f.Code).facts(string(f.Status), string(f.Kind)).blank().text(f.Detail)
	if f.Hint != "" {
		d = d.blank().fact("hint", f.Hint)
	}
	return row{id: f.Code, lead: fmt.Sprintf("%-5s", word), title: f.Code, side: f.Detail, text: f.Detail, command: "amber doctor", value: d}
}

func statsRows(s amber.Stats) (rows []row) {
	kinds := document{}.head("memories by kind")
	for _, k := range slices.Sorted(maps.Keys(s.ByKind)) {
		kinds = kinds.text(fmt.Sprintf("%-18s %d", k, s.ByKind[k]))
	}
	kinds = kinds.blank().head("by trust")
	for _, k := range slices.Sorted(maps.Keys(s.ByTrust)) {
		kinds = kinds.text(fmt.Sprintf("%-18s %d", k, s.ByTrust[k]))
	}
	kinds = kinds.blank().head("by scope")
	for _, k := range slices.Sorted(maps.Keys(s.ByScope)) {
		kinds = kinds.text(fmt.Sprintf("%-18s %d", k, s.ByScope[k]))
	}
	add := func(name, count string) {
		d := document{}.head(name).text(count)
		if name == "memories" {
			d = kinds
		}
		rows = append(rows, row{id: name, title: name, side: count, command: "amber stats", value: d})
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
