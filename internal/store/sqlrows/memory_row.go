package sqlrows

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
)

// MemoryColumns are the columns of a memory in the order scanMemory reads and
// memoryArgs writes them.
const MemoryColumns = `id, kind, scope, session_id, user_id, project_id, workspace_id,
 title, content, summary, topic, tags, metadata, source_refs, trust, device, counter, clock,
 revision, content_digest, duplicate_count, created_at, updated_at, coalesce(deleted_at, 0), foreign_fields, author`

// later are the columns at the end of a list of columns that memory.db got in a later schema than its first, and the
// values that the migration gives them. The oldest are first.
var later = []struct {
	since                 int64
	list, columns, values string
}{
	{10, MemoryColumns, "author", "''"},
	{10, RelationColumns, "trust, author", "'agent', ''"},
}

// known is a query with the columns that the file has.
func (t *Tx) known(query string) string {
	for _, c := range later {
		if t.isBefore(c.since) {
			query = strings.ReplaceAll(query, c.list, strings.TrimSuffix(c.list, c.columns)+c.values)
		}
	}
	return query
}

const (
	SelectMemory = `SELECT ` + MemoryColumns + ` FROM memories WHERE id = ?`

	InsertMemory = `INSERT INTO memories (id, kind, scope, session_id, user_id, project_id, workspace_id,
 title, content, summary, topic, tags, metadata, source_refs, trust, device, counter, clock,
 revision, content_digest, duplicate_count, created_at, updated_at, deleted_at, foreign_fields, author, identity)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(CAST(? AS INTEGER), 0), ?, ?, ?)`

	// insertMemoryAt is InsertMemory with the number of its row.
	insertMemoryAt = `INSERT INTO memories (id, kind, scope, session_id, user_id, project_id, workspace_id,
 title, content, summary, topic, tags, metadata, source_refs, trust, device, counter, clock,
 revision, content_digest, duplicate_count, created_at, updated_at, deleted_at, foreign_fields, author, identity, rowid)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, nullif(CAST(? AS INTEGER), 0), ?, ?, ?, ?)`

	UpdateMemory = `UPDATE memories SET kind = ?2, scope = ?3, session_id = ?4, user_id = ?5, project_id = ?6, workspace_id = ?7,
 title = ?8, content = ?9, summary = ?10, topic = ?11, tags = ?12, metadata = ?13, source_refs = ?14, trust = ?15,
 device = ?16, counter = ?17, clock = ?18, revision = ?19, content_digest = ?20, duplicate_count = ?21,
 created_at = ?22, updated_at = ?23, deleted_at = nullif(CAST(?24 AS INTEGER), 0), foreign_fields = ?25, author = ?26, identity = ?27
WHERE id = ?1`

	InsertRevision      = `INSERT INTO revisions (memory_id, revision, body) VALUES (?, ?, ?)`
	selectLastRevision  = `SELECT coalesce(max(revision), 0) FROM revisions WHERE memory_id = ?`
	SelectRevisions     = `SELECT body FROM revisions WHERE memory_id = ? ORDER BY revision`
	SelectRevisionsPage = `SELECT revision, body FROM revisions WHERE memory_id = ? AND revision > ? ORDER BY revision LIMIT ?`
)

func ScanMemory(s scanner) (amber.Memory, error) {
	var (
		m                               amber.Memory
		tags, metadata, refs            string
		foreign, author                 string
		createdAt, updatedAt, deletedAt int64
	)
	err := s.Scan(&m.ID, &m.Kind, &m.Scope, &m.SessionID, &m.UserID, &m.ProjectID, &m.WorkspaceID,
		&m.Title, &m.Content, &m.Summary, &m.Topic, &tags, &metadata, &refs, &m.Trust,
		&m.Origin.Device, &m.Origin.Counter, &m.Origin.Clock,
		&m.Revision, &m.ContentDigest, &m.DuplicateCount, &createdAt, &updatedAt, &deletedAt, &foreign, &author)
	if err == nil {
		m.Author, err = parseAuthor("memories", string(m.ID), author)
	}
	if err != nil {
		return m, err
	}
	m.Tags = SplitLines(tags)
	m.CreatedAt, m.UpdatedAt, m.DeletedAt = amber.UnixMilli(createdAt), amber.UnixMilli(updatedAt), amber.UnixMilli(deletedAt)
	for _, f := range []struct {
		column string
		text   string
		into   any
	}{{"metadata", metadata, &m.Metadata}, {"source_refs", refs, &m.SourceRefs}, {"foreign_fields", foreign, &m.Foreign}} {
		if err := json.Unmarshal([]byte(f.text), f.into); err != nil {
			return m, NotJSON("memories", string(m.ID), f.column)
		}
	}
	if len(m.Foreign) == 0 {
		m.Foreign = nil
	}
	return m, fitMemory("memories", m)
}

