package daemon

import (
	"context"
	"crypto/rand"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/permit"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/postgrestest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/internal/test/pgtest"
	"github.com/amber-memory/amber/wire"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// slowTaker is a taker of snapshots that is paused right before the effect.
type slowTaker struct {
	worker
	pause  func()
	taken  int
	permit permit.Permit
}

// under returns the taker under a permit.
func (s *slowTaker) under(p permit.Permit) worker {
	s.permit = p
	return s
}

func (s *slowTaker) Snapshot(ctx context.Context, _ wire.SnapshotRequest) (m wire.SnapshotMeta, err error) {
	s.pause()
	if err := s.permit.Ask(ctx); err != nil {
		return m, err
	}
	s.taken++
	return m, nil
}

// A server that was paused for longer than its lease leaves its work to the server that took over
// the lease. It may go on where no other server took over.
func TestAPausedServerTakesNoSnapshotBesideItsSuccessor(t *testing.T) {
	t.Parallel()
	pg := pgtest.Shared(t)
	server := must.Get(postgres.Connect(t.Context(), postgres.ServerOptions{DSN: pg.DSN(postgrestest.Database(t, pg)), Clock: time.Now, Random: rand.Reader}))(t)
	defer server.Close()
	replica := func(id string) *Replica {
		return &Replica{Common: &Database{Server: server, Leases: server.Leases(id, time.Hour)}}
	}
	one, other := replica("one"), replica("other")
	// By the clock of the database every lease is over.
	expire := func() {
		must.Do(t, server.DB().Conn(t.Context(), func(c *pgx.Conn) error {
			_, err := c.Exec(t.Context(), "UPDATE amber_meta.work SET until = clock_timestamp() - interval '1 s'")
			return err
		}))
	}
	q := wire.SnapshotRequest{Tenant: "default", Agent: "default"}
	second := &slowTaker{pause: func() {}}
	first := &slowTaker{pause: func() {
		expire()
		must.Get(shared{second, other, second.under}.Snapshot(t.Context(), q))(t)
	}}
	_, err := shared{first, one, first.under}.Snapshot(t.Context(), q)
	must.Kind(t, "a snapshot by the server that was paused", err, amber.KindNotFound)
	must.Equal(t, "snapshots by the one that was paused", first.taken, 0)
	must.Equal(t, "by the one that followed", second.taken, 1)

	// The server that took over still has the lease, and no third server takes over from it.
	second.pause = expire
	must.Get(shared{second, other, second.under}.Snapshot(t.Context(), q))(t)
	must.Equal(t, "snapshots by the one that stays", second.taken, 2)
}
