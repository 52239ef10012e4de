package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

// planRestore shows what a restore would change, and asks for the label.
func (m snapshotScreen) planRestore(p *window.Page, s wire.SnapshotMeta) tea.Cmd {
	m.Say("finding out what a restore would change …")
	r := wire.RestoreRequest{SnapshotRef: m.ref(s.ID), DryRun: true}
	return window.Known(m.Shell, m.restore(r), func(plan wire.RestoreReport) tea.Cmd {
		d := window.Document{}.Head("A restore of " + labelOf(s) + " would change").Blank()
		d = changesDocument(d, plan.Plan.Store, plan.Plan.Notes, plan.Plan.State)
		d = d.Blank().Fact("parts", strings.Join(plan.Restored, ", ")).Fact("signature", cli.DescribeSignature(plan.Signature))
		d = d.Text(fmt.Sprintf("space: %s needed, %s free", cli.ByteSize(plan.Plan.SpaceNeeded), cli.ByteSize(plan.Plan.SpaceFree)))
		for _, w := range plan.Warnings {
			d = d.Warn(w)
		}
		d = d.Blank().Text("A snapshot of the agent as it is now is taken first, unless the configuration says otherwise. Restoring that one undoes this restore.")
		open := m.PushDocument("Restore", d, window.Key("R", "type the label", "type the label of the snapshot to restore it", func() tea.Cmd { return m.askLabel(p, s) }, nil))
		return tea.Batch(open, m.askLabel(p, s))
	})
}

// restore restores the agent, or says what that would change.
func (m snapshotScreen) restore(r wire.RestoreRequest) func(ctx context.Context) (wire.RestoreReport, error) {
	return engine(m, func(ctx context.Context, e Snapshots) (wire.RestoreReport, error) { return e.Restore(ctx, r) })
}

// askLabel restores once the label was typed.
func (m snapshotScreen) askLabel(p *window.Page, s wire.SnapshotMeta) tea.Cmd {
	label := labelOf(s)
	return m.Prompt("type "+window.Cut(label, 40)+" to restore", "enter restore · esc read on, nothing is changed", func(typed string) tea.Cmd {
		if strings.TrimSpace(typed) != strings.TrimSpace(label) {
			return m.Say("that is not the label of the snapshot, so nothing was restored")
		}
		m.Say("restoring … the agent is the old one or the new one, whatever happens")
		r := wire.RestoreRequest{SnapshotRef: m.ref(s.ID)}
		return window.Known(m.Shell, m.restore(r), func(done wire.RestoreReport) tea.Cmd {
			return m.restored(p, s, done)
		})
	})
}

// restored says what a restore did, and forgets what the screens have loaded.
func (m snapshotScreen) restored(p *window.Page, s wire.SnapshotMeta, done wire.RestoreReport) tea.Cmd {
	for _, other := range m.Screens {
		if other.Pages[0] == p {
			other.Pages = other.Pages[:1]
		} else {
			other.Ever = false
		}
	}
	m.edits = undoLog{}
	text := "restored " + labelOf(s)
	if done.SafetySnapshot != "" {
		text += "; the agent before it is in snapshot " + cli.ShortID(string(done.SafetySnapshot))
	}
	if done.ParkedFrames > 0 {
		text += "; " + words.Count(done.ParkedFrames, "journal entry is", "journal entries are") + " parked"
	}
	m.Say(text)
	return m.Reload(p)
}
