package tui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
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
		return oneLine(s.Label, wire.MaxLabelBytes)
	}
	return cli.ShortID(string(s.ID))
}

// listSnapshots reads a page of snapshots, the newest first.
func (m snapshotScreen) listSnapshots(ctx context.Context, after string) (b batch, err error) {
	engine, err := m.src.Snapshots(ctx)
	if err != nil {
		return b, err
	}
	list, err := engine.ListSnapshots(ctx, wire.SnapshotQuery{Tenant: m.src.Tenant, Agent: m.src.Agent, Limit: pageSize, Cursor: amber.Cursor(after)})
	b.next = string(list.Next)
	for _, s := range list.Items {
		b.rows = append(b.rows, m.snapshotRow(s))
	}
	return b, err
}

func (m snapshotScreen) snapshotRow(s wire.SnapshotMeta) row {
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
	return row{
		id: string(s.ID), title: title, side: cli.ByteSize(s.BytesTotal) + " " + m.when(s.CreatedAt), text: s.Label,
		command: "amber snapshot show " + string(s.ID), value: s,
	}
}

// snapshotsPage is screen 5.
func (m snapshotScreen) snapshotsPage() *page {
	p := &page{title: "Snapshots", empty: "There are no snapshots yet. n takes one.", load: m.listSnapshots}
	p.detail = func(ctx context.Context, r row) (document, error) {
		engine, err := m.src.Snapshots(ctx)
		if err != nil {
			return nil, err
		}
		s, err := engine.ShowSnapshot(ctx, m.ref(amber.SnapshotID(r.id)))
		return m.snapshotDocument(s), err
	}
	verified := "" // the snapshot that v was pressed for last
	some := func() bool { _, ok := p.current(); return ok }
	p.actions = []action{
		{"n", "take", "take a snapshot; asks for a label", func() tea.Cmd { return m.takeSnapshot(p) }, nil},
		{"v", "verify", "check that the snapshot is whole; a second time reads every byte", func() tea.Cmd {
			r, _ := p.current()
			deep := verified == r.id
			verified = r.id
			return m.verifySnapshot(r, deep)
		}, some},
		{"space", "mark", "mark a snapshot to compare it", func() tea.Cmd { return memoryScreen(m).toggle(p) }, some},
		{"d", "diff", "compare two marked snapshots, or this one with the one before", func() tea.Cmd { return m.diffSnapshots(p) }, some},
		{"R", "restore", "show what a restore would change; then type the label to restore", func() tea.Cmd {
			r, _ := p.current()
			return m.planRestore(p, r.value.(wire.SnapshotMeta))
		}, some},
	}
	return p
}

func (m snapshotScreen) snapshotDocument(s wire.SnapshotDetail) document {
	d := document{}.head(labelOf(s.SnapshotMeta)).facts(string(s.ID), m.when(s.CreatedAt), cli.ByteSize(s.BytesTotal)+", "+cli.ByteSize(s.BytesNew)+" new")
	yes := func(on bool, word string) string {
		if on {
			return word
		}
		return "not " + word
	}
	d = d.facts(yes(s.Pinned, "pinned"), yes(s.Encrypted, "encrypted"), yes(s.SignedBy != "", "signed"), "device "+s.Device)
	d = d.fact("signed by", s.SignedBy).fact("notes at", shortCommit(s.GitOID))
	if s.Damage != "" {
		d = d.warn("DAMAGED: " + s.Damage)
	}
	d = d.blank().head("contents")
	for _, part := range s.Parts {
		d = d.text(fmt.Sprintf("%-8s %9s  %d", part.Name, cli.ByteSize(part.Bytes), part.Count))
	}
	for _, skipped := range s.Skipped {
		d = d.warn("not in the snapshot: " + cli.DescribeSkipped(skipped))
	}
	for _, w := range s.Warnings {
		d = d.warn(w)
	}
	return checksDocument(d, s.Checks)
}

func checksDocument(d document, checks []wire.Check) document {
	if len(checks) == 0 {
		return d
	}
	d = d.blank().head("checks")
	for _, c := range checks {
		verdict := "ok"
		if !c.OK {
			verdict = "FAILED"
		}
		d = d.text(strings.TrimSpace(fmt.Sprintf("%-6s %s of %s %s", verdict, c.Name, c.Part, c.Detail)))
	}
	return d
}

// takeSnapshot asks for a label and takes a snapshot.
func (m snapshotScreen) takeSnapshot(p *page) tea.Cmd {
	return m.prompt("label of the snapshot", "enter take it · esc do not", func(label string) tea.Cmd {
		m.say("taking a snapshot …")
		take := func(ctx context.Context) (wire.SnapshotMeta, error) {
			engine, err := m.src.Snapshots(ctx)
			if err != nil {
				return wire.SnapshotMeta{}, err
			}
			return engine.Snapshot(ctx, wire.SnapshotRequest{Tenant: m.src.Tenant, Agent: m.src.Agent, Label: strings.TrimSpace(label), By: m.src.By})
		}
		return known(m.shell, take, func(s wire.SnapshotMeta) tea.Cmd {
			m.say(fmt.Sprintf("took snapshot %s, %s new", labelOf(s), cli.ByteSize(s.BytesNew)))
			p.cursor, p.top = 0, 0
			p.rows = nil
			return m.reload(p)
		})
	})
}

