//go:build linux

package agent

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/store/postgres/postgrestest"
	"github.com/amber-memory/amber/internal/store/vaultrow"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/internal/test/race"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/storetest"
	"github.com/amber-memory/amber/wire"
)

var restoreStride = flag.Int("restore.stride", 0, "at every how many statements a restore into a database is killed; 0: at a few")

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// shared is a database, and a folder of snapshots for all homes.
type shared struct {
	*testing.T
	server *pgtest.Server
	name   string
	root   string
}

func newShared(t *testing.T) *shared {
	s := pgtest.Shared(t)
	return &shared{t, s, postgrestest.Database(t, s), t.TempDir()}
}

// options are those of an agent of a home; dsn "" keeps agents in the home.
func (s *shared) options(home, dsn string, id amber.AgentID) Options {
	s.Helper()
	c := config.Default()
	c.Snapshot.Root = s.root
	if dsn != "" {
		file := filepath.Join(s.TempDir(), "dsn")
		must.Do(s.T, os.WriteFile(file, []byte(dsn), 0o600))
		c.Memory.Backend, c.Memory.Backends.Postgres.DSNFile = config.PostgresBackend, file
	}
	return Options{Home: home, Agent: id, Config: &c, Clock: time.Now, Random: rand.Reader}
}

// open opens an agent of the database.
func (s *shared) open(home string, id amber.AgentID) *Agent {
	s.Helper()
	a := must.Get(Open(s.Context(), s.options(home, s.server.DSN(s.name), id)))(s.T)
	s.Cleanup(func() { must.NoError(s.T, a.Close()) })
	return a
}

func (s *shared) conn() *pgx.Conn {
	s.Helper()
	c := must.Get(pgx.Connect(s.Context(), s.server.DSN(s.name)))(s.T)
	s.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// contents are the texts of all memories.
func contents(t testing.TB, a *Agent) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	q := amber.ListQuery{All: true, Limit: amber.MaxPageSize}
	for {
		page := must.Get(a.Store().Memories.List(t.Context(), q))(t)
		for _, m := range page.Items {
			all[m.Content] = true
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return all
		}
	}
}

func (s *shared) write(a *Agent, text string) {
	s.Helper()
	must.Get(a.Store().LongTerm.Write(s.Context(), amber.WriteRequest{Content: text}))(s.T)
}

