package sqlite

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// Each test of this file protects against a mistake that stores of other memory
// tools make.

// found returns the ids a query finds, best first.
func found(t *testing.T, s *Store, q amber.Query) []amber.MemoryID {
	t.Helper()
	ids := []amber.MemoryID{}
	for _, h := range must.Get(s.Recall(t.Context(), q))(t).Hits {
		ids = append(ids, h.ID)
	}
	return ids
}

// wantNone reports what is there and should not be.
func wantNone[T any](t *testing.T, what string, got []T) {
	t.Helper()
	must.Hold(t, len(got) == 0, "%s: %+v, want none", what, got)
}

func save(t *testing.T, s *Store, r amber.WriteRequest) amber.MemoryID {
	t.Helper()
	return must.Get(s.Write(t.Context(), r))(t).ID
}

func TestMissingIdentityDoesNotWidenAQuery(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	ada := amber.Identities{SessionID: "s-ada", UserID: "ada", ProjectID: "p-ada", WorkspaceID: "w-ada"}
	bob := amber.Identities{SessionID: "s-bob", UserID: "bob", ProjectID: "p-bob", WorkspaceID: "w-bob"}
	// So many that a query for one of them tries the filter inside the index
	// as well as after it.
	for _, scope := range amber.Scopes()[:4] {
		for i := range 40 {
			save(t, s, amber.WriteRequest{Scope: scope, Identities: ada, Content: fmt.Sprintf("comet %s %d", scope, i)})
		}
	}
	open := save(t, s, amber.WriteRequest{Content: "a comet for everybody"})
	// A row that lost its identity belongs to no caller, also not to one without an identity.
	meddle(t, s.memory, `UPDATE memories SET identity = '', session_id = '', user_id = '', project_id = '', workspace_id = '' WHERE content LIKE '% 7'`)

	for _, text := range []string{"comet", "come", ""} {
		for who, ids := range map[string]amber.Identities{"nobody": {}, "bob": bob} {
			if got := found(t, s, amber.Query{Text: text, Limit: 64, Filter: amber.Filter{Identities: ids}}); !slices.Equal(got, []amber.MemoryID{open}) {
				t.Errorf("%s asks for %q and sees %d memories, want only the global one", who, text, len(got))
			}
		}
		for _, scope := range amber.Scopes()[:4] {
			_, err := s.Recall(ctx, amber.Query{Text: text, Filter: amber.Filter{Scope: scope}})
			must.Kind(t, "recall in scope "+string(scope)+" without its identity", err, amber.KindInvalid)
			if got := found(t, s, amber.Query{Text: text, Limit: 64, Filter: amber.Filter{Scope: scope, Identities: ada}}); len(got) != 39 {
				t.Errorf("ada asks for %q in scope %s and sees %d memories, want 39", text, scope, len(got))
			}
		}
	}
	for who, ids := range map[string]amber.Identities{"nobody": {}, "bob": bob} {
		page := must.Get(s.List(ctx, amber.ListQuery{Filter: amber.Filter{Identities: ids}}))(t)
		if len(page.Items) != 1 || page.Items[0].ID != open {
			t.Errorf("%s lists %d memories, want only the global one", who, len(page.Items))
		}
	}
}

