package sqlite

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/internal/test/must"
)

// versionRow is a row of the table versions.
type versionRow struct {
	saw          string
	head, stored bool
}

func readVersions(x *tx, id amber.MemoryID) (map[string]versionRow, error) {
	out := map[string]versionRow{}
	err := x.Each(`SELECT version, saw, head, stored FROM versions WHERE memory_id = ?`, []any{id}, func(s scanner) error {
		var name string
		var r versionRow
		err := s.Scan(&name, &r.saw, &r.head, &r.stored)
		out[name] = r
		return err
	})
	return out, err
}

func versionsOf(t *testing.T, s *Store, id amber.MemoryID) map[string]versionRow {
	t.Helper()
	return must.Get(view(t.Context(), s.memory, "look", "", func(x *tx) (map[string]versionRow, error) { return readVersions(x, id) }))(t)
}

// versionsHold checks what sync relies on, for every memory: those with rows
// have one for their newest version, which is a head; a head has its text here;
// what is called stored is the memory or in its history; names can be read.
func versionsHold(t *testing.T, s *Store) {
	t.Helper()
	must.Do(t, s.memory.View(t.Context(), "look", "", func(x *tx) error {
		ids := must.Get(sqlrows.All(x.Tx, sqlrows.ScanText, `SELECT DISTINCT memory_id FROM versions`))(t)
		for _, id := range ids {
			m, found, err := x.Load(amber.MemoryID(id))
			must.Do(t, err)
			if !found {
				t.Errorf("%s has versions and is not there", id)
				continue
			}
			history := must.Get(sqlrows.All(x.Tx, sqlrows.ScanRevision, sqlrows.SelectRevisions, id))(t)
			texts := map[string]bool{}
			for _, r := range append(history, m) {
				texts[sqlrows.VersionOf(r.Origin)] = true
			}
			rows := must.Get(readVersions(x, m.ID))(t)
			if r := rows[sqlrows.VersionOf(m.Origin)]; !r.head || !r.stored {
				t.Errorf("%s: its newest version is %+v", id, r)
			}
			for name, r := range rows {
				o := must.Get(sqlrows.ParseVersion(name))(t)
				for _, seen := range must.Get(sqlrows.SplitVersions(r.saw))(t) {
					if !o.After(seen) || rows[sqlrows.VersionOf(seen)].head {
						t.Errorf("%s: %s saw %+v: %+v", id, name, seen, rows[sqlrows.VersionOf(seen)])
					}
				}
				if r.head && !r.stored || r.stored && !texts[name] {
					t.Errorf("%s: %s is %+v, its text is here: %t", id, name, r, texts[name])
				}
			}
		}
		return nil
	}))
}

func TestVersionNames(t *testing.T) {
	t.Parallel()
	for _, o := range []amber.Origin{
		{Device: "d", Counter: 1, Clock: 1},
		{Device: "a laptop. of mine", Counter: 1 << 62, Clock: 1<<63 - 1},
		{Device: "", Counter: 0, Clock: 0},
	} {
		must.Equal(t, sqlrows.VersionOf(o), must.Get(sqlrows.ParseVersion(sqlrows.VersionOf(o)))(t), o)
	}
	for _, s := range []string{"", "1", "1.2", "a.2.d", "1.b.d", "-1.2.d", "01.2.d", "+1.2.d", "1.9223372036854775808.d", "9223372036854775808.1.d"} {
		must.Fail(sqlrows.ParseVersion(s))(t, "version "+s, amber.KindDamaged)
	}
	saw := []amber.Origin{{Device: "two words", Counter: 2, Clock: 3}, {Device: "d", Counter: 1, Clock: 1}}
	must.Equal(t, "", must.Get(sqlrows.SplitVersions(sqlrows.JoinVersions(saw)))(t), saw)
	wantNone(t, "no versions", must.Get(sqlrows.SplitVersions(""))(t))
}

