package server_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

func nothing(context.Context, *op.Call) error { return nil }

// The first use of an agent by a caller that may write makes the agent. The audit log gets one entry for that,
// whatever the use was.
func TestMakingAnAgentIsWrittenDown(t *testing.T) {
	t.Parallel()
	b := &servertest.Book{}
	home := &village{agents: map[amber.AgentID]bool{}}
	d := &server.Desk{Agents: home, Audit: b}
	look := server.Job{Tenant: "acme", Agent: "ada", Scope: wire.TokenRead, Action: "memory.list"}
	must.Kind(t, "a reader", d.Do(t.Context(), asking("acme", "", "read"), look, nothing), amber.KindNotFound)
	frozen := look
	frozen.Closed = true
	must.Kind(t, "snapshots of an agent that is not there", d.Do(t.Context(), asking("acme", "", "admin"), frozen, nothing), "")
	must.Equal(t, "entries", len(b.Entries(0)), 0)
	must.Equal(t, "agents made", len(home.agents), 0)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			must.NoError(t, d.Do(t.Context(), asking("acme", "", "read", "write"), look, nothing))
		})
	}
	wg.Wait()
	want := []wire.AuditEntry{{Tenant: "acme", Agent: "ada", Actor: "t1", Action: "agent.create", Outcome: "ok", RequestID: "r1"}}
	must.Equal(t, "", b.Entries(0), want, sameTime)
	b.Break(errors.New("the disk is full"))
	for _, look.Agent = range []amber.AgentID{"bob", "cat"} {
		must.Kind(t, string(look.Agent), d.Do(t.Context(), asking("acme", "", "read", "write"), look, nothing), amber.KindInternal)
	}
	must.Equal(t, "an agent was made while nothing can be written down", home.agents["cat"], false)
}

// village has agents that are made on request. Like a store, it does not know
// who made one.
type village struct {
	mu     sync.Mutex
	agents map[amber.AgentID]bool
}

func (v *village) Agent(_ context.Context, tenant amber.TenantID, id amber.AgentID, create bool) (*op.Agent, func(), error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if id != "" && !v.agents[id] {
		if !create {
			return nil, nil, op.NotThere()
		}
		v.agents[id] = true
	}
	return &op.Agent{Tenant: tenant, ID: id}, func() {}, nil
}

// A job that changes several things gets an audit entry for each of them, and one more for a failure after that.
func TestEachThingThatChangedIsWrittenDown(t *testing.T) {
	t.Parallel()
	conflict := amber.Errorf(amber.KindConflict, "x", "", "y")
	for _, c := range []struct {
		name string
		done []string
		err  error
		want []string // subject and outcome
	}{
		{"nothing", nil, nil, []string{" ok"}},
		{"one", []string{"a"}, nil, []string{"a ok"}},
		{"three", []string{"a", "b", "c"}, nil, []string{"a ok", "b ok", "c ok"}},
		{"a failure after two", []string{"a", "b"}, conflict, []string{"a ok", "b ok", "c conflict"}},
	} {
		b := &servertest.Book{}
		d := &server.Desk{Agents: newPool(t, newHouse(), server.PoolOptions{}), Audit: b}
		err := d.Do(t.Context(), asking("acme", "ada", "write"),
			server.Job{Tenant: "acme", Agent: "ada", Scope: wire.TokenWrite, Action: "mcp.delete_entities", Mutates: true},
			func(_ context.Context, call *op.Call) error {
				call.Did = c.done
				if c.err != nil {
					call.Subject = "c"
				}
				return c.err
			})
		must.Is(t, c.name, err, c.err)
		var got []string
		for _, e := range b.Entries(0) {
			got = append(got, e.Subject+" "+e.Outcome)
		}
		must.Equal(t, c.name, got, c.want)
	}
}

// A job that fails, or is refused, returns its own error also when the audit log cannot be written: the caller does
// not learn why the log cannot be written.
func TestWhyTheAuditLogIsDeafIsNotTold(t *testing.T) {
	t.Parallel()
	for scope, want := range map[wire.TokenScope]amber.Kind{"write": amber.KindConflict, "read": amber.KindRefused} {
		d := &server.Desk{Agents: newPool(t, newHouse(), server.PoolOptions{}), Audit: broken(errors.New("open /srv/home.db: disk full"))}
		job := server.Job{Tenant: "acme", Agent: "ada", Scope: wire.TokenWrite, Action: "memory.write", Mutates: true}
		err := d.Do(t.Context(), asking("acme", "ada", scope), job, func(_ context.Context, call *op.Call) error {
			call.Subject = "m1"
			return amber.Errorf(amber.KindConflict, "write memory", "m1", "somebody else changed it")
		})
		if amber.KindOf(err) != want || strings.Contains(err.Error(), "srv") || strings.Contains(err.Error(), "audit") {
			t.Errorf("%s: %v", scope, err)
		}
		must.Kind(t, "a change", d.Do(t.Context(), asking("acme", "ada", "write"), job, nothing), amber.KindInternal)
	}
}