func TestUnknownKindOrScopeIsNotReadAsAnother(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	must.Fail(s.Write(ctx, amber.WriteRequest{Content: "x", Kind: "rumour"}))(t, "write of an unknown kind", amber.KindInvalid)
	must.Fail(s.Write(ctx, amber.WriteRequest{Content: "x", Scope: "galaxy"}))(t, "write in an unknown scope", amber.KindInvalid)

	ada := amber.Identities{UserID: "ada"}
	kind := save(t, s, amber.WriteRequest{Content: "comet of a kind", Kind: amber.Constraint})
	scope := save(t, s, amber.WriteRequest{Content: "comet of a scope", Scope: amber.ScopeUser, Identities: ada})
	meddle(t, s.memory, `UPDATE memories SET kind = 'rumour' WHERE id = ?`, kind)
	meddle(t, s.memory, `UPDATE memories SET scope = 'galaxy' WHERE id = ?`, scope)
	for _, text := range []string{"comet", "come", ""} {
		got := found(t, s, amber.Query{Text: text, Filter: amber.Filter{Identities: ada, Kinds: amber.MemoryKinds()}})
		wantNone(t, fmt.Sprintf("what %q finds among the known kinds and scopes", text), got)
		if got := found(t, s, amber.Query{Text: text, Filter: amber.Filter{Identities: ada}}); slices.Contains(got, scope) {
			t.Errorf("%q finds a memory whose scope nobody knows", text)
		}
	}
	page := must.Get(s.List(ctx, amber.ListQuery{Filter: amber.Filter{Identities: ada}}))(t)
	if slices.ContainsFunc(page.Items, func(m amber.Memory) bool { return m.ID == scope }) {
		t.Error("a memory whose scope nobody knows is listed")
	}
	must.Equal(t, "unknown kind", must.Get(s.Get(ctx, kind))(t).Kind, "rumour")
	must.Equal(t, "unknown scope", must.Get(s.Get(ctx, scope))(t).Scope, "galaxy")
}

func TestRecordIDsDoNotCollideBetweenProcesses(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	dir := filepath.Join(t.TempDir(), "home")
	clock := newHandClock()                                // the same millisecond for everybody
	seed := bytes.Repeat([]byte("not very random "), 1000) // and the same numbers
	first := openAgent(t, agentIn(t, dir), Options{Clock: clock.Now, Random: bytes.NewReader(seed)})
	second := openAgent(t, agentIn(t, dir), Options{Clock: clock.Now, Random: bytes.NewReader(seed)})
	id := save(t, first, amber.WriteRequest{Content: "of the first"})
	_, err := second.Write(ctx, amber.WriteRequest{Content: "of the second"})
	if err == nil {
		t.Fatal("two memories have one id")
	}
	if m := must.Get(second.Get(ctx, id))(t); m.Content != "of the first" || m.Revision != 1 {
		t.Errorf("the memory is now revision %d: %q", m.Revision, m.Content)
	}

	random := openAgent(t, agentIn(t, dir), Options{Clock: clock.Now, Random: rand.Reader})
	other := openAgent(t, agentIn(t, dir), Options{Clock: clock.Now, Random: rand.Reader})
	ids := map[amber.MemoryID]bool{}
	for i := range 50 {
		ids[save(t, random, amber.WriteRequest{Content: fmt.Sprint("random ", i)})] = true
		ids[save(t, other, amber.WriteRequest{Content: fmt.Sprint("other ", i)})] = true
	}
	must.Equal(t, "ids of 100 memories", len(ids), 100)
}

// agentIn returns a new handle of the default agent of a home, as another
// process would have it.
func agentIn(t *testing.T, dir string) *home.Agent {
	t.Helper()
	h, _, err := home.Open(dir, home.Options{Clock: newHandClock().Now, Random: rand.Reader})
	must.Do(t, err)
	return must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
}

// openAgent opens the store of an agent until the test ends.
func openAgent(t *testing.T, a *home.Agent, o Options) *Store {
	t.Helper()
	s := must.Get(Open(t.Context(), a, o))(t)
	t.Cleanup(func() { must.Do(t, s.Close()) })
	return s
}

func TestMemoryAndControlAreTwoFiles(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	a, clock := agentIn(t, filepath.Join(t.TempDir(), "home")), newHandClock()
	session := func(f func(*Store)) {
		s := must.Get(Open(ctx, a, Options{Clock: clock.Now, Random: rand.Reader}))(t)
		f(s)
		must.Do(t, s.Close())
	}
	session(func(s *Store) {
		save(t, s, amber.WriteRequest{Content: "before the backup"})
		must.Get(s.SaveTask(ctx, amber.Task{ID: "before", Goal: "g"}, 0))(t)
	})
	path := filepath.Join(a.GenDir(must.Get(a.Current())(t)), "memory.db")
	backup := must.Get(os.ReadFile(path))(t)
	session(func(s *Store) {
		save(t, s, amber.WriteRequest{Content: "after the backup"})
		must.Get(s.SaveTask(ctx, amber.Task{ID: "after", Goal: "g"}, 0))(t)
	})
	must.Do(t, os.WriteFile(path, backup, 0o600))
	session(func(s *Store) {
		must.Equal(t, "memories after the old memory.db is back", must.Get(s.Stats(ctx))(t).Memories, 1)
		must.Equal(t, "tasks after the old memory.db is back", len(must.Get(s.ListTasks(ctx, amber.TaskQuery{}))(t).Items), 2)
		shared := []string{"changes", "incarnations"}
		must.Equal(t, "tables that are in both files", inBoth(t, s), shared)
	})
}

