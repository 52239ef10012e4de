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
	"github.com/amber-memory/amber/events"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/server/httpapi"
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
func streams(ctx context.Context, c config) (outcome, error) {
	dir := filepath.Join(c.dir, "streams")
	store, agent, err := openStreamed(ctx, dir)
	if err != nil {
		return outcome{}, err
	}
	defer store.Close()
	p, err := startServer(ctx, c.binary, dir)
	if err != nil {
		return outcome{}, err
	}
	defer p.kill()
	remote, err := p.connect(ctx)
	if err != nil {
		return outcome{}, err
	}
	var ratios []ratio
	for _, way := range []struct {
		name string
		to   amber.LongTerm
	}{{"write over HTTP to listener", remote[0]}, {"write of another process to listener", store}} {
		took, err := listenTo(ctx, p.url, way.name, way.to)
		if err != nil {
			return outcome{}, fmt.Errorf("%s: %w", way.name, err)
		}
		what := fmt.Sprintf("%d events at rest, 99 %% %s", len(took), ms(at(took, 99)))
		ratios = append(ratios, ratio{name: way.name, ours: middle(took), absoluteLimit: streamLatency, what: what})
	}
	p.kill()
	var lines []line
	for _, n := range []int{0, 10, 100} {
		reads, err := atRest(ctx, store, agent, n)
		if err != nil {
			return outcome{}, err
		}
		lines = append(lines, line{name: fmt.Sprintf("reads of the change logs a second, %d listeners", n), amount: reads, limit: streamReads})
	}
	printLines(lines)
	return outcome{lines: lines, ratios: ratios}, nil
}

func openStreamed(ctx context.Context, dir string) (*sqlite.Store, *home.Agent, error) {
	h, _, err := home.Open(dir, home.Options{Clock: time.Now, Random: rand.Reader})
	if err != nil {
		return nil, nil, err
	}
	agent, err := h.Agent(amber.DefaultTenant, amber.DefaultAgent)
	if err != nil {
		return nil, nil, err
	}
	s, err := sqlite.Open(ctx, agent, options())
	return s, agent, err
}

// eventsPath is where the events of the default agent are told.
const eventsPath = "/v1/tenants/default/agents/default/events"

// openStream opens an event stream.
func openStream(ctx context.Context, url string) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url+eventsPath, nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("the stream is answered with %s", resp.Status), resp.Body.Close())
	}
	return resp.Body, nil
}

// listenTo writes, waits a little and measures when each write is told.
func listenTo(ctx context.Context, url, name string, to amber.LongTerm) (took []time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	body, err := openStream(ctx, url)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	lines := bufio.NewScanner(body)
	for i := range streamEvents {
		ack, err := to.Write(ctx, amber.WriteRequest{Content: fmt.Sprintf("%s, %d", name, i)})
		if err != nil {
			return nil, err
		}
		begin := time.Now() // it is durable
		if err := heard(lines, ack.ID); err != nil {
			return nil, err
		}
		took = append(took, time.Since(begin))
		time.Sleep(30 * time.Millisecond) // so that the next one finds it at rest
	}
	return took, nil
}

// heard reads until a change of a memory is told.
func heard(lines *bufio.Scanner, id amber.MemoryID) error {
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var e struct{ Payload events.Mutation }
		if ok && json.Unmarshal([]byte(data), &e) == nil && e.Payload.Key == string(id) {
			return nil
		}
	}
	return errors.Join(errors.New("the stream is over"), lines.Err())
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
func atRest(ctx context.Context, store *sqlite.Store, agent *home.Agent, listeners int) (float64, error) {
	var reads atomic.Int64
	parts := store.Store().Present()
	parts.Changes, parts.ControlChanges = readCounter{parts.Changes, &reads}, readCounter{parts.ControlChanges, &reads}
	one := &server.Agent{Tenant: agent.Tenant(), ID: agent.ID(), Store: amber.NewStore(parts), Random: rand.Reader}
	pool, err := server.NewPool(func(context.Context, amber.TenantID, amber.AgentID, bool) (*server.Agent, func() error, error) {
		return one, func() error { return nil }, nil
	}, server.PoolOptions{Clock: time.Now})
	if err != nil {
		return 0, err
	}
	feeds := server.NewFeeds(pool, func(server.AgentName) string { return agent.Dir() }) // the files do not change
	crew := server.NewCrew(time.Now)
	crew.Go("event streams", feeds.Run)
	defer func() { _ = crew.Stop(context.WithoutCancel(ctx)) }()
	api, err := httpapi.New(httpapi.Options{
		Desk: &server.Desk{Agents: pool}, Authenticator: everybody{}, Clock: time.Now, Random: rand.Reader, Feeds: feeds, MaxStreams: 8 * (listeners + 1),
	})
	if err != nil {
		return 0, err
	}
	defer api.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	s := api.NewServer()
	go func() { _ = s.Serve(l) }()
	defer s.Close()
	for range listeners {
		body, err := openStream(ctx, "http://"+l.Addr().String())
		if err != nil {
			return 0, err
		}
		defer body.Close()
	}
	time.Sleep(time.Second) // looks that follow a change are over
	before := reads.Load()
	time.Sleep(streamRest)
	return float64(reads.Load()-before) / streamRest.Seconds(), nil
}
