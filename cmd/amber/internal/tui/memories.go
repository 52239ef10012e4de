package tui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/window"
	"github.com/amber-memory/amber/internal/base/words"
)

// memoriesPage is screen 2: every memory, the newest first.
func (m memoryScreen) memoriesPage() *window.Page {
	p := &window.Page{Title: "Memories", Empty: "There are no memories yet. Type\n  :remember \"We chose PostgreSQL for JSONB\"", Look: m.memoryLook}
	p.Load = func(ctx context.Context, after string) (window.Batch, error) {
		list, err := m.src.Store.Memories.List(ctx, amber.ListQuery{All: true, Limit: window.PageSize, Cursor: amber.Cursor(after)})
		return window.Batch{Rows: m.memoryRows(list.Items), Next: string(list.Next), Note: asideNote(list.SetAside)}, err
	}
	p.Actions = []window.Action{
		p.OnRow("t", "timeline", "show what was remembered before and after", func(r window.Row) tea.Cmd { return m.Push(m.timelinePage(amber.MemoryID(r.ID))) }),
		p.OnRow("h", "history", "show every revision; then d shows what changed", func(r window.Row) tea.Cmd { return m.Push(m.historyPage(amber.MemoryID(r.ID))) }),
		p.OnRow("e", "edit", "edit the text in $EDITOR; every earlier revision stays", func(r window.Row) tea.Cmd { return m.editMemory(amber.MemoryID(r.ID)) }),
		p.OnRow("r", "relations", "show related memories", func(r window.Row) tea.Cmd { return m.Push(m.relationsPage(amber.MemoryID(r.ID))) }),
		p.OnRow("x", "mark", "mark or unmark the memory; D then forgets all marked ones", func(window.Row) tea.Cmd { return m.toggle(p) }),
		p.OnRow("D", "forget", "forget the memory, or all marked ones; it asks first", func(window.Row) tea.Cmd { return m.forget(p) }),
		window.Key("u", "undo", "bring back what was forgotten here, else write the revision before the last", func() tea.Cmd { return m.undo(p) }, nil),
	}
	return p
}

// toggle marks a row, and moves on.
func (m memoryScreen) toggle(p *window.Page) tea.Cmd {
	r, ok := p.Current()
	if !ok {
		return nil
	}
	if p.Marked == nil {
		p.Marked = map[string]bool{}
	}
	if p.Marked[r.ID] {
		delete(p.Marked, r.ID)
	} else {
		p.Marked[r.ID] = true
	}
	return m.Move(1)
}

func (m memoryScreen) memoryRows(list []amber.Memory) (rows []window.Row) {
	for _, mem := range list {
		rows = append(rows, m.memoryRow(mem))
	}
	return rows
}

func (m memoryScreen) memoryRow(mem amber.Memory) window.Row {
	title := mem.Title
	if title == "" {
		title = mem.Content
	}
	return window.Row{
		ID: string(mem.ID), Title: title, Side: m.When(mem.UpdatedAt), Extra: string(mem.Kind), Text: mem.Content,
		Command: "amber get " + string(mem.ID), Value: mem,
	}
}

func (m memoryScreen) memoryLook(r window.Row) window.Document {
	return m.memoryDocument(r.Value.(amber.Memory))
}

// memoryDocument is a memory with everything that is known about it.
func (m memoryScreen) memoryDocument(mem amber.Memory) window.Document {
	d := window.Document{}
	if mem.Title != "" {
		d = d.Head(mem.Title)
	}
	scope := string(mem.Scope)
	if id := mem.Identity(); id != "" {
		scope += " " + id
	}
	d = d.Facts(string(mem.Kind), scope, "trust "+string(mem.Trust), fmt.Sprintf("revision %d", mem.Revision))
	d = d.Facts("created "+mem.CreatedAt.String(), "updated "+m.When(mem.UpdatedAt))
	if !mem.DeletedAt.IsZero() {
		d = d.Warn("forgotten " + m.When(mem.DeletedAt))
	}
	d = d.Fact("topic", mem.Topic).Fact("tags", strings.Join(mem.Tags, ", "))
	for _, k := range slices.Sorted(maps.Keys(mem.Metadata)) {
		d = d.Fact("meta", k+"="+mem.Metadata[k])
	}
	for _, ref := range mem.SourceRefs {
		d = d.Fact("source", ref.Kind+":"+ref.Value)
	}
	if mem.SessionID != "" {
		d = d.Fact("session", string(mem.SessionID))
	}
	d = d.Fact("device", mem.Origin.Device).Fact("summary", mem.Summary)
	return d.Blank().Text(mem.Content)
}

