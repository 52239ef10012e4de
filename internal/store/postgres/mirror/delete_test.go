package mirror_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/store/vaultrow"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/storetest"
)

// A deletion that is cut off goes on, by a second Delete or by Sweep; meanwhile no reader sees the agent, and no
// process can make an agent of its name. Another agent stays as it is.
func TestDeleteKilled(t *testing.T) {
	t.Parallel()
	pg, name := fresh(t)
	dsn := pg.DSN(name)
	server, clock := connect(t, dsn), newClock()
	other := agent(server, "other")
	must.Do(t, storetest.Populate(t.Context(), use(t, other, clock).Store(), clock))
	_, before, _ := exported(t, other)
	for _, way := range []string{"delete", "sweep"} {
		a := agent(server, amber.AgentID("going-by-"+way))
		store := use(t, a, clock)
		must.Do(t, storetest.Populate(t.Context(), store.Store(), clock))
		must.Do(t, server.Vault(a.Tenant, a.ID).Update(t.Context(), "test", func(tx vaultrow.Tx) error {
			return tx.Put(strings.Repeat("ab", 32), make([]byte, 3*vaultrow.PieceBytes))
		}))
		dir, e, documents := exported(t, a)
		b := must.Get(mirror.Import(t.Context(), a, files(dir), mirror.ImportOptions{Documents: all(documents)}))(t)
		// Each time it gets a little further, until the agent is closed and rows are to be removed.
		for i := 1; must.Get(server.Has(t.Context(), a.Tenant, a.ID))(t); i++ {
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*2*time.Millisecond)
			must.Hold(t, mirror.Delete(ctx, a, "") != nil, "the deletion ended within %d ms", 2*i)
			cancel()
		}
		must.Equal(t, "listed", must.Get(server.List(t.Context(), a.Tenant))(t), []postgres.Listed{
			{Tenant: a.Tenant, ID: a.ID, Deleting: true}, {Tenant: a.Tenant, ID: "other", Generation: 1},
		})
		must.Equal(t, "live agents", must.Get(server.Agents(t.Context(), a.Tenant))(t), []amber.AgentID{"other"})
		must.Fail(store.Write(t.Context(), amber.WriteRequest{Content: "x"}))(t, "write to what is being deleted", amber.KindNotFound)
		must.Fail(server.Open(t.Context(), a.Tenant, a.ID, postgres.Options{}))(t, "make one of its name", amber.KindBusy)
		must.Fail(b.Switch(t.Context(), mirror.SwitchOptions{}))(t, "switch to a generation of it", amber.KindConflict)
		if way == "delete" {
			must.Do(t, mirror.Delete(t.Context(), a, ""))
		} else {
			must.Get(mirror.Sweep(t.Context(), server))(t)
		}
		for _, gen := range []int64{e.Gen, b.Gen} {
			must.Equal(t, "rows that are left", left(t, dsn, gen), nil)
		}
		must.Equal(t, "rows about it", about(t, dsn, a.ID), 0)
		must.Kind(t, "delete what is gone", mirror.Delete(t.Context(), a, ""), amber.KindNotFound)
		// One of its name is a new one, also for who knew the old one.
		must.Equal(t, "memories of the next one", len(must.Get(use(t, a, clock).List(t.Context(), amber.ListQuery{}))(t).Items), 0)
		must.Get(store.Write(t.Context(), amber.WriteRequest{Content: "x"}))(t)
		must.Do(t, mirror.Delete(t.Context(), a, ""))
	}
	_, after, _ := exported(t, other)
	tables(t, "another agent", after.Tables, before.Tables)
}

// about counts the rows that name an agent.
func about(t *testing.T, dsn string, id amber.AgentID) (n int) {
	t.Helper()
	c := must.Get(pgx.Connect(t.Context(), dsn))(t)
	defer c.Close(context.Background())
	must.Do(t, c.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM amber_meta.agents WHERE agent = $1) + (SELECT count(*) FROM amber_meta.generations WHERE agent = $1)
+ (SELECT count(*) FROM amber_meta.work WHERE agent = $1)`, string(id)).Scan(&n))
	return n
}

// Delete does not remove a write of any kind that came after the caller took its mark.
func TestDeleteAsSeen(t *testing.T) {
	t.Parallel()
	a := agent(database(t), "seen")
	store := use(t, a, newClock())
	for what, write := range map[string]func() error{
		"a memory": func() error {
			_, err := store.Write(t.Context(), amber.WriteRequest{Content: "x"})
			return err
		},
		"a task": func() error {
			_, err := store.SaveTask(t.Context(), amber.Task{ID: "t", Goal: "g"}, 0)
			return err
		},
		"a document": func() error {
			_, err := store.Parts().Documents.PutDocument(t.Context(), amber.DocumentWrite{Name: "d", Document: []byte(`{}`)})
			return err
		},
	} {
		seen := must.Get(mirror.Look(t.Context(), a))(t)
		must.Do(t, write())
		must.Kind(t, "delete after "+what, mirror.Delete(t.Context(), a, seen), amber.KindConflict)
	}
	seen := must.Get(mirror.Look(t.Context(), a))(t)
	must.Equal(t, "memories", len(must.Get(store.List(t.Context(), amber.ListQuery{}))(t).Items), 1)
	must.Do(t, mirror.Delete(t.Context(), a, seen))
	must.Fail(mirror.Look(t.Context(), a))(t, "look at what is gone", amber.KindNotFound)
}

// Writers that are inside are done first, and then told that there is no agent.
func TestDeleteBesideWriters(t *testing.T) {
	t.Parallel()
	pg, name := fresh(t)
	dsn := pg.DSN(name)
	a := agent(connect(t, dsn), "written")
	use(t, a, nil)
	gen, _, err := a.Server.Live(t.Context(), a.Tenant, a.ID)
	must.Do(t, err)
	store := use(t, agent(connect(t, dsn), a.ID), nil)
	ended, wrote := make(chan error, 4), make(chan bool, 4)
	for range 4 {
		go func() {
			for n := 0; ; n++ {
				if _, err := store.Write(context.WithoutCancel(t.Context()), amber.WriteRequest{Content: "x"}); err != nil {
					ended <- err
					return
				}
				if n == 3 {
					wrote <- true
				}
			}
		}()
	}
	for range 4 {
		<-wrote
	}
	must.Do(t, mirror.Delete(t.Context(), a, ""))
	for range 4 {
		must.Kind(t, "a write after it", <-ended, amber.KindNotFound)
	}
	must.Equal(t, "rows that are left", left(t, dsn, gen), nil)
	must.Equal(t, "rows about it", about(t, dsn, a.ID), 0)
}
