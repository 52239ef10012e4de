package mirror_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
)

// Rows that are not those of the file when they are read back are found.
func TestImportReadsBack(t *testing.T) {
	t.Parallel()
	pg, name := fresh(t)
	dsn := pg.DSN(name)
	a := agent(connect(t, dsn), "watched")
	must.Get(use(t, a, nil).Write(t.Context(), amber.WriteRequest{Content: "as it was"}))(t)
	dir, e, _ := exported(t, a)
	for what, statement := range map[string]string{
		"memories":    `UPDATE amber.memories SET content = 'other' WHERE gen = (SELECT max(gen) FROM amber_meta.generations)`,
		"changes":     `DELETE FROM amber.changes WHERE gen = (SELECT max(gen) FROM amber_meta.generations)`,
		"index_dirty": `INSERT INTO amber.index_dirty (gen, source, owner) SELECT max(gen), 'memory', 'x' FROM amber_meta.generations`,
	} {
		_, err := mirror.Import(t.Context(), a, files(dir), mirror.ImportOptions{Documents: func(func(mirror.Document) error) error {
			c := must.Get(pgx.Connect(t.Context(), dsn))(t)
			defer c.Close(context.Background())
			_, err := c.Exec(t.Context(), "SET session_replication_role = replica")
			if err == nil {
				_, err = c.Exec(t.Context(), statement)
			}
			return err
		}})
		must.Kind(t, what, err, amber.KindInternal, what, "differs")
		_, states := generations(t, dsn, a.ID)
		must.Equal(t, "generations", states, []string{"live"})
	}
	_, after, _ := exported(t, a)
	tables(t, "the live generation", after.Tables, e.Tables)
}

// A switch whose COMMIT gets lost reports what became of it.
func TestSwitchLosesCommit(t *testing.T) {
	t.Parallel()
	pg, name := fresh(t)
	if pg.Addr() == "" {
		t.Skip("AMBER_TEST_POSTGRES names a server on a socket, and the test needs one that a proxy can lead to")
	}
	proxy := pgtest.NewProxy(t, pg.Addr())
	direct, through := agent(connect(t, pg.DSN(name)), "lost"), agent(connect(t, proxy.DSN(name)), "lost")
	s := use(t, direct, nil)
	must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "before"}))(t)
	dir, e, _ := exported(t, direct)
	b := must.Get(mirror.Import(t.Context(), through, files(dir), mirror.ImportOptions{}))(t)

	var lost atomic.Int64
	once := func(rule pgtest.Rule) pgtest.Rule {
		return func(m pgtest.Message) pgtest.Action {
			if m.IsCommit() && lost.Add(1) == 1 {
				return rule(m)
			}
			return pgtest.Forward
		}
	}
	stop := errors.New("stop")
	_, err := b.Switch(t.Context(), mirror.SwitchOptions{Before: func(context.Context, int64) error { return stop }})
	must.Is(t, "the error of Before", err, stop)
	must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "nothing was switched"}))(t)

	proxy.OnFrontend(once(pgtest.PreventCommit))
	must.Fail(b.Switch(t.Context(), mirror.SwitchOptions{}))(t, "a COMMIT that does not arrive", amber.KindUnreachable)
	must.Equal(t, "commits that were lost", lost.Load(), 1)
	live, _, err := direct.Server.Live(t.Context(), direct.Tenant, direct.ID)
	must.Do(t, err)
	must.Equal(t, "live", live, e.Gen)
	must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "nothing was switched this time"}))(t)
	must.Equal(t, "memories", must.Get(s.Stats(t.Context()))(t).Memories, 3)

	lost.Store(0)
	proxy.OnFrontend(once(pgtest.LoseCommit))
	done := must.Get(b.Switch(t.Context(), mirror.SwitchOptions{}))(t)
	must.Equal(t, "commits: the one that was lost, and that of who looked for it", lost.Load(), 2)
	live, current, err := direct.Server.Live(t.Context(), direct.Tenant, direct.ID)
	must.Do(t, err)
	must.Equal(t, "live", live, done.Gen)
	must.Equal(t, "current", current, done.Current)
	must.Equal(t, "memories", must.Get(s.Stats(t.Context()))(t).Memories, 1)
	ack := must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "after"}))(t)
	head := must.Get(s.Head(t.Context()))(t)
	incarnation, _, err := head.Parse()
	must.Do(t, err)
	must.Equal(t, "incarnation of what is written now", incarnation, done.Current.Incarnation)
	must.Get(s.Get(t.Context(), ack.ID))(t)
}
