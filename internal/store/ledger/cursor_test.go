package ledger_test

import (
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/test/must"
)

// Only the holder of the lease moves the position up to which a log was published.
func TestACursorUnderALease(t *testing.T) {
	t.Parallel()
	p := newServerPlace(t)
	d := p.open(t)
	work := postgres.Work{Kind: "publish events", Tenant: "acme", Agent: "ada"}
	first := must.Get(p.server.Leases("a", 0).Claim(t.Context(), work))(t)
	old := d.Cursor("acme", "ada", "memory", first.Check)
	_, found, err := old.Load(t.Context())
	must.Do(t, err)
	must.Equal(t, "found before it was saved", found, false)
	must.Do(t, old.Save(t.Context(), "x/1"))
	p.query(t, `UPDATE amber_meta.work SET until = now() - interval '1 second'`)
	second := must.Get(p.server.Leases("b", 0).Claim(t.Context(), work))(t)
	must.Do(t, d.Cursor("acme", "ada", "memory", second.Check).Save(t.Context(), "x/7"))
	must.Is(t, "the one before", old.Save(t.Context(), "x/2"), postgres.ErrLost)
	at, found, err := old.Load(t.Context())
	must.Do(t, err)
	must.Equal(t, "found", found, true)
	must.Equal(t, "position", at, amber.Position("x/7"))
	_, found, err = d.Cursor("acme", "ada", "control", nil).Load(t.Context())
	must.Do(t, err)
	must.Equal(t, "found of the other log", found, false)

	// The first caller sets when publishing began.
	began := amber.At(time.UnixMilli(1_700_000_000_000))
	must.Equal(t, "began", must.Get(d.PublishedSince(t.Context(), began))(t), began)
	must.Equal(t, "began, asked later", must.Get(d.PublishedSince(t.Context(), began.Add(time.Hour)))(t), began)
}