// A small change adds little to the repository, and a copy that another program changed is made anew.
func TestSnapshotsOfADatabaseGrowLittle(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	home := t.TempDir()
	// As databases in use are: of others all rows are read each time.
	must.Get(s.conn().Exec(t.Context(), "ALTER DATABASE "+pgx.Identifier{s.name}.Sanitize()+" SET synchronous_commit = on"))(t)
	a := s.open(home, "growing")
	for i := range 60 {
		var batch []amber.WriteRequest
		for j := range 16 {
			batch = append(batch, amber.WriteRequest{Content: fmt.Sprintf("memory %d of %d says that lighthouse %x blinks at ship %x", j, i, i*j*7919, j*104729)})
		}
		must.Get(a.Store().Batch.WriteBatch(t.Context(), batch))(t)
	}
	first := must.Get(a.Snapshot(t.Context(), wire.SnapshotRequest{}))(t)
	source := func(m wire.SnapshotMeta) wire.Check {
		e := must.Get(a.Snapshots(t.Context()))(t)
		d := must.Get(e.ShowSnapshot(t.Context(), wire.SnapshotRef{Tenant: a.Tenant(), Agent: a.ID(), ID: m.ID}))(t)
		for _, c := range d.Checks {
			if c.Name == "source" && c.Part == wire.PartMemory {
				return c
			}
		}
		return wire.Check{}
	}
	detail := func(m wire.SnapshotMeta) string { return source(m).Detail }
	digest := func(m wire.SnapshotMeta) string { return source(m).Digest }
	must.Says(t, "check", detail(first), "made of all rows")
	s.write(a, "one more lighthouse")
	second := must.Get(a.Snapshot(t.Context(), wire.SnapshotRequest{}))(t)
	t.Logf("960 memories: the first snapshot has %d bytes of %d, a small change adds %d", first.BytesNew, first.BytesTotal, second.BytesNew)
	must.Hold(t, second.BytesNew < 1_500_000, "a small change added %d bytes", second.BytesNew)
	must.Says(t, "check", detail(second), "that may have changed since the last time were compared with the database, the others were counted; all rows were compared at 20")
	must.Equal(t, "digest of all rows", digest(second) == "" && digest(first) != "", true)

	files := must.Get(filepath.Glob(filepath.Join(home, "cache", copiesName, "tenants/*/agents/growing/gen/*/memory.db")))(t)
	must.Equal(t, "copies", len(files), 1)
	b := must.Get(os.ReadFile(files[0]))(t)
	b[len(b)/2] ^= 0xff
	must.Do(t, os.WriteFile(files[0], b, 0o600))
	third := must.Get(a.Snapshot(t.Context(), wire.SnapshotRequest{}))(t)
	must.Says(t, "check", detail(third), "is not what was written")
	e := must.Get(a.Snapshots(t.Context()))(t)
	v := must.Get(e.VerifySnapshot(t.Context(), wire.VerifyRequest{SnapshotRef: wire.SnapshotRef{Tenant: a.Tenant(), Agent: a.ID(), ID: third.ID}, ReadData: true}))(t)
	must.Equal(t, "damage", len(v.Damaged), 0)
	must.Do(t, os.RemoveAll(filepath.Join(home, "cache")))
	must.Says(t, "check", detail(must.Get(a.Snapshot(t.Context(), wire.SnapshotRequest{}))(t)), "there is no copy")

	// An erased memory does not stay in the copy.
	ack := must.Get(a.Store().LongTerm.Write(t.Context(), amber.WriteRequest{Content: "a secret of the lighthouse"}))(t)
	must.Get(a.Snapshot(t.Context(), wire.SnapshotRequest{}))(t)
	erased := must.Get(a.Erase(t.Context(), ack.ID))(t)
	must.Says(t, "what remains", strings.Join(erased.Remaining, "; "), "caches of other machines")
	must.Equal(t, "copies", len(must.Get(filepath.Glob(filepath.Join(home, "cache", copiesName, "tenants/*/agents/growing/gen")))(t)), 0)
}

// Writers on two handles write a memory, and then a task of the same number: no snapshot has a task without its memory, or
// misses more than one.
func TestSnapshotOfADatabaseIsOneInstant(t *testing.T) {
	race.Lane(t)
	t.Parallel()
	s := newShared(t)
	homes := []string{t.TempDir(), t.TempDir()}
	agents := []*Agent{s.open(homes[0], "busy"), s.open(homes[1], "busy")}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var all sync.WaitGroup
	for w, a := range agents {
		all.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				name := fmt.Sprintf("pair-%d-%d", w, i)
				if _, err := a.Store().LongTerm.Write(t.Context(), amber.WriteRequest{Content: name}); err != nil {
					t.Errorf("write %s: %v", name, err)
					return
				}
				if _, err := a.Store().Tasks.SaveTask(t.Context(), amber.Task{ID: name, Goal: "g"}, 0); err != nil {
					t.Errorf("save %s: %v", name, err)
					return
				}
			}
		})
	}
	var taken []amber.SnapshotID
	for i := range 3 {
		m := must.Get(agents[i%2].Snapshot(t.Context(), wire.SnapshotRequest{}))(t)
		taken = append(taken, m.ID)
	}
	stop()
	all.Wait()
	for i, id := range taken {
		to := amber.AgentID(fmt.Sprint("fork-", i))
		must.Get(agents[0].Restore(t.Context(), wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{ID: id}, To: to, WithControl: true}))(t)
		f := s.open(homes[0], to)
		memories, lone := contents(t, f), map[string]bool{}
		for m := range memories {
			lone[m] = true
		}
		tasks := 0
		for cursor := amber.Cursor(""); ; {
			page := must.Get(f.Store().Tasks.ListTasks(t.Context(), amber.TaskQuery{Limit: amber.MaxPageSize, Cursor: cursor}))(t)
			for _, task := range page.Items {
				must.Hold(t, memories[task.ID], "snapshot %d has the task %s and not its memory", i, task.ID)
				delete(lone, task.ID)
				tasks++
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		must.Hold(t, len(lone) <= 2, "snapshot %d lacks the tasks of %v", i, lone)
		t.Logf("snapshot %d: %d memories, %d tasks", i, len(memories), tasks)
	}
}

