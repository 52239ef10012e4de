package agent

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/folder"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// operation is the kind of work that is done by one at a time on an agent: snapshots, restores, moves.
const operation = "operation"

// copiesName is the folder of the cache with the copies of agents that live in a database.
const copiesName = "postgres"

// rowsPlace is where agents live in databases, one for each tenant or one for all. It is safe for concurrent use.
type rowsPlace struct {
	clock  amber.Clock
	home   *home.Home // with the crash journals
	copies *home.Home
	wait   time.Duration
	open   openDatabase

	mu   sync.Mutex
	used map[amber.TenantID]usedDatabase // those that were needed
}

// openDatabase opens the database of a tenant. Done is called once by each who got it.
type openDatabase func(ctx context.Context, tenant amber.TenantID) (server *postgres.Server, done func() error, err error)

// usedDatabase is a database that is open.
type usedDatabase struct {
	*postgres.Server
	done func() error
}

var _ snapshot.Place = (*rowsPlace)(nil)

// databasePlace returns the agents of the configured databases. Each is opened when it is needed. The home has their crash journals, and their
// copies in its cache. The error is of kind invalid.
func (a *Agent) databasePlace(h *home.Home) (*rowsPlace, error) {
	o := home.Options{Clock: a.o.Clock, Random: a.o.Random, Wait: cmp.Or(a.config.Snapshot.LockTimeout, home.DefaultWait)}
	copies, err := home.At(filepath.Join(h.CacheDir(), copiesName), o)
	if err != nil {
		return nil, err
	}
	return &rowsPlace{clock: o.Clock, home: h, copies: copies, wait: o.Wait, open: a.DatabaseOf, used: map[amber.TenantID]usedDatabase{}}, nil
}

// Close closes the databases.
func (p *rowsPlace) Close() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for tenant, d := range p.used {
		delete(p.used, tenant)
		err = errors.Join(err, d.done())
	}
	return err
}

// rows names an agent of the database of its tenant.
func (p *rowsPlace) rows(ctx context.Context, tenant amber.TenantID, id amber.AgentID) (mirror.Agent, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d, ok := p.used[tenant]
	if !ok {
		server, done, err := p.open(ctx, tenant)
		if err != nil {
			return mirror.Agent{}, err
		}
		d = usedDatabase{server, done}
		p.used[tenant] = d
	}
	return mirror.Agent{Server: d.Server, Tenant: tenant, ID: id}, nil
}

// Folder implements [snapshot.Place].
func (p *rowsPlace) Folder(tenant amber.TenantID, id amber.AgentID) (*home.Agent, error) {
	return p.copies.Agent(tenant, id)
}

// Copies implements [snapshot.Place].
func (*rowsPlace) Copies() bool { return true }

// of names the agent that a folder is a copy of.
func (p *rowsPlace) of(ctx context.Context, f *home.Agent) (mirror.Agent, error) {
	return p.rows(ctx, f.Tenant(), f.ID())
}

// Current implements [snapshot.Place].
func (p *rowsPlace) Current(ctx context.Context, f *home.Agent) (home.Current, error) {
	a, err := p.of(ctx, f)
	if err != nil {
		return home.Current{}, err
	}
	_, c, err := a.Server.Live(ctx, a.Tenant, a.ID)
	return c, err
}

// Operate implements [snapshot.Place]: with a kernel lock on this machine, and a lease among machines, which is renewed right before
// each effect: who lost it while paused has none.
func (p *rowsPlace) Operate(ctx context.Context, f *home.Agent, fn func(ctx context.Context, l snapshot.Lease) error) error {
	a, err := p.of(ctx, f)
	if err != nil {
		return err
	}
	holder, err := a.Server.NewID()
	if err != nil {
		return err
	}
	if err := f.MakeFolder(); err != nil {
		return err
	}
	work := postgres.Work{Kind: operation, Tenant: a.Tenant, Agent: a.ID}
	return f.Operate(ctx, func() error {
		began := false
		err := a.Server.Leases(holder, 0).While(ctx, work, p.wait, func(ctx context.Context, l *postgres.Lease) error {
			began = true
			return fn(ctx, held{l, p.clock, a, f})
		})
		if !began && amber.KindOf(err) == amber.KindBusy {
			return amber.Errorf(amber.KindBusy, "wait for operation", string(a.ID), "another snapshot or restore of this agent is running, on this machine or another").
				WithHint("try again when the other snapshot or restore is done; one that died is over after " + postgres.DefaultLease.String())
		}
		return err
	})
}

