package sqlite

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/must"
)

// listener collects the rows that were set aside.
type listener struct{ heard []amber.SetAside }

// furnished is a store with a row in most tables.
func furnished(t *testing.T) (s *Store, told *listener, ids []amber.MemoryID) {
	t.Helper()
	ctx := t.Context()
	s, _ = freshStore(t, amber.QueueOptions{MaxAttempts: 1})
	told = &listener{}
	s.o.SetAside = func(a amber.SetAside) { told.heard = append(told.heard, a) }
	s.memory.o.SetAside, s.control.o.SetAside, s.memory.core.SetAside = s.o.SetAside, s.o.SetAside, s.o.SetAside
	for i := range 3 {
		ids = append(ids, save(t, s, amber.WriteRequest{Content: fmt.Sprintf("fish number %d", i), IdempotencyKey: fmt.Sprint(i)}))
	}
	must.Get(s.Edit(ctx, amber.EditRequest{ID: ids[2], Title: new("three")}))(t)
	must.Get(s.Relate(ctx, amber.Relation{From: ids[0], To: ids[1], Type: "related", Strength: 1}))(t)
	must.Get(s.Relate(ctx, amber.Relation{From: ids[0], To: ids[2], Type: "related", Strength: 1}))(t)
	must.Do(t, s.PutEmbedding(ctx, amber.Embedding{MemoryID: ids[0], Model: "m", Vector: []float32{1, 2}}))
	for _, id := range []string{"s1", "s2"} {
		must.Get(s.StartSession(ctx, amber.SessionStart{ID: amber.SessionID(id), Binding: "b"}))(t)
		must.Get(s.AppendTurn(ctx, amber.Turn{ID: amber.TurnID("t" + id), SessionID: "s1", Role: "user", Content: "hello"}))(t)
		must.Get(s.AddCompaction(ctx, amber.Compaction{ID: "c" + id, SessionID: "s1", Summary: "x", Turns: 1}))(t)
		must.Get(s.SaveState(ctx, amber.SessionID(id), []byte(`{}`), 0))(t)
		must.Get(s.SaveLoop(ctx, amber.LoopSave{SessionID: amber.SessionID(id), RunID: "r", State: []byte(`{}`)}))(t)
		must.Get(s.SaveTask(ctx, amber.Task{ID: "k" + id, Goal: "g"}, 0))(t)
		must.Get(s.AppendEvent(ctx, amber.TaskEvent{TaskID: "ks1", From: amber.TaskQueued}))(t)
		must.Get(s.RequestApproval(ctx, amber.ApprovalRequest{ID: "a" + id, TaskID: "ks1", NodeID: "n", Summary: "?", Payload: []byte(`{}`)}))(t)
		must.Get(s.SaveResult(ctx, amber.Result{TaskID: "ks1", NodeID: id, Producer: "p", Status: amber.ResultOK}))(t)
		must.Do(t, s.Publish(ctx, amber.Envelope{EntryID: "e" + id, TaskID: "ks1", NodeID: "n"}))
	}
	return s, told, ids
}

// findings returns what a check found wrong.
func findings(t *testing.T, s *Store, name string) string {
	t.Helper()
	var out []string
	for _, f := range s.Check(t.Context()) {
		if f.Check == name && f.Err != nil {
			must.Kind(t, name, f.Err, amber.KindDamaged)
			out = append(out, f.Err.Error())
		}
	}
	return strings.Join(out, "; ")
}

