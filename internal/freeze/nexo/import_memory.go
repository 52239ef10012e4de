package nexo

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/base/sqlconn"
)

// memoryRow is a memory that was checked, with its concepts.
type memoryRow struct {
	amber.Memory
	concepts []string
}

// memories imports the memories of the agent.
func (i *importer) memories(ctx context.Context, f *file) error {
	table, ok, err := f.use("memories", "id", "agent_id", "content", "created_at")
	if !ok || err != nil {
		return i.without(f, "memories", err)
	}
	fields, join, err := i.fields(fieldsMemory, "m.id")
	if err != nil {
		return err
	}
	query := fmt.Sprintf(`SELECT m.id, m.agent_id, m.content, m.created_at, %s, %s, %s, %s FROM memories m %s WHERE m.agent_id = ? ORDER BY m.rowid`,
		table.column("m.", "tags"), table.column("m.", "concept_tags"), table.column("m.", "memory_type"), fields, join)
	return stream(ctx, i, f, "memories that cannot be read", query, []any{i.agent}, i.scanMemory, i.storeMemory)
}

// without counts a table of a known name and unknown columns.
func (i *importer) without(f *file, name string, err error) error {
	if _, there := f.tables[name]; there && err == nil {
		i.left.add("tables of an unknown form", 1)
	}
	return err
}

// fields returns what a query selects for the fields of Amber's own beside a
// row, and the join it needs for them.
func (i *importer) fields(kind, id string) (column, join string, err error) {
	_, ok, err := i.longTerm.use("amber_fields", "kind", "id", "seq", "json")
	if !ok || err != nil {
		return "NULL", "", err
	}
	return "f.json", fmt.Sprintf("LEFT JOIN amber_fields f ON f.kind = '%s' AND f.id = %s", kind, id), nil
}

func (i *importer) scanMemory(s sqlconn.Row) (row memoryRow, ok bool, err error) {
	var v [8]any
	if err := s.Scan(&v[0], &v[1], &v[2], &v[3], &v[4], &v[5], &v[6], &v[7]); err != nil {
		return row, false, err
	}
	id, idOK := text(v[0])
	agent, agentOK := text(v[1])
	content, contentOK := text(v[2])
	at, atOK := millis(v[3])
	if !idOK || !agentOK || agent != string(i.agent) || !contentOK || !atOK || id == "" || len(id) > amber.MaxIDBytes {
		return row, false, nil
	}
	tags, ordered := i.tags(v[4]), i.listed(v[5])
	row.concepts = slices.Sorted(slices.Values(ordered))
	memoryType, _ := text(v[6])
	body, _ := text(v[7])
	plain := plainMemory(id, content, memoryType, at, tags, ordered)
	if row.Memory, ok = believe(body, plain); !ok {
		if body != "" {
			i.left.add("fields that do not fit their row", 1)
		}
		row.Memory, ok = checkMemory(plain)
	}
	return row, ok, nil
}

// tags returns those of a JSON array that are tags, sorted.
func (i *importer) tags(v any) []string { return slices.Sorted(slices.Values(i.listed(v))) }

// listed returns those of a JSON array that are tags, in their order.
func (i *importer) listed(v any) []string {
	s, ok := text(v)
	if !ok {
		return []string{}
	}
	var found []any
	if err := json.Unmarshal([]byte(s), &found); err != nil {
		i.left.add("lists of tags that cannot be read", 1)
		return []string{}
	}
	tags := []string{}
	for _, t := range found {
		one, ok := t.(string)
		checked, err := amber.NormalizeConcepts([]string{one})
		if !ok || err != nil || slices.Contains(tags, checked[0]) || len(tags) == amber.MaxTags {
			i.left.add("tags that are not valid in Amber", 1)
			continue
		}
		tags = append(tags, checked[0])
	}
	return tags
}

// plainMemory is what a row says without fields of Amber's own.
func plainMemory(id, content, memoryType string, at int64, tags, concepts []string) amber.Memory {
	came := origin{MemoryType: memoryType}
	var quoted string
	if json.Unmarshal([]byte(memoryType), &quoted) == nil {
		came.MemoryType = quoted
	}
	kind, known := types[came.MemoryType]
	if !known {
		kind = amber.WorkspaceFact
	}
	m := amber.Memory{
		ID: amber.MemoryID(uuidOf(fieldsMemory, id)), Kind: kind, Scope: amber.ScopeGlobal, Content: content, Tags: tags,
		CreatedAt: amber.UnixMilli(at), UpdatedAt: amber.UnixMilli(at),
	}
	if string(m.ID) != id {
		came.ID = strings.ToValidUTF8(id, "\uFFFD")
	}
	came.MemoryType = clip.Bytes(strings.ToValidUTF8(came.MemoryType, "\uFFFD"), amber.MaxTagBytes)
	if !slices.IsSorted(concepts) {
		came.Concepts = concepts
	}
	if came.ID != "" || came.MemoryType != "" || len(came.Concepts) > 0 {
		body, _ := json.Marshal(came) // texts
		m.Foreign = map[string]json.RawMessage{foreignKey: body}
	}
	return m
}

// maxForeign bounds the fields of other tools that a memory brings.
const maxForeign = 1 << 20

