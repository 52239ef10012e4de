package local_test

import (
	"context"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/notes"
	"github.com/amber-memory/amber/snapshot"
	"github.com/amber-memory/amber/snapshot/local"
	"github.com/amber-memory/amber/snapshot/snapshottest"
	"github.com/amber-memory/amber/store/sqlite"
)

func TestKeepsEveryPromise(t *testing.T) {
	t.Parallel()
	snapshottest.Run(t, suiteWorld)
}

// suiteWorld is a home on a disk as the suite sees it.
func suiteWorld(t *testing.T) snapshottest.World {
	dir, clock := t.TempDir(), snapshottest.NewClock()
	return snapshottest.World{Clock: clock, Open: func(context.Context) (snapshottest.Handle, error) {
		h, _, err := home.Open(dir, home.Options{Clock: clock.Now, Random: rand.Reader})
		if err != nil {
			return snapshottest.Handle{}, err
		}
		e, err := local.Open(local.Options{Home: h, Clock: clock.Now, Random: rand.Reader})
		return snapshottest.Handle{Snapshots: e, Checker: e, Agent: func(tenant amber.TenantID, id amber.AgentID) snapshottest.Agent {
			a, err := h.Agent(tenant, id)
			if err != nil {
				panic(err) // the suite asks for good names
			}
			return suiteAgent{a, clock}
		}}, err
	}}
}

// suiteAgent opens what it needs for each call, as a command would.
type suiteAgent struct {
	agent *home.Agent
	clock *snapshottest.Clock
}

func (a suiteAgent) with(ctx context.Context, fn func(s *sqlite.Store) error) error {
	s, err := sqlite.Open(ctx, a.agent, sqlite.Options{Clock: a.clock.Now, Random: rand.Reader})
	if err != nil {
		return err
	}
	defer s.Close()
	return fn(s)
}

func (a suiteAgent) notes() (*notes.Dir, error) {
	return notes.New(notes.Options{Guard: snapshot.NotesGuard(a.agent), Clock: a.clock.Now})
}

func (a suiteAgent) Make(ctx context.Context) error {
	return a.with(ctx, func(*sqlite.Store) error { return nil })
}

func (a suiteAgent) Remember(ctx context.Context, m snapshottest.Memory) (id amber.MemoryID, err error) {
	err = a.with(ctx, func(s *sqlite.Store) error {
		ack, err := s.Write(ctx, amber.WriteRequest{Kind: m.Kind, Title: m.Title, Content: m.Content, Tags: m.Tags})
		id = ack.ID
		return err
	})
	return id, err
}

func (a suiteAgent) Edit(ctx context.Context, id amber.MemoryID, m snapshottest.Memory) error {
	return a.with(ctx, func(s *sqlite.Store) error {
		_, err := s.Edit(ctx, amber.EditRequest{ID: id, Kind: &m.Kind, Title: &m.Title, Content: &m.Content, Tags: &m.Tags})
		return err
	})
}

func (a suiteAgent) Forget(ctx context.Context, id amber.MemoryID) error {
	return a.with(ctx, func(s *sqlite.Store) error { return s.Delete(ctx, id) })
}

func (a suiteAgent) WriteNote(ctx context.Context, name, text string) error {
	d, err := a.notes()
	if err == nil {
		_, err = d.WriteNote(ctx, name, text)
	}
	return err
}

func (a suiteAgent) DeleteNote(ctx context.Context, name string) error {
	d, err := a.notes()
	if err == nil {
		err = d.DeleteNote(ctx, name)
	}
	return err
}

func (a suiteAgent) PutState(ctx context.Context, key, doc string) error {
	return a.agent.Write(ctx, "state", func(c home.Current) error {
		dir := filepath.Join(a.agent.GenDir(c), "state")
		file := filepath.Join(dir, key+".json")
		if doc == "" {
			return os.RemoveAll(file)
		}
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		return os.WriteFile(file, []byte(doc), 0o600)
	})
}

func (a suiteAgent) Model(ctx context.Context) (snapshottest.Model, error) {
	m := snapshottest.Model{Memories: map[amber.MemoryID]snapshottest.Memory{}, Notes: map[string]string{}, State: map[string]string{}}
	c, err := a.agent.Current()
	if err != nil {
		return m, err
	}
	if err := a.with(ctx, func(s *sqlite.Store) error { return readMemories(ctx, s, m) }); err != nil {
		return m, err
	}
	d, err := a.notes()
	if err != nil {
		return m, err
	}
	notes, err := d.ListNotes(ctx)
	if err != nil {
		return m, err
	}
	for _, n := range notes {
		note, err := d.ReadNote(ctx, n.Name)
		if err != nil {
			return m, err
		}
		m.Notes[n.Name] = note.Content
	}
	files, err := filepath.Glob(filepath.Join(a.agent.GenDir(c), "state", "*.json"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return m, err
		}
		m.State[strings.TrimSuffix(filepath.Base(f), ".json")] = string(b)
	}
	return m, err
}

func readMemories(ctx context.Context, s *sqlite.Store, m snapshottest.Model) error {
	q := amber.ListQuery{All: true, Limit: amber.MaxPageSize}
	for {
		page, err := s.List(ctx, q)
		if err != nil {
			return err
		}
		for _, x := range page.Items {
			m.Memories[x.ID] = snapshottest.Memory{Kind: x.Kind, Title: x.Title, Content: x.Content, Tags: x.Tags}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return nil
		}
	}
}

// Snapshots with random changes, deletions and gc between them: each brings back
// the agent as it was.
func TestHistoriesOfSnapshots(t *testing.T) {
	t.Parallel()
	if err := snapshottest.History(t.Context(), suiteWorld(t), *modelSeed, snapshottest.HistoryOptions{Snapshots: *modelSnapshots}); err != nil {
		t.Error(err)
	}
}
