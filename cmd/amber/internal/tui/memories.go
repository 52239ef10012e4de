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
	"github.com/amber-memory/amber/internal/base/words"
)

// memoriesPage is screen 2: every memory, the newest first.
func (m memoryScreen) memoriesPage() *page {
	p := &page{title: "Memories", empty: "There are no memories yet. Type\n  :remember \"We chose PostgreSQL for JSONB\"", look: m.memoryLook}
	p.load = func(ctx context.Context, after string) (batch, error) {
		list, err := m.src.Store.Memories.List(ctx, amber.ListQuery{All: true, Limit: pageSize, Cursor: amber.Cursor(after)})
		return batch{rows: m.memoryRows(list.Items), next: string(list.Next), note: asideNote(list.SetAside)}, err
	}
	here := func(fn func(id amber.MemoryID) tea.Cmd) func() tea.Cmd {
		return func() tea.Cmd {
			r, ok := p.current()
			if !ok {
				return nil
			}
			return fn(amber.MemoryID(r.id))
		}
	}
	some := func() bool { _, ok := p.current(); return ok }
	p.actions = []action{
		{"t", "timeline", "show what was remembered before and after", here(func(id amber.MemoryID) tea.Cmd { return m.push(m.timelinePage(id)) }), some},
		{"h", "history", "show every revision; then d shows what changed", here(func(id amber.MemoryID) tea.Cmd { return m.push(m.historyPage(id)) }), some},
		{"e", "edit", "edit the text in $EDITOR; every earlier revision stays", here(m.editMemory), some},
		{"r", "relations", "show related memories", here(func(id amber.MemoryID) tea.Cmd { return m.push(m.relationsPage(id)) }), some},
		{"x", "mark", "mark or unmark the memory; D then forgets all marked ones", func() tea.Cmd { return m.toggle(p) }, some},
		{"D", "forget", "forget the memory, or all marked ones; it asks first", func() tea.Cmd { return m.forget(p) }, some},
		{"u", "undo", "bring back what was forgotten here, else write the revision before the last", func() tea.Cmd { return m.undo(p) }, nil},
	}
	return p
}

// toggle marks a row, and moves on.
func (m memoryScreen) toggle(p *page) tea.Cmd {
	r, ok := p.current()
	if !ok {
		return nil
	}
	if p.marked == nil {
		p.marked = map[string]bool{}
	}
	if p.marked[r.id] {
		delete(p.marked, r.id)
	} else {
		p.marked[r.id] = true
	}
	return m.move(1)
}

func (m memoryScreen) memoryRows(list []amber.Memory) (rows []row) {
	for _, mem := range list {
		rows = append(rows, m.memoryRow(mem))
	}
	return rows
}

func (m memoryScreen) memoryRow(mem amber.Memory) row {
	title := mem.Title
	if title == "" {
		title = mem.Content
	}
	return row{
		id: string(mem.ID), title: title, side: m.when(mem.UpdatedAt), extra: string(mem.Kind), text: mem.Content,
		command: "amber get " + string(mem.ID), value: mem,
	}
}

func (m memoryScreen) memoryLook(r row) document { return m.memoryDocument(r.value.(amber.Memory)) }

