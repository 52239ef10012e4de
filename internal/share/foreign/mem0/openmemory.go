package mem0

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// OpenMemory is the format of OpenMemory, which mem0 published until 2026.
var OpenMemory = foreign.Format{
	Name: "openmemory", Title: "OpenMemory", Detect: detectOpen, Read: readOpen,
}

func detectOpen(t *foreign.Tree) foreign.Match {
	return foreign.SureIf(slices.ContainsFunc(foreign.Looked(backups(t)), isBackup) || slices.ContainsFunc(foreign.Looked(lineFiles(t)), isLines))
}

func backups(t *foreign.Tree) []foreign.File { return t.Nearest("memories.json") }

// lineFiles are the files that may hold lines: those of a backup, then others beside them.
func lineFiles(t *foreign.Tree) []foreign.File {
	out := t.Nearest("memories.jsonl.gz", "memories.jsonl")
	for _, f := range t.Nearest("*.jsonl", "*.json") {
		_, single := t.Single()
		if !single && !strings.Contains(f.Name, "/") && f.Name != "memories.jsonl" {
			out = append(out, f)
		}
	}
	return out
}

// isBackup reports whether a file is the part of a backup that knows the user.
func isBackup(f foreign.File) bool {
	o := f.Outline()
	return o["user.user_id"] && (o["apps"] || o["memories"])
}

func isLines(f foreign.File) bool {
	for i, line := range bytes.Split(f.Head(headBytes), []byte("\n")) {
		if i == headLines {
			break
		}
		x, ok := foreign.ParseFields(bytes.TrimSpace(line))
		if ok && x.Text("id") != "" && x["content"] != nil && x["state"] != nil && x["app"] != nil && x["categories"] != nil {
			return true
		}
	}
	return false
}

// openReader reads a backup: lines that hold the memories, and a document that also knows the user.
type openReader struct {
	to               foreign.Sink
	o                foreign.Options
	user             string
	apps, categories map[string]string     // names by id
	deleted          map[string]amber.Time // by the id of a memory
	said             foreign.Seen
}

func readOpen(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	r := &openReader{to: to, o: o, apps: map[string]string{}, categories: map[string]string{}, deleted: map[string]amber.Time{}, said: foreign.Seen{}}
	_, single := t.Single()
	docs := slices.DeleteFunc(backups(t), func(f foreign.File) bool { return !isBackup(f) })
	for _, f := range docs {
		if err := r.document(ctx, f, to.Skip, r.know); err != nil {
			return err
		}
	}
	for _, f := range lineFiles(t) {
		named := f.Is("memories.jsonl.gz", "memories.jsonl")
		if single && len(docs) > 0 || !single && !named && !isLines(f) {
			continue
		}
		if err := r.lines(ctx, f); err != nil {
			return err
		}
	}
	return r.rest(ctx, docs)
}

// rest gives out the memories of documents that no line holds.
func (r *openReader) rest(ctx context.Context, docs []foreign.File) error {
	for _, f := range docs {
		if err := r.document(ctx, f, foreign.Quiet, func(list string, at foreign.Place, x foreign.Fields) error {
			if list != "memories" || r.said.Has(keyOf(x.Text("id"), x.Text("content"))) {
				return nil
			}
			return r.memory(f, at, r.named(x))
		}); err != nil {
			return err
		}
	}
	return nil
}

func (r *openReader) document(ctx context.Context, f foreign.File, skip foreign.SkipFunc, fn func(list string, at foreign.Place, x foreign.Fields) error) error {
	return foreign.ReadDocument(f, skip, foreign.Document{
		Element: func(list string, n int64, raw []byte) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			at := foreign.Place{File: f.Name, At: fmt.Sprintf("%s %d", list, n)}
			x, ok := foreign.ParseFields(raw)
			if !ok {
				skip(at, "element is %.40q, want an object", raw)
				return nil
			}
			return fn(list, at, x)
		},
		Member: func(member string, raw []byte) error {
			x, _ := foreign.ParseFields(raw)
			return fn(member, foreign.Place{File: f.Name, At: member}, x)
		},
	})
}

// know notes what the document says about users, apps, categories and deletions.
func (r *openReader) know(list string, _ foreign.Place, x foreign.Fields) error {
	switch list {
	case "user":
		r.user = x.Text("user_id")
	case "apps":
		r.apps[x.Text("id")] = x.Text("name")
	case "categories":
		r.categories[x.Text("id")] = x.Text("name")
	case "memories":
		if at, err := timeOf(x, "deleted_at"); err == nil && !at.IsZero() {
			r.deleted[x.Text("id")] = at
		}
	}
	return nil
}

// named returns a row of the document with the members of a line.
func (r *openReader) named(x foreign.Fields) foreign.Fields {
	var names []string
	for _, id := range x.Texts("category_ids") {
		if n := r.categories[id]; n != "" {
			names = append(names, n)
		}
	}
	x["categories"], x["app"] = foreign.Raw(names), foreign.Raw(r.apps[x.Text("app_id")])
	for _, member := range []string{"category_ids", "app_id", "user_id"} {
		delete(x, member) // ids of that database
	}
	return x
}

func (r *openReader) lines(ctx context.Context, f foreign.File) error {
	return f.EachLine(ctx, r.to.Skip, func(n int64, line []byte) error {
		x, ok := foreign.ParseFields(line)
		if !ok {
			r.to.Skip(f.Line(n), "line is %.40q, want an object in JSON", line)
			return nil
		}
		return r.memory(f, f.Line(n), x)
	})
}

func (r *openReader) memory(f foreign.File, at foreign.Place, x foreign.Fields) error {
	if x.Text("id") == "" && x.Text("state") == "" {
		r.to.Skip(at, "object has neither an id nor a state")
		return nil
	}
	m, err := item(x, r.o)
	if err != nil {
		r.to.Skip(at, "%v", err)
		return nil
	}
	m.Place = at
	if r.o.User == "" && r.user != "" {
		m.UserID = r.user
		m.Scope = scopeOf(m.Identities)
	}
	m.CreatedAt = cmp.Or(m.CreatedAt, m.UpdatedAt, f.ModifiedAt())
	m.UpdatedAt = cmp.Or(m.UpdatedAt, m.CreatedAt)
	r.state(&m, x)
	switch r.said.Add(m.Key, m.Content) {
	case foreign.Same:
		return nil
	case foreign.Other:
		r.to.Skip(at, "memory %.60q is in these files twice, with different texts: the first one counts", x.Text("id"))
		return nil
	}
	return r.to.Memory(m)
}

// state takes over what became of a memory, and the app that wrote it.
func (r *openReader) state(m *foreign.Memory, x foreign.Fields) {
	more := map[string]string{"app": x.Text("app")}
	switch state := strings.ToLower(x.Text("state")); state {
	case "deleted":
		m.DeletedAt = cmp.Or(r.deleted[x.Text("id")], m.UpdatedAt)
	case "paused", "archived":
		more["state"] = state
	}
	for k, v := range more {
		if v == "" {
			continue
		}
		if m.Metadata == nil {
			m.Metadata = map[string]string{}
		}
		m.Metadata[k] = v
	}
}