// A memory that was written once has no rows; from the first edit on every
// version has one that names the version before it.
func TestEditsNoteVersions(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	id := save(t, s, amber.WriteRequest{Topic: "t", Content: "first"})
	must.Get(s.Write(ctx, amber.WriteRequest{Topic: "t", Content: "first"}))(t) // a duplicate is no version
	must.Equal(t, "versions after the first write", len(versionsOf(t, s, id)), 0)
	changes := []func(){
		func() { must.Get(s.Edit(ctx, amber.EditRequest{ID: id, Content: new("second")}))(t) },
		func() { must.Get(s.Write(ctx, amber.WriteRequest{Topic: "t", Content: "third"}))(t) },
		func() { must.Do(t, s.Delete(ctx, id)) },
		func() { must.Get(s.Write(ctx, amber.WriteRequest{Topic: "t", Content: "fourth"}))(t) },
		func() { must.Get(s.RestoreMemory(ctx, must.Get(amber.All(ctx, s.History, id))(t)[1]))(t) },
	}
	for i, change := range changes {
		change()
		must.Equal(t, fmt.Sprintf("versions after change %d", i+1), chained(t, s, id), i+2)
		versionsHold(t, s)
	}
}

// others notes versions of a memory that another device made, as an import
// would: each as a revision of the history and a head.
func others(t *testing.T, s *Store, id amber.MemoryID, n int) (made []amber.Origin) {
	t.Helper()
	m := must.Get(s.Get(t.Context(), id))(t)
	must.Do(t, s.memory.Update(t.Context(), "import", "", func(x *tx) error {
		if _, err := x.Exec(sqlrows.KeepVersion, id, sqlrows.VersionOf(m.Origin)); err != nil {
			return err
		}
		var lowest int64
		if err := x.Row(`SELECT coalesce(min(revision), 0) FROM revisions WHERE memory_id = ?`, id).Scan(&lowest); err != nil {
			return err
		}
		for i := range n {
			v := m
			v.Origin = amber.Origin{Device: "another device", Counter: m.Origin.Counter, Clock: m.Origin.Clock - 1 - amber.Stamp(i)}
			v.Revision = lowest - int64(i) - 1
			body, err := sqlrows.Marshal(v)
			if err != nil {
				return err
			}
			if _, err := x.Exec(sqlrows.InsertRevision, id, v.Revision, body); err != nil {
				return err
			}
			if err := x.NoteVersion(id, v.Origin, nil); err != nil {
				return err
			}
			made = append(made, v.Origin)
		}
		return nil
	}))
	return made
}

// An edit has every side of a conflict before it and settles it.
func TestEditsSettleConflicts(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	for name, settle := range map[string]func(*Store, amber.MemoryID) error{
		"edit": func(s *Store, id amber.MemoryID) error {
			return only(s.Edit(ctx, amber.EditRequest{ID: id, Content: new("x")}))
		},
		"topic": func(s *Store, _ amber.MemoryID) error {
			return only(s.Write(ctx, amber.WriteRequest{Topic: "t", Content: "x"}))
		},
		"delete": func(s *Store, id amber.MemoryID) error { return s.Delete(ctx, id) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := freshStore(t, amber.QueueOptions{})
			id := save(t, s, amber.WriteRequest{Topic: "t", Content: "first"})
			m := must.Get(s.Get(ctx, id))(t)
			want := append(others(t, s, id, 2), m.Origin)
			must.Do(t, settle(s, id))
			heads := 0
			for name, r := range versionsOf(t, s, id) {
				if !r.head {
					continue
				}
				heads++
				saw := must.Get(sqlrows.SplitVersions(r.saw))(t)
				slices.SortFunc(want, sqlrows.LatestFirst)
				must.Equal(t, name+" saw", saw, want)
			}
			must.Equal(t, "heads", heads, 1)
			versionsHold(t, s)
		})
	}
}

// A version names no more others than a record may; the rest stays in conflict
// until the next edit.
func TestAnEditNamesABoundedNumberOfVersions(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	id := save(t, s, amber.WriteRequest{Content: "first"})
	others(t, s, id, sqlrows.MaxSaw+10)
	for _, want := range []int{1 + 11, 1} {
		m := must.Get(s.Edit(t.Context(), amber.EditRequest{ID: id, Title: new(strings.Repeat("x", want))}))(t)
		heads := 0
		rows := versionsOf(t, s, id)
		for _, r := range rows {
			if r.head {
				heads++
			}
		}
		must.Equal(t, "heads", heads, want)
		if saw := must.Get(sqlrows.SplitVersions(rows[sqlrows.VersionOf(m.Origin)].saw))(t); len(saw) > sqlrows.MaxSaw {
			t.Errorf("it saw %d versions", len(saw))
		}
		versionsHold(t, s)
	}
}