// One row that no reader can read is named by the doctor and by answers, and the
// rows beside it are answered with.
func TestBadRowsAreSetAside(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		table, row string
		damage     string // of control.db where the table is there
		count      func(s *Store, ids []amber.MemoryID) (int, error)
		rest       int
	}{
		{"memories", "", `UPDATE memories SET metadata = '{' WHERE rowid = 1`, listed, 2},
		{"memories", "", `UPDATE memories SET source_refs = 'x' WHERE rowid = 1`, listed, 2},
		{"memories", "", `UPDATE memories SET foreign_fields = '[]' WHERE rowid = 1`, recalled, 2},
		{"memories", "", `UPDATE memories SET clock = -1 WHERE rowid = 1`, recalled, 2},
		{"memories", "", `UPDATE memories SET counter = 9223372036854775807 WHERE rowid = 1`, listed, 2},
		{"memories", "", `UPDATE memories SET revision = 9223372036854775807 WHERE rowid = 1`, listed, 2},
		{"memories", "", `UPDATE memories SET created_at = 9223372036854775807 WHERE rowid = 1`, listed, 2},
		{"revisions", "", `UPDATE revisions SET body = 'x'`, func(s *Store, ids []amber.MemoryID) (int, error) {
			h, err := amber.All(t.Context(), s.History, ids[2])
			return len(h), err
		}, 1},
		{"relations", "", `UPDATE relations SET counter = -1 WHERE rowid = 1`, func(s *Store, ids []amber.MemoryID) (int, error) {
			r, err := s.Related(t.Context(), ids[0])
			return len(r), err
		}, 1},
		{"sessions", "s1", `UPDATE sessions SET started_at = 9223372036854775807 WHERE id = 's1'`, func(s *Store, _ []amber.MemoryID) (int, error) {
			p, err := s.ListSessions(t.Context(), amber.SessionQuery{})
			return len(p.Items), err
		}, 1},
		{"turns", "ts1", `UPDATE turns SET created_at = -9223372036854775807 WHERE id = 'ts1'`, func(s *Store, _ []amber.MemoryID) (int, error) {
			turns, err := amber.LastTurns(t.Context(), s, "s1", 10)
			return len(turns), err
		}, 1},
		{"compactions", "cs1", `UPDATE compactions SET turns = -1 WHERE id = 'cs1'`, func(s *Store, _ []amber.MemoryID) (int, error) {
			all, err := amber.All(t.Context(), s.Compactions, "s1")
			return len(all), err
		}, 1},
		{"tasks", "ks1", `UPDATE tasks SET body = '{' WHERE id = 'ks1'`, tasks, 1},
		{"tasks", "ks1", `UPDATE tasks SET extra = '{' WHERE id = 'ks1'`, tasks, 1},
		{"tasks", "ks1", `UPDATE tasks SET body = json_set(body, '$.version', 9223372036854775807) WHERE id = 'ks1'`, tasks, 1},
		{"events", "ks1", `UPDATE events SET body = '[]' WHERE seq = 1`, func(s *Store, _ []amber.MemoryID) (int, error) {
			e, err := amber.All(t.Context(), s.ListEvents, "ks1")
			return len(e), err
		}, 1},
		{"approvals", "as1", `UPDATE approvals SET payload = '[]' WHERE id = 'as1'`, func(s *Store, _ []amber.MemoryID) (int, error) {
			a, err := amber.All(t.Context(), s.ListApprovals, "")
			return len(a), err
		}, 1},
		{"results", "ks1", `UPDATE results SET body = '' WHERE node_id = 's1'`, func(s *Store, _ []amber.MemoryID) (int, error) {
			r, err := amber.All(t.Context(), s.ListResults, "ks1")
			return len(r), err
		}, 1},
		{"queue", "es1", `UPDATE queue SET attempt = 9223372036854775807 WHERE entry_id = 'es1'`, func(s *Store, _ []amber.MemoryID) (int, error) {
			claim, err := s.Claim(t.Context(), "c")
			if err == nil && claim.Envelope.EntryID != "es2" {
				err = fmt.Errorf("claimed %s", claim.Envelope.EntryID)
			}
			return 1, err
		}, 1},
	} {
		t.Run(c.table, func(t *testing.T) {
			t.Parallel()
			s, told, ids := furnished(t)
			d := s.memory
			if slices.ContainsFunc(sqlrows.ControlReadings, func(r sqlrows.Reading) bool { return r.Table == c.table }) {
				d = s.control
			}
			meddle(t, d, c.damage)
			if got := findings(t, s, "rows"); !strings.Contains(got, "1 rows") || !strings.Contains(got, c.table+" "+c.row) {
				t.Errorf("the check says %q", got)
			}
			n, err := c.count(s, ids)
			must.Hold(t, err == nil && n == c.rest, "%d rows, %v; want %d", n, err, c.rest)
			must.Hold(t, len(told.heard) != 0 && told.heard[0].Table == c.table, "told %v", told.heard)
		})
	}
}

