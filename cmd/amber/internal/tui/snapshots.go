package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

// ref names a snapshot of the agent.
func (m snapshotScreen) ref(id amber.SnapshotID) wire.SnapshotRef {
	return wire.SnapshotRef{Tenant: m.src.Tenant, Agent: m.src.Agent, ID: id}
}

// labelOf is how people name a snapshot.
func labelOf(s wire.SnapshotMeta) string {
	if s.Label != "" {
		return window.OneLine(s.Label, wire.MaxLabelBytes)
	}
	return cli.ShortID(string(s.ID))
}

// listSnapshots reads a page of snapshots, the newest first.
func (m snapshotScreen) listSnapshots(ctx context.Context, after string) (b window.Batch, err error) {
	list, err := engine(m, func(ctx context.Context, e Snapshots) (amber.Page[wire.SnapshotMeta], error) {
		return e.ListSnapshots(ctx, wire.SnapshotQuery{Tenant: m.src.Tenant, Agent: m.src.Agent, Limit: window.PageSize, Cursor: amber.Cursor(after)})
	})(ctx)
	b.Next = string(list.Next)
	for _, s := range list.Items {
		b.Rows = append(b.Rows, m.snapshotRow(s))
	}
	return b, err
}

func (m snapshotScreen) snapshotRow(s wire.SnapshotMeta) window.Row {
	title := s.Label
	if title == "" {
		title = "(no label) " + cli.ShortID(string(s.ID))
	}
	if s.Pinned {
		title += " [pinned]"
	}
	if s.Damage != "" {
		title += " [DAMAGED]"
	}
	return window.Row{
		ID: string(s.ID), Title: title, Side: cli.ByteSize(s.BytesTotal) + " " + m.When(s.CreatedAt), Text: s.Label,
		Command: "amber snapshot show " + string(s.ID), Value: s,
	}
}

// engine is a question to the snapshots of the agent, which may be on a server.
func engine[T any](m snapshotScreen, question func(ctx context.Context, e Snapshots) (T, error)) func(ctx context.Context) (T, error) {
	return func(ctx context.Context) (answer T, err error) {
		e, err := m.src.Snapshots(ctx)
		if err != nil {
			return answer, err
		}
		return question(ctx, e)
	}
}

// snapshotsPage is screen 5.
func (m snapshotScreen) snapshotsPage() *window.Page {
	p := &window.Page{Title: "Snapshots", Empty: "There are no snapshots yet. n takes one.", Load: m.listSnapshots}
	p.Detail = func(ctx context.Context, r window.Row) (window.Document, error) {
		s, err := engine(m, func(ctx context.Context, e Snapshots) (wire.SnapshotDetail, error) {
			return e.ShowSnapshot(ctx, m.ref(amber.SnapshotID(r.ID)))
		})(ctx)
		return m.snapshotDocument(s), err
	}
	verified := "" // the snapshot that v was pressed for last
	p.Actions = []window.Action{
		window.Key("n", "take", "take a snapshot; asks for a label", func() tea.Cmd { return m.takeSnapshot(p) }, nil),
		p.OnRow("v", "verify", "check that the snapshot is whole; a second time reads every byte", func(r window.Row) tea.Cmd {
			deep := verified == r.ID
			verified = r.ID
			return m.verifySnapshot(r, deep)
		}),
		p.OnRow("space", "mark", "mark a snapshot to compare it", func(window.Row) tea.Cmd { return memoryScreen(m).toggle(p) }),
		p.OnRow("d", "diff", "compare two marked snapshots, or this one with the one before", func(window.Row) tea.Cmd { return m.diffSnapshots(p) }),
		p.OnRow("R", "restore", "show what a restore would change; then type the label to restore", func(r window.Row) tea.Cmd {
			return m.planRestore(p, r.Value.(wire.SnapshotMeta))
		}),
	}
	return p
}