// A version that others have seen before it arrives is no head when it does.
func TestSeenVersionsAreNoHeads(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	o := func(counter uint64) amber.Origin { return amber.Origin{Device: "d", Counter: counter, Clock: 1} }
	must.Do(t, s.memory.Update(t.Context(), "import", "", func(x *tx) error {
		must.Do(t, x.NoteVersion("m", o(3), []amber.Origin{o(2), o(1)}))
		if known := must.Get(x.KnowsVersion("m", o(2)))(t); known {
			t.Error("a version is known before it has arrived")
		}
		must.Do(t, x.NoteVersion("m", o(2), []amber.Origin{o(1)}))
		if known := must.Get(x.KnowsVersion("m", o(2)))(t); !known {
			t.Error("a version is not known when it has arrived")
		}
		heads := must.Get(x.Heads(amber.Memory{ID: "m", Origin: o(3)}))(t)
		must.Equal(t, "heads", heads, []amber.Origin{o(3)})
		return nil
	}))
	want := map[string]versionRow{
		sqlrows.VersionOf(o(1)): {},
		sqlrows.VersionOf(o(2)): {saw: sqlrows.VersionOf(o(1)), stored: true},
		sqlrows.VersionOf(o(3)): {saw: sqlrows.VersionOf(o(2)) + "\n" + sqlrows.VersionOf(o(1)), head: true, stored: true},
	}
	must.Equal(t, "", versionsOf(t, s, "m"), want, cmp.AllowUnexported(versionRow{}))
}

// A memory that comes back from a state that is later than the live one, or
// from one that is not there, has seen the version it is of.
func TestRestoredMemoriesHaveSeenTheirVersion(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	id := save(t, s, amber.WriteRequest{Content: "first"})
	m := must.Get(s.Get(ctx, id))(t)
	past := m
	past.Content, past.ContentDigest = "lived elsewhere", amber.ContentDigest("lived elsewhere")
	past.Origin = amber.Origin{Device: "another", Counter: 7, Clock: 1}
	back := must.Get(s.RestoreMemory(ctx, past))(t)
	rows := versionsOf(t, s, id)
	if saw := rows[sqlrows.VersionOf(back.Origin)].saw; saw != sqlrows.JoinVersions([]amber.Origin{m.Origin, past.Origin}) || back.Origin.Counter != 8 {
		t.Errorf("%+v saw %q", back.Origin, saw)
	}
	if r, ok := rows[sqlrows.VersionOf(past.Origin)]; !ok || r.head || r.stored {
		t.Errorf("the version it is of: %+v, %t", r, ok)
	}
	alone := past
	alone.ID, alone.Content, alone.ContentDigest = "01900000-0000-7000-8000-000000000001", "alone", amber.ContentDigest("alone")
	back = must.Get(s.RestoreMemory(ctx, alone))(t)
	if saw := versionsOf(t, s, alone.ID)[sqlrows.VersionOf(back.Origin)].saw; saw != sqlrows.VersionOf(past.Origin) || back.Origin.Counter != 8 {
		t.Errorf("%+v saw %q", back.Origin, saw)
	}
	versionsHold(t, s)
}

// To write the text of a memory that is in conflict once more settles nothing: the
// writer has not looked at the other versions.
func TestAWriteThatAddsSettlesNoConflict(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	id := save(t, s, amber.WriteRequest{Content: "mine"})
	others(t, s, id, 2)
	before := must.Get(s.Get(t.Context(), id))(t)
	heads := versionsOf(t, s, id)
	ack := must.Get(s.Write(t.Context(), amber.WriteRequest{
		Kind: before.Kind, Scope: before.Scope, Identities: before.Identities, Title: before.Title, Content: before.Content, Topic: before.Topic,
		Tags: []string{"late"},
	}))(t)
	if ack.ID != id || !ack.Deduplicated || len(ack.Added) > 0 || !slices.Contains(ack.NotTaken, "tags") || ack.Revision != before.Revision {
		t.Errorf("the answer is %+v", ack)
	}
	must.Equal(t, "versions", versionsOf(t, s, id), heads, cmp.AllowUnexported(versionRow{}))
	versionsHold(t, s)
}