func listed(s *Store, ids []amber.MemoryID) (int, error) {
	n := 0
	for q := (amber.ListQuery{All: true, Limit: 1}); ; {
		page, err := s.List(context.Background(), q)
		if err != nil {
			return 0, err
		}
		if len(page.SetAside) > 0 && page.SetAside[0].ID != string(ids[0]) {
			return 0, fmt.Errorf("set aside: %v", page.SetAside)
		}
		n += len(page.Items)
		if page.Next == "" {
			return n, nil
		}
		q.Cursor = page.Next
	}
}

// recalled counts hits, and looks whether a bad one takes the place of others.
func recalled(s *Store, ids []amber.MemoryID) (int, error) {
	r, err := s.Recall(context.Background(), amber.Query{Text: "fish number", Limit: 2})
	if err == nil && (len(r.SetAside) != 1 || r.SetAside[0].ID != string(ids[0])) {
		err = fmt.Errorf("set aside: %v", r.SetAside)
	}
	return len(r.Hits), err
}

func tasks(s *Store, _ []amber.MemoryID) (int, error) {
	p, err := s.ListTasks(context.Background(), amber.TaskQuery{})
	if err == nil && len(p.SetAside) != 1 {
		err = fmt.Errorf("set aside: %v", p.SetAside)
	}
	return len(p.Items), err
}

// Every table that a schema has is read by the check.
func TestEveryTableIsRead(t *testing.T) {
	t.Parallel()
	s, _, _ := furnished(t)
	for path, readings := range map[string][]sqlrows.Reading{
		s.memory.path(must.Get(s.agent.Current())(t)): sqlrows.MemoryReadings, s.control.path(must.Get(s.agent.Current())(t)): sqlrows.ControlReadings,
	} {
		names := query[string](t, path, `SELECT group_concat(name, ' ') FROM sqlite_schema
WHERE type = 'table' AND name NOT LIKE 'memory\_%' ESCAPE '\' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`)
		for name := range strings.FieldsSeq(names) {
			if !slices.ContainsFunc(readings, func(r sqlrows.Reading) bool { return r.Table == name }) {
				t.Errorf("no check reads %s", name)
			}
		}
	}
}

// A counter at its end leaves no next row: such a file is no agent's.
func TestCountersThatCannotGoOn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, damage, names string }{
		{"memory.db", `UPDATE changes SET seq = 9223372036854775807 WHERE seq = 1`, "changes.seq"},
		{"memory.db", `UPDATE changes SET stamp = 9223372036854775807 WHERE seq = 1`, "changes.stamp"},
		{"memory.db", `UPDATE changes SET stamp = -1 WHERE seq = 1`, "changes.stamp"},
		{"memory.db", `UPDATE turns SET seq = 9223372036854775807 WHERE seq = 1`, "turns.seq"},
		{"control.db", `UPDATE fences SET fence = 9223372036854775807`, "fences.fence"},
		{"control.db", `UPDATE queue SET seq = 9223372036854775807 WHERE seq = 1`, "queue.seq"},
		{"control.db", `UPDATE events SET seq = 9223372036854775807 WHERE seq = 1`, "events.seq"},
	} {
		t.Run(c.names, func(t *testing.T) {
			t.Parallel()
			s, _, _ := furnished(t)
			must.Get(s.Claim(t.Context(), "c"))(t)
			l := &life{s: s, dir: t.TempDir()}
			d := s.memory
			if c.file == "control.db" {
				d = s.control
			}
			meddle(t, d, c.damage)
			if got := findings(t, s, "counters"); !strings.Contains(got, c.names) {
				t.Errorf("the check says %q", got)
			}
			e := must.Get(image.Examine(t.Context(), filepath.Join(l.snapshot(t), c.file), true))(t)
			if last := e.Checks[len(e.Checks)-1]; last.OK || last.Name != "counters" || !strings.Contains(last.Detail, c.names) {
				t.Errorf("the examination says %+v", last)
			}
		})
	}
}

