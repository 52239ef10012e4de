// Package servertest has what the tests of a server and of its doors share: a
// clock that tests move, an audit log in memory, and the real ledger, snapshot
// engine and listener on temporary places.
package servertest

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// Clock stands still but for Step, which it moves with each look. Safe for
// concurrent use.
type Clock struct {
	Step time.Duration

	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock that shows an instant.
func NewClock(now time.Time, step time.Duration) *Clock { return &Clock{Step: step, now: now} }

// Read moves the clock by Step and returns its time.
func (c *Clock) Read() time.Time { return c.Forward(c.Step) }

// Forward moves the clock and returns its time.
func (c *Clock) Forward(d time.Duration) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
	return c.now
}

// Book is an audit log in memory that can only be written to. Safe for
// concurrent use.
type Book struct {
	wire.AuditLog
	Told chan wire.AuditEntry // where it is set, of every entry

	mu      sync.Mutex
	entries []wire.AuditEntry
	fail    error
}

// Record implements [wire.AuditLog].
func (b *Book) Record(ctx context.Context, e wire.AuditEntry) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := errors.Join(b.fail, ctx.Err()); err != nil {
		return err
	}
	b.entries = append(b.entries, e)
	if b.Told != nil {
		b.Told <- e
	}
	return nil
}

// Break makes every Record fail from now on; nil mends the log.
func (b *Book) Break(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fail = err
}

// Entries returns what was recorded from entry n on.
func (b *Book) Entries(n int) []wire.AuditEntry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]wire.AuditEntry(nil), b.entries[n:]...)
}

// Cut removes and returns what was recorded from entry n on.
func (b *Book) Cut(n int) []wire.AuditEntry {
	b.mu.Lock()
	defer b.mu.Unlock()
	gone := b.entries[n:]
	b.entries = b.entries[:n:n]
	return gone
}

// Ledger opens the database of a new home.
func Ledger(t testing.TB, c amber.Clock) *ledger.DB {
	t.Helper()
	db, err := ledger.Open(context.Background(), filepath.Join(t.TempDir(), "home.db"), ledger.Options{Clock: c, Random: rand.Reader})
	must.Do(t, err)
	t.Cleanup(func() { must.NoError(t, db.Close()) })
	return db
}

// Listen listens on a port of this machine and returns the URL.
func Listen(t testing.TB) (l net.Listener, url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	return l, "http://" + l.Addr().String()
}

// Serve serves at a listener until the test is over, and returns a client. Before
// the server is closed, it calls end.
func Serve(t testing.TB, s *http.Server, l net.Listener, end func()) *http.Client {
	over := make(chan error, 1)
	go func() { over <- s.Serve(l) }()
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		end()
		must.NoError(t, s.Close())
		if err := <-over; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return &http.Client{Transport: transport}
}

// Header makes a header of names and values.
func Header(pairs ...string) http.Header {
	h := http.Header{}
	for i := 0; i < len(pairs); i += 2 {
		h.Add(pairs[i], pairs[i+1])
	}
	return h
}
