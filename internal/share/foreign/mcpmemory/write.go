package mcpmemory

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
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
	file, err := to.Create("")
	if err != nil {
		return err
	}
	w := &writer{out: bufio.NewWriter(file), names: map[amber.MemoryID]string{}, taken: map[string]bool{}}
	err = c.Memories(ctx, w.memory)
	if err == nil {
		err = c.Relations(ctx, w.relation)
	}
	if err == nil {
		err = w.out.Flush()
	}
	return errors.Join(err, file.Close())
}

type writer struct {
	out   *bufio.Writer
	lines int
	names map[amber.MemoryID]string
	taken map[string]bool
}

func (w *writer) line(v any) error {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	line := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if w.lines++; w.lines > 1 {
		line = slices.Insert(line, 0, '\n')
	}
	_, err := w.out.Write(line)
	return err
}

func (w *writer) memory(m amber.Memory) error {
	n := w.name(m)
	w.names[m.ID], w.taken[n] = n, true
	typ := m.Metadata["entity_type"]
	if typ == "" {
		typ = typeOf(m.Kind)
	}
	return w.line(entityLine{"entity", n, typ, append(said(m), idMark+string(m.ID))})
}

// name returns a name that no other entity has.
func (w *writer) name(m amber.Memory) string {
	short := string(m.ID[:min(8, len(m.ID))])
	n := strings.TrimSpace(m.Title)
	if n == "" {
		n = strings.TrimSpace(m.Topic)
	}
	if n == "" {
		n = short
	}
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
		kept, _ := unmark(list)
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
