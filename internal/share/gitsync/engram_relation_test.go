package gitsync_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/test/must"
)

// byTitle finds the memory that a row with that title is.
func (c *clone) byTitle(title string) amber.MemoryID {
	c.t.Helper()
	for _, m := range must.Get(c.List(c.t.Context(), amber.ListQuery{All: true, Limit: amber.MaxPageSize}))(c.t).Items {
		if m.Title == title {
			return m.ID
		}
	}
	c.t.Fatalf("no memory has the title %q", title)
	return ""
}

// relations returns the relations of a memory, those from and to it.
func (c *clone) relations(id amber.MemoryID) (out []amber.Relation) {
	c.t.Helper()
	return must.Get(c.Related(c.t.Context(), id))(c.t)
}

func (c *clone) relate(from, to amber.MemoryID, typ string) amber.Relation {
	c.t.Helper()
	return must.Get(c.Relate(c.t.Context(), amber.Relation{From: from, To: to, Type: typ, Strength: 0.5}))(c.t)
}

// The folder was written by Engram 1.20.0: relations without a verdict, a verdict, another verdict on the same pair,
// and rows behind each of them. One of the memories has a topic and is in another chunk than the verdict.
func TestRelationsOfEngramComeInAndBlockNothing(t *testing.T) {
	t.Parallel()
	c := engramClone(t)
	c.take("relations")
	r := c.imports()
	if len(r.Quarantined) != 0 || r.Chunks != 4 || r.Observations != 5 || r.Sessions != 1 || r.Prompts != 1 || r.Relations != 5 {
		t.Errorf("import: %+v", r)
	}
	orders, before, stock := c.byTitle("Database of orders"), c.byTitle("Database of orders, before"), c.byTitle("Database of stock")
	got := map[string]bool{}
	for _, r := range c.relations(orders) {
		got[string(r.From)+" "+r.Type+" "+string(r.To)] = true
	}
	want := map[string]bool{
		string(orders) + " compatible " + string(before): true, // the last verdict, and no other
		string(orders) + " pending " + string(stock):     true,
	}
	must.Equal(t, "relations", got, want)
	wantTexts(t, c, "Orders are kept in PostgreSQL.", "Orders were kept in MySQL.", "Stock is kept in PostgreSQL, too.",
		"Orders are cached in Redis.", "Orders are queued in NATS.")
	st := c.status()
	if st.Summary.Relations != 5 || st.Summary.Bytes == 0 || st.PendingImport != 0 || st.PendingExport != 0 {
		t.Errorf("status: %+v", st)
	}
	if again := c.imports(); again.Chunks != 0 || again.Relations != 0 {
		t.Errorf("a second import: %+v", again)
	}
	c.exportsNothing()
}

// A relation of Amber leaves in a chunk of its own, by the names that the rows
// have, and is the same one for every Amber that reads it.
func TestRelationsOfAmberLeaveInAChunkOfTheirOwn(t *testing.T) {
	t.Parallel()
	a, b := engramClone(t), engramClone(t)
	one, two := a.save("one"), a.save("two")
	made := a.relate(one, two, "supersedes")
	r := a.export(gitsync.ExportOptions{})
	if r.Relations != 1 || r.Observations != 2 || len(r.ChunkIDs) != 2 || r.Deleted != 0 {
		t.Errorf("export: %+v", r)
	}
	a.gives(b)
	if in := b.imports(); in.Relations != 1 || len(in.Quarantined) > 0 {
		t.Errorf("import: %+v", in)
	}
	made.Trust = amber.TrustImported // the chunk is not signed
	must.Equal(t, "relations", b.relations(one), []amber.Relation{made}, cmp.AllowUnexported(amber.Time{}))
	for _, c := range []*clone{a, b} {
		c.exportsNothing()
		if st := c.status(); st.PendingImport != 0 || st.PendingExport != 0 {
			t.Errorf("status: %+v", st)
		}
		if r := c.imports(); r.Relations != 0 || r.Chunks != 0 {
			t.Errorf("an import of nothing new: %+v", r)
		}
	}
	must.Do(t, b.Unrelate(t.Context(), made.ID))
	if r := b.export(gitsync.ExportOptions{}); r.Deleted != 1 || r.Relations != 0 {
		t.Errorf("export of what was undone: %+v", r)
	}
	if text := engramText(t, b.folder); !strings.Contains(text, `\"judgment_status\":\"orphaned\"`) || strings.Contains(text, `"op":"delete"`) {
		t.Errorf("the chunks are %s, want a verdict that is void: Engram has no deletion of relations", text)
	}
	b.gives(a)
	a.imports()
	must.Equal(t, "relations", len(a.relations(one)), 0)
}