// Another replica writes all the time while the agent is restored. Every write that was acknowledged is in the
// safety snapshot or in the restored agent.
func TestRestoreOfABusyAgentLosesNothing(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	home := t.TempDir()
	a, other := s.open(home, "restored"), s.open(t.TempDir(), "restored")
	s.write(a, "from the beginning")
	first := must.Get(a.Snapshot(t.Context(), wire.SnapshotRequest{}))(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	acknowledged := map[string]bool{}
	var writer sync.WaitGroup
	var begun sync.WaitGroup
	begun.Add(1)
	writer.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			text := fmt.Sprint("write ", i)
			_, err := other.Store().LongTerm.Write(t.Context(), amber.WriteRequest{Content: text})
			if i == 0 {
				begun.Done()
			}
			switch {
			case err == nil:
				acknowledged[text] = true
			case amber.KindOf(err) != amber.KindBusy:
				t.Errorf("%s: %v", text, err)
				return
			}
		}
	})
	begun.Wait()
	report, err := a.Restore(t.Context(), wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{ID: first.ID}})
	stop()
	writer.Wait()
	must.Do(t, err)
	must.Get(a.Restore(t.Context(), wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{ID: report.SafetySnapshot}, To: "before"}))(t)
	before, after := contents(t, s.open(home, "before")), contents(t, a)
	for text := range acknowledged {
		must.Hold(t, before[text] || after[text], "%s is neither in the safety snapshot nor in the agent", text)
	}
	must.Hold(t, after["from the beginning"], "the agent is not the restored one")
	t.Logf("%d writes, %d in the safety snapshot, %d memories afterwards", len(acknowledged), len(before), len(after))
}

// A restore is killed at statements it runs. The agent is the old one or the restored one, and what is left is swept.
func TestRestoreIntoADatabaseKilled(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	if s.server.Addr() == "" {
		t.Skip("AMBER_TEST_POSTGRES names a server on a socket, and the test needs one that a proxy can lead to")
	}
	home := t.TempDir()
	a := s.open(home, "killed")
	s.write(a, "first")
	must.Get(a.Store().Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "plan", Content: "# First"}))(t)
	first := must.Get(a.Snapshot(t.Context(), wire.SnapshotRequest{}))(t)
	s.write(a, "second")
	must.Get(a.Store().Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "plan", Content: "# Second"}))(t)
	second := must.Get(a.Snapshot(t.Context(), wire.SnapshotRequest{}))(t)
	c := s.conn()
	proxy := pgtest.NewProxy(t, s.server.Addr())
	var sent atomic.Int64 // statements that the server was asked to run
	runs := func(m pgtest.Message) bool { return m.Type == 'Q' || m.Type == 'E' }
	restore := func(id amber.SnapshotID, rule pgtest.Rule) error {
		proxy.OnFrontend(nil)
		o := s.options(home, proxy.DSN(s.name), "killed")
		o.Config.Memory.Backends.Postgres.Settle = 100 * time.Millisecond
		through := must.Get(At(o))(t)
		defer through.Close()
		must.Get(through.Exists(t.Context()))(t)
		sent.Store(0)
		proxy.OnFrontend(rule)
		_, err := through.Restore(t.Context(), wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{ID: id}, NoSafetySnapshot: true, DiscardOld: true})
		return err
	}
	is := func() string {
		has := contents(t, a)
		note := must.Get(a.Store().Notes.ReadNote(t.Context(), "plan"))(t).Content
		switch {
		case has["first"] && has["second"] && note == "# Second":
			return "second"
		case has["first"] && !has["second"] && note == "# First":
			return "first"
		}
		t.Fatalf("the agent is neither the one nor the other: %v, %q", has, note)
		return ""
	}
	var live atomic.Int64 // the statement that makes the new generation live
	must.Do(t, restore(first.ID, func(m pgtest.Message) pgtest.Action {
		if strings.Contains(m.Query(), "SET live_gen = $3, device") {
			live.Store(sent.Load() + 1)
		}
		if runs(m) {
			sent.Add(1)
		}
		return pgtest.Forward
	}))
	must.Hold(t, live.Load() > 0, "no statement makes the generation live")
	must.Equal(t, "restored", is(), "first")
	total := sent.Load()
	step := int64(*restoreStride)
	var cuts []int64
	if step == 0 { // a few, and where the switch is
		step = max(1, total/2)
		for n := live.Load() - 1; n <= live.Load()+2; n++ {
			cuts = append(cuts, n)
		}
	}
	for n := int64(1); n <= total; n += step {
		cuts = append(cuts, n)
	}
	switched := 0
	for _, n := range cuts {
		next, id := "second", second.ID
		if is() == "second" {
			next, id = "first", first.ID
		}
		last := pgtest.Cut
		if n%2 == 0 {
			last = pgtest.Swallow
		}
		err := restore(id, func(m pgtest.Message) pgtest.Action {
			at := sent.Load()
			if runs(m) {
				at = sent.Add(1)
			}
			switch {
			case at < n:
				return pgtest.Forward
			case at == n && runs(m):
				return last
			}
			return pgtest.Cut
		})
		now := is()
		if now == next {
			switched++
		} else {
			must.Hold(t, err != nil, "statement %d: the restore says that it is done, and the agent is %s", n, now)
		}
		// The leases of a process that died are over after a while.
		must.Get(c.Exec(t.Context(), `UPDATE amber_meta.work SET until = now() - interval '1 second' WHERE until IS NOT NULL`))(t)
		e := must.Get(a.Snapshots(t.Context()))(t)
		must.Get(e.CollectGarbage(t.Context(), wire.GCRequest{Tenant: a.Tenant(), OldGenerations: true}))(t)
		var left int
		must.Do(t, c.QueryRow(t.Context(), `SELECT count(*) FROM amber_meta.generations WHERE agent = 'killed'`).Scan(&left))
		if n%50 == 0 {
			t.Logf("killed at statement %d of %d", n, total)
		}
		must.Equal(t, fmt.Sprintf("generations after statement %d", n), left, 1)
	}
	t.Logf("a restore runs %d statements, of which %d makes it live; killed %d times, %d of them after that", total, live.Load(), len(cuts), switched)
	s.write(a, "it is in use")
	must.Get(a.Snapshot(t.Context(), wire.SnapshotRequest{}))(t)
}

