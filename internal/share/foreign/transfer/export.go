package transfer

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/tagged"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/wire"
)

// ExportOptions say what leaves.
type ExportOptions struct {
	// Project limits memories and conversations to one project, and leaves notes out: a note belongs to no project.
	Project string
	// Users are those whose memories leave, AllUsers every one. Memories of other users stay.
	Users    []string
	AllUsers bool
	// Private lets passages leave that are marked private.
	Private bool
	// Redact finds private passages and secrets; nil: nothing is taken out.
	Redact *redact.Redactor
	Clock  amber.Clock
	Agent  amber.AgentID
}

// Export writes what a store holds in a format. Errors: unsupported for a format that nothing reads; those of the store
// and of the output.
func Export(ctx context.Context, store amber.Store, f foreign.Format, o ExportOptions, to foreign.Output) (wire.ForeignExport, error) {
	if f.Write == nil {
		return wire.ForeignExport{}, amber.Errorf(amber.KindUnsupported, "export", f.Name, "the format is read and not written")
	}
	c := &contents{store: store, o: o, counted: map[string]bool{}, report: wire.ForeignExport{Format: f.Name}}
	err := f.Write(ctx, c, foreign.WriteOptions{Project: o.Project, At: amber.At(o.Clock()), Agent: o.Agent}, to)
	if p, ok := to.(*pathOutput); ok {
		err = p.finish(err)
		c.report.Path = p.path
	}
	return c.report, err
}

// contents is what may leave a store.
type contents struct {
	store   amber.Store
	o       ExportOptions
	report  wire.ForeignExport
	counted map[string]bool // kinds that were given out once, and are not counted again
}

// once reports whether items of a kind are given out for the first time.
func (c *contents) once(kind string) bool {
	first := !c.counted[kind]
	c.counted[kind] = true
	return first
}

// leaves reports whether a memory may leave.
func (c *contents) leaves(m amber.Memory) bool {
	return c.o.Project == "" || m.ProjectID == c.o.Project
}

func (c *contents) named(m amber.Memory) bool {
	return m.Scope != amber.ScopeUser || c.o.AllUsers || slices.Contains(c.o.Users, m.UserID)
}