func (m snapshotScreen) snapshotDocument(s wire.SnapshotDetail) window.Document {
	d := window.Document{}.Head(labelOf(s.SnapshotMeta)).Facts(string(s.ID), m.When(s.CreatedAt), cli.ByteSize(s.BytesTotal)+", "+cli.ByteSize(s.BytesNew)+" new")
	yes := func(on bool, word string) string {
		if on {
			return word
		}
		return "not " + word
	}
	d = d.Facts(yes(s.Pinned, "pinned"), yes(s.Encrypted, "encrypted"), yes(s.SignedBy != "", "signed"), "device "+s.Device)
	d = d.Fact("signed by", s.SignedBy).Fact("notes at", shortCommit(s.GitOID))
	if s.Damage != "" {
		d = d.Warn("DAMAGED: " + s.Damage)
	}
	d = d.Blank().Head("contents")
	for _, part := range s.Parts {
		d = d.Text(fmt.Sprintf("%-8s %9s  %d", part.Name, cli.ByteSize(part.Bytes), part.Count))
	}
	for _, skipped := range s.Skipped {
		d = d.Warn("not in the snapshot: " + cli.DescribeSkipped(skipped))
	}
	for _, w := range s.Warnings {
		d = d.Warn(w)
	}
	return checksDocument(d, s.Checks)
}

func checksDocument(d window.Document, checks []wire.Check) window.Document {
	if len(checks) == 0 {
		return d
	}
	d = d.Blank().Head("checks")
	for _, c := range checks {
		verdict := "ok"
		if !c.OK {
			verdict = "FAILED"
		}
		d = d.Text(strings.TrimSpace(fmt.Sprintf("%-6s %s of %s %s", verdict, c.Name, c.Part, c.Detail)))
	}
	return d
}

// takeSnapshot asks for a label and takes a snapshot.
func (m snapshotScreen) takeSnapshot(p *window.Page) tea.Cmd {
	return m.Prompt("label of the snapshot", "enter take it · esc do not", func(label string) tea.Cmd {
		m.Say("taking a snapshot …")
		take := engine(m, func(ctx context.Context, e Snapshots) (wire.SnapshotMeta, error) {
			return e.Snapshot(ctx, wire.SnapshotRequest{Tenant: m.src.Tenant, Agent: m.src.Agent, Label: strings.TrimSpace(label), By: m.src.By})
		})
		return window.Known(m.Shell, take, func(s wire.SnapshotMeta) tea.Cmd {
			m.Say(fmt.Sprintf("took snapshot %s, %s new", labelOf(s), cli.ByteSize(s.BytesNew)))
			p.Cursor, p.Top = 0, 0
			p.Rows = nil
			return m.Reload(p)
		})
	})
}

// verifySnapshot checks a snapshot and shows what was checked, and what was not.
func (m snapshotScreen) verifySnapshot(r window.Row, deep bool) tea.Cmd {
	m.Say("verifying …")
	verify := engine(m, func(ctx context.Context, e Snapshots) (wire.VerifyReport, error) {
		return e.VerifySnapshot(ctx, wire.VerifyRequest{SnapshotRef: m.ref(amber.SnapshotID(r.ID)), ReadData: deep})
	})
	return window.Known(m.Shell, verify, func(v wire.VerifyReport) tea.Cmd {
		verdict := "nothing damaged found"
		switch {
		case !v.OK():
			verdict = "DAMAGED"
		case len(v.Checked) == 0:
			verdict = "NOT CHECKED"
		}
		d := window.Document{}.Head(window.OneLine(r.Title, 200)).Text(verdict).Blank()
		for _, x := range v.Damaged {
			d = d.Warn("DAMAGED " + x.Object + ": " + x.Reason)
		}
		d = d.Fact("checked", strings.Join(v.Checked, ", ")).Fact("not checked", strings.Join(v.NotChecked, ", "))
		d = d.Fact("signature", cli.DescribeSignature(v.Signature))
		d = checksDocument(d, v.Checks)
		if !deep {
			d = d.Blank().Dim("esc, then v again reads every byte.")
		}
		return m.PushDocument("Verified", d)
	})
}