// inBoth returns the names of tables that both files have.
func inBoth(t *testing.T, s *Store) (names []string) {
	t.Helper()
	const tables = `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`
	control := texts(t, s.control, tables)
	for _, n := range texts(t, s.memory, tables) {
		if slices.Contains(control, n) {
			names = append(names, n)
		}
	}
	return names
}

// Acknowledged means synced, so every connection must have the pragmas that
// make a commit durable, not only the first of a pool.
func TestAcknowledgedMeansDurable(t *testing.T) {
	t.Parallel()
	s, _ := freshStore(t, amber.QueueOptions{})
	for _, d := range []*database{s.memory, s.control} {
		// All readers are inside at once, so each has a connection of its own;
		// the writer writes beside them.
		var inside, done sync.WaitGroup
		inside.Add(s.o.Readers)
		for range s.o.Readers {
			done.Go(func() {
				err := d.View(t.Context(), "look", "", func(x *tx) error {
					inside.Done()
					inside.Wait()
					return samePragmas(x, true)
				})
				must.Kind(t, "a reader of "+d.schema.File, err, "")
			})
		}
		for range 3 {
			if err := d.Update(t.Context(), "look", "", func(x *tx) error { return samePragmas(x, false) }); err != nil {
				t.Errorf("the writer of %s: %v", d.schema.File, err)
			}
		}
		done.Wait()
		must.Equal(t, "open readers of "+d.schema.File, d.live.readers.DB.Stats().OpenConnections, s.o.Readers)
	}
}

// samePragmas compares the pragmas of a connection with what they must be.
func samePragmas(x *tx, reader bool) error {
	want := map[string]string{
		"journal_mode": "wal", "synchronous": "2", "fullfsync": "1", "checkpoint_fullfsync": "1", "foreign_keys": "1",
		"secure_delete": "1", "busy_timeout": "30000", "trusted_schema": "0", "cell_size_check": "1", "recursive_triggers": "1", "query_only": "0", "temp_store": "2",
	}
	if reader {
		want["query_only"], want["temp_store"] = "1", "0"
	}
	var errs []error
	for name, value := range want {
		var got string
		if err := x.Row("PRAGMA " + name).Scan(&got); err != nil || got != value {
			errs = append(errs, fmt.Errorf("%s is %q, want %q (%w)", name, got, value, err))
		}
	}
	return errors.Join(errs...)
}

func TestForeignKeysHoldOnEveryConnection(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, _ := freshStore(t, amber.QueueOptions{})
	const nobody = "00000000-0000-7000-8000-000000000000"
	var done sync.WaitGroup
	for c := range 8 {
		done.Go(func() {
			for range 40 {
				err := s.SetConcepts(ctx, nobody, []string{fmt.Sprint("c", c)})
				must.Kind(t, "a concept of a memory that is not there", err, amber.KindNotFound)
			}
		})
	}
	done.Wait()
	// Past the check the store makes itself, SQLite holds the line.
	for name, query := range map[string]string{
		"revision":  `INSERT INTO revisions (memory_id, revision, body) VALUES ('` + nobody + `', 1, '{}')`,
		"embedding": `INSERT INTO embeddings (memory_id, model, dimension, vector) VALUES ('` + nobody + `', 'm', 1, x'00000000')`,
		"concept":   `INSERT INTO concepts (memory_id, concept) VALUES ('` + nobody + `', 'c')`,
		"active":    `INSERT INTO active_sessions (binding, session_id) VALUES ('b', '` + nobody + `')`,
	} {
		err := s.memory.Update(ctx, "insert", "", func(x *tx) error { _, err := x.Exec(query); return err })
		must.Hold(t, err != nil, "an orphaned %s is stored", name)
	}
}
