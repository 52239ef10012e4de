// Package supermemory reads lists of memories that the service supermemory answers with. Most of these lists have no text:
// then there is nothing to import, and the report says so.
package supermemory

import (
	"context"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

// Format is the format.
var Format = foreign.Format{
	Name: "supermemory", Title: "supermemory", Detect: detect, Read: read,
}

const list = "memories"

func detect(t *foreign.Tree) foreign.Match { return t.DetectDocuments(fits) }

// fits reports whether a document is such a list. Lists of mem0 have the same name, and other members.
func fits(s foreign.Sample) bool {
	o := s.First[list]
	return o.Has("id", "createdAt") && (o.Has("containerTags") || o.Has("customId")) && !o.Has("memory")
}

func read(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	seen := map[string]bool{}
	for _, f := range t.Documents(fits) {
		r := &reader{file: f, o: o, to: to, seen: seen}
		if err := r.read(ctx); err != nil {
			return err
		}
		if r.given == 0 && r.empty > 0 {
			to.Warn("%s: there is nothing to import: its %d memories have no content, as in all lists; fetch each memory with its content", f.Name, r.empty)
		}
	}
	return nil
}

// reader reads one document.
type reader struct {
	file         foreign.File
	o            foreign.Options
	to           foreign.Sink
	seen         map[string]bool // ids
	given, empty int
}

func (r *reader) read(ctx context.Context) error {
	return r.file.EachElement(ctx, r.to.Skip, func(name string, n int64, raw []byte) error {
		if name != list {
			return nil
		}
		return r.element(r.file.Place(fmt.Sprintf("memory %d", n)), raw)
	})
}

func (r *reader) element(at foreign.Place, raw []byte) error {
	o, err := foreign.ParseObject(raw)
	if err != nil {
		r.to.Skip(at, "memory %v", err)
		return nil
	}
	m, why := r.memory(at, o)
	if why != "" {
		r.to.Skip(at, "%s", why)
		return nil
	}
	r.seen[m.Key[0]] = true
	r.given++
	return r.to.Memory(m)
}

func (r *reader) memory(at foreign.Place, o foreign.Object) (m foreign.Memory, why string) {
	id := o.Text("id")
	m = foreign.Memory{
		Place: at, Key: foreign.Key{id}, Title: o.Text("title"), Summary: o.Text("summary"), Content: strings.TrimSpace(o.Text("content")),
		Tags: o.Texts("containerTags"), Identities: amber.Identities{UserID: r.o.User, ProjectID: r.o.Project},
	}
	switch {
	case id == "":
		return m, "memory has no id"
	case r.seen[id]:
		return m, "id " + id + " is there before"
	case m.Content == "":
		r.empty++
		return m, "memory has no content"
	}
	if err := m.TakeTimes(o.Text("createdAt"), o.Text("updatedAt")); err != nil {
		return m, err.Error()
	}
	m.Keep(o.Without("id", "title", "summary", "content", "containerTags", "createdAt", "updatedAt"))
	return m, ""
}