// diffSnapshots compares the two marked snapshots, or the one under the cursor with the other.
func (m snapshotScreen) diffSnapshots(p *window.Page) tea.Cmd {
	var two []wire.SnapshotMeta
	for _, r := range p.Chosen() {
		two = append(two, r.Value.(wire.SnapshotMeta))
	}
	if here, _ := p.Current(); len(two) == 1 && len(p.Marked) == 1 && !p.Marked[here.ID] {
		two = append(two, here.Value.(wire.SnapshotMeta))
	}
	if rows := p.Visible(); len(two) == 1 && p.Cursor+1 < len(rows) && len(p.Marked) == 0 {
		two = append(two, rows[p.Cursor+1].Value.(wire.SnapshotMeta))
	}
	if len(two) != 2 {
		return m.Say("mark two snapshots with space, then press d")
	}
	if two[1].CreatedAt.Before(two[0].CreatedAt) {
		two[0], two[1] = two[1], two[0]
	}
	m.Say("comparing …")
	compare := engine(m, func(ctx context.Context, e Snapshots) (wire.SnapshotDiff, error) {
		return e.DiffSnapshots(ctx, wire.DiffRequest{Tenant: m.src.Tenant, Agent: m.src.Agent, A: two[0].ID, B: two[1].ID, Rows: true})
	})
	return window.Known(m.Shell, compare, func(d wire.SnapshotDiff) tea.Cmd {
		doc := window.Document{}.Head(fmt.Sprintf("from %s to %s", labelOf(two[0]), labelOf(two[1]))).Facts(m.When(two[0].CreatedAt), m.When(two[1].CreatedAt)).Blank()
		doc = changesDocument(doc, d.Store, d.Notes, d.State)
		if d.Git.Commits > 0 {
			doc = doc.Blank().Text(fmt.Sprintf("notes: %s, %s, +%d -%s",
				words.Count(d.Git.Commits, "commit", "commits"), words.Count(d.Git.FilesChanged, "file", "files"), d.Git.Insertions, words.Count(d.Git.Deletions, "line", "lines")))
		}
		return m.PushDocument("Diff", doc.Fact("not compared", strings.Join(d.Missing, ", ")))
	})
}

// changesDocument tells which rows and files differ: + added, ~ changed, - removed.
func changesDocument(d window.Document, store wire.StoreDiff, notes, state wire.FilesDiff) window.Document {
	sign := map[amber.Op]string{amber.OpInsert: "+", amber.OpUpdate: "~", amber.OpDelete: "-"}
	equal := true
	for _, t := range store.Tables {
		if t.Added+t.Changed+t.Removed > 0 {
			equal = false
			d = d.Text(fmt.Sprintf("%-12s +%d added  ~%d changed  -%d removed", t.Name, t.Added, t.Changed, t.Removed))
		}
	}
	for _, f := range []struct {
		name string
		diff wire.FilesDiff
	}{{"notes", notes}, {"state", state}} {
		if f.diff.Added+f.diff.Changed+f.diff.Removed > 0 {
			equal = false
			d = d.Text(fmt.Sprintf("%-12s +%d added  ~%d changed  -%d removed", f.name, f.diff.Added, f.diff.Changed, f.diff.Removed))
		}
	}
	if equal {
		return d.Dim("no difference")
	}
	d = d.Blank()
	for _, r := range store.Rows {
		d = d.Text(strings.TrimSpace(fmt.Sprintf("%s %s %s %s", sign[r.Op], r.Table, cli.ShortID(r.Key), r.Title)))
	}
	if store.More > 0 {
		d = d.Dim("… " + words.Count(store.More, "more row", "more rows"))
	}
	for _, r := range notes.Files {
		d = d.Text(sign[r.Op] + " note " + r.Key)
	}
	for _, r := range state.Files {
		d = d.Text(sign[r.Op] + " state " + r.Key)
	}
	return d
}
