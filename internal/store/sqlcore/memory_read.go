package sqlcore

import (
	"context"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
)

var _ amber.MemoryReader = (*Contracts)(nil)

// Get implements [amber.MemoryReader].
func (s *Contracts) Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
	return view(ctx, s.memory, "get memory", string(id), func(t *Tx) (amber.Memory, error) { return t.Live("get memory", id) })
}

var earlierRevisions = listing[amber.Memory]{"read history", "revisions", "revisions", sqlrows.ScanRevision, sqlrows.SelectRevisionsPage}

// History implements [amber.MemoryReader]. The newest revision is alone on a page where the
// one before is full.
func (s *Contracts) History(ctx context.Context, id amber.MemoryID, p amber.Paging) (amber.Page[amber.Memory], error) {
	size, after, err := earlierRevisions.start(p)
	if err != nil {
		return amber.Page[amber.Memory]{Items: []amber.Memory{}}, err
	}
	return view(ctx, s.memory, "read history", string(id), func(t *Tx) (amber.Page[amber.Memory], error) {
		last, found, err := t.Load(id)
		if err == nil && !found {
			err = sqlrows.NotFound("read history", string(id))
		}
		if err != nil {
			return amber.Page[amber.Memory]{Items: []amber.Memory{}}, err
		}
		page, err := earlierRevisions.page(t, size, after, id)
		switch n := len(page.Items); {
		case err != nil || page.Next != "":
		case n > 0 && (n == size || textOf(page.Items)+len(last.Content) > amber.MaxPageBytes):
			page.Next = encodeCursor(earlierRevisions.name, page.Items[n-1].Revision, "-")
		default:
			page.Items = append(page.Items, last)
		}
		return page, err
	})
}

func textOf(ms []amber.Memory) (n int) {
	for i := range ms {
		n += len(ms[i].Content)
	}
	return n
}

// conditions is a WHERE clause made of fixed fragments, and its values.
type conditions struct {
	where []string
	args  []any
}

func (c *conditions) add(fragment string, args ...any) {
	c.where = append(c.where, fragment)
	c.args = append(c.args, args...)
}

func (c *conditions) String() string {
	if len(c.where) == 0 {
		return "true"
	}
	return strings.Join(c.where, " AND ")
}

// filter adds what an [amber.Filter] asks for. Lists travel as JSON so that
// the number of different statements stays small.
func (c *conditions) filter(f amber.Filter, anyIdentity bool) error {
	switch {
	case anyIdentity && f.Scope != "":
		c.add("+scope = ?", f.Scope) // the order is what the index is for
	case !anyIdentity:
		visible, err := sqlrows.Marshal(visibleTo(f))
		if err != nil {
			return err
		}
		c.add("scope || char(31) || identity IN (SELECT value FROM json_each(?))", visible)
	}
	if len(f.Kinds) > 0 {
		kinds, err := sqlrows.Marshal(f.Kinds)
		if err != nil {
			return err
		}
		c.add("kind IN (SELECT value FROM json_each(?))", kinds)
	}
	if len(f.Tags) > 0 {
		tags, err := sqlrows.Marshal(f.Tags)
		if err != nil {
			return err
		}
		c.add("NOT EXISTS (SELECT 1 FROM json_each(?) WHERE instr(char(10) || tags || char(10), char(10) || value || char(10)) = 0)", tags)
	}
	if !f.Since.IsZero() {
		c.add("updated_at >= ?", f.Since.UnixMilli())
	}
	if !f.Until.IsZero() {
		c.add("updated_at < ?", f.Until.UnixMilli())
	}
	return nil
}

// visibleTo lists the scopes a filter sees, each with its identity behind a
// character no identity contains. A scope whose identity is not known is not
// in the list: it fails closed.
func visibleTo(f amber.Filter) []string {
	visible := []string{}
	for _, scope := range amber.Scopes() {
		id := f.For(scope)
		if f.Scope != "" && f.Scope != scope || scope != amber.ScopeGlobal && id == "" {
			continue
		}
		visible = append(visible, string(scope)+"\x1f"+id)
	}
	return visible
}

// List implements [amber.MemoryReader].
func (s *Contracts) List(ctx context.Context, q amber.ListQuery) (page amber.Page[amber.Memory], err error) {
	page.Items = []amber.Memory{}
	q, err = q.Normalize()
	if err != nil {
		return page, err
	}
	ms, id, err := decodeCursor("memories", q.Cursor)
	if err != nil {
		return page, err
	}
	query, args, err := listMemories(q, ms, id)
	if err != nil {
		return page, err
	}
	err = s.memory.View(ctx, "list memories", "", func(t *Tx) error {
		if query == selectOfKinds {
			t.briefly()
		}
		page, err = readPage(t, "memories", sqlrows.ScanMemory, q.Limit, func(last amber.Memory) amber.Cursor {
			return encodeCursor("memories", last.CreatedAt.UnixMilli(), string(last.ID))
		}, query, args...)
		return err
	})
	return page, err
}

// listMemories returns the query of a page; its limit comes behind its values.
func listMemories(q amber.ListQuery, ms int64, id string) (string, []any, error) {
	if len(q.Kinds) > 0 && len(q.Tags) == 0 && !q.All && q.Since.IsZero() && q.Until.IsZero() && q.Waiting == "" {
		parts, err := partsOf(q.Filter)
		return selectOfKinds, []any{parts, ms, id, q.Deleted, trustedWith(q.Trust)}, err
	}
	var c conditions
	c.add("(created_at, id) < (?, ?)", ms, id)
	err := c.filter(q.Filter, q.All)
	if !q.Deleted {
		c.add("deleted_at IS NULL")
	}
	if q.Trust != "" {
		c.add("instr(?, ' ' || trust || ' ') > 0", trustedWith(q.Trust))
	}
	if q.Waiting != "" {
		c.add(mayWait) // as the index of such memories has it
		c.add("instr(?, ' ' || trust || ' ') > 0", listed(q.Waiting.Trusts()))
	}
	return "SELECT " + sqlrows.MemoryColumns + " FROM memories WHERE " + c.String() + " ORDER BY created_at DESC, id DESC LIMIT ?", c.args, err
}