// Memories implements [foreign.Contents].
func (c *contents) Memories(ctx context.Context, fn func(amber.Memory) error) error {
	first := c.once("memories")
	q := amber.ListQuery{All: true, Limit: amber.MaxPageSize}
	for {
		page, err := c.store.Memories.List(ctx, q)
		if err != nil {
			return err
		}
		if len(page.SetAside) > 0 {
			s := page.SetAside[0]
			return amber.Errorf(amber.KindDamaged, "export", s.ID, "row of %s cannot be read: %s", s.Table, s.Reason).WithHint("amber doctor")
		}
		for _, m := range page.Items {
			if !c.leaves(m) {
				continue
			}
			if !c.named(m) {
				if first {
					c.report.Held++
				}
				continue
			}
			m = c.clean(m, first)
			if strings.TrimSpace(m.Content) == "" {
				continue // all of it is private
			}
			if first {
				c.report.Memories++
			}
			if err := fn(m); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		q.Cursor = page.Next
	}
}

// Versions implements [foreign.Contents].
func (c *contents) Versions(ctx context.Context, id amber.MemoryID) ([]amber.SyncMemory, error) {
	history, err := amber.All(ctx, c.store.Memories.History, id)
	if err != nil {
		return nil, err
	}
	out := make([]amber.SyncMemory, 0, len(history))
	for _, m := range history {
		if m.DeletedAt.IsZero() && (!c.leaves(m) || !c.named(m)) {
			continue // it belonged to another user or project then
		}
		v := amber.SyncMemory{Memory: c.clean(m, false)}
		if n := len(out); n > 0 && m.Origin.After(out[n-1].Origin) {
			v.Saw = []amber.Origin{out[n-1].Origin}
		}
		out = append(out, v)
	}
	return out, nil
}

// clean takes out what does not leave.
func (c *contents) clean(m amber.Memory, count bool) amber.Memory {
	if c.o.Redact == nil {
		return m
	}
	was := m.Content
	tagged.Change{
		Text:  func(s string) string { return c.text(s, count) },
		Pairs: func(m map[string]string) map[string]string { return c.pairs(m, count) }, Documents: c.documents,
	}.Apply(&m)
	if m.Content != was {
		m.ContentDigest = amber.ContentDigest(m.Content)
	}
	m.Tags = slices.DeleteFunc(m.Tags, func(tag string) bool { return strings.TrimSpace(tag) == "" })
	m.SourceRefs = slices.DeleteFunc(m.SourceRefs, func(r amber.SourceRef) bool { return strings.TrimSpace(r.Value) == "" })
	return m
}

// pairs cleans names and values.
func (c *contents) pairs(m map[string]string, count bool) map[string]string {
	out := make(map[string]string, len(m))
	for name, value := range m {
		if name = c.text(name, count); strings.TrimSpace(name) != "" {
			out[name] = c.text(value, count)
		}
	}
	return out
}

// documents cleans what other programs said about a memory. Where a passage was taken out of it, none of it leaves: what is
// left would no longer be what they said.
func (c *contents) documents(m map[string]json.RawMessage) map[string]json.RawMessage {
	var out map[string]json.RawMessage
	for name, raw := range m {
		clean, found := c.o.Redact.JSON(string(raw), nil)
		if found.Total > 0 || clean != string(raw) {
			continue
		}
		if out == nil {
			out = map[string]json.RawMessage{}
		}
		out[name] = raw
	}
	return out
}

func (c *contents) text(s string, count bool) string {
	if c.o.Redact == nil {
		return s
	}
	if !c.o.Private {
		s = c.o.Redact.WithoutPrivate(s)
	}
	s, found := c.o.Redact.String(s)
	for rule, n := range found.Counts {
		if count {
			if c.report.Redacted == nil {
				c.report.Redacted = map[string]int{}
			}
			c.report.Redacted[rule] += n
		}
	}
	return s
}

// Relations implements [foreign.Contents].
func (c *contents) Relations(ctx context.Context, fn func(amber.Relation) error) error {
	first := c.once("relations")
	inside := map[amber.MemoryID]bool{}
	var ids []amber.MemoryID
	err := c.Memories(ctx, func(m amber.Memory) error {
		inside[m.ID] = true
		ids = append(ids, m.ID)
		return nil
	})
	if err != nil {
		return err
	}
	for _, id := range ids {
		list, err := c.store.Relations.Related(ctx, id)
		if err != nil {
			return err
		}
		for _, r := range list {
			if r.From != id || !inside[r.To] || !r.DeletedAt.IsZero() {
				continue
			}
			if first {
				c.report.Relations++
			}
			if err := fn(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// Sessions implements [foreign.Contents].
func (c *contents) Sessions(ctx context.Context, fn func(amber.Session, func(func(amber.Turn) error) error) error) error {
	first := c.once("sessions")
	q := amber.SessionQuery{Project: c.o.Project, Limit: amber.MaxPageSize}
	for {
		page, err := c.store.Sessions.ListSessions(ctx, q)
		if err != nil {
			return err
		}
		for _, s := range page.Items {
			if first {
				c.report.Sessions++
			}
			s.Summary, s.Directory = c.text(s.Summary, first), c.text(s.Directory, first)
			if s.Name = strings.TrimSpace(c.text(s.Name, first)); s.Name == "" {
				s.Name = string(s.ID)
			}
			if err := fn(s, c.turns(ctx, s.ID, first)); err != nil {
				return err
			}
		}
		if page.Next == "" {
			return nil
		}
		q.Cursor = page.Next
	}
}

// turns gives out what was said in a session.
func (c *contents) turns(ctx context.Context, id amber.SessionID, first bool) func(func(amber.Turn) error) error {
	return func(fn func(amber.Turn) error) error {
		count := first && c.once("turns of "+string(id))
		for q := (amber.TurnQuery{SessionID: id, Oldest: true, Limit: amber.MaxPageSize}); ; {
			page, err := c.store.Turns.ListTurns(ctx, q)
			if err != nil {
				return err
			}
			for _, t := range page.Items {
				if count {
					c.report.Turns++
				}
				t.Content = c.text(t.Content, count)
				if err := fn(t.Turn); err != nil {
					return err
				}
			}
			if q.Cursor = page.Next; q.Cursor == "" {
				return nil
			}
		}
	}
}

// Notes implements [foreign.Contents].
func (c *contents) Notes(ctx context.Context, fn func(amber.Note) error) error {
	if c.o.Project != "" {
		return nil
	}
	first := c.once("notes")
	list, err := c.store.Notes.ListNotes(ctx)
	if amber.KindOf(err) == amber.KindUnsupported {
		return nil
	}
	if err != nil {
		return err
	}
	for _, n := range list {
		whole, err := c.store.Notes.ReadNote(ctx, n.Name)
		if err != nil {
			return err
		}
		if first {
			c.report.Notes++
		}
		whole.Content = c.text(whole.Content, first)
		if err := fn(whole); err != nil {
			return err
		}
	}
	return nil
}
