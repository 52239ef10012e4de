package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func TestDiffCountsAndNamesRows(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := newLife(t)
	s := l.s
	same := save(t, s, amber.WriteRequest{Title: "same", Content: "stays"})
	edited := save(t, s, amber.WriteRequest{Title: "edited title", Content: "first"})
	gone := save(t, s, amber.WriteRequest{Content: "goes\naway"})
	must.Get(s.SaveTask(ctx, amber.Task{ID: "kept", Goal: "g"}, 0))(t)
	must.Get(s.SaveTask(ctx, amber.Task{ID: "moved", Goal: "g"}, 0))(t)
	must.Get(s.SaveLoop(ctx, amber.LoopSave{SessionID: "s", RunID: "r", State: []byte(`{}`)}))(t)
	must.Do(t, s.SetConcepts(ctx, same, []string{"one", "two"}))
	related := must.Get(s.Relate(ctx, amber.Relation{From: same, To: edited, Type: "related", Strength: 1}))(t)
	past := l.snapshot(t)

	l.clock.Advance(time.Minute)
	must.Get(s.Edit(ctx, amber.EditRequest{ID: edited, Content: new("second")}))(t)
	must.Do(t, s.Delete(ctx, gone))
	save(t, s, amber.WriteRequest{Title: "same", Content: "stays"}) // a duplicate changes a count alone
	added := save(t, s, amber.WriteRequest{Content: "is new"})
	must.Get(s.AppendTurn(ctx, amber.Turn{ID: "t1", SessionID: "s", Role: "user", Content: "hello"}))(t)
	must.Do(t, s.SetConcepts(ctx, same, []string{"two", "three"}))
	must.Do(t, s.PutEmbedding(ctx, amber.Embedding{MemoryID: same, Model: "m", Vector: []float32{1}}))
	must.Do(t, s.Unrelate(ctx, related.ID))
	must.Do(t, s.ClearLoop(ctx, "s", ""))
	must.Get(s.SaveTask(ctx, amber.Task{ID: "moved", Goal: "another"}, 1))(t)
	must.Get(s.SaveTask(ctx, amber.Task{ID: "new", Goal: "g"}, 0))(t)
	now := l.snapshot(t)

	b := must.Get(os.ReadFile(filepath.Join(now, "memory.db")))(t)
	open := must.Get(OpenReadOnly(ctx, "now", bytes.NewReader(b), int64(len(b)), readOnlyOptions()))(t)
	defer func() { must.Do(t, open.Close()) }()
	memory := func(dir string) DBSource { return DBSource{Path: filepath.Join(dir, "memory.db")} }
	want := wire.StoreDiff{
		Tables: []wire.TableDiff{
			{Name: "activity"},
			{Name: "compactions"},
			{Name: "concepts", Added: 1, Removed: 1},
			{Name: "embeddings", Added: 1},
			{Name: "loops", Removed: 1},
			{Name: "memories", Added: 1, Changed: 1, Removed: 1},
			{Name: "relations", Removed: 1},
			{Name: "sessions"},
			{Name: "states"},
			{Name: "turns", Added: 1},
		},
		Rows: []wire.RowDiff{
			{Table: "concepts", Key: string(same) + " one", Op: amber.OpDelete},
			{Table: "concepts", Key: string(same) + " three", Op: amber.OpInsert},
			{Table: "embeddings", Key: string(same) + " m", Op: amber.OpInsert},
			{Table: "loops", Key: "s", Op: amber.OpDelete},
			{Table: "memories", Key: string(edited), Op: amber.OpUpdate, Title: "edited title"},
			{Table: "memories", Key: string(gone), Op: amber.OpDelete, Title: "goes away"},
			{Table: "memories", Key: string(added), Op: amber.OpInsert, Title: "is new"},
			{Table: "relations", Key: related.ID, Op: amber.OpDelete},
			{Table: "turns", Key: "t1", Op: amber.OpInsert},
		},
	}
	sortMemoryRows := cmp.Transformer("rows", func(d wire.StoreDiff) map[string]int {
		rows := map[string]int{}
		for _, r := range d.Rows {
			rows[fmt.Sprint(r)]++
		}
		for _, t := range d.Tables {
			rows[fmt.Sprint(t)]++
		}
		return rows
	})
	for name, b := range map[string]DBSource{"file": memory(now), "open": {Open: open}} {
		got := must.Get(Compare(ctx, memory(past), b, true))(t)
		must.Equal(t, name, got, want, sortMemoryRows)
	}
	wantNone(t, "what a database differs in from itself", must.Get(Compare(ctx, memory(now), DBSource{Open: open}, true))(t).Rows)
	control := func(dir string) DBSource { return DBSource{Path: filepath.Join(dir, "control.db")} }
	d := must.Get(Compare(ctx, control(past), control(now), false))(t)
	if got, want := d.Table("tasks"), (wire.TableDiff{Name: "tasks", Added: 1, Changed: 1}); got != want || len(d.Rows) != 0 {
		t.Errorf("got %+v, want %+v and no rows", d, want)
	}
	must.Fail(Compare(ctx, memory(past), control(now), false))(t, "compare a memory.db with a control.db", amber.KindInvalid)
}

func TestDiffNamesABoundedNumberOfRows(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := newLife(t)
	past := l.snapshot(t)
	meddle(t, l.s.memory, `WITH RECURSIVE c (x) AS (VALUES (1) UNION ALL SELECT x + 1 FROM c WHERE x < ?)
INSERT INTO turns (id, session_id, role, content, project_id, created_at) SELECT 'turn ' || x, 's', 'user', 'text', '', x FROM c`, wire.MaxDiffRows+7)
	now := l.snapshot(t)
	d := must.Get(Compare(ctx, DBSource{Path: filepath.Join(past, "memory.db")}, DBSource{Path: filepath.Join(now, "memory.db")}, true))(t)
	if len(d.Rows) != wire.MaxDiffRows || d.More != 7 || d.Table("turns").Added != wire.MaxDiffRows+7 {
		t.Errorf("%d rows, %d more, %+v", len(d.Rows), d.More, d.Table("turns"))
	}
}

// A schema that has no such table yet has no rows of that kind.
func TestDiffWithAnOlderSchema(t *testing.T) {
	t.Parallel()
	a := agentWithMemory1(t)
	old := filepath.Join(a.GenDir(must.Get(a.Current())(t)), "memory.db")
	l := newLife(t)
	now := filepath.Join(l.snapshot(t), "memory.db")
	d := must.Get(Compare(t.Context(), DBSource{Path: old}, DBSource{Path: now}, false))(t)
	must.Hold(t, d.Table("memories").Removed != 0, "%+v", d)
}
