package sqlite

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
)

// late is an agent whose CURRENT is read once just before another generation
// becomes live.
type late struct {
	*home.Agent
	old  home.Current
	told bool
}

func (l *late) Current() (home.Current, error) {
	if !l.told {
		l.told = true
		return l.old, nil
	}
	return l.Agent.Current()
}

func TestReaderFollowsWhenItsGenerationGoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		gone func(dir string) error
	}{
		{"all of it", os.RemoveAll},
		{"its log", func(dir string) error { return os.RemoveAll(filepath.Join(dir, "memory.db-wal")) }},
		{"nothing yet", func(string) error { return nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			s, _ := freshStore(t, amber.QueueOptions{})
			id := save(t, s, amber.WriteRequest{Content: "before"})
			old := must.Get(s.agent.Current())(t)
			restore(t, s.agent, nil)
			must.Get(s.Edit(ctx, amber.EditRequest{ID: id, Content: new("after")}))(t)
			must.Do(t, c.gone(s.agent.GenDir(old)))
			for name, use := range map[string]func(*Store) error{
				"get": func(s *Store) error {
					m, err := s.Get(ctx, id)
					if err == nil && m.Content != "after" {
						err = fmt.Errorf("it says %q", m.Content)
					}
					return err
				},
				"check": func(s *Store) error { return s.Check(ctx)[0].Err },
			} {
				x := newStore(s.agent, &late{Agent: s.agent, old: old}, must.Get(readOnlyOptions().withDefaults())(t))
				must.Kind(t, name, use(x), "")
				must.Do(t, x.Close())
			}
		})
	}
}

// A file that is missing though its generation is live stays an error.
func TestReaderDoesNotWaitForAMissingFile(t *testing.T) {
	t.Parallel()
	a := filledAgent(t)
	c := must.Get(a.Current())(t)
	must.Do(t, os.Remove(filepath.Join(a.GenDir(c), "memory.db")))
	s := newStore(a, a, must.Get(readOnlyOptions().withDefaults())(t))
	must.Fail(s.Get(t.Context(), "0193c5a8-0000-7000-8000-000000000000"))(t, "get", amber.KindDamaged)
}

func TestOpenGenerationIsForItsBuilderAlone(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, clock := freshStore(t, amber.QueueOptions{})
	save(t, s, amber.WriteRequest{Content: "live"})
	next := copyGeneration(t, s.agent, must.Get(s.agent.Current())(t))
	must.Do(t, s.agent.Exclusive(ctx, func(home.Current) error { // no lock is taken
		g := must.Get(OpenGeneration(ctx, s.agent, next, Options{Clock: clock.Now, Random: rand.Reader}))(t)
		save(t, g, amber.WriteRequest{Content: "being built"})
		must.Equal(t, "memories in the generation", must.Get(g.Stats(ctx))(t).Memories, 2)
		incarnation, _, _ := must.Get(g.Head(ctx))(t).Parse()
		must.Equal(t, "incarnation it writes as", incarnation, next.Incarnation)
		return g.Close()
	}))
	must.Equal(t, "live memories", must.Get(s.Stats(ctx))(t).Memories, 1)
}

func TestOpenGenerationMigrates(t *testing.T) {
	t.Parallel()
	a := agentWithMemory1(t)
	c := must.Get(a.Current())(t)
	g := must.Get(OpenGeneration(t.Context(), a, c, readOnlyOptions()))(t)
	memory, _, err := g.SchemaVersion(t.Context())
	must.Do(t, err)
	must.Do(t, g.Close())
	must.Equal(t, "schema", memory, sqlfile.MemorySchema.Version())
}

// Adopt migrates too.
func TestAdoptOfAnOlderSchema(t *testing.T) {
	t.Parallel()
	a := agentWithMemory1(t)
	c := must.Get(a.Current())(t)
	path := filepath.Join(a.GenDir(c), "memory.db")
	next := c
	next.Generation, next.Incarnation = 2, "next"
	must.Get(image.Adopt(t.Context(), image.AdoptRequest{Path: path, Current: next, Clock: newHandClock().Now, Random: rand.Reader}))(t)
	if e := must.Get(image.Examine(t.Context(), path, true))(t); e.Schema != sqlfile.MemorySchema.Version() || !e.Checks[len(e.Checks)-1].OK {
		t.Errorf("%+v", e)
	}
}