// temporaryFolder makes a folder for temporary files of git beside a copy. Done removes it.
func temporaryFolder(f *home.Agent) (o folder.Options, done func(), err error) {
	dir := filepath.Join(f.Dir(), "tmp")
	err = fsx.RemoveAll(fsx.OS(), dir) // a process that died may have left one
	if err == nil {
		err = fsx.MkdirAll(fsx.OS(), dir, 0o700)
	}
	if err != nil {
		return o, nil, &amber.Error{Op: "make temporary folder", Kind: amber.KindInternal, ID: dir, Err: err}
	}
	return folder.Options{Temp: dir}, func() { _ = fsx.RemoveAll(fsx.OS(), dir) }, nil
}

// Refresh implements [snapshot.Place].
func (p *rowsPlace) Refresh(ctx context.Context, f *home.Agent, dir string) (*snapshot.Refreshed, error) {
	a, err := p.of(ctx, f)
	if err != nil {
		return nil, err
	}
	o, done, err := temporaryFolder(f)
	if err != nil {
		return nil, err
	}
	defer done()
	r := &snapshot.Refreshed{}
	var w folder.Written
	write := func(dir string) error {
		r.At = p.clock()
		w, err = folder.Write(ctx, a, dir, o)
		return err
	}
	if dir != "" {
		err = write(dir)
	} else {
		err = p.follow(ctx, a, f, write, &w)
	}
	if err != nil {
		return nil, err
	}
	r.Pin, r.Version, r.Checks = w.Pin, w.Version, compared(w)
	if w.NoHistory != "" {
		r.Warnings = append(r.Warnings, "the notes are captured without their history: "+w.NoHistory)
	}
	return r, nil
}

// follow makes the copy one of the live generation, also where another one becomes live meanwhile.
func (p *rowsPlace) follow(ctx context.Context, a mirror.Agent, f *home.Agent, write func(dir string) error, w *folder.Written) error {
	for range 3 {
		_, c, err := a.Server.Live(ctx, a.Tenant, a.ID)
		if err != nil {
			return err
		}
		if err := f.Become(ctx, c, func(dir string, _ bool) error { return write(dir) }); err != nil || w.Current == c {
			return err
		}
	}
	return amber.Errorf(amber.KindBusy, "read agent", string(a.ID), "the agent is restored again and again")
}

// compared says what was compared with the database.
func compared(w folder.Written) (checks []wire.Check) {
	how := fmt.Sprintf("%d rows were written since the last time", w.Changed)
	if w.Anew != "" {
		how = "made of all rows: " + w.Anew
	}
	for _, file := range []struct{ name, part string }{{"memory.db", wire.PartMemory}, {"control.db", "control"}} {
		var rows, tables, fresh int64
		sum := sha256.New()
		for _, t := range w.Tables {
			if t.File == file.name {
				rows, tables, fresh = rows+t.Rows, tables+1, fresh+t.Compared
				_, _ = io.WriteString(sum, t.Digest)
			}
		}
		c := wire.Check{
			Name: "source", Part: file.part, OK: true, Digest: hex.EncodeToString(sum.Sum(nil)),
			Detail: fmt.Sprintf("%d rows in %d tables, every row compared with the database by the digest of its table; %s", rows, tables, how),
		}
		if w.Compared == mirror.Changes {
			c.Digest = ""
			c.Detail = fmt.Sprintf("%d rows in %d tables: %d that may have changed since the last time were compared with the database, the others were counted; all rows were compared at %s",
				rows, tables, fresh, w.AllCompared)
		}
		checks = append(checks, c)
	}
	return checks
}

// Spool implements [snapshot.Place].
func (p *rowsPlace) Spool(ctx context.Context, f *home.Agent) (amber.Ingester, func() error, error) {
	a, err := p.of(ctx, f)
	if err != nil {
		return nil, nil, err
	}
	own, err := p.home.Agent(a.Tenant, a.ID)
	if err != nil {
		return nil, nil, err
	}
	if err := checkName(own); err != nil {
		return nil, nil, err
	}
	if _, _, err := own.Create(ctx, func(dir string, _ home.Current) error { return sqlite.LeaveElsewhere(dir) }); err != nil {
		return nil, nil, err
	}
	store, err := a.Server.Open(ctx, a.Tenant, a.ID, postgres.Options{Existing: true})
	if err != nil {
		return nil, nil, err
	}
	return store, store.Close, nil
}

// buildLease is how long no other process builds a generation of an agent after a restore has died.
const buildLease = 2 * time.Minute

// held is the lease of an operation on an agent.
type held struct {
	*postgres.Lease
	clock  amber.Clock
	agent  mirror.Agent
	folder *home.Agent // with the copy of the agent
}

