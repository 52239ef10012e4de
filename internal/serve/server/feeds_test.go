package server_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/store/inmem"
)

// counting is a change log that counts who reads it.
type counting struct {
	amber.ChangeLog
	reads *atomic.Int64
}

func (c counting) Changes(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error) {
	c.reads.Add(1)
	return c.ChangeLog.Changes(ctx, after, limit)
}

func (c counting) Head(ctx context.Context) (amber.Position, error) {
	c.reads.Add(1)
	return c.ChangeLog.Head(ctx)
}

// one has one agent, which is always open.
type one struct{ a *op.Agent }

func (o one) Agent(context.Context, amber.TenantID, amber.AgentID, bool) (*op.Agent, func(), error) {
	return o.a, func() {}, nil
}

// fed returns an agent whose reads are counted, and its feeds.
func fed(t *testing.T, mark func(server.AgentName) string) (*op.Agent, *server.Feeds, *atomic.Int64) {
	t.Helper()
	store := must.Get(inmem.New(inmem.Options{Clock: time.Now, Random: rand.Reader}))(t)
	reads := new(atomic.Int64)
	parts := store.Parts()
	parts.Changes, parts.ControlChanges = counting{parts.Changes, reads}, counting{parts.ControlChanges, reads}
	a := &op.Agent{Tenant: "acme", ID: "ada", Store: amber.NewStore(parts)}
	return a, server.NewFeeds(one{a}, mark), reads
}

func run(t *testing.T, f *server.Feeds) {
	t.Helper()
	crew := server.NewCrew(time.Now)
	crew.Go("event streams", f.Run)
	t.Cleanup(func() { must.NoError(t, crew.Stop(context.Background())) })
}

// The logs of an agent are read once for all listeners: when Changed reports a write, and when the files show one.
func TestLogsAreReadOnceHoweverManyListen(t *testing.T) {
	t.Parallel()
	cost := func(listeners int) int64 {
		a, feeds, reads := fed(t, nil)
		var all []*server.Feed
		for range listeners {
			feed, leave, err := feeds.Join(t.Context(), a)
			must.Do(t, err)
			defer leave()
			all = append(all, feed)
		}
		for i := range 20 {
			at, _ := all[0].Memory.Head()
			news := all[0].News()
			must.Do(t, must.Err(a.Store.LongTerm.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprint("fact ", i)})))
			feeds.Changed(server.AgentName{Tenant: "acme", Agent: "ada"})
			<-news
			for _, feed := range all {
				if got, found := feed.Memory.Changes(at, 10); !found || len(got) == 0 {
					t.Fatalf("a listener hears %v, %v", got, found)
				}
			}
		}
		return reads.Load()
	}
	if one, many := cost(1), cost(100); one != many || one == 0 {
		t.Errorf("the logs were read %d times for one listener and %d times for 100", one, many)
	}
}

// A look at the files finds the writes of another process; the logs need not be read for it. Without a listener the
// feeds look at no file.
func TestWritesOfOtherProcessesAreFoundInTheFiles(t *testing.T) {
	t.Parallel()
	var version, looks atomic.Int64
	a, feeds, reads := fed(t, func(server.AgentName) string {
		looks.Add(1)
		return fmt.Sprint(version.Load())
	})
	run(t, feeds)
	must.Equal(t, "looks", looks.Load(), 0)
	must.Equal(t, "reads", reads.Load(), 0)
	feed, leave, err := feeds.Join(t.Context(), a)
	must.Do(t, err)
	for i := range 5 {
		news := feed.News()
		must.Do(t, must.Err(a.Store.LongTerm.Write(t.Context(), amber.WriteRequest{Content: fmt.Sprint("fact ", i)})))
		version.Add(1)
		<-news
	}
	leave()
	if feeds.Of(server.AgentName{Tenant: "acme", Agent: "ada"}) != nil {
		t.Error("there is a feed after the last listener has gone")
	}
}
