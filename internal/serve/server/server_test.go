package server_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/serve/servertest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/wire"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

var sameTime = cmp.Comparer(func(a, b amber.Time) bool { return a == b })

func newClock() *servertest.Clock { return servertest.NewClock(noon, 0) }

// broken is an audit log that nothing can be written to.
func broken(err error) *servertest.Book {
	b := &servertest.Book{}
	b.Break(err)
	return b
}

// house opens agents and counts.
type house struct {
	mu             sync.Mutex
	opened, closed map[string]int
	fail           error
	absent         bool          // no agent is there unless a caller makes it
	hold           chan struct{} // openings wait for it
}

func newHouse() *house { return &house{opened: map[string]int{}, closed: map[string]int{}} }

func (h *house) open(_ context.Context, tenant amber.TenantID, agent amber.AgentID, create bool) (*op.Agent, func() error, error) {
	if h.hold != nil {
		<-h.hold
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.absent && !create {
		return nil, nil, op.NotThere()
	}
	if h.fail != nil {
		return nil, nil, h.fail
	}
	key := string(tenant) + "/" + string(agent)
	h.opened[key]++
	return &op.Agent{Tenant: tenant, ID: agent}, func() error {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.closed[key]++
		return nil
	}, nil
}

func newPool(t *testing.T, h *house, o server.PoolOptions) *server.Pool {
	t.Helper()
	if o.Clock == nil {
		o.Clock = newClock().Read
	}
	return server.NewPool(h.open, o)
}

func TestAnAgentIsOpenedOnceHoweverManyAsk(t *testing.T) {
	t.Parallel()
	h := newHouse()
	h.hold = make(chan struct{})
	p := newPool(t, h, server.PoolOptions{})
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			a, release, err := p.Agent(t.Context(), "acme", "ada", true)
			if err != nil {
				t.Error(err)
				return
			}
			must.Equal(t, "id", a.ID, "ada")
			release()
			release() // once more does nothing
		})
	}
	close(h.hold)
	wg.Wait()
	must.Equal(t, "how often ada was opened", h.opened["acme/ada"], 1)
	must.Equal(t, "open agents", p.Open(), 1)
	must.NoError(t, p.Close(t.Context()))
	must.Equal(t, "how often ada was closed", h.closed["acme/ada"], 1)
	must.Kind(t, "closing twice", p.Close(t.Context()), "")
	_, _, err := p.Agent(t.Context(), "acme", "ada", true)
	must.Kind(t, "after the end", err, amber.KindUnreachable)
}

func TestAnAgentThatDoesNotOpenIsTriedAgain(t *testing.T) {
	t.Parallel()
	h := newHouse()
	h.fail = amber.Errorf(amber.KindDamaged, "open", "", "torn")
	p := newPool(t, h, server.PoolOptions{})
	if _, _, err := p.Agent(t.Context(), "acme", "ada", true); amber.KindOf(err) != amber.KindDamaged {
		t.Fatalf("got %v", err)
	}
	h.fail = nil
	_, release, err := p.Agent(t.Context(), "acme", "ada", true)
	must.Do(t, err)
	release()
}

// A caller that may not make an agent does not keep another caller from making it.
func TestAReaderDoesNotKeepAWriterFromMakingAnAgent(t *testing.T) {
	t.Parallel()
	h := newHouse()
	h.absent, h.hold = true, make(chan struct{})
	p := newPool(t, h, server.PoolOptions{})
	kinds := make(chan amber.Kind, 2)
	var wg sync.WaitGroup
	for _, create := range []bool{false, true} {
		wg.Go(func() {
			_, release, err := p.Agent(t.Context(), "acme", "ada", create)
			if err == nil {
				release()
			} else if create {
				t.Error(err)
			}
			kinds <- amber.KindOf(err)
		})
	}
	close(h.hold)
	wg.Wait()
	must.Equal(t, "opened", h.opened["acme/ada"], 1)
}

func TestIdleAgentsAreClosedAndUsedOnesAreNot(t *testing.T) {
	t.Parallel()
	h, c := newHouse(), newClock()
	p := newPool(t, h, server.PoolOptions{Clock: c.Read, Idle: time.Minute, MaxOpen: 2})
	_, releaseAda, err := p.Agent(t.Context(), "acme", "ada", true)
	must.Do(t, err)
	_, releaseBob, err := p.Agent(t.Context(), "acme", "bob", true)
	must.Do(t, err)
	_, _, err = p.Agent(t.Context(), "acme", "cat", true)
	must.Kind(t, "a third one", err, amber.KindBusy)
	releaseBob()
	_, releaseCat, err := p.Agent(t.Context(), "acme", "cat", true) // bob makes room
	if err != nil || h.closed["acme/bob"] != 1 {
		t.Fatalf("%v, closed %v", err, h.closed)
	}
	releaseCat()
	c.Forward(2 * time.Minute)
	must.Do(t, p.Sweep())
	must.Equal(t, "", h.closed, map[string]int{"acme/bob": 1, "acme/cat": 1})
	// Close does not wait without end for a caller that does not release its agent.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Kind(t, "closing", p.Close(ctx), amber.KindUnreachable)
	must.Equal(t, "how often ada was closed", h.closed["acme/ada"], 0)
	releaseAda()
	must.NoError(t, p.Close(t.Context()))
	must.Equal(t, "how often ada was closed", h.closed["acme/ada"], 1)
}