// A memory that cannot be read can be forgotten and erased, and its text is
// written anew instead of being counted to it.
func TestBadMemoryCanGo(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _, ids := furnished(t)
	meddle(t, s.memory, `UPDATE memories SET metadata = '{', counter = -7, revision = 9223372036854775807 WHERE rowid = 1`)
	meddle(t, s.memory, `UPDATE memories SET metadata = '{' WHERE rowid = 2`)
	must.Fail(s.Get(ctx, ids[0]))(t, "get", amber.KindDamaged)
	if fresh := save(t, s, amber.WriteRequest{Content: "fish number 0"}); fresh == ids[0] {
		t.Error("the text was counted to a memory that cannot be read")
	}
	must.Do(t, s.Delete(ctx, ids[0]))
	erase(t, s, ids[1])
	must.Equal(t, "findings after they went", findings(t, s, "rows"), "")
	path := s.memory.path(must.Get(s.agent.Current())(t))
	if b := must.Get(os.ReadFile(path))(t); strings.Contains(string(b), "fish number 1") {
		t.Error("the text that was erased is still there")
	}
}

// A restore passes over rows that cannot be read in either file: it neither
// fails nor brings back what was erased.
func TestRestorePassesOverBadRows(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	l := newLife(t)
	var ids []amber.MemoryID
	for i := range 4 {
		ids = append(ids, save(t, l.s, amber.WriteRequest{Content: fmt.Sprintf("fish number %d", i)}))
	}
	meddle(t, l.s.memory, `UPDATE memories SET metadata = '{' WHERE rowid = 1`)
	dir := l.snapshot(t)
	erase(t, l.s, ids[0])
	must.Get(l.s.Edit(ctx, amber.EditRequest{ID: ids[1], Title: new("later")}))(t)
	meddle(t, l.s.memory, `UPDATE memories SET clock = -1 WHERE rowid = 2`)
	must.Get(l.s.Edit(ctx, amber.EditRequest{ID: ids[3], Title: new("later")}))(t)
	a := l.s.agent
	next := must.Get(a.Current())(t)
	live := l.s.memory.path(next)
	next.Generation++
	next.Incarnation = must.Get(amber.NewUUID(l.clock.Now(), rand.Reader))(t)
	path := filepath.Join(dir, "memory.db")
	report := must.Get(image.Adopt(ctx, image.AdoptRequest{Path: path, Live: live, Current: next, Clock: l.clock.Now, Random: rand.Reader}))(t)
	if report.KeptErased != 1 || report.SetAside != 1 {
		t.Errorf("report %+v, want one kept erased and one set aside", report)
	}
	if n := query[int](t, path, `SELECT count(*) FROM memories WHERE content = 'fish number 0'`); n != 0 {
		t.Error("what was erased is back")
	}
	must.Equal(t, "memories", query[int](t, path, `SELECT count(*) FROM memories`), 3)
}

// A record that cannot be read stays here when the others are exported.
func TestBadRecordDoesNotHoldUpAnExport(t *testing.T) {
	t.Parallel()
	s, told, ids := furnished(t)
	meddle(t, s.memory, `UPDATE memories SET metadata = '{' WHERE rowid = 1`)
	meddle(t, s.memory, `UPDATE sessions SET counter = -1 WHERE id = 's1'`)
	out := must.Get(s.Outgoing(t.Context(), amber.OutgoingRequest{Place: "p"}))(t)
	var sent []string
	for _, r := range out.Records {
		sent = append(sent, r.Ref().ID)
	}
	if slices.Contains(sent, string(ids[0])) || slices.Contains(sent, "s1") || !slices.Contains(sent, string(ids[1])) || !slices.Contains(sent, "s2") {
		t.Errorf("sent %v", sent)
	}
	must.Hold(t, len(told.heard) != 0, "nobody was told")
}