// A file that only a stranger can have written is refused before anything of it comes into the database.
func TestHostileSnapshotComesNotIntoADatabase(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	files := t.TempDir()
	f := must.Get(Open(t.Context(), s.options(files, "", "victim")))(t)
	s.write(f, "looks harmless")
	db := filepath.Join(f.folder.GenDir(must.Get(f.folder.Current())(t)), "memory.db")
	must.Do(t, f.Close())
	evil := must.Get(sql.Open("sqlite", db))(t)
	must.Get(evil.Exec(`CREATE TRIGGER evil AFTER INSERT ON memories BEGIN DELETE FROM turns; END`))(t)
	must.Do(t, evil.Close())
	at := must.Get(At(s.options(files, "", "victim")))(t)
	defer at.Close()
	m := must.Get(at.Snapshot(t.Context(), wire.SnapshotRequest{}))(t)

	a := s.open(t.TempDir(), "victim")
	s.write(a, "what is there")
	c := s.conn()
	count := func() (n int) {
		must.Do(t, c.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM amber_meta.generations) + (SELECT last_value FROM amber_meta.generations_gen_seq)`).Scan(&n))
		return n
	}
	before := count()
	for _, to := range []amber.AgentID{"", "fork"} {
		_, err := a.Restore(t.Context(), wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{ID: m.ID}, To: to})
		must.Hold(t, err != nil && strings.Contains(err.Error(), "evil"), "restore to %q: %v", to, err)
	}
	must.Equal(t, "generations", count(), before)
	must.Equal(t, "memories", contents(t, a), map[string]bool{"what is there": true})

	// Another tenant has neither the snapshot nor the agent.
	o := s.options(t.TempDir(), s.server.DSN(s.name), "victim")
	o.Tenant = "foreign"
	foreign := must.Get(Open(t.Context(), o))(t)
	defer foreign.Close()
	own := must.Get(a.Snapshot(t.Context(), wire.SnapshotRequest{}))(t)
	must.Fail(foreign.Restore(t.Context(), wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{ID: own.ID}}))(t, "restore by another tenant", amber.KindNotFound)
	must.Equal(t, "memories of the other tenant", len(contents(t, foreign)), 0)
}

// dump reads all rows of a database file, by table, without the names of generations.
func dump(t testing.TB, path string) map[string][]string {
	t.Helper()
	db := must.Get(sql.Open("sqlite", "file:"+path+"?mode=ro"))(t)
	defer db.Close()
	all := map[string][]string{}
	var names []string
	tables := must.Get(db.Query(`SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND name <> 'incarnations'`))(t)
	for tables.Next() {
		var name string
		must.Do(t, tables.Scan(&name))
		names = append(names, name)
	}
	must.Do(t, tables.Close())
	for _, name := range names {
		rows := must.Get(db.Query(fmt.Sprintf(`SELECT * FROM %q`, name)))(t)
		columns := must.Get(rows.Columns())(t)
		values, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			dest[i] = &values[i]
		}
		for rows.Next() {
			must.Do(t, rows.Scan(dest...))
			all[name] = append(all[name], fmt.Sprintf("%v", values))
		}
		must.Do(t, rows.Close())
		slices.Sort(all[name])
	}
	return all
}

// While one machine works on the snapshots of an agent in a database, another deletes, pins and prunes none of them.
func TestSnapshotsOfADatabaseAreKeptByOneMachineAtATime(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	open := func() *Agent {
		o := s.options(t.TempDir(), s.server.DSN(s.name), "kept")
		o.Config.Snapshot.LockTimeout, o.Config.Snapshot.Sign = 100*time.Millisecond, false
		agent := must.Get(Open(t.Context(), o))(t)
		t.Cleanup(func() { must.NoError(t, agent.Close()) })
		return agent
	}
	a, b := open(), open()
	var refs []wire.SnapshotRef
	for _, text := range []string{"one", "two", "three"} {
		s.write(a, text)
		id := must.Get(a.Snapshot(t.Context(), wire.SnapshotRequest{}))(t).ID
		refs = append(refs, wire.SnapshotRef{Tenant: amber.DefaultTenant, Agent: "kept", ID: id})
	}
	snapshots := must.Get(b.Snapshots(t.Context()))(t)
	h, _, err := home.Open(a.o.Home, home.Options{Clock: time.Now, Random: rand.Reader})
	must.Do(t, err)
	place := must.Get(a.databasePlace(h))(t)
	t.Cleanup(func() { must.NoError(t, place.Close()) })
	prune := wire.PruneRequest{Tenant: amber.DefaultTenant, Agent: "kept", KeepLast: 1}
	keep := map[string]func() error{
		"delete": func() error { return snapshots.DeleteSnapshot(t.Context(), refs[0]) },
		"pin":    func() error { return snapshots.PinSnapshot(t.Context(), refs[2], true) },
		"prune":  func() error { return must.Err(snapshots.PruneSnapshots(t.Context(), prune)) },
	}
	must.Do(t, place.Operate(t.Context(), must.Get(place.Folder(amber.DefaultTenant, "kept"))(t), func(context.Context, snapshot.Lease) error {
		for name, fn := range keep {
			must.Kind(t, name, fn(), amber.KindBusy)
		}
		return nil
	}))
	for _, name := range []string{"delete", "pin", "prune"} {
		must.Kind(t, name+" afterwards", keep[name](), "")
	}
	must.Equal(t, "snapshots", len(must.Get(snapshots.ListSnapshots(t.Context(), wire.SnapshotQuery{Tenant: prune.Tenant, Agent: prune.Agent}))(t).Items), 1)
}

// A snapshot of files that goes through a database is the same in files again.
func TestSnapshotThroughADatabase(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	clock := storetest.NewClock(time.Now())
	f := must.Get(Open(t.Context(), s.options(t.TempDir(), "", "traveller")))(t)
	defer f.Close()
	must.Do(t, storetest.Populate(t.Context(), f.Plain(), clock))
	must.Get(f.Store().Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "deep/plan", Content: "# Plan"}))(t)
	must.Get(f.Store().Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "deep/plan", Content: "# Plan, changed"}))(t)
	must.Get(f.Store().Documents.PutDocument(t.Context(), amber.DocumentWrite{Name: "mood", Document: []byte(`{"calm":true}`)}))(t)
	place := strings.Repeat("ab", 32) // of a file of the vault, which has more than one row in a database
	inVault := func(a *Agent) string {
		return filepath.Join(a.folder.GenDir(must.Get(a.folder.Current())(t)), "state", "vault", "ab", place)
	}
	vaultFile := bytes.Repeat([]byte("sealed "), vaultrow.PieceBytes/3)
	must.Do(t, os.MkdirAll(filepath.Dir(inVault(f)), 0o700))
	must.Do(t, os.WriteFile(inVault(f), vaultFile, 0o600))
	first := must.Get(f.Snapshot(t.Context(), wire.SnapshotRequest{}))(t)

	restore := func(dsn string, id amber.SnapshotID) *Agent {
		t.Helper()
		o := s.options(t.TempDir(), dsn, "traveller")
		at := must.Get(At(o))(t)
		must.Get(at.Make())(t)
		must.Get(at.Restore(t.Context(), wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{ID: id}, WithControl: true}))(t)
		must.Do(t, at.Close())
		a := must.Get(Open(t.Context(), o))(t)
		t.Cleanup(func() { must.NoError(t, a.Close()) })
		return a
	}
	inDatabase := restore(s.server.DSN(s.name), first.ID)
	second := must.Get(inDatabase.Snapshot(t.Context(), wire.SnapshotRequest{}))(t)
	for _, file := range []string{"memory.db", "control.db"} {
		dumps := []map[string][]string{}
		for _, id := range []amber.SnapshotID{first.ID, second.ID} {
			a := restore("", id)
			dumps = append(dumps, dump(t, filepath.Join(a.folder.GenDir(must.Get(a.folder.Current())(t)), file)))
			log := must.Get(a.Store().NoteLog.LogNote(t.Context(), "deep/plan", 10))(t)
			must.Equal(t, "commits of the note", len(log), 2)
			must.Hold(t, bytes.Equal(must.Get(os.ReadFile(inVault(a)))(t), vaultFile), "the file of the vault is another one")
			must.Equal(t, "document", string(must.Get(a.Store().Documents.ReadDocument(t.Context(), "mood"))(t).Document), `{"calm":true}`)
		}
		for name, rows := range dumps[0] {
			must.Equal(t, file+" "+name, strings.Join(dumps[1][name], "\n"), strings.Join(rows, "\n"))
			delete(dumps[1], name)
		}
		must.Equal(t, "other tables of "+file, len(dumps[1]), 0)
	}
}

// Entries of the crash journal of this machine are in the snapshot and come back with it. Those that came later are parked, and can be drained into
// the restored agent.
func TestJournalOfAnAgentInADatabase(t *testing.T) {
	t.Parallel()
	s := newShared(t)
	a := s.open(t.TempDir(), "spooled")
	say(t, a, "talk", "captured")
	said := ""
	for _, f := range a.Doctor(t.Context(), false).Checks {
		if f.Code == "spool.undrained" {
			said = f.Detail
		}
	}
	must.Says(t, "what the doctor says of the journal", said, "1 entry waits to be drained")
	first := must.Get(a.Snapshot(t.Context(), wire.SnapshotRequest{}))(t)
	prompts := func() (all []string) {
		for _, turn := range must.Get(amber.LastTurns(t.Context(), a.Plain().Turns, "talk", 10))(t) {
			all = append(all, turn.Content)
		}
		return all
	}
	say(t, a, "talk", "later")
	report := must.Get(a.Restore(t.Context(), wire.RestoreRequest{SnapshotRef: wire.SnapshotRef{ID: first.ID}}))(t)
	must.Equal(t, "entries that were parked", report.ParkedFrames, 1)
	must.Equal(t, "of generation", report.ParkedGeneration, 1)
	must.Equal(t, "turns", prompts(), []string{"captured"})
	must.Equal(t, "what is not drained", len(a.Settle(t.Context())), 0)
	must.Equal(t, "turns after a drain", prompts(), []string{"captured"})
	must.Get(a.DrainParked(t.Context(), report.ParkedGeneration, false))(t)
	must.Equal(t, "turns with what was parked", prompts(), []string{"captured", "later"})
	must.Equal(t, "parked", len(must.Get(parking{a}.states(t.Context(), nil))(t)), 0)
}