func asking(tenant amber.TenantID, agent amber.AgentID, scopes ...wire.TokenScope) op.Caller {
	return op.Caller{RequestID: "r1", Grant: wire.Grant{Token: "t1", Tenant: tenant, Agent: agent, Scopes: scopes}}
}

func TestTheDeskLetsInWhoMayAndWritesDownWhatChanged(t *testing.T) {
	t.Parallel()
	write := server.Job{Tenant: "acme", Agent: "ada", Scope: wire.TokenWrite, Action: "memory.write", Mutates: true}
	entry := func(outcome, subject string) []wire.AuditEntry {
		return []wire.AuditEntry{{Tenant: "acme", Agent: "ada", Actor: "t1", Action: "memory.write", Subject: subject, Outcome: outcome, RequestID: "r1"}}
	}
	for _, c := range []struct {
		name string
		who  op.Caller
		job  server.Job
		err  error // of the work
		want amber.Kind
		did  bool
		book []wire.AuditEntry
	}{
		{"who may", asking("acme", "ada", "write"), write, nil, "", true, entry("ok", "m1")},
		{"an admin of the tenant", asking("acme", "", "admin"), write, nil, "", true, entry("ok", "m1")},
		{"work that fails", asking("acme", "ada", "write"), write, amber.Errorf(amber.KindConflict, "x", "", "y"), amber.KindConflict, true, entry("conflict", "m1")},
		{"a reader", asking("acme", "ada", "read"), write, nil, amber.KindRefused, false, entry("refused", "")},
		{"another tenant", asking("umbrella", "", "admin"), write, nil, amber.KindNotFound, false, nil},
		{"another agent", asking("acme", "bob", "write"), write, nil, amber.KindNotFound, false, nil},
		{"nobody", op.Caller{}, write, nil, amber.KindRefused, false, []wire.AuditEntry{{Tenant: "acme", Agent: "ada", Actor: "local", Action: "memory.write", Outcome: "refused"}}},
		{"a look", asking("acme", "ada", "read"), server.Job{Tenant: "acme", Agent: "ada", Scope: wire.TokenRead, Action: "memory.get"}, nil, "", true, nil},
		{"ids that are not valid", asking("acme", "", "admin"), server.Job{Tenant: "acme", Agent: "../x", Scope: wire.TokenRead}, nil, amber.KindInvalid, false, nil},
	} {
		h, b := newHouse(), &servertest.Book{}
		d := &server.Desk{Agents: newPool(t, h, server.PoolOptions{}), Audit: b}
		did := false
		err := d.Do(t.Context(), c.who, c.job, func(_ context.Context, call *op.Call) error {
			did, call.Subject = true, "m1"
			return c.err
		})
		if amber.KindOf(err) != c.want || did != c.did {
			t.Errorf("%s: %v, did %v", c.name, err, did)
		}
		if len(h.opened) > 0 && !c.did {
			t.Errorf("%s: an agent was opened", c.name)
		}
		must.Equal(t, c.name, b.Entries(0), c.book, sameTime)
	}
}

// A caller outside the grant gets the same answer for an agent that exists and for one that does not.
func TestForeignAndAbsentAgentsAreTheSameAnswer(t *testing.T) {
	t.Parallel()
	h := newHouse()
	h.absent = true
	d := &server.Desk{Agents: newPool(t, h, server.PoolOptions{})}
	ask := func(who op.Caller) string {
		return d.Do(t.Context(), who, server.Job{Tenant: "acme", Agent: "ada", Scope: wire.TokenRead}, nil).Error()
	}
	absent, foreign := ask(asking("acme", "", "read")), ask(asking("umbrella", "", "read"))
	must.Equal(t, "absent and foreign", absent, foreign)
}

