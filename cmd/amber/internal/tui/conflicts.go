package tui

import (
	"context"
	"fmt"
	"maps"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

// disputed is a memory that says two things.
type disputed struct {
	id        amber.MemoryID
	one, two  amber.SyncVersion // one is what is shown everywhere
	moreSides int
	sides     string // names all versions that were listed
}

// sidesOf names the versions of a memory in a report; "" where it is in no conflict.
func sidesOf(id amber.MemoryID, r amber.SyncReport) (names string) {
	for _, c := range r.Conflicts {
		if c.ID != id {
			continue
		}
		for _, v := range append([]amber.SyncVersion{c.Kept}, c.Others...) {
			names += fmt.Sprintf("%q %d %d\n", v.Origin.Device, v.Origin.Counter, uint64(v.Origin.Clock))
		}
	}
	return names
}

// conflictsPage is screen 6: what was changed at two places, and what was not taken in.
func (m conflictScreen) conflictsPage() *window.Page {
	p := &window.Page{Title: "Conflicts", Empty: "There are no conflicts, and nothing is in quarantine."}
	p.Load = func(ctx context.Context, _ string) (window.Batch, error) { return m.loadConflicts(ctx) }
	p.Detail = m.conflictDetail
	conflict := func() (disputed, bool) {
		r, _ := p.Current()
		d, ok := r.Value.(disputed)
		return d, ok
	}
	is := func() bool { _, ok := conflict(); return ok }
	keep := func(which int) func() tea.Cmd {
		return func() tea.Cmd {
			d, _ := conflict()
			return m.settle(p, d, which)
		}
	}
	p.Actions = []window.Action{
		window.Key("1", "keep 1", "keep the first text, the one that is shown everywhere; it asks first", keep(1), is),
		window.Key("2", "keep 2", "keep the second text; it asks first", keep(2), is),
		window.Key("e", "edit both", "edit both texts together in $EDITOR", func() tea.Cmd {
			d, _ := conflict()
			return editor(m).editRead(func(ctx context.Context) (editing, error) { return m.readConflict(ctx, d) })
		}, is),
	}
	return p
}

// loadConflicts lists conflicts, then chunks of sync and entries of the journal that were set aside. A part
// that the store or the server cannot report is a row of its own.
func (m conflictScreen) loadConflicts(ctx context.Context) (b window.Batch, err error) {
	report, err := m.src.Sync(ctx)
	if err != nil && amber.KindOf(err) != amber.KindUnsupported {
		return b, err
	}
	for _, c := range report.Conflicts {
		for i, other := range c.Others {
			b.Rows = append(b.Rows, window.Row{
				ID: fmt.Sprintf("%s %d", c.ID, i+1), Lead: "conflict   ", Title: cmpTitle(c.Kept, other), Side: m.When(other.UpdatedAt), Text: string(c.ID),
				Command: "amber history " + string(c.ID), Value: disputed{c.ID, c.Kept, other, len(c.Others) - 1, sidesOf(c.ID, report)},
			})
		}
	}
	if more := report.ConflictCount - int64(len(report.Conflicts)); more > 0 {
		b.Note = words.Count(more, "more conflict is", "more conflicts are") + " listed once these are settled"
	}
	for _, q := range report.Quarantined {
		b.Rows = append(b.Rows, window.Row{ID: q.ID, Lead: "sync chunk ", Title: q.ID, Side: string(q.Kind), Text: q.Reason, Command: "amber sync status", Value: q})
	}
	held, err := m.src.Held.HeldEntries(ctx, "")
	if kind := amber.KindOf(err); kind == amber.KindUnsupported || kind == amber.KindNotFound {
		err = nil
	}
	for _, h := range held {
		b.Rows = append(b.Rows, window.Row{
			ID: h.Key + "/" + h.Name, Lead: "journal    ", Title: h.Name + " " + h.Reason, Side: m.When(h.At), Text: h.Reason,
			Command: "amber journal quarantine --retry --session " + quoted(h.Key), Value: h,
		})
	}
	return b, err
}

// cmpTitle names a conflict.
func cmpTitle(versions ...amber.SyncVersion) string {
	for _, v := range versions {
		for _, text := range []string{v.Title, v.Content} {
			if text != "" {
				return text
			}
		}
	}
	return "(deleted)"
}

func (m conflictScreen) conflictDetail(ctx context.Context, r window.Row) (window.Document, error) {
	switch v := r.Value.(type) {
	case disputed:
		return m.disputedDocument(v), nil
	case amber.QuarantinedChunk:
		return window.Document{}.Head("sync chunk " + v.ID).Facts(string(v.Kind)).Text(v.Reason).Blank().
			Dim("The next amber sync import tries it again."), nil
	case wire.HeldEntry:
		h, err := m.src.Held.ShowHeld(ctx, v.Key, v.Name)
		d := window.Document{}.Head(v.Name).Facts("session "+string(v.SessionID), v.Host, cli.ByteSize(v.Bytes), "given up "+m.When(v.At)).
			Fact("reason", v.Reason).Dim("put back with: " + r.Command).Blank()
		if err != nil {
			return append(d, window.ErrorDocument(err)...), nil
		}
		return d.Text(string(h.Payload)), nil
	}
	return nil, nil
}

func (m conflictScreen) disputedDocument(c disputed) window.Document {
	d := window.Document{}.Head("memory " + string(c.id))
	if c.moreSides > 0 {
		d = d.Warn(words.Count(c.moreSides, "more version of this memory is", "more versions of this memory are") + " in the list")
	}
	for i, v := range []amber.SyncVersion{c.one, c.two} {
		note := ""
		if i == 0 {
			note = "shown everywhere"
		}
		d = d.Blank().Head(fmt.Sprintf("%d  %s", i+1, v.Title)).
			Facts("device "+v.Origin.Device, "clock "+v.Origin.Clock.Time().String(), m.When(v.UpdatedAt), note)
		if v.Deleted {
			d = d.Warn("deleted here")
		}
		d = d.Text(v.Content)
	}
	d = d.Blank().Head("from 1 (-) to 2 (+)")
	return append(d, window.Diff(c.one.Content, c.two.Content)...)
}

// settle asks before it keeps one of the two texts.
func (m conflictScreen) settle(p *window.Page, c disputed, which int) tea.Cmd {
	v := []amber.SyncVersion{c.one, c.two}[which-1]
	about := window.Document{}.Head(v.Title).Text(v.Content)
	if v.Deleted {
		about = window.Document{}.Warn("This version is deleted: the memory is forgotten.")
	}
	return m.Confirm(fmt.Sprintf("Keep text %d? The other one stays in the history.", which), about, func() tea.Cmd {
		return window.Do(m.Shell, func(ctx context.Context) error { return m.keep(ctx, c, which == 1) }, func(err error) tea.Cmd {
			return m.Done(p, "the conflict is settled; the next sync export tells the others", err)
		})
	})
}

// settledKey is the metadata that an edit adds which keeps the text as it is: without any change there
// would be no new revision, and only a new revision settles a conflict.
const settledKey = "conflict_settled"

// keep makes one version the newest. Errors: conflict when the memory does not say any more what was
// shown.
func (m conflictScreen) keep(ctx context.Context, c disputed, shown bool) error {
	v := c.two
	if shown {
		v = c.one
	}
	now, err := m.unchanged(ctx, c)
	if err != nil {
		return err
	}
	if v.Deleted {
		return m.src.Store.LongTerm.Delete(ctx, c.id)
	}
	r := amber.EditRequest{ID: c.id, IfRevision: now.Revision, Title: &v.Title, Content: &v.Content}
	if shown {
		meta := maps.Clone(now.Metadata)
		if meta == nil {
			meta = map[string]string{}
		}
		meta[settledKey] = amber.At(m.Out.Clock()).String()
		r.Metadata = &meta
	}
	_, err = m.edit(ctx, r)
	return err
}

// unchanged returns the memory of a conflict as it is now, the zero one where it is deleted. Errors:
// conflict when that is not what was shown, or when other versions are in the conflict now.
func (m conflictScreen) unchanged(ctx context.Context, c disputed) (amber.Memory, error) {
	report, err := m.src.Sync(ctx)
	if err != nil {
		return amber.Memory{}, err
	}
	now, err := m.src.Store.Memories.Get(ctx, c.id)
	gone := amber.KindOf(err) == amber.KindNotFound
	switch {
	case err != nil && !gone:
		return now, err
	case sidesOf(c.id, report) != c.sides || gone != c.one.Deleted || !gone && (now.Title != c.one.Title || now.Content != c.one.Content):
		return now, amber.Errorf(amber.KindConflict, "settle conflict", string(c.id), "the memory was changed since it was shown").WithHint("press 6 to load the conflicts anew")
	}
	return now, nil
}

// The lines that stand around the two texts in the editor.
const (
	markOne = "<<<<<<< 1"
	markMid = "======="
	markTwo = ">>>>>>> 2"
)

// readConflict puts both texts into one, to be edited.
func (m conflictScreen) readConflict(ctx context.Context, c disputed) (editing, error) {
	if _, err := m.unchanged(ctx, c); err != nil {
		return editing{}, err
	}
	e, err := memoryScreen(m).readMemory(ctx, c.id)
	if err != nil {
		return e, err
	}
	e.text = strings.Join([]string{markOne, c.one.Content, markMid, c.two.Content, markTwo}, "\n")
	e.stored = e.text
	save := e.save
	e.save = func(ctx context.Context, text string) (string, error) {
		for _, sign := range []string{markOne, markTwo} {
			if strings.Contains("\n"+text+"\n", "\n"+sign+"\n") {
				return "", amber.Errorf(amber.KindInvalid, "settle conflict", string(c.id), "the line %q is still in the text, want the text without the marks", sign)
			}
		}
		if _, err := m.unchanged(ctx, c); err != nil {
			return "", err
		}
		return save(ctx, text)
	}
	e.again = func(ctx context.Context) (editing, error) { return m.readConflict(ctx, c) }
	return e, nil
}