// Replace implements [snapshot.Lease].
func (l held) Replace(ctx context.Context, r snapshot.Replacement) (c home.Current, left []string, err error) {
	a := l.agent
	temp, done, err := temporaryFolder(l.folder)
	if err != nil {
		return c, nil, err
	}
	defer done()
	read := func(ctx context.Context, clock amber.Stamp) (folder.Source, error) {
		src, err := folder.Read(ctx, r.Dir, l.clock(), temp)
		o := &src.Options
		o.From, o.Device, o.Clock, o.Incarnation, o.Lease = string(r.From), r.Current.Device, clock, r.Current.Incarnation, buildLease
		left = src.Left
		return src, err
	}
	src, err := read(ctx, r.Clock)
	if err != nil {
		return c, nil, err
	}
	b, err := mirror.Import(ctx, a, src.Files, src.Options)
	if err != nil {
		return c, nil, err
	}
	defer func() {
		if err != nil { // what it does not come to do, a sweep does
			late, cancel := context.WithTimeout(context.WithoutCancel(ctx), discardWithin)
			defer cancel()
			_ = b.Discard(late)
		}
	}()
	if r.New != (b.Replaces == 0) {
		return c, nil, amber.Errorf(amber.KindConflict, "replace agent", string(a.ID), "the agent was made or removed meanwhile").WithHint("try again")
	}
	safety := ""
	o := mirror.SwitchOptions{
		Expect: r.Expect, Check: l.Check, Safety: func() string { return safety },
		Before: func(ctx context.Context, _ int64) error {
			if r.Last == nil {
				return nil
			}
			id, err := r.Last(ctx)
			safety = string(id)
			return err
		},
	}
	if r.Moved != nil {
		o.Moved = func(ctx context.Context, refill func(mirror.Files, mirror.ImportOptions) error) error {
			clock, err := r.Moved(ctx)
			if err != nil {
				return err
			}
			src, err := read(ctx, clock)
			if err != nil {
				return err
			}
			return refill(src.Files, src.Options)
		}
	}
	s, err := b.Switch(ctx, o)
	if errors.Is(err, mirror.ErrMoved) {
		err = errors.Join(snapshot.ErrMoved, err)
	}
	if err != nil {
		return c, nil, err
	}
	_ = folder.Seal(ctx, r.Dir, s.Current.Incarnation) // without it the next copy is made of all rows
	return s.Current, left, nil
}

// discardWithin bounds the time for removing a generation that was not switched to.
const discardWithin = 10 * time.Second

// Old implements [snapshot.Place].
func (p *rowsPlace) Old(ctx context.Context, f *home.Agent) (numbers []int64, err error) {
	a, err := p.of(ctx, f)
	if err != nil {
		return nil, err
	}
	list, err := mirror.Generations(ctx, a)
	for _, g := range list {
		if g.State == mirror.Old {
			numbers = append(numbers, g.Number)
		}
	}
	return numbers, err
}

// Remove implements [snapshot.Place].
func (p *rowsPlace) Remove(ctx context.Context, f *home.Agent, generation int64) error {
	a, err := p.of(ctx, f)
	if err != nil {
		return err
	}
	_ = f.RemoveGeneration(ctx, generation) // of the copy; the next restore tries again
	g, err := mirror.Find(ctx, a, generation)
	if err != nil {
		return err
	}
	return mirror.Discard(ctx, a.Server, g.Gen)
}

// Sweep implements [snapshot.Place].
func (p *rowsPlace) Sweep(ctx context.Context, tenant amber.TenantID) (removed []string, err error) {
	a, err := p.rows(ctx, tenant, "")
	if err != nil {
		return nil, err
	}
	gens, err := mirror.Sweep(ctx, a.Server)
	for _, gen := range gens {
		removed = append(removed, fmt.Sprintf("generation %d of the database, never live", gen))
	}
	return removed, err
}

// Generation implements [snapshot.Place].
func (p *rowsPlace) Generation(ctx context.Context, f *home.Agent) (g wire.Generation, err error) {
	a, err := p.of(ctx, f)
	if err != nil {
		return g, err
	}
	_, c, err := a.Server.Live(ctx, a.Tenant, a.ID)
	if err != nil {
		return g, err
	}
	list, err := mirror.Generations(ctx, a)
	g.Generation = c.Generation
	for _, x := range list {
		switch {
		case x.State == mirror.Live && x.From != "":
			g.Restored = &wire.GenerationOrigin{From: amber.SnapshotID(x.From), Replaces: max(x.Replaces, x.Number-1), SafetySnapshot: amber.SnapshotID(x.Safety)}
		case x.State == mirror.New:
			g.Restoring = &wire.UnfinishedRestore{From: amber.SnapshotID(x.From), Generation: x.Number, Replaces: x.Replaces, Running: x.Building}
		}
	}
	return g, err
}

// Forget removes the copy of an agent on this machine, which may hold what was erased. Errors: busy while it is used.
func (p *rowsPlace) Forget(ctx context.Context, tenant amber.TenantID, id amber.AgentID) error {
	f, err := p.Folder(tenant, id)
	if err != nil {
		return err
	}
	if _, err := fsx.OS().Lstat(f.Dir()); err != nil {
		return nil // there is none
	}
	return f.Operate(ctx, func() error { return f.Forget(ctx) })
}
