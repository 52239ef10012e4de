package postgres_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
)

// One server at a time does work that is done once. A server that waits gets the work next, and one that waits too long
// gets an error.
func TestWorkIsDoneOnceByOne(t *testing.T) {
	t.Parallel()
	s := connect(t, fresh(t))
	w := postgres.Work{Kind: "once", Tenant: "t", Agent: "a"}
	boom := errors.New("boom")
	err := s.Leases("one", time.Minute).While(t.Context(), w, 0, func(_ context.Context, first *postgres.Lease) error {
		err := s.Leases("two", time.Minute).While(t.Context(), w, 0, func(context.Context, *postgres.Lease) error { return nil })
		must.Kind(t, "while somebody has it", err, amber.KindBusy)
		must.NoError(t, first.Renew(t.Context()))
		return boom
	})
	must.Hold(t, errors.Is(err, boom), "the error is %v", err)
	did := false
	must.Do(t, s.Leases("two", time.Minute).While(t.Context(), w, time.Minute, func(_ context.Context, l *postgres.Lease) error {
		did = l.Fence == 2
		return nil
	}))
	must.Equal(t, "done with a higher fence", did, true)
	// While waits for the lease of a server that died to be over.
	must.Get(s.Leases("dead", 300*time.Millisecond).Claim(t.Context(), w))(t)
	must.Do(t, s.Leases("three", time.Minute).While(t.Context(), w, time.Minute, func(context.Context, *postgres.Lease) error { return nil }))
	// A caller that gives up waiting gets an error that says so.
	must.Get(s.Leases("long", time.Minute).Claim(t.Context(), w))(t)
	gone, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	must.Kind(t, "given up", s.Leases("four", time.Minute).While(gone, w, time.Minute, nil), amber.KindUnreachable)
}