// memoryDocument is a memory with everything that is known about it.
func (m memoryScreen) memoryDocument(mem amber.Memory) document {
	d := document{}
	if mem.Title != "" {
		d = d.head(mem.Title)
	}
	scope := string(mem.Scope)
	if id := mem.Identity(); id != "" {
		scope += " " + id
	}
	d = d.facts(string(mem.Kind), scope, "trust "+string(mem.Trust), fmt.Sprintf("revision %d", mem.Revision))
	d = d.facts("created "+mem.CreatedAt.String(), "updated "+m.when(mem.UpdatedAt))
	if !mem.DeletedAt.IsZero() {
		d = d.warn("forgotten " + m.when(mem.DeletedAt))
	}
	d = d.fact("topic", mem.Topic).fact("tags", strings.Join(mem.Tags, ", "))
	for _, k := range slices.Sorted(maps.Keys(mem.Metadata)) {
		d = d.fact("meta", k+"="+mem.Metadata[k])
	}
	for _, ref := range mem.SourceRefs {
		d = d.fact("source", ref.Kind+":"+ref.Value)
	}
	if mem.SessionID != "" {
		d = d.fact("session", string(mem.SessionID))
	}
	d = d.fact("device", mem.Origin.Device).fact("summary", mem.Summary)
	return d.blank().text(mem.Content)
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
const around = pageSize / 2

func (m memoryScreen) timelinePage(id amber.MemoryID) *page {
	p := &page{title: "Timeline", empty: "Nothing was remembered before or after.", look: m.memoryLook}
	p.load = func(ctx context.Context, _ string) (batch, error) {
		list, err := m.src.Store.Memories.Timeline(ctx, id, around, around)
		rows := m.memoryRows(list)
		for i := range rows {
			if rows[i].id == string(id) {
				rows[i].side = "this one"
			}
		}
		return batch{rows: rows}, err
	}
	return p
}

// historyPage lists the revisions of a memory, the newest first.
func (m memoryScreen) historyPage(id amber.MemoryID) *page {
	p := &page{title: "History", look: m.memoryLook, changes: true}
	p.load = func(ctx context.Context, _ string) (batch, error) {
		list, err := amber.All(ctx, m.src.Store.Memories.History, id)
		var rows []row
		var before amber.Memory
		for i, mem := range list {
			changed := []string{"created"}
			if i > 0 {
				changed = agent.Changes(before, mem)
			}
			r := m.memoryRow(mem)
			r.id = fmt.Sprintf("%s revision %d", id, mem.Revision)
			r.title, r.side = fmt.Sprintf("revision %d: %s", mem.Revision, strings.Join(changed, ", ")), m.when(mem.UpdatedAt)
			r.command, r.extra = "amber history "+string(id), ""
			rows, before = append(rows, r), mem
		}
		slices.Reverse(rows)
		return batch{rows: rows}, err
	}
	p.actions = []action{{"d", "diff", "show what this revision changed", func() tea.Cmd {
		if p.cursor+1 >= len(p.visible()) {
			return m.say("this is the first revision: there is none before it")
		}
		rows := p.visible()
		now, then := rows[p.cursor].value.(amber.Memory), rows[p.cursor+1].value.(amber.Memory)
		return m.pushDocument(fmt.Sprintf("Diff of revisions %d and %d", then.Revision, now.Revision), memoryDiff(then, now))
	}, nil}}
	return p
}

// memoryDiff shows what changed from one revision to another.
func memoryDiff(from, to amber.Memory) document {
	d := document{}.facts(agent.Changes(from, to)...).blank()
	if from.Title != to.Title {
		d = d.head("title")
		d = append(d, diff(from.Title, to.Title)...)
		d = d.blank()
	}
	if a, b := strings.Join(from.Tags, ", "), strings.Join(to.Tags, ", "); a != b {
		d = d.head("tags")
		d = append(d, diff(a, b)...)
		d = d.blank()
	}
	return append(d.head("content"), diff(from.Content, to.Content)...)
}

// relationsPage lists what is related to a memory.
func (m memoryScreen) relationsPage(id amber.MemoryID) *page {
	p := &page{title: "Relations", empty: "Nothing is related to this memory. Type\n  :relation add --help"}
	p.load = func(ctx context.Context, _ string) (batch, error) {
		list, err := m.src.Store.Relations.Related(ctx, id)
		var b batch
		for _, rel := range list {
			other, way := rel.To, "->"
			if other == id {
				other, way = rel.From, "<-"
			}
			b.rows = append(b.rows, row{
				id: rel.ID, title: fmt.Sprintf("%s %s %s", rel.Type, way, cli.ShortID(string(other))), side: fmt.Sprintf("%.2f", rel.Strength),
				text: string(other), command: "amber get " + string(other), value: other,
			})
		}
		return b, err
	}
	p.detail = func(ctx context.Context, r row) (document, error) {
		mem, err := m.src.Store.Memories.Get(ctx, r.value.(amber.MemoryID))
		return m.memoryDocument(mem), err
	}
	return p
}