// verifySnapshot checks a snapshot and shows what was checked, and what was not.
func (m snapshotScreen) verifySnapshot(r row, deep bool) tea.Cmd {
	m.say("verifying …")
	verify := func(ctx context.Context) (wire.VerifyReport, error) {
		engine, err := m.src.Snapshots(ctx)
		if err != nil {
			return wire.VerifyReport{}, err
		}
		return engine.VerifySnapshot(ctx, wire.VerifyRequest{SnapshotRef: m.ref(amber.SnapshotID(r.id)), ReadData: deep})
	}
	return known(m.shell, verify, func(v wire.VerifyReport) tea.Cmd {
		verdict := "nothing damaged found"
		switch {
		case !v.OK():
			verdict = "DAMAGED"
		case len(v.Checked) == 0:
			verdict = "NOT CHECKED"
		}
		d := document{}.head(oneLine(r.title, 200)).text(verdict).blank()
		for _, x := range v.Damaged {
			d = d.warn("DAMAGED " + x.Object + ": " + x.Reason)
		}
		d = d.fact("checked", strings.Join(v.Checked, ", ")).fact("not checked", strings.Join(v.NotChecked, ", "))
		d = d.fact("signature", cli.DescribeSignature(v.Signature))
		d = checksDocument(d, v.Checks)
		if !deep {
			d = d.blank().dim("esc, then v again reads every byte.")
		}
		return m.pushDocument("Verified", d)
	})
}

// diffSnapshots compares the two marked snapshots, or the one under the cursor with the other.
func (m snapshotScreen) diffSnapshots(p *page) tea.Cmd {
	var two []wire.SnapshotMeta
	for _, r := range p.chosen() {
		two = append(two, r.value.(wire.SnapshotMeta))
	}
	if here, _ := p.current(); len(two) == 1 && len(p.marked) == 1 && !p.marked[here.id] {
		two = append(two, here.value.(wire.SnapshotMeta))
	}
	if rows := p.visible(); len(two) == 1 && p.cursor+1 < len(rows) && len(p.marked) == 0 {
		two = append(two, rows[p.cursor+1].value.(wire.SnapshotMeta))
	}
	if len(two) != 2 {
		return m.say("mark two snapshots with space, then press d")
	}
	if two[1].CreatedAt.Before(two[0].CreatedAt) {
		two[0], two[1] = two[1], two[0]
	}
	m.say("comparing …")
	compare := func(ctx context.Context) (wire.SnapshotDiff, error) {
		engine, err := m.src.Snapshots(ctx)
		if err != nil {
			return wire.SnapshotDiff{}, err
		}
		return engine.DiffSnapshots(ctx, wire.DiffRequest{Tenant: m.src.Tenant, Agent: m.src.Agent, A: two[0].ID, B: two[1].ID, Rows: true})
	}
	return known(m.shell, compare, func(d wire.SnapshotDiff) tea.Cmd {
		doc := document{}.head(fmt.Sprintf("from %s to %s", labelOf(two[0]), labelOf(two[1]))).facts(m.when(two[0].CreatedAt), m.when(two[1].CreatedAt)).blank()
		doc = changesDocument(doc, d.Store, d.Notes, d.State)
		if d.Git.Commits > 0 {
			doc = doc.blank().text(fmt.Sprintf("notes: %s, %s, +%d -%s",
				words.Count(d.Git.Commits, "commit", "commits"), words.Count(d.Git.FilesChanged, "file", "files"), d.Git.Insertions, words.Count(d.Git.Deletions, "line", "lines")))
		}
		return m.pushDocument("Diff", doc.fact("not compared", strings.Join(d.Missing, ", ")))
	})
}

// changesDocument tells which rows and files differ: + added, ~ changed, - removed.
func changesDocument(d document, store wire.StoreDiff, notes, state wire.FilesDiff) document {
	sign := map[amber.Op]string{amber.OpInsert: "+", amber.OpUpdate: "~", amber.OpDelete: "-"}
	equal := true
	for _, t := range store.Tables {
		if t.Added+t.Changed+t.Removed > 0 {
			equal = false
			d = d.text(fmt.Sprintf("%-12s +%d added  ~%d changed  -%d removed", t.Name, t.Added, t.Changed, t.Removed))
		}
	}
	for _, f := range []struct {
		name string
		diff wire.FilesDiff
	}{{"notes", notes}, {"state", state}} {
		if f.diff.Added+f.diff.Changed+f.diff.Removed > 0 {
			equal = false
			d = d.text(fmt.Sprintf("%-12s +%d added  ~%d changed  -%d removed", f.name, f.diff.Added, f.diff.Changed, f.diff.Removed))
		}
	}
	if equal {
		return d.dim("no difference")
	}
	d = d.blank()
	for _, r := range store.Rows {
		d = d.text(strings.TrimSpace(fmt.Sprintf("%s %s %s %s", sign[r.Op], r.Table, cli.ShortID(r.Key), r.Title)))
	}
	if store.More > 0 {
		d = d.dim("… " + words.Count(store.More, "more row", "more rows"))
	}
	for _, r := range notes.Files {
		d = d.text(sign[r.Op] + " note " + r.Key)
	}
	for _, r := range state.Files {
		d = d.text(sign[r.Op] + " state " + r.Key)
	}
	return d
}