// believe returns the memory that was exported as the row plain, if body says
// so and the row was not changed since.
func believe(body string, plain amber.Memory) (m amber.Memory, ok bool) {
	var f memoryFields
	if body == "" || json.Unmarshal([]byte(body), &f) != nil {
		return m, false
	}
	m = f.Memory
	m.Content = plain.Content
	if f.Titled {
		rest, found := strings.CutPrefix(plain.Content, m.Title+titleBreak)
		if !found || m.Title == "" {
			return m, false
		}
		m.Content = rest
	}
	size := 0
	for name, raw := range m.Foreign {
		size += len(name) + len(raw)
	}
	switch {
	case m.ID != plain.ID, m.CreatedAt != plain.CreatedAt, !slices.Equal(m.Tags, plain.Tags), !m.DeletedAt.IsZero(),
		amber.ContentDigest(m.Content) != m.ContentDigest, !isTime(m.UpdatedAt.UnixMilli()), m.DuplicateCount < 0,
		size > maxForeign, m.Topic != "" && !m.HasTopicID():
		return m, false
	}
	return checkMemory(m)
}

// checkMemory checks a memory by the rules of writing one.
func checkMemory(m amber.Memory) (amber.Memory, bool) {
	m.Trust = amber.TrustImported
	r, err := m.AsRequest().Normalize()
	if err != nil || r.Topic != m.Topic || r.Title != m.Title {
		return m, false
	}
	checked := r.AsMemory()
	checked.ID, checked.DuplicateCount, checked.Foreign = m.ID, m.DuplicateCount, m.Foreign
	checked.CreatedAt, checked.UpdatedAt = m.CreatedAt, m.UpdatedAt
	return checked, true
}

// storeMemory stores a memory unless there is one of its id, or one that says
// the same.
func (i *importer) storeMemory(row memoryRow) error {
	m := row.Memory
	twin, err := i.into.AddMemory(m)
	switch {
	case amber.KindOf(err) == amber.KindConflict:
		i.left.add("memories that cannot be read", 1)
		return nil
	case err != nil:
		return err
	case twin:
		i.left.add("memories that say the same as another", 1)
		return nil
	}
	return i.addConcepts(m.ID, row.concepts)
}

// addConcepts adds to the concepts of a live memory.
func (i *importer) addConcepts(id amber.MemoryID, concepts []string) error {
	_, err := i.into.AddConcepts(id, concepts)
	return err
}

// conceptTags adds what concepts.sqlite knows about memories that are there.
func (i *importer) conceptTags(ctx context.Context, f *file) error {
	_, ok, err := f.use("memories", "id", "agent_id", "concept_tags")
	if !ok || err != nil {
		return i.without(f, "memories", err)
	}
	type tagged struct {
		id   amber.MemoryID
		tags []string
	}
	query := `SELECT id, agent_id, concept_tags FROM memories WHERE agent_id = ? ORDER BY rowid`
	return stream(ctx, i, f, "concepts of no memory", query, []any{i.agent}, func(s sqlconn.Row) (row tagged, ok bool, err error) {
		var v [3]any
		if err := s.Scan(&v[0], &v[1], &v[2]); err != nil {
			return row, false, err
		}
		id, ok := text(v[0])
		agent, _ := text(v[1])
		return tagged{amber.MemoryID(uuidOf(fieldsMemory, id)), i.tags(v[2])}, ok && agent == string(i.agent), nil
	}, func(row tagged) error {
		err := i.addConcepts(row.id, row.tags)
		return i.orphan("concepts of no memory", err)
	})
}

// orphan counts what hangs on a memory that did not come over.
func (i *importer) orphan(what string, err error) error {
	if amber.KindOf(err) == amber.KindNotFound {
		i.left.add(what, 1)
		return nil
	}
	return err
}

// relations brings back the relations of an export.
func (i *importer) relations(ctx context.Context, f *file) error {
	return fieldsOf(ctx, i, f, fieldsRelation, "relations that lead nowhere", func(id string, r amber.Relation) (amber.Relation, bool) {
		r, err := r.Normalize()
		_, idErr := amber.ParseMemoryID(r.ID)
		return r, err == nil && idErr == nil && r.ID == id && r.DeletedAt.IsZero() && isTime(r.CreatedAt.UnixMilli())
	}, i.storeRelation)
}

func (i *importer) storeRelation(r amber.Relation) error {
	err := i.into.AddRelation(r)
	switch amber.KindOf(err) {
	case amber.KindNotFound, amber.KindConflict:
		i.left.add("relations that lead nowhere", 1)
		return nil
	}
	if err == nil {
	}
	return err
}

// fieldsOf reads the rows of one kind in amber_fields and stores those that
// check takes.
func fieldsOf[T any](ctx context.Context, i *importer, f *file, kind, left string,
	check func(id string, v T) (T, bool), store func(T) error,
) error {
	_, ok, err := f.use("amber_fields", "kind", "id", "seq", "json")
	if !ok || err != nil {
		return i.without(f, "amber_fields", err)
	}
	query := `SELECT id, json FROM amber_fields WHERE kind = ?`
	return stream(ctx, i, f, left, query, []any{kind}, func(s sqlconn.Row) (v T, ok bool, err error) {
		var rawID, rawBody any
		if err := s.Scan(&rawID, &rawBody); err != nil {
			return v, false, err
		}
		id, idOK := text(rawID)
		body, bodyOK := text(rawBody)
		if !idOK || !bodyOK || json.Unmarshal([]byte(body), &v) != nil {
			return v, false, nil
		}
		v, ok = check(id, v)
		return v, ok, nil
	}, store)
}