// Engram refuses a chunk with a relation to a row that it does not have.
func TestARelationWithoutARowStays(t *testing.T) {
	t.Parallel()
	c := engramClone(t)
	shared, hidden := c.save("shared"), c.write(amber.WriteRequest{
		Content: "of a session", Scope: amber.ScopeSession, Identities: amber.Identities{SessionID: "s1", ProjectID: shop},
	})
	rel := c.relate(shared, hidden, "related")
	r := c.export(gitsync.ExportOptions{})
	must.Equal(t, "export: relations", r.Relations, 0)
	must.Equal(t, "export: observations", r.Observations, 1)
	named := false
	for _, w := range r.Withheld {
		named = named || w.Ref == (amber.SyncRef{Scope: amber.SyncRelation, ID: rel.ID})
	}
	if !named || strings.Contains(engramText(t, c.folder), "relation") {
		t.Errorf("withheld %+v, chunks %s", r.Withheld, engramText(t, c.folder))
	}
}

// The last judgement counts, in Engram or in Amber: Engram counts no
// verdicts, so the time decides.
func TestALaterVerdictOfEngramWinsOverAmber(t *testing.T) {
	t.Parallel()
	c := engramClone(t)
	c.take("relations")
	c.imports()
	orders, before := c.byTitle("Database of orders"), c.byTitle("Database of orders, before")
	verdict := func() (found []amber.Relation) {
		for _, r := range c.relations(orders) {
			if r.To == before {
				found = append(found, r)
			}
		}
		return found
	}
	is := verdict()[0]
	for range 3 {
		is = c.relate(orders, before, is.Type)
	}
	must.Do(t, c.Unrelate(t.Context(), is.ID))
	must.Equal(t, "exported deletions", c.export(gitsync.ExportOptions{}).Deleted, 1)
	judged := func(at time.Time, verdict string) string {
		stamp := at.UTC().Format("2006-01-02 15:04:05")
		return `{"sessions":null,"observations":null,"prompts":null,"mutations":[{"seq":0,"target_key":"","entity":"relation","entity_key":"rel-9b7e2811e6fd3316",` +
			`"op":"upsert","payload":"{\"sync_id\":\"rel-9b7e2811e6fd3316\",\"source_id\":\"obs-6d03e84d72b84ab9\",\"target_id\":\"obs-5120291240e22b83\",` +
			`\"relation\":\"` + verdict + `\",\"judgment_status\":\"judged\",\"project\":\"shop\",\"created_at\":\"2026-01-01 00:00:00\",\"updated_at\":\"` + stamp + `\"}",` +
			`"source":"","project":"shop","occurred_at":"` + stamp + `"}]}`
	}
	now := c.relationClock(t, is)
	c.finds(judged(now.Add(-time.Hour), "scoped"))
	must.Equal(t, "an earlier verdict came back", len(verdict()), 0)
	c.finds(judged(now.Add(time.Hour), "conflicts_with"))
	if found := verdict(); len(found) != 1 || found[0].Type != "conflicts_with" {
		t.Errorf("relations are %+v, want the later verdict", found)
	}
}

// relationClock returns when a relation was last changed.
func (c *clone) relationClock(t *testing.T, r amber.Relation) time.Time {
	t.Helper()
	now, err := c.SyncRecords(t.Context(), []amber.SyncRef{{Scope: amber.SyncRelation, ID: r.ID}})
	if err != nil || now[0].Relation == nil {
		t.Fatalf("%+v, %v", now, err)
	}
	return now[0].Relation.Origin.Clock.Time().Time()
}
