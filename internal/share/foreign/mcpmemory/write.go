package mcpmemory

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
)

type entityLine struct {
	Type         string   `json:"type"`
	Name         string   `json:"name"`
	EntityType   string   `json:"entityType"`
	Observations []string `json:"observations"` // never null: a line without them makes every read of the server fail
}

type relationLine struct {
	Type         string `json:"type"`
	From         string `json:"from"`
	To           string `json:"to"`
	RelationType string `json:"relationType"`
}

// write writes the entities, then the relations, without a line break at the end, as the server does.
func write(ctx context.Context, c foreign.Contents, _ foreign.WriteOptions, to foreign.Output) error {
	return foreign.WriteFile(to, "", func(out *bufio.Writer) error {
		w := &writer{out: out, names: map[amber.MemoryID]string{}, taken: map[string]bool{}}
		if err := c.Memories(ctx, w.memory); err != nil {
			return err
		}
		return c.Relations(ctx, w.relation)
	})
}

type writer struct {
	out   *bufio.Writer
	lines int
	names map[amber.MemoryID]string
	taken map[string]bool
}

func (w *writer) line(v any) error {
	line := foreign.JSON(v)
	if w.lines++; w.lines > 1 {
		line = slices.Insert(line, 0, '\n')
	}
	_, err := w.out.Write(line)
	return err
}

func (w *writer) memory(m amber.Memory) error {
	n := w.name(m)
	w.names[m.ID], w.taken[n] = n, true
	return w.line(entityLine{"entity", n, cmp.Or(m.Metadata["entity_type"], typeOf(m.Kind)), append(said(m), idMark+string(m.ID))})
}

// name returns a name that no other entity has.
func (w *writer) name(m amber.Memory) string {
	short := string(m.ID[:min(8, len(m.ID))])
	n := cmp.Or(strings.TrimSpace(m.Title), strings.TrimSpace(m.Topic), short)
	for _, more := range []string{"", " (" + short + ")", " (" + string(m.ID) + ")"} {
		if !w.taken[n+more] {
			return n + more
		}
	}
	return string(m.ID)
}

// said returns the content as observations: those that it was imported from, unless it was changed since.
func said(m amber.Memory) []string {
	var list []string
	if json.Unmarshal(m.Foreign[name], &list) == nil {
		kept, _ := foreign.CutID(list, idMark)
		if strings.Join(kept, "\n") == m.Content || len(kept) == 0 && m.Content == m.Title {
			return kept
		}
	}
	return []string{m.Content}
}

// typeOf is the reverse of kindOf.
func typeOf(k amber.MemoryKind) string {
	switch k {
	case amber.UserFact:
		return "person"
	case amber.UserPreference:
		return "preference"
	case amber.ProjectFact:
		return "project"
	}
	return string(k)
}

func (w *writer) relation(r amber.Relation) error {
	from, to := w.names[r.From], w.names[r.To]
	if from == "" || to == "" {
		return nil
	}
	return w.line(relationLine{"relation", from, to, r.Type})
}
