package client_test

import (
	"context"
	"crypto/rand"
	"net"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/serve/httpapi"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// serveAgents serves agents on a port of this machine, by the clock of a test:
// no deadline of a connection may depend on it.
func serveAgents(t *testing.T, agents server.Agents, clock amber.Clock) *client.Client {
	t.Helper()
	api := must.Get(httpapi.New(httpapi.Options{
		Desk: &server.Desk{Agents: agents}, Authenticator: everybody{}, Clock: clock, Random: rand.Reader, Answers: &kept{},
	}))(t)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	s, over := api.NewServer(), make(chan error, 1)
	go func() { over <- s.Serve(l) }()
	t.Cleanup(func() {
		must.NoError(t, s.Close())
		must.Is(t, "", <-over, http.ErrServerClosed)
	})
	c := must.Get(client.New(client.Options{URL: "http://" + l.Addr().String()}))(t)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// servedHome is a home on a port of this machine, whose clock the test moves. The
// stores of its agents stay open.
type servedHome struct {
	t      *testing.T
	engine *snapshot.Engine
	client *client.Client
	mu     sync.Mutex
	now    time.Time
}

func newServed(t *testing.T) *servedHome {
	t.Helper()
	s := &servedHome{t: t, now: time.Date(2026, time.March, 12, 9, 30, 0, 0, time.UTC)}
	h, _, err := home.Open(t.TempDir(), home.Options{Clock: s.clock, Random: rand.Reader})
	must.Do(t, err)
	s.engine = must.Get(snapshot.New(snapshot.Options{Home: h, Clock: s.clock, Random: rand.Reader}))(t)
	agents := &homeAgents{h: h, engine: s.engine, clock: s.clock, open: map[string]*op.Agent{}}
	t.Cleanup(func() { agents.close(t) })
	s.client = serveAgents(t, agents, s.clock)
	return s
}

func (s *servedHome) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *servedHome) pass(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// scout is an agent of a served home, and its snapshots over HTTP.
type scout struct {
	*servedHome
	*client.Snapshots
	id    amber.AgentID
	store amber.Store
}

func (s *servedHome) agent(id amber.AgentID) *scout {
	s.t.Helper()
	a := must.Get(s.client.Agent("acme", id))(s.t)
	store := must.Get(a.Store(s.t.Context()))(s.t)
	return &scout{s, a.Snapshots(), id, store}
}

// learn writes a memory and a note of the same text.
func (a *scout) learn(text string) {
	a.t.Helper()
	must.Get(a.store.LongTerm.Write(a.t.Context(), amber.WriteRequest{Kind: amber.UserFact, Content: text}))(a.t)
	must.Get(a.store.Notes.WriteNote(a.t.Context(), amber.NoteWrite{Name: text, Content: text + "\n"}))(a.t)
}

// mustKnow compares the texts of all memories and the names of all notes.
func (a *scout) mustKnow(memories, notes []string) {
	a.t.Helper()
	page := must.Get(a.store.Memories.List(a.t.Context(), amber.ListQuery{All: true}))(a.t)
	list := must.Get(a.store.Notes.ListNotes(a.t.Context()))(a.t)
	var got [2][]string
	for _, m := range page.Items {
		got[0] = append(got[0], m.Content)
	}
	for _, n := range list {
		got[1] = append(got[1], n.Name)
	}
	slices.Sort(got[0])
	slices.Sort(got[1])
	must.Equal(a.t, "agent "+string(a.id), got, [2][]string{memories, notes})
}

func (a *scout) take(label string) wire.SnapshotMeta {
	a.t.Helper()
	a.pass(time.Hour)
	return must.Get(a.Snapshot(a.t.Context(), wire.SnapshotRequest{Label: label}))(a.t)
}

func (a *scout) ref(id amber.SnapshotID) wire.SnapshotRef {
	return wire.SnapshotRef{Tenant: "acme", Agent: a.id, ID: id}
}

// mustList lists all snapshots, two at a time, newest first.
func (a *scout) mustList(want ...amber.SnapshotID) {
	a.t.Helper()
	var got []amber.SnapshotID
	for q := (wire.SnapshotQuery{Limit: 2}); ; {
		page, err := a.ListSnapshots(a.t.Context(), q)
		if err != nil || len(page.Items) > 2 {
			a.t.Fatalf("%d items on a page of two: %v", len(page.Items), err)
		}
		for _, m := range page.Items {
			got = append(got, m.ID)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	must.Equal(a.t, "snapshots of "+string(a.id), got, want)
}

// mustAnswer compares what the client answers to a request with what the engine answers.
func mustAnswer[Q, T any](t *testing.T, what string, q Q, client, engine func(context.Context, Q) (T, error)) {
	t.Helper()
	got, want := must.Get(client(t.Context(), q))(t), must.Get(engine(t.Context(), q))(t)
	must.Equal(t, what, got, want, cmpopts.EquateEmpty(), cmp.AllowUnexported(amber.Time{}))
}

func TestServedSnapshotsAreReadAsTheEngineReadsThem(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	a, e, ctx := s.agent("scout"), s.engine, t.Context()
	a.learn("one")
	first := a.take("first")
	a.learn("two")
	second := a.take("")
	if first.Label != "first" || first.Counter != 1 || second.Parent != first.Digest {
		t.Errorf("taken: %+v, %+v", first, second)
	}
	a.mustList(second.ID, first.ID)
	for _, all := range []bool{false, true} {
		d := wire.DiffRequest{Tenant: "acme", Agent: "scout", A: first.ID, B: second.ID, Rows: all}
		mustAnswer(t, "diff", d, a.DiffSnapshots, e.DiffSnapshots)
		v := wire.VerifyRequest{SnapshotRef: a.ref(second.ID), ReadData: all}
		mustAnswer(t, "verify", v, a.VerifySnapshot, e.VerifySnapshot)
		c := wire.CheckRequest{Tenant: "acme", ReadData: all}
		mustAnswer(t, "check", c, a.CheckRepository, e.CheckRepository)
	}
	mustAnswer(t, "show", a.ref(first.ID), a.ShowSnapshot, e.ShowSnapshot)
	absent := a.ref("0195a0b0-0000-7000-8000-000000000000")
	must.Kind(t, "show", must.Err(a.ShowSnapshot(ctx, absent)), amber.KindNotFound)
	must.Kind(t, "verify", must.Err(a.VerifySnapshot(ctx, wire.VerifyRequest{SnapshotRef: absent})), amber.KindNotFound)
	must.Kind(t, "diff", must.Err(a.DiffSnapshots(ctx, wire.DiffRequest{A: first.ID, B: absent.ID})), amber.KindNotFound)
	must.Kind(t, "limit", must.Err(a.ListSnapshots(ctx, wire.SnapshotQuery{Limit: -1})), amber.KindInvalid)
	must.Kind(t, "cursor", must.Err(a.ListSnapshots(ctx, wire.SnapshotQuery{Cursor: "nonsense"})), amber.KindInvalid)
	must.Kind(t, "label", must.Err(a.Snapshot(ctx, wire.SnapshotRequest{Label: "two\nlines"})), amber.KindInvalid)
	must.Kind(t, "source", must.Err(a.Snapshot(ctx, wire.SnapshotRequest{Sources: []string{"no-such-source"}})), amber.KindNotFound)
}

func TestServedSnapshotsArePinnedDeletedAndPruned(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	a, e, ctx := s.agent("scout"), s.engine, t.Context()
	a.learn("one")
	first, second, third := a.take("1"), a.take("2"), a.take("3")
	s.pass(time.Hour)
	pinned := must.Get(a.Snapshot(ctx, wire.SnapshotRequest{Pin: true}))(t)
	must.Equal(t, "pinned", pinned.Pinned, true)
	must.Kind(t, "delete pinned", a.DeleteSnapshot(ctx, a.ref(pinned.ID)), amber.KindRefused)
	must.Do(t, a.PinSnapshot(ctx, a.ref(first.ID), true))
	r := wire.PruneRequest{Tenant: "acme", Agent: "scout", KeepLast: 1, DryRun: true}
	mustAnswer(t, "prune", r, a.PruneSnapshots, e.PruneSnapshots)
	a.mustList(pinned.ID, third.ID, second.ID, first.ID)
	must.Kind(t, "prune without rules", must.Err(a.PruneSnapshots(ctx, wire.PruneRequest{})), amber.KindInvalid)
	must.NoError(t, a.PinSnapshot(ctx, a.ref(first.ID), false))
	must.NoError(t, a.PinSnapshot(ctx, a.ref(pinned.ID), false))
	must.NoError(t, a.DeleteSnapshot(ctx, a.ref(pinned.ID)))
	must.Kind(t, "delete again", a.DeleteSnapshot(ctx, a.ref(pinned.ID)), amber.KindNotFound)
	// Each is the newest of its hour; the first is too old for the second rule.
	report, err := a.PruneSnapshots(ctx, wire.PruneRequest{KeepHourly: 3})
	if err != nil || len(report.Deleted) != 0 || len(report.Kept) != 3 {
		t.Errorf("%+v, %v", report, err)
	}
	report = must.Get(a.PruneSnapshots(ctx, wire.PruneRequest{KeepLast: 9, MaxAge: 2*time.Hour + time.Minute}))(t)
	must.Equal(t, "deleted", report.Deleted, []amber.SnapshotID{first.ID})
	g := wire.GCRequest{Tenant: "acme", DryRun: true}
	mustAnswer(t, "gc", g, a.CollectGarbage, e.CollectGarbage)
	must.Equal(t, "a dry run", must.Get(a.CollectGarbage(ctx, wire.GCRequest{}))(t).DryRun, false)
	a.mustList(third.ID, second.ID)
}

func TestServedSnapshotsAreRestoredUnderOpenStores(t *testing.T) {
	t.Parallel()
	s := newServed(t)
	a, ctx := s.agent("scout"), t.Context()
	restore := func(r wire.RestoreRequest) wire.RestoreReport {
		t.Helper()
		s.pass(time.Hour)
		report := must.Get(a.Restore(ctx, r))(t)
		must.Equal(t, "from", report.From, r.ID)
		must.Equal(t, "a dry run", report.DryRun, r.DryRun)
		return report
	}
	one, both := []string{"one"}, []string{"one", "two"}
	a.learn("one")
	first := a.take("first")
	a.learn("two")

	plan := restore(wire.RestoreRequest{SnapshotRef: a.ref(first.ID), DryRun: true})
	if plan.Plan.Store.Table("memories").Removed != 1 || plan.Plan.Notes.Removed != 1 || plan.SafetySnapshot != "" {
		t.Errorf("plan: %+v", plan)
	}
	a.mustKnow(both, both)
	part := restore(wire.RestoreRequest{SnapshotRef: a.ref(first.ID), Only: []string{wire.PartNotes}})
	a.mustKnow(both, one)
	whole := restore(wire.RestoreRequest{SnapshotRef: a.ref(part.SafetySnapshot)})
	a.mustKnow(both, both)
	bare := restore(wire.RestoreRequest{SnapshotRef: a.ref(first.ID), NoSafetySnapshot: true, DiscardOld: true})
	if bare.SafetySnapshot != "" || bare.OldGeneration != 0 || bare.Generation <= whole.Generation {
		t.Errorf("restored without a safety snapshot: %+v", bare)
	}
	a.mustKnow(one, one)
	a.mustList(whole.SafetySnapshot, part.SafetySnapshot, first.ID)

	fork := restore(wire.RestoreRequest{SnapshotRef: a.ref(whole.SafetySnapshot), To: "fork"})
	must.Equal(t, "agent", fork.Agent, "fork")
	f := s.agent("fork")
	f.mustKnow(both, one)
	f.mustList()
	must.Kind(t, "second fork", must.Err(a.Restore(ctx, wire.RestoreRequest{SnapshotRef: a.ref(first.ID), To: "fork"})), amber.KindConflict)
	must.Kind(t, "another agent's", must.Err(f.Restore(ctx, wire.RestoreRequest{SnapshotRef: f.ref(first.ID)})), amber.KindCrossTenant)
	must.Kind(t, "unknown part", must.Err(a.Restore(ctx, wire.RestoreRequest{SnapshotRef: a.ref(first.ID), Only: []string{"everything"}})), amber.KindInvalid)
	a.mustKnow(one, one)
}

// homeAgents opens the agents of a home and keeps them open.
type homeAgents struct {
	h      *home.Home
	engine *snapshot.Engine
	clock  amber.Clock

	mu     sync.Mutex
	open   map[string]*op.Agent
	stores []*sqlite.Store
}

func (m *homeAgents) Agent(ctx context.Context, tenant amber.TenantID, id amber.AgentID, create bool) (*op.Agent, func(), error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := &op.Agent{Tenant: tenant, ID: id, Random: rand.Reader, Snapshots: m.engine, Repository: m.engine}
	if id == "" {
		return a, func() {}, nil
	}
	name := string(tenant) + "/" + string(id)
	if m.open[name] != nil {
		return m.open[name], func() {}, nil
	}
	agent, err := m.h.Agent(tenant, id)
	if err != nil {
		return nil, nil, err
	}
	if _, err := agent.Current(); err != nil && !create {
		return nil, nil, op.NotThere()
	}
	s, err := sqlite.Open(context.WithoutCancel(ctx), agent, sqlite.Options{Clock: m.clock, Random: rand.Reader})
	if err != nil {
		return nil, nil, err
	}
	m.stores = append(m.stores, s)
	notes, err := notes.New(notes.Options{Guard: snapshot.NotesGuard(agent), Clock: m.clock})
	if err != nil {
		return nil, nil, err
	}
	parts := s.Store().Present()
	parts.Notes, parts.NoteLog = notes, notes
	a.Store = amber.NewStore(parts)
	a.Past = past{m.engine, a.Store}
	m.open[name] = a
	return a, func() {}, nil
}

func (m *homeAgents) close(t *testing.T) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, s := range m.stores {
		must.NoError(t, s.Close())
	}
}

// past opens snapshots of a home.
type past struct {
	engine *snapshot.Engine
	live   amber.Store
}

func (p past) At(ctx context.Context, ref wire.SnapshotRef) (op.Past, error) {
	return p.engine.At(ctx, ref)
}

func (p past) RestoreMemory(ctx context.Context, r wire.MemoryRestoreRequest) (wire.MemoryRestore, error) {
	then, err := p.engine.At(ctx, r.SnapshotRef)
	if err != nil {
		return wire.MemoryRestore{}, err
	}
	defer then.Close()
	m, err := then.Get(ctx, r.Memory)
	if err != nil || r.DryRun {
		return wire.MemoryRestore{From: r.ID, Memory: m, Changed: []string{}, Kept: []string{}, DryRun: r.DryRun}, err
	}
	m, err = p.live.Editor.Edit(ctx, amber.EditRequest{ID: m.ID, Content: &m.Content})
	return wire.MemoryRestore{From: r.ID, Memory: m, Changed: []string{"content"}, Kept: []string{}}, err
}

func TestPastAnswersAsItWasThen(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	agent := must.Get(newServed(t).client.Agent("acme", "scout"))(t)
	store := must.Get(agent.Store(ctx))(t)
	ack := must.Get(store.LongTerm.Write(ctx, amber.WriteRequest{Kind: amber.UserFact, Content: "the harbour is north"}))(t)
	s := agent.Snapshots()
	meta := must.Get(s.Snapshot(ctx, wire.SnapshotRequest{Label: "before"}))(t)
	now := "the harbour is south"
	must.Do(t, must.Err(store.Editor.Edit(ctx, amber.EditRequest{ID: ack.ID, Content: &now})))
	ref := wire.SnapshotRef{ID: meta.ID}
	then := must.Get(s.At(ctx, ref))(t)
	recalled, err := then.Recall(ctx, amber.Query{Text: "harbour"})
	if err != nil || len(recalled.Hits) != 1 || recalled.Hits[0].Content != "the harbour is north" {
		t.Errorf("recall of the past: %+v, %v", recalled, err)
	}
	page, err := then.List(ctx, amber.ListQuery{All: true})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != ack.ID {
		t.Errorf("list of the past: %+v, %v", page, err)
	}
	must.Equal(t, "memory of the past", must.Get(then.Get(ctx, ack.ID))(t).Content, "the harbour is north")
	must.Kind(t, "a memory that was not there", must.Err(then.Get(ctx, "00000000-0000-7000-8000-000000000000")), amber.KindNotFound)
	must.NoError(t, then.Close())
	got, err := s.RestoreMemory(ctx, wire.MemoryRestoreRequest{SnapshotRef: ref, Memory: ack.ID})
	if err != nil || got.Memory.Content != "the harbour is north" || !cmp.Equal(got.Changed, []string{"content"}) {
		t.Errorf("memory brought back: %+v, %v", got, err)
	}
	absent := wire.SnapshotRef{ID: "0195a0b0-0000-7000-8000-000000000000"}
	if then, err = s.At(ctx, absent); err == nil {
		_, err = then.Recall(ctx, amber.Query{Text: "harbour"})
	}
	must.Kind(t, "a snapshot that is not there", err, amber.KindNotFound)
}

func TestRequestsAreAboutTheAgentOfTheClient(t *testing.T) {
	t.Parallel()
	c := must.Get(client.New(client.Options{URL: "http://127.0.0.1:1", Attempts: 1}))(t) // no server is there, and none is asked
	a := must.Get(c.Agent("acme", "scout"))(t)
	s, ctx := a.Snapshots(), t.Context()
	id := amber.SnapshotID("0195a0b0-0000-7000-8000-000000000000")
	for what, ref := range map[string]wire.SnapshotRef{
		"tenant": {Tenant: "other", Agent: "scout", ID: id}, "agent": {Tenant: "acme", Agent: "pilot", ID: id},
	} {
		for op, err := range map[string]error{
			"take":           must.Err(s.Snapshot(ctx, wire.SnapshotRequest{Tenant: ref.Tenant, Agent: ref.Agent})),
			"list":           must.Err(s.ListSnapshots(ctx, wire.SnapshotQuery{Tenant: ref.Tenant, Agent: ref.Agent})),
			"show":           must.Err(s.ShowSnapshot(ctx, ref)),
			"diff":           must.Err(s.DiffSnapshots(ctx, wire.DiffRequest{Tenant: ref.Tenant, Agent: ref.Agent, A: id, B: id})),
			"verify":         must.Err(s.VerifySnapshot(ctx, wire.VerifyRequest{SnapshotRef: ref})),
			"prune":          must.Err(s.PruneSnapshots(ctx, wire.PruneRequest{Tenant: ref.Tenant, Agent: ref.Agent, KeepLast: 1})),
			"delete":         s.DeleteSnapshot(ctx, ref),
			"pin":            s.PinSnapshot(ctx, ref, true),
			"restore":        must.Err(s.Restore(ctx, wire.RestoreRequest{SnapshotRef: ref})),
			"restore memory": must.Err(s.RestoreMemory(ctx, wire.MemoryRestoreRequest{SnapshotRef: ref, Memory: "m"})),
			"at":             must.Err(s.At(ctx, ref)),
		} {
			must.Kind(t, op+" with another "+what, err, amber.KindInvalid)
		}
	}
	for op, err := range map[string]error{
		"gc":    must.Err(s.CollectGarbage(ctx, wire.GCRequest{Tenant: "other"})),
		"check": must.Err(s.CheckRepository(ctx, wire.CheckRequest{Tenant: "other"})),
	} {
		must.Kind(t, op+" of another tenant", err, amber.KindInvalid)
	}
}
