package client_test

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/client"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/notes"
	"github.com/amber-memory/amber/server"
	"github.com/amber-memory/amber/server/httpapi"
	"github.com/amber-memory/amber/snapshot"
	frozen "github.com/amber-memory/amber/snapshot/inmem"
	"github.com/amber-memory/amber/snapshot/local"
	"github.com/amber-memory/amber/snapshot/snapshottest"
	"github.com/amber-memory/amber/store/sqlite"
)

var everyCheck = flag.Bool("every", false, "run all promises of snapshots on the engine of a home, not some")

// serveAgents serves agents on a port of this machine, by the clock of a suite:
// no deadline of a connection may depend on it.
func serveAgents(t *testing.T, agents server.Agents, clock amber.Clock) *client.Client {
	t.Helper()
	api, err := httpapi.New(httpapi.Options{
		Desk: &server.Desk{Agents: agents}, Authenticator: everybody{}, Clock: clock, Random: rand.Reader, Answers: &kept{},
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s, over := api.NewServer(), make(chan error, 1)
	go func() { over <- s.Serve(l) }()
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := <-over; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	c, err := client.New(client.Options{URL: "http://" + l.Addr().String()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// A suite asks one snapshotter about every agent.
type snapshots struct{ c *client.Client }

var (
	_ amber.Snapshotter       = snapshots{}
	_ amber.RepositoryChecker = snapshots{}
)

func ofAgent[Out any](s snapshots, t amber.TenantID, a amber.AgentID, fn func(*client.Snapshots) (Out, error)) (out Out, err error) {
	agent, err := s.c.Agent(t, a)
	if err != nil {
		return out, err
	}
	return fn(agent.Snapshots())
}

func (s snapshots) Snapshot(ctx context.Context, r amber.SnapshotRequest) (amber.SnapshotMeta, error) {
	return ofAgent(s, r.Tenant, r.Agent, func(x *client.Snapshots) (amber.SnapshotMeta, error) { return x.Snapshot(ctx, r) })
}

func (s snapshots) ListSnapshots(ctx context.Context, q amber.SnapshotQuery) (amber.Page[amber.SnapshotMeta], error) {
	return ofAgent(s, q.Tenant, q.Agent, func(x *client.Snapshots) (amber.Page[amber.SnapshotMeta], error) { return x.ListSnapshots(ctx, q) })
}

func (s snapshots) ShowSnapshot(ctx context.Context, r amber.SnapshotRef) (amber.SnapshotDetail, error) {
	return ofAgent(s, r.Tenant, r.Agent, func(x *client.Snapshots) (amber.SnapshotDetail, error) { return x.ShowSnapshot(ctx, r) })
}

func (s snapshots) DiffSnapshots(ctx context.Context, r amber.DiffRequest) (amber.SnapshotDiff, error) {
	return ofAgent(s, r.Tenant, r.Agent, func(x *client.Snapshots) (amber.SnapshotDiff, error) { return x.DiffSnapshots(ctx, r) })
}

func (s snapshots) VerifySnapshot(ctx context.Context, r amber.VerifyRequest) (amber.VerifyReport, error) {
	return ofAgent(s, r.Tenant, r.Agent, func(x *client.Snapshots) (amber.VerifyReport, error) { return x.VerifySnapshot(ctx, r) })
}

func (s snapshots) DeleteSnapshot(ctx context.Context, r amber.SnapshotRef) error {
	_, err := ofAgent(s, r.Tenant, r.Agent, func(x *client.Snapshots) (any, error) { return nil, x.DeleteSnapshot(ctx, r) })
	return err
}

func (s snapshots) PinSnapshot(ctx context.Context, r amber.SnapshotRef, pinned bool) error {
	_, err := ofAgent(s, r.Tenant, r.Agent, func(x *client.Snapshots) (any, error) { return nil, x.PinSnapshot(ctx, r, pinned) })
	return err
}

func (s snapshots) PruneSnapshots(ctx context.Context, r amber.PruneRequest) (amber.PruneReport, error) {
	return ofAgent(s, r.Tenant, r.Agent, func(x *client.Snapshots) (amber.PruneReport, error) { return x.PruneSnapshots(ctx, r) })
}

func (s snapshots) CollectGarbage(ctx context.Context, r amber.GCRequest) (amber.GCReport, error) {
	return ofAgent(s, r.Tenant, "any", func(x *client.Snapshots) (amber.GCReport, error) { return x.CollectGarbage(ctx, r) })
}

func (s snapshots) CheckRepository(ctx context.Context, r amber.CheckRequest) (amber.CheckReport, error) {
	return ofAgent(s, r.Tenant, "any", func(x *client.Snapshots) (amber.CheckReport, error) { return x.CheckRepository(ctx, r) })
}

func (s snapshots) Restore(ctx context.Context, r amber.RestoreRequest) (amber.RestoreReport, error) {
	return ofAgent(s, r.Tenant, r.Agent, func(x *client.Snapshots) (amber.RestoreReport, error) { return x.Restore(ctx, r) })
}

// modelAgents serve the model of snapshots. No agent is opened for them.
type modelAgents struct{ s *frozen.Snapshotter }

func (m modelAgents) Agent(_ context.Context, tenant amber.TenantID, agent amber.AgentID, _ bool) (*server.Agent, func(), error) {
	if agent != "" {
		return nil, nil, amber.Errorf(amber.KindInternal, "open agent", string(agent), "nobody needs it")
	}
	return &server.Agent{Tenant: tenant, Snapshots: m.s, Repository: m.s}, func() {}, nil
}

func TestSnapshotsKeepEveryPromise(t *testing.T) {
	t.Parallel()
	snapshottest.Run(t, func(t *testing.T) snapshottest.World {
		clock := snapshottest.NewClock()
		s, err := frozen.New(frozen.Options{Clock: clock.Now, Random: mathrand.NewChaCha8([32]byte{1})})
		if err != nil {
			t.Fatal(err)
		}
		remote := snapshots{serveAgents(t, modelAgents{s}, clock.Now)}
		return snapshottest.World{Clock: clock, Open: func(context.Context) (snapshottest.Handle, error) {
			return snapshottest.Handle{Snapshots: remote, Checker: remote, Agent: func(tenant amber.TenantID, id amber.AgentID) snapshottest.Agent {
				a, err := s.Agent(tenant, id)
				if err != nil {
					panic(err) // the suite asks for good names
				}
				return modelAgent{a}
			}}, nil
		}}
	})
}

// modelAgent is an agent of the model as the suite works on it.
type modelAgent struct{ a *frozen.Agent }

func (m modelAgent) Make(context.Context) error { return m.a.Make() }

func (m modelAgent) Remember(_ context.Context, x snapshottest.Memory) (amber.MemoryID, error) {
	return m.a.Remember(frozen.Memory(x))
}

func (m modelAgent) Edit(_ context.Context, id amber.MemoryID, x snapshottest.Memory) error {
	return m.a.Edit(id, frozen.Memory(x))
}

func (m modelAgent) Forget(_ context.Context, id amber.MemoryID) error { return m.a.Forget(id) }

func (m modelAgent) WriteNote(_ context.Context, name, text string) error {
	return m.a.WriteNote(name, text)
}

func (m modelAgent) DeleteNote(_ context.Context, name string) error { return m.a.DeleteNote(name) }

func (m modelAgent) PutState(_ context.Context, key, doc string) error { return m.a.PutState(key, doc) }

func (m modelAgent) Model(context.Context) (snapshottest.Model, error) {
	c, err := m.a.Contents()
	out := snapshottest.Model{Memories: map[amber.MemoryID]snapshottest.Memory{}, Notes: c.Notes, State: c.State}
	for id, x := range c.Memories {
		out.Memories[id] = snapshottest.Memory(x)
	}
	return out, err
}

// someChecks are the promises that are asked of the engine of a home over HTTP
// where all would take long: the others differ in what is asked, not in how.
var someChecks = []string{"restore/", "fork/makes", "tenant/", "concurrent/one-instant", "history/0"}

// TestServedHomeKeepsSnapshots does everything over HTTP, memories and notes
// too, while the stores of the agents stay open.
func TestServedHomeKeepsSnapshots(t *testing.T) {
	t.Parallel()
	for _, c := range snapshottest.Checks() {
		if !*everyCheck && !matchesOne(c.Name, someChecks) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			if err := c.Run(t.Context(), servedWorld(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

func matchesOne(name string, prefixes []string) bool {
	for _, p := range prefixes {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

func servedWorld(t *testing.T) snapshottest.World {
	clock := snapshottest.NewClock()
	h, _, err := home.Open(t.TempDir(), home.Options{Clock: clock.Now, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := local.Open(local.Options{Home: h, Clock: clock.Now, Random: rand.Reader})
	if err != nil {
		t.Fatal(err)
	}
	agents := &homeAgents{h: h, engine: engine, clock: clock.Now, open: map[string]*server.Agent{}}
	t.Cleanup(func() { agents.close(t) })
	remote := snapshots{serveAgents(t, agents, clock.Now)}
	return snapshottest.World{Clock: clock, Open: func(context.Context) (snapshottest.Handle, error) {
		return snapshottest.Handle{Snapshots: remote, Checker: remote, Agent: func(tenant amber.TenantID, id amber.AgentID) snapshottest.Agent {
			return servedAgent{remote.c, h, tenant, id}
		}}, nil
	}}
}

// homeAgents opens the agents of a home and keeps them open.
type homeAgents struct {
	h      *home.Home
	engine *snapshot.Engine
	clock  amber.Clock

	mu     sync.Mutex
	open   map[string]*server.Agent
	stores []*sqlite.Store
}

func (m *homeAgents) Agent(ctx context.Context, tenant amber.TenantID, id amber.AgentID, create bool) (*server.Agent, func(), error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a := &server.Agent{Tenant: tenant, ID: id, Random: rand.Reader, Snapshots: m.engine, Repository: m.engine}
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
		return nil, nil, server.NotThere()
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
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// past opens snapshots of a home.
type past struct {
	engine *snapshot.Engine
	live   amber.Store
}

func (p past) At(ctx context.Context, ref amber.SnapshotRef) (server.Past, error) {
	return p.engine.At(ctx, ref)
}

func (p past) RestoreMemory(ctx context.Context, r amber.MemoryRestoreRequest) (amber.MemoryRestore, error) {
	then, err := p.engine.At(ctx, r.SnapshotRef)
	if err != nil {
		return amber.MemoryRestore{}, err
	}
	defer then.Close()
	m, err := then.Get(ctx, r.Memory)
	if err != nil || r.DryRun {
		return amber.MemoryRestore{From: r.ID, Memory: m, Changed: []string{}, Kept: []string{}, DryRun: r.DryRun}, err
	}
	m, err = p.live.Editor.Edit(ctx, amber.EditRequest{ID: m.ID, Content: &m.Content})
	return amber.MemoryRestore{From: r.ID, Memory: m, Changed: []string{"content"}, Kept: []string{}}, err
}

// servedAgent is an agent of a served home as the suite works on it.
type servedAgent struct {
	c      *client.Client
	h      *home.Home
	tenant amber.TenantID
	id     amber.AgentID
}

func (a servedAgent) store(ctx context.Context) (amber.Store, error) {
	agent, err := a.c.Agent(a.tenant, a.id)
	if err != nil {
		return amber.Store{}, err
	}
	return agent.Store(ctx)
}

func (a servedAgent) Make(ctx context.Context) error {
	_, err := a.store(ctx)
	return err
}

func (a servedAgent) Remember(ctx context.Context, m snapshottest.Memory) (amber.MemoryID, error) {
	s, err := a.store(ctx)
	if err != nil {
		return "", err
	}
	ack, err := s.LongTerm.Write(ctx, amber.WriteRequest{Kind: m.Kind, Title: m.Title, Content: m.Content, Tags: m.Tags})
	return ack.ID, err
}

func (a servedAgent) Edit(ctx context.Context, id amber.MemoryID, m snapshottest.Memory) error {
	s, err := a.store(ctx)
	if err != nil {
		return err
	}
	_, err = s.Editor.Edit(ctx, amber.EditRequest{ID: id, Kind: &m.Kind, Title: &m.Title, Content: &m.Content, Tags: &m.Tags})
	return err
}

func (a servedAgent) Forget(ctx context.Context, id amber.MemoryID) error {
	s, err := a.store(ctx)
	if err != nil {
		return err
	}
	return s.LongTerm.Delete(ctx, id)
}

func (a servedAgent) WriteNote(ctx context.Context, name, text string) error {
	s, err := a.store(ctx)
	if err != nil {
		return err
	}
	_, err = s.Notes.WriteNote(ctx, name, text)
	return err
}

func (a servedAgent) DeleteNote(ctx context.Context, name string) error {
	s, err := a.store(ctx)
	if err != nil {
		return err
	}
	return s.Notes.DeleteNote(ctx, name)
}

// PutState writes the file: state is not served.
func (a servedAgent) PutState(ctx context.Context, key, doc string) error {
	agent, err := a.h.Agent(a.tenant, a.id)
	if err != nil {
		return err
	}
	return agent.Write(ctx, "state", func(c home.Current) error {
		dir := filepath.Join(agent.GenDir(c), "state")
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

func (a servedAgent) Model(ctx context.Context) (snapshottest.Model, error) {
	m := snapshottest.Model{Memories: map[amber.MemoryID]snapshottest.Memory{}, Notes: map[string]string{}, State: map[string]string{}}
	agent, err := a.h.Agent(a.tenant, a.id)
	if err != nil {
		return m, err
	}
	current, err := agent.Current() // whoever asks with every scope would make it
	if err != nil {
		return m, err
	}
	s, err := a.store(ctx)
	if err != nil {
		return m, err
	}
	for q := (amber.ListQuery{All: true, Limit: 3}); ; {
		page, err := s.Memories.List(ctx, q)
		if err != nil {
			return m, err
		}
		for _, x := range page.Items {
			m.Memories[x.ID] = snapshottest.Memory{Kind: x.Kind, Title: x.Title, Content: x.Content, Tags: x.Tags}
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			break
		}
	}
	notes, err := s.Notes.ListNotes(ctx)
	if err != nil {
		return m, err
	}
	for _, n := range notes {
		note, err := s.Notes.ReadNote(ctx, n.Name)
		if err != nil {
			return m, err
		}
		m.Notes[n.Name] = note.Content
	}
	files, err := filepath.Glob(filepath.Join(agent.GenDir(current), "state", "*.json"))
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			return m, err
		}
		m.State[strings.TrimSuffix(filepath.Base(f), ".json")] = string(b)
	}
	return m, err
}

func TestPastAnswersAsItWasThen(t *testing.T) {
	t.Parallel()
	w := servedWorld(t)
	ctx := t.Context()
	open, err := w.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	agent, err := open.Snapshots.(snapshots).c.Agent("acme", "scout")
	if err != nil {
		t.Fatal(err)
	}
	store, err := agent.Store(ctx)
	if err != nil {
		t.Fatal(err)
	}
	ack, err := store.LongTerm.Write(ctx, amber.WriteRequest{Kind: amber.UserFact, Content: "the harbour is north"})
	if err != nil {
		t.Fatal(err)
	}
	s := agent.Snapshots()
	meta, err := s.Snapshot(ctx, amber.SnapshotRequest{Label: "before"})
	if err != nil {
		t.Fatal(err)
	}
	now := "the harbour is south"
	if _, err := store.Editor.Edit(ctx, amber.EditRequest{ID: ack.ID, Content: &now}); err != nil {
		t.Fatal(err)
	}
	ref := amber.SnapshotRef{ID: meta.ID}
	then, err := s.At(ctx, ref)
	if err != nil {
		t.Fatal(err)
	}
	recalled, err := then.Recall(ctx, amber.Query{Text: "harbour"})
	if err != nil || len(recalled.Hits) != 1 || recalled.Hits[0].Content != "the harbour is north" {
		t.Errorf("recall of the past: %+v, %v", recalled, err)
	}
	page, err := then.List(ctx, amber.ListQuery{All: true})
	if err != nil || len(page.Items) != 1 || page.Items[0].ID != ack.ID {
		t.Errorf("list of the past: %+v, %v", page, err)
	}
	if m, err := then.Get(ctx, ack.ID); err != nil || m.Content != "the harbour is north" {
		t.Errorf("memory of the past: %+v, %v", m, err)
	}
	if _, err := then.Get(ctx, "00000000-0000-7000-8000-000000000000"); amber.KindOf(err) != amber.KindNotFound {
		t.Errorf("a memory that was not there: %v", err)
	}
	if err := then.Close(); err != nil {
		t.Error(err)
	}
	got, err := s.RestoreMemory(ctx, amber.MemoryRestoreRequest{SnapshotRef: ref, Memory: ack.ID})
	if err != nil || got.Memory.Content != "the harbour is north" || !cmp.Equal(got.Changed, []string{"content"}) {
		t.Errorf("memory brought back: %+v, %v", got, err)
	}
	absent := amber.SnapshotRef{ID: "0195a0b0-0000-7000-8000-000000000000"}
	if then, err = s.At(ctx, absent); err == nil {
		_, err = then.Recall(ctx, amber.Query{Text: "harbour"})
	}
	if amber.KindOf(err) != amber.KindNotFound {
		t.Errorf("a snapshot that is not there: %v", err)
	}
}

func TestRequestsAreAboutTheAgentOfTheClient(t *testing.T) {
	t.Parallel()
	c, err := client.New(client.Options{URL: "http://127.0.0.1:1", Attempts: 1}) // nobody is there, and nobody is asked
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.Agent("acme", "scout")
	if err != nil {
		t.Fatal(err)
	}
	s, ctx := a.Snapshots(), t.Context()
	id := amber.SnapshotID("0195a0b0-0000-7000-8000-000000000000")
	for what, ref := range map[string]amber.SnapshotRef{
		"tenant": {Tenant: "other", Agent: "scout", ID: id}, "agent": {Tenant: "acme", Agent: "pilot", ID: id},
	} {
		for op, err := range map[string]error{
			"take":           errOf(s.Snapshot(ctx, amber.SnapshotRequest{Tenant: ref.Tenant, Agent: ref.Agent})),
			"list":           errOf(s.ListSnapshots(ctx, amber.SnapshotQuery{Tenant: ref.Tenant, Agent: ref.Agent})),
			"show":           errOf(s.ShowSnapshot(ctx, ref)),
			"diff":           errOf(s.DiffSnapshots(ctx, amber.DiffRequest{Tenant: ref.Tenant, Agent: ref.Agent, A: id, B: id})),
			"verify":         errOf(s.VerifySnapshot(ctx, amber.VerifyRequest{SnapshotRef: ref})),
			"prune":          errOf(s.PruneSnapshots(ctx, amber.PruneRequest{Tenant: ref.Tenant, Agent: ref.Agent, KeepLast: 1})),
			"delete":         s.DeleteSnapshot(ctx, ref),
			"pin":            s.PinSnapshot(ctx, ref, true),
			"restore":        errOf(s.Restore(ctx, amber.RestoreRequest{SnapshotRef: ref})),
			"restore memory": errOf(s.RestoreMemory(ctx, amber.MemoryRestoreRequest{SnapshotRef: ref, Memory: "m"})),
			"at":             errOf(s.At(ctx, ref)),
		} {
			if amber.KindOf(err) != amber.KindInvalid {
				t.Errorf("%s with another %s: got %v, want invalid", op, what, err)
			}
		}
	}
	for op, err := range map[string]error{
		"gc":    errOf(s.CollectGarbage(ctx, amber.GCRequest{Tenant: "other"})),
		"check": errOf(s.CheckRepository(ctx, amber.CheckRequest{Tenant: "other"})),
	} {
		if amber.KindOf(err) != amber.KindInvalid {
			t.Errorf("%s of another tenant: got %v, want invalid", op, err)
		}
	}
}

func errOf[T any](_ T, err error) error { return err }