// A change that cannot be written down is not acknowledged, and the desk begins no further change until the log can
// be written again.
func TestNothingChangesWhileTheAuditLogIsDeaf(t *testing.T) {
	t.Parallel()
	b := broken(errors.New("the disk is full"))
	d := &server.Desk{Agents: newPool(t, newHouse(), server.PoolOptions{}), Audit: b}
	who := asking("acme", "ada", "write", "read")
	done := 0
	job := server.Job{Tenant: "acme", Agent: "ada", Scope: wire.TokenWrite, Action: "memory.write", Mutates: true}
	work := func(_ context.Context, call *op.Call) error { done++; call.Subject = "m1"; return nil }
	for range 3 {
		must.Kind(t, "", d.Do(t.Context(), who, job, work), amber.KindInternal)
	}
	must.Equal(t, "changes made", done, 1)
	if err := d.Listening(t.Context()); !d.Deaf() || err == nil {
		t.Errorf("deaf: %v; listening: %v", d.Deaf(), err)
	}
	must.Kind(t, "a look", d.Do(t.Context(), who, server.Job{Tenant: "acme", Agent: "ada", Scope: wire.TokenRead}, work), "")
	b.Break(nil)
	must.Kind(t, "after the disk has room", d.Do(t.Context(), who, job, work), "")
	if n := len(b.Entries(0)); n != 2 || b.Entries(0)[0].Action != "audit.resume" {
		t.Errorf("the log is %+v", b.Entries(0))
	}
	if err := d.Listening(t.Context()); d.Deaf() || err != nil {
		t.Errorf("deaf: %v; listening: %v", d.Deaf(), err)
	}
}

// A caller who has gone does not keep what was changed from being written down.
func TestWhatACallerWhoHasGoneChangedIsWrittenDown(t *testing.T) {
	t.Parallel()
	b := &servertest.Book{}
	d := &server.Desk{Agents: newPool(t, newHouse(), server.PoolOptions{}), Audit: b}
	ctx, cancel := context.WithCancel(t.Context())
	must.NoError(t, d.Do(ctx, asking("acme", "ada", "write"), server.Job{Tenant: "acme", Agent: "ada", Scope: wire.TokenWrite, Action: "memory.write", Mutates: true},
		func(_ context.Context, call *op.Call) error { cancel(); call.Subject = "m1"; return nil }))
	must.Equal(t, "entries", len(b.Entries(0)), 1)
}

func TestBeforeAToolChangesSomething(t *testing.T) {
	t.Parallel()
	b := &servertest.Book{}
	var asked []string
	refuse := error(nil)
	d := &server.Desk{
		Agents: newPool(t, newHouse(), server.PoolOptions{}), Audit: b,
		BeforeTool: func(_ context.Context, _ amber.TenantID, _ amber.AgentID, tool string) error {
			asked = append(asked, tool)
			return refuse
		},
	}
	who := asking("acme", "ada", "admin")
	do := func(action string, mutates bool) (done bool, err error) {
		err = d.Do(t.Context(), who, server.Job{Tenant: "acme", Agent: "ada", Scope: wire.TokenWrite, Action: action, Mutates: mutates},
			func(context.Context, *op.Call) error { done = true; return nil })
		return done, err
	}
	for _, action := range []string{"mcp.memory_save", "memory.write"} {
		must.Equal(t, action, must.Get(do(action, true))(t), true)
	}
	must.Equal(t, "a look", must.Get(do("mcp.memory_recall", false))(t), true)
	refuse = amber.Errorf(amber.KindInternal, "snapshot", "", "no")
	if done, err := do("mcp.memory_forget", true); done || err == nil {
		t.Errorf("it was done without a snapshot: %v", err)
	}
	must.Equal(t, "", asked, []string{"memory_save", "memory_forget"})
	must.Equal(t, "outcome of the log", b.Entries(0)[len(b.Entries(0))-1].Outcome, "internal")
}

func TestACrewTellsHowItIsDoing(t *testing.T) {
	t.Parallel()
	c := newClock()
	crew := server.NewCrew(c.Read)
	step, ran := make(chan error), make(chan struct{})
	crew.Go("drain", func(ctx context.Context, report server.Report) error {
		for {
			select {
			case <-ctx.Done():
				return nil
			case err := <-step:
				report("a round", err)
				ran <- struct{}{}
			}
		}
	})
	ended := make(chan struct{})
	crew.Go("short", func(context.Context, server.Report) error { defer close(ended); return errors.New("no log") })
	<-ended
	for _, err := range []error{nil, errors.New("busy"), nil} {
		c.Forward(time.Second)
		step <- err
		<-ran
	}
	at := func(s int) amber.Time { return amber.At(noon.Add(time.Duration(s) * time.Second)) }
	want := wire.WorkerHealth{Name: "drain", Status: amber.Healthy, Runs: 3, Failures: 1, LastRun: at(3), LastFailure: at(2), Detail: "a round"}
	must.Equal(t, "", crew.Health()[0], want, sameTime)
	must.NoError(t, crew.Stop(t.Context()))
	if h := crew.Health()[1]; h.Status != amber.Unavailable || h.LastError != "no log" {
		t.Errorf("%+v", h)
	}
	must.Kind(t, "stopping twice", crew.Stop(t.Context()), "")
}