// selectOfKinds lists memories of some kinds: the newest of each part, which is a scope with
// an identity and a kind, and of those the newest. There may be few among very many, so
// nothing but the parts is read.
const selectOfKinds = `SELECT ` + sqlrows.MemoryColumns + ` FROM memories WHERE rowid IN (
 SELECT m.rowid FROM json_each(?1) part CROSS JOIN memories m
 WHERE m.scope = part.value ->> 0 AND m.identity = part.value ->> 1 AND m.kind = part.value ->> 2
  AND (m.created_at, m.id) < (?2, ?3) AND (?4 OR m.deleted_at IS NULL) AND (?5 = '' OR instr(?5, ' ' || m.trust || ' ') > 0) AND m.created_at >= (
   SELECT min(created_at) FROM (
    SELECT n.created_at FROM memories n WHERE n.scope = part.value ->> 0 AND n.identity = part.value ->> 1 AND n.kind = part.value ->> 2
     AND (n.created_at, n.id) < (?2, ?3) AND (?4 OR n.deleted_at IS NULL) AND (?5 = '' OR instr(?5, ' ' || n.trust || ' ') > 0) ORDER BY n.created_at DESC, n.id DESC LIMIT ?6) AS few))
ORDER BY created_at DESC, id DESC LIMIT ?6`

const isTrusted = "trust IN ('own', 'signed')"

// mayWait are the memories that wait for the owner by some rule of review.
const mayWait = "trust IN ('agent', 'imported') AND (scope = 'global' OR kind = 'constraint')"

// trustedWith lists a degree of trust and those above it for a query, "" for no degree.
func trustedWith(t amber.Trust) string {
	if t == "" {
		return ""
	}
	return listed(t.OrMore())
}

// listed writes degrees of trust with a blank before and behind each.
func listed(trusts []amber.Trust) string {
	text := " "
	for _, t := range trusts {
		text += string(t) + " "
	}
	return text
}

// partsOf returns the scopes that a filter sees, each with its identity and each kind.
func partsOf(f amber.Filter) (string, error) {
	parts := [][3]string{}
	for _, v := range visibleTo(f) {
		scope, identity, _ := strings.Cut(v, "\x1f")
		for _, kind := range f.Kinds {
			parts = append(parts, [3]string{scope, identity, string(kind)})
		}
	}
	return sqlrows.Marshal(parts)
}

// maxTimeline bounds each side of a timeline.
const maxTimeline = amber.MaxPageSize

// Timeline implements [amber.MemoryReader].
func (s *Contracts) Timeline(ctx context.Context, id amber.MemoryID, before, after int) ([]amber.Memory, error) {
	if before < 0 || after < 0 || before > maxTimeline || after > maxTimeline {
		return nil, amber.Errorf(amber.KindInvalid, "read timeline", string(id), "before and after must be from 0 to %d", maxTimeline)
	}
	return view(ctx, s.memory, "read timeline", string(id), func(t *Tx) ([]amber.Memory, error) {
		pivot, err := t.Live("read timeline", id)
		if err != nil {
			return nil, err
		}
		older, err := t.beside(pivot, "<", "DESC", before)
		if err != nil {
			return nil, err
		}
		newer, err := t.beside(pivot, ">", "ASC", after)
		slices.Reverse(older)
		return slices.Concat(older, []amber.Memory{pivot}, newer), err
	})
}

// beside returns the n live memories next to pivot on one side, nearest
// first.
func (t *Tx) beside(pivot amber.Memory, side, order string, n int) ([]amber.Memory, error) {
	c := conditions{}
	c.add("deleted_at IS NULL")
	c.add("(created_at, id) "+side+" (?, ?)", pivot.CreatedAt.UnixMilli(), pivot.ID)
	if pivot.SessionID != "" {
		c.add("session_id = ? AND session_id <> ''", pivot.SessionID)
		if err := c.filter(amber.Filter{Identities: pivot.Identities}, false); err != nil {
			return nil, err
		}
	} else {
		c.add("+scope = ? AND identity = ?", pivot.Scope, pivot.Identity())
	}
	query := "SELECT " + sqlrows.MemoryColumns + " FROM memories WHERE " + c.String() +
		" ORDER BY created_at " + order + ", id " + order + " LIMIT ?"
	found, _, err := sqlrows.ReadPage(t.Tx, "memories", sqlrows.ScanMemory, n, query, c.args...)
	return found, err
}

// Health implements [amber.LongTerm]: a read that touches the file.
func (s *Contracts) Health(ctx context.Context) (amber.Health, error) {
	h := amber.Health{Backend: s.o.Backend, Status: amber.Healthy}
	err := s.memory.View(ctx, "check health", "", func(t *Tx) error {
		var n int
		return t.Row("SELECT count(*) FROM (SELECT 1 FROM memories ORDER BY rowid LIMIT 1) AS few").Scan(&n)
	})
	if ctx.Err() != nil {
		return h, s.o.Wrap("check health", "", ctx.Err())
	}
	if err != nil {
		h.Status, h.Detail = amber.Unavailable, err.Error()
	}
	return h, nil
}
