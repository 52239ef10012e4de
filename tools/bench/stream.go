package main

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

const (
	streamEvents  = 200                   // whose way is measured, each way
	streamLatency = 50 * time.Millisecond // from a write to a listener, at rest
	streamRest    = 5 * time.Second       // how long reads are counted at rest
	// streamReads is how many reads a second a listened agent may cost at rest,
	// however many listen: two logs, once a second.
	streamReads = 2.5
)

// streams measures how long a change takes to reach a listener of the served
// program, and what listeners cost at rest.
func streams(ctx context.Context, c config) outcome {
	dir := filepath.Join(c.dir, "streams")
	agent := agentIn(dir)
	store := get(sqlite.Open(ctx, agent, options()))
	defer store.Close()
	p := startServer(ctx, c.binary, dir)
	defer p.kill()
	remote := p.connect(ctx)
	var ratios []ratio
	for _, way := range []struct {
		name string
		to   amber.LongTerm
	}{{"write over HTTP to listener", remote[0]}, {"write of another process to listener", store}} {
		took := listenTo(ctx, p.url, way.name, way.to)
		what := fmt.Sprintf("%d events at rest, 99 %% %s", len(took), ms(at(took, 99)))
		ratios = append(ratios, ratio{name: way.name, ours: middle(took), absoluteLimit: streamLatency, what: what})
	}
	p.kill()
	var lines []line
	for _, n := range []int{0, 10, 100} {
		reads := atRest(ctx, store, agent, n)
		lines = append(lines, line{name: fmt.Sprintf("reads of the change logs a second, %d listeners", n), amount: reads, limit: streamReads})
	}
	printLines(lines)
	return outcome{lines: lines, ratios: ratios}
}

// eventsPath is where the events of the default agent are told.
const eventsPath = "/v1/tenants/default/agents/default/events"

// openStream opens an event stream.
func openStream(ctx context.Context, url string) io.ReadCloser {
	req := get(http.NewRequestWithContext(ctx, http.MethodGet, url+eventsPath, nil))
	resp := get(http.DefaultClient.Do(req))
	if resp.StatusCode != http.StatusOK {
		check(errors.Join(fmt.Errorf("the stream is answered with %s", resp.Status), resp.Body.Close()))
	}
	return resp.Body
}

// listenTo writes, waits a little and measures when each write is told.
func listenTo(ctx context.Context, url, name string, to amber.LongTerm) (took []time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	body := openStream(ctx, url)
	defer body.Close()
	lines := bufio.NewScanner(body)
	for i := range streamEvents {
		ack := get(to.Write(ctx, amber.WriteRequest{Content: fmt.Sprintf("%s, %d", name, i)}))
		begin := time.Now() // it is durable
		heard(lines, ack.ID)
		took = append(took, time.Since(begin))
		time.Sleep(30 * time.Millisecond) // so that the next one finds it at rest
	}
	return took
}

// heard reads until there is an event of a change of a memory.
func heard(lines *bufio.Scanner, id amber.MemoryID) {
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var e struct{ Payload events.Mutation }
		if ok && json.Unmarshal([]byte(data), &e) == nil && e.Payload.Key == string(id) {
			return
		}
	}
	check(errors.Join(errors.New("the stream is over"), lines.Err()))
}

// readCounter counts reads of a change log.
type readCounter struct {
	amber.ChangeLog
	n *atomic.Int64
}

func (r readCounter) Changes(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error) {
	r.n.Add(1)
	return r.ChangeLog.Changes(ctx, after, limit)
}

func (r readCounter) Head(ctx context.Context) (amber.Position, error) {
	r.n.Add(1)
	return r.ChangeLog.Head(ctx)
}

// everybody may do everything.
type everybody struct{}

func (everybody) Grant(context.Context, string) (wire.Grant, error) {
	return wire.Grant{Scopes: wire.TokenScopes()}, nil
}

// atRest counts how often the change logs of an agent are read in a second while
// nothing happens and some listen.
func atRest(ctx context.Context, store *sqlite.Store, agent *home.Agent, listeners int) float64 {
	var reads atomic.Int64
	parts := store.Store().Present()
	parts.Changes, parts.ControlChanges = readCounter{parts.Changes, &reads}, readCounter{parts.ControlChanges, &reads}
	one := &op.Agent{Tenant: agent.Tenant(), ID: agent.ID(), Store: amber.NewStore(parts), Random: rand.Reader}
	pool := server.NewPool(func(context.Context, amber.TenantID, amber.AgentID, bool) (*op.Agent, func() error, error) {
		return one, func() error { return nil }, nil
	}, server.PoolOptions{Clock: time.Now})
	feeds := server.NewFeeds(pool, func(server.AgentName) string { return agent.Dir() }) // the files do not change
	crew := server.NewCrew(time.Now)
	crew.Go("event streams", feeds.Run)
	defer func() { _ = crew.Stop(context.WithoutCancel(ctx)) }()
	api := get(httpapi.New(httpapi.Options{
		Desk: &server.Desk{Agents: pool}, Authenticator: everybody{}, Clock: time.Now, Random: rand.Reader, Feeds: feeds, MaxStreams: 8 * (listeners + 1),
	}))
	defer api.Close()
	l := get(net.Listen("tcp", "127.0.0.1:0"))
	s := api.NewServer()
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	for range listeners {
		body := openStream(ctx, "http://"+l.Addr().String())
		defer body.Close()
	}
	time.Sleep(time.Second) // looks that follow a change are over
	before := reads.Load()
	time.Sleep(streamRest)
	return float64(reads.Load()-before) / streamRest.Seconds()
}