// asideNote reports rows that cannot be read.
func asideNote(rows []amber.SetAside) string {
	if len(rows) == 0 {
		return ""
	}
	return fmt.Sprintf("%s cannot be read and are left out, the first is %s: %s (9 then r: doctor)",
		words.Count(int64(len(rows)), "row", "rows"), rows[0].ID, rows[0].Reason)
}

// around is how many memories a timeline shows before and after one.
const around = window.PageSize / 2

func (m memoryScreen) timelinePage(id amber.MemoryID) *window.Page {
	p := &window.Page{Title: "Timeline", Empty: "Nothing was remembered before or after.", Look: m.memoryLook}
	p.Load = func(ctx context.Context, _ string) (window.Batch, error) {
		list, err := m.src.Store.Memories.Timeline(ctx, id, around, around)
		rows := m.memoryRows(list)
		for i := range rows {
			if rows[i].ID == string(id) {
				rows[i].Side = "this one"
			}
		}
		return window.Batch{Rows: rows}, err
	}
	return p
}

// historyPage lists the revisions of a memory, the newest first.
func (m memoryScreen) historyPage(id amber.MemoryID) *window.Page {
	p := &window.Page{Title: "History", Look: m.memoryLook, Changes: true}
	p.Load = func(ctx context.Context, _ string) (window.Batch, error) {
		list, err := amber.All(ctx, m.src.Store.Memories.History, id)
		var rows []window.Row
		var before amber.Memory
		for i, mem := range list {
			changed := []string{"created"}
			if i > 0 {
				changed = agent.Changes(before, mem)
			}
			r := m.memoryRow(mem)
			r.ID = fmt.Sprintf("%s revision %d", id, mem.Revision)
			r.Title, r.Side = fmt.Sprintf("revision %d: %s", mem.Revision, strings.Join(changed, ", ")), m.When(mem.UpdatedAt)
			r.Command, r.Extra = "amber history "+string(id), ""
			rows, before = append(rows, r), mem
		}
		slices.Reverse(rows)
		return window.Batch{Rows: rows}, err
	}
	p.Actions = []window.Action{window.Key("d", "diff", "show what this revision changed", func() tea.Cmd {
		if p.Cursor+1 >= len(p.Visible()) {
			return m.Say("this is the first revision: there is none before it")
		}
		rows := p.Visible()
		now, then := rows[p.Cursor].Value.(amber.Memory), rows[p.Cursor+1].Value.(amber.Memory)
		return m.PushDocument(fmt.Sprintf("Diff of revisions %d and %d", then.Revision, now.Revision), memoryDiff(then, now))
	}, nil)}
	return p
}

// memoryDiff shows what changed from one revision to another.
func memoryDiff(from, to amber.Memory) window.Document {
	d := window.Document{}.Facts(agent.Changes(from, to)...).Blank()
	if from.Title != to.Title {
		d = d.Head("title")
		d = append(d, window.Diff(from.Title, to.Title)...)
		d = d.Blank()
	}
	if a, b := strings.Join(from.Tags, ", "), strings.Join(to.Tags, ", "); a != b {
		d = d.Head("tags")
		d = append(d, window.Diff(a, b)...)
		d = d.Blank()
	}
	return append(d.Head("content"), window.Diff(from.Content, to.Content)...)
}

// relationsPage lists what is related to a memory.
func (m memoryScreen) relationsPage(id amber.MemoryID) *window.Page {
	p := &window.Page{Title: "Relations", Empty: "Nothing is related to this memory. Type\n  :relation add --help"}
	p.Load = func(ctx context.Context, _ string) (window.Batch, error) {
		list, err := m.src.Store.Relations.Related(ctx, id)
		var b window.Batch
		for _, rel := range list {
			other, way := rel.To, "->"
			if other == id {
				other, way = rel.From, "<-"
			}
			b.Rows = append(b.Rows, window.Row{
				ID: rel.ID, Title: fmt.Sprintf("%s %s %s", rel.Type, way, cli.ShortID(string(other))), Side: fmt.Sprintf("%.2f", rel.Strength),
				Text: string(other), Command: "amber get " + string(other), Value: other,
			})
		}
		return b, err
	}
	p.Detail = func(ctx context.Context, r window.Row) (window.Document, error) {
		mem, err := m.src.Store.Memories.Get(ctx, r.Value.(amber.MemoryID))
		return m.memoryDocument(mem), err
	}
	return p
}