// fitMemory returns what is wrong with the numbers of a memory.
func fitMemory(table string, m amber.Memory) error {
	if err := fitOrigin(table, string(m.ID), m.Origin); err != nil {
		return err
	}
	revision := m.Revision
	if table == "revisions" && revision > -MaxCount { // those before the first are counted backwards
		revision = max(revision, -revision)
	}
	return fit(table, string(m.ID), []int64{revision, m.DuplicateCount},
		[]int64{m.CreatedAt.UnixMilli(), m.UpdatedAt.UnixMilli(), m.DeletedAt.UnixMilli()})
}

// MemoryArgs returns the values of insertMemory and updateMemory.
func MemoryArgs(m amber.Memory) ([]any, error) {
	metadata, err := Marshal(OrEmpty(m.Metadata))
	if err != nil {
		return nil, err
	}
	refs, err := Marshal(append([]amber.SourceRef{}, m.SourceRefs...))
	if err != nil {
		return nil, err
	}
	foreign, err := Marshal(OrEmpty(m.Foreign))
	if err != nil {
		return nil, err
	}
	author, err := authorText(m.Author)
	if err != nil {
		return nil, err
	}
	return []any{
		m.ID, m.Kind, m.Scope, m.SessionID, m.UserID, m.ProjectID, m.WorkspaceID,
		m.Title, m.Content, m.Summary, m.Topic, strings.Join(m.Tags, "\n"), metadata, refs, m.Trust,
		m.Origin.Device, int64(m.Origin.Counter), m.Origin.Clock,
		m.Revision, m.ContentDigest, m.DuplicateCount, m.CreatedAt.UnixMilli(), m.UpdatedAt.UnixMilli(), m.DeletedAt.UnixMilli(), foreign, author,
		m.Identity(),
	}, nil
}

// Load returns a memory, live or tombstoned.
func (t *Tx) Load(id amber.MemoryID) (m amber.Memory, found bool, err error) {
	return Optional(ScanMemory(t.Row(SelectMemory, id)))
}

// LoadLoosely is Load for a caller that takes the memory away: what cannot be read of
// it is empty, and counters that are out of range begin again.
func (t *Tx) LoadLoosely(id amber.MemoryID) (m amber.Memory, found bool, err error) {
	m, found, err = t.Load(id)
	if _, bad := AsBadRow(err); !bad {
		return m, found, err
	}
	m, err = scanLoosely(t.Row(SelectMemory, id))
	if err != nil {
		return m, false, err
	}
	var last int64
	if err := t.Row(selectLastRevision, id).Scan(&last); err != nil {
		return m, false, err
	}
	if m.Revision <= last || m.Revision > MaxCount {
		m.Revision = min(max(last, 0), MaxCount) + 1
	}
	return m, true, nil
}

// scanLoosely reads every column as what it is stored as.
func scanLoosely(s scanner) (amber.Memory, error) {
	var (
		m                                          amber.Memory
		tags, metadata, refs, foreign, author      string
		counter, clock, createdAt, updatedAt, gone int64
	)
	err := s.Scan(&m.ID, &m.Kind, &m.Scope, &m.SessionID, &m.UserID, &m.ProjectID, &m.WorkspaceID,
		&m.Title, &m.Content, &m.Summary, &m.Topic, &tags, &metadata, &refs, &m.Trust, &m.Origin.Device, &counter, &clock,
		&m.Revision, &m.ContentDigest, &m.DuplicateCount, &createdAt, &updatedAt, &gone, &foreign, &author)
	m.Tags = SplitLines(tags)
	m.Metadata, m.SourceRefs = map[string]string{}, []amber.SourceRef{}
	if counter > 0 && counter <= MaxCount {
		m.Origin.Counter = uint64(counter)
	}
	m.Origin.Clock = amber.Stamp(max(clock, 0))
	m.DuplicateCount = min(max(m.DuplicateCount, 0), MaxCount)
	m.CreatedAt, m.UpdatedAt, m.DeletedAt = inRange(createdAt), inRange(updatedAt), inRange(gone)
	return m, err
}

