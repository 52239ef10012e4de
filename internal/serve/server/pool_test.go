package server_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
)

// use opens an agent and lets it go.
func use(t *testing.T, p *server.Pool, agent amber.AgentID) error {
	t.Helper()
	_, release, err := p.Agent(t.Context(), "acme", agent, true)
	if err == nil {
		release()
	}
	return err
}

// An agent that does not close is a matter for the log, and not for the one that
// takes its place.
func TestAnAgentThatDoesNotCloseMakesRoomAllTheSame(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	opened := 0
	p := server.NewPool(func(_ context.Context, tenant amber.TenantID, id amber.AgentID, _ bool) (*op.Agent, func() error, error) {
		opened++
		return &op.Agent{Tenant: tenant, ID: id}, func() error {
			if id == "ada" {
				return errors.New("the disk is gone")
			}
			return nil
		}, nil
	}, server.PoolOptions{Clock: newClock().Read, MaxOpen: 1, Log: slog.New(slog.NewTextHandler(&log, nil))})
	for _, agent := range []amber.AgentID{"ada", "bob", "bob", "cat"} {
		must.Kind(t, string(agent), use(t, p, agent), "")
	}
	must.Equal(t, "opened", opened, 3)
	must.Says(t, "the log", log.String(), "agent=ada", "the disk is gone")
	must.NoError(t, errors.Join(p.Sweep(), p.Close(t.Context())))
}

// A bug of the opener is the panic of one caller: the callers that wait get an error, the next one tries again, and
// Close need not wait.
func TestAnOpenerThatPanicsLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	begun, hold := make(chan struct{}), make(chan struct{})
	first := true
	p := server.NewPool(func(_ context.Context, tenant amber.TenantID, id amber.AgentID, _ bool) (*op.Agent, func() error, error) {
		if first {
			first = false
			close(begun)
			<-hold
			panic("a bug")
		}
		return &op.Agent{Tenant: tenant, ID: id}, func() error { return nil }, nil
	}, server.PoolOptions{Clock: newClock().Read, MaxOpen: 1})
	panicked := make(chan any, 1)
	go func() {
		defer func() { panicked <- recover() }()
		_, _, _ = p.Agent(context.Background(), "acme", "ada", true)
	}()
	<-begun
	waits := &watched{Context: t.Context(), asked: make(chan struct{})}
	waited := make(chan error, 1)
	go func() {
		_, _, err := p.Agent(waits, "acme", "ada", true)
		waited <- err
	}()
	<-waits.asked // it is in the queue
	close(hold)
	must.Equal(t, "what the caller is told", <-panicked, "a bug")
	must.Kind(t, "the caller that waited", <-waited, amber.KindInternal)
	must.Kind(t, "the next one", use(t, p, "ada"), "")
	must.Kind(t, "another", use(t, p, "bob"), "")
	must.NoError(t, p.Close(t.Context()))
	must.Equal(t, "open agents", p.Open(), 0)
}

// watched is a context that closes asked when a caller begins to wait for its end.
type watched struct {
	context.Context
	asked chan struct{}
}

func (w *watched) Done() <-chan struct{} {
	select {
	case <-w.asked:
	default:
		close(w.asked)
	}
	return w.Context.Done()
}

// TestAVisitIsNoUse: a visit does not keep an agent open.
func TestAVisitIsNoUse(t *testing.T) {
	t.Parallel()
	h, c := newHouse(), newClock()
	p := newPool(t, h, server.PoolOptions{Clock: c.Read, Idle: time.Minute})
	for _, agent := range []amber.AgentID{"a", "b", ""} {
		must.Do(t, use(t, p, agent))
	}
	c.Forward(time.Minute)
	seen := map[amber.AgentID]int{}
	look := func(a *op.Agent) error { seen[a.ID]++; return nil }
	must.Do(t, p.Visit(look))
	must.Equal(t, "", seen, map[amber.AgentID]int{"a": 1, "b": 1})
	// The agent that Visit is at is in use meanwhile, the others are not.
	must.Do(t, p.Visit(func(a *op.Agent) error { return errors.Join(look(a), p.Sweep()) }))
	must.Equal(t, "", seen, map[amber.AgentID]int{"a": 2, "b": 1})
	must.NoError(t, p.Sweep())
	must.Equal(t, "open agents", p.Open(), 0)
	must.NoError(t, p.Visit(func(*op.Agent) error { return errors.New("no agent wants a visit") }))
}

// A full pool opens another agent while Visit looks at one of those it has. A visit that ends with an error or a
// panic leaves no agent in use.
func TestAVisitDoesNotFillThePool(t *testing.T) {
	t.Parallel()
	h := newHouse()
	p := newPool(t, h, server.PoolOptions{MaxOpen: 2})
	for _, agent := range []amber.AgentID{"a", "b"} {
		must.Do(t, use(t, p, agent))
	}
	stop := errors.New("stop")
	err := p.Visit(func(a *op.Agent) error {
		must.Kind(t, "while "+string(a.ID)+" is looked at", use(t, p, "c"), "")
		return stop
	})
	must.Is(t, "visit", err, stop)
	must.Equal(t, "how often b was closed", h.closed["acme/b"], 1)
	func() {
		defer func() { _ = recover() }()
		_ = p.Visit(func(*op.Agent) error { panic("a bug") })
	}()
	must.NoError(t, p.Close(t.Context()))
	must.Equal(t, "open agents", p.Open(), 0)
}

// A bug in one worker is shown, and the others work on.
func TestACrewOutlivesAWorkerThatPanics(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	crew := server.NewCrew(newClock().Read)
	crew.Log = slog.New(slog.NewTextHandler(&log, nil))
	crew.Go("breaks", func(context.Context, server.Report) error { panic("a secret place") })
	crew.Go("works", func(ctx context.Context, report server.Report) error {
		report("a round", nil)
		<-ctx.Done()
		return nil
	})
	for crew.Health()[0].Status != amber.Unavailable {
		select {
		case <-t.Context().Done():
			t.Fatal("it does not show")
		case <-time.After(time.Millisecond):
		}
	}
	must.NoError(t, crew.Stop(t.Context()))
	h := crew.Health()
	if h[0].Failures != 1 || h[0].LastFailure != amber.At(noon) || strings.Contains(h[0].LastError, "secret") || h[1].Status != amber.Healthy {
		t.Errorf("%+v", h)
	}
	must.Says(t, "the log", log.String(), "a secret place", "pool_test.go")
}