func TestCallsOfToolsAreObserved(t *testing.T) {
	t.Parallel()
	c := newClock()
	var seen []string
	d := &server.Desk{
		Agents: newPool(t, newHouse(), server.PoolOptions{}), Clock: c.Read,
		Observe: func(tool string, err error, took time.Duration) {
			seen = append(seen, tool+" "+string(amber.KindOf(err))+" "+took.String())
		},
	}
	job := server.Job{Tenant: "acme", Agent: "ada", Scope: wire.TokenRead, Action: "mcp.memory_get"}
	_ = d.Do(t.Context(), asking("acme", "ada", "read"), job, func(context.Context, *op.Call) error {
		c.Forward(time.Second)
		return nil
	})
	_ = d.Do(t.Context(), asking("acme", "ada", "write"), job, nothing)
	d.ObserveTool("memory_get", amber.Errorf(amber.KindInvalid, "read arguments", "", "x"), time.Time{})
	must.Equal(t, "", seen, []string{"memory_get  1s", "memory_get refused 0s", "memory_get invalid 0s"})
}

// One request at a time changes an agent. Requests for other agents do not wait for it, and no request waits longer
// than its context allows.
func TestOnlyOneIsAloneWithAnAgent(t *testing.T) {
	t.Parallel()
	d := &server.Desk{}
	unlock := must.Get(d.Alone(t.Context(), "acme", "ada"))(t)
	other := must.Get(d.Alone(t.Context(), "acme", "bob"))(t)
	other()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Kind(t, "somebody in a hurry", must.Err(d.Alone(ctx, "acme", "ada")), amber.KindUnreachable)
	unlock()
	unlock() // once more does nothing
	total := 0
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			unlock, err := d.Alone(t.Context(), "acme", "ada")
			if err != nil {
				t.Error(err)
				return
			}
			defer unlock()
			total++ // the race detector looks
		})
	}
	wg.Wait()
	must.Equal(t, "requests that were let in", total, 32)
}

// A token that is refused again and again does not fill the log: one entry covers a minute of the same attempts,
// whatever ids the token makes up.
func TestRefusedAttemptsAreFolded(t *testing.T) {
	t.Parallel()
	c, b := newClock(), &servertest.Book{}
	home := &village{agents: map[amber.AgentID]bool{"ada": true, "bob": true}}
	d := &server.Desk{Agents: home, Audit: b, Clock: c.Read}
	outcome := error(nil)
	attempt := func(action string, agent amber.AgentID, scopes ...wire.TokenScope) {
		_ = d.Do(t.Context(), asking("acme", "", scopes...),
			server.Job{Tenant: "acme", Agent: agent, Scope: wire.TokenWrite, Action: action, Mutates: true},
			func(context.Context, *op.Call) error { return outcome })
	}
	expect := func(what string, n int) {
		t.Helper()
		if len(b.Entries(0)) != n {
			t.Fatalf("%s: %d entries, want %d", what, len(b.Entries(0)), n)
		}
	}
	for range 100 {
		attempt("memory.write", "ada", "read")
		attempt("memory.write", "bob", "read")
	}
	expect("refused", 1)
	attempt("memory.erase", "ada", "read")
	expect("something else", 2)
	c.Forward(59 * time.Second)
	attempt("memory.write", "ada", "read")
	expect("within a minute", 2)
	c.Forward(2 * time.Second)
	attempt("memory.write", "ada", "read")
	expect("after a minute", 3)
	outcome = amber.Errorf(amber.KindNotFound, "x", "", "y")
	for range 10 {
		attempt("memory.forget", "ada", "write")
	}
	expect("what is not there", 4)
	outcome = amber.Errorf(amber.KindConflict, "x", "", "y")
	for range 10 {
		attempt("memory.forget", "ada", "write")
	}
	expect("other failures", 14)
	outcome = nil
	for range 10 {
		attempt("memory.forget", "ada", "write")
	}
	expect("changes", 24)
	// An attempt that could not be written down covers no later one.
	b.Break(errors.New("the disk is full"))
	attempt("note.write", "ada", "read")
	b.Break(nil)
	attempt("note.write", "ada", "read")
	expect("after the disk has room", 25)
	for i := range 3000 { // more than are remembered
		attempt("made.up", "ada", "read")
		attempt(strings.Repeat("x", i), "ada", "read")
	}
	if n := len(b.Entries(0)); n < 3025 || n > 3035 {
		t.Errorf("%d entries", n)
	}
}

// A job that is only about agents that are there makes none.
func TestAnAgentThatMustBeThereIsNotMade(t *testing.T) {
	t.Parallel()
	b, home := &servertest.Book{}, &village{agents: map[amber.AgentID]bool{}}
	d := &server.Desk{Agents: home, Audit: b}
	job := server.Job{Tenant: "acme", Agent: "ada", Scope: wire.TokenRead, Action: "event.stream", Existing: true}
	must.Kind(t, "", d.Do(t.Context(), asking("acme", "", "admin"), job, nothing), amber.KindNotFound)
	must.Equal(t, "entries", len(b.Entries(0)), 0)
	must.Equal(t, "agents made", len(home.agents), 0)
	must.NoError(t, d.Made(t.Context(), asking("acme", "", "admin"), "acme", "cat"))
	want := []wire.AuditEntry{{Tenant: "acme", Agent: "cat", Actor: "t1", Action: "agent.create", Outcome: "ok", RequestID: "r1"}}
	must.Equal(t, "", b.Entries(0), want, sameTime)
}