// inRange is a time that can be written.
func inRange(ms int64) amber.Time { return amber.UnixMilli(min(max(ms, firstTime), lastTime)) }

// Live returns a live memory or not_found.
func (t *Tx) Live(op string, id amber.MemoryID) (amber.Memory, error) {
	m, found, err := t.Load(id)
	if err == nil && (!found || !m.DeletedAt.IsZero()) {
		err = NotFound(op, string(id))
	}
	return m, err
}

// Insert stores a new memory and logs it.
func (t *Tx) Insert(m amber.Memory) error {
	args, err := MemoryArgs(m)
	if err != nil {
		return err
	}
	query := InsertMemory
	if row, ok := t.memo.nextRow(); ok {
		query, args = insertMemoryAt, append(args, row)
	}
	if err := t.Do(query, args...); err != nil {
		return err
	}
	return t.Log(Change{amber.OpInsert, amber.ChangeMemory, string(m.ID), "", m.ContentDigest})
}

// Revise stores next as the successor of prev, and of other versions that were
// seen: prev goes to the history, next gets its revision and origin.
func (t *Tx) Revise(op amber.Op, prev, next amber.Memory, seen ...amber.Origin) (amber.Memory, error) {
	return t.ReviseAt(t.Now, op, prev, next, seen...)
}

// ReviseAt is Revise for a revision that has a date of its own.
func (t *Tx) ReviseAt(at amber.Time, op amber.Op, prev, next amber.Memory, seen ...amber.Origin) (amber.Memory, error) {
	body, err := Marshal(prev)
	if err != nil {
		return next, err
	}
	if err := t.Do(InsertRevision, prev.ID, prev.Revision, body); err != nil {
		return next, err
	}
	counter, err := t.Highest(prev)
	if err != nil {
		return next, err
	}
	for _, o := range seen {
		counter = max(counter, o.Counter)
	}
	next.Revision = prev.Revision + 1
	next.Origin = t.Origin(counter + 1)
	next.UpdatedAt = at
	if err := t.Supersede(prev, next.Origin, seen...); err != nil {
		return next, err
	}
	args, err := MemoryArgs(next)
	if err != nil {
		return next, err
	}
	if err := t.Do(UpdateMemory, args...); err != nil {
		return next, err
	}
	c := Change{op, amber.ChangeMemory, string(next.ID), prev.ContentDigest, next.ContentDigest}
	if op == amber.OpDelete {
		c.New = ""
	}
	return next, t.Log(c)
}

// Origin stamps a record.
func (t *Tx) Origin(counter uint64) amber.Origin {
	return amber.Origin{Device: t.Current.Device, Counter: counter, Clock: t.Tick()}
}

func Marshal(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", fmt.Errorf("marshal %T: %w", v, err)
	}
	return string(b), nil
}

// marshalList writes a list for json_each. It writes a nil list as an empty one: null is no list,
// and PostgreSQL refuses it.
func marshalList[T any](list []T) (string, error) {
	if list == nil {
		return "[]", nil
	}
	return Marshal(list)
}

func OrEmpty[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}

func SplitLines(s string) []string {
	if s == "" {
		return []string{}
	}
	return strings.Split(s, "\n")
}

func ScanRevision(s scanner) (m amber.Memory, err error) {
	var body string
	if err := s.Scan(&body); err != nil {
		return m, err
	}
	if err := json.Unmarshal([]byte(body), &m); err != nil {
		return m, NotJSON("revisions", "", "body")
	}
	return m, fitMemory("revisions", m)
}
