package control

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// claims is a queue that is empty, or full, until a time.
type claims struct {
	amber.Queue
	until time.Time
	none  error
	asked int
}

func (q *claims) Claim(_ context.Context, consumer string) (amber.Claim, error) {
	q.asked++
	if time.Now().Before(q.until) {
		return amber.Claim{}, q.none
	}
	return amber.Claim{Lease: amber.Lease{ConsumerID: consumer}}, nil
}

func TestWaitForClaim(t *testing.T) {
	t.Parallel()
	damaged := amber.Errorf(amber.KindDamaged, "claim entry", "", "bad bytes")
	for _, c := range []struct {
		name        string
		none        error
		comes, wait time.Duration
		want        error
		took        time.Duration // how long it waits at least
		late        time.Duration // and how much longer at most
		mostAsked   int
	}{
		{"something is there", amber.ErrQueueEmpty, 0, time.Minute, nil, 0, 0, 1},
		{"empty, no wait", amber.ErrQueueEmpty, time.Hour, 0, amber.ErrQueueEmpty, 0, 0, 1},
		{"full, no wait", amber.ErrQueueFull, time.Hour, 0, amber.ErrQueueFull, 0, 0, 1},
		{"something comes soon", amber.ErrQueueEmpty, 50 * time.Millisecond, time.Minute, nil, 50 * time.Millisecond, 50 * time.Millisecond, 4},
		{"something comes late", amber.ErrQueueFull, 50 * time.Second, time.Minute, nil, 50 * time.Second, time.Second, 60},
		{"something comes at the last moment", amber.ErrQueueEmpty, time.Minute, time.Minute, nil, time.Minute, 0, 70},
		{"nothing comes", amber.ErrQueueEmpty, time.Hour, time.Minute, amber.ErrQueueEmpty, time.Minute, 0, 70},
		{"it stays full", amber.ErrQueueFull, time.Hour, time.Minute, amber.ErrQueueFull, time.Minute, 0, 70},
		{"a wait shorter than a pause", amber.ErrQueueEmpty, time.Hour, time.Millisecond, amber.ErrQueueEmpty, time.Millisecond, 0, 2},
		{"any other answer is final", damaged, time.Hour, time.Minute, damaged, 0, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				q := &claims{until: start.Add(c.comes), none: c.none}
				claim, err := waitForClaim(t.Context(), q, "w1", c.wait)
				if !errors.Is(err, c.want) {
					t.Errorf("error %v, want %v", err, c.want)
				}
				if c.want == nil && claim.Lease.ConsumerID != "w1" {
					t.Errorf("claim %+v, want one for w1", claim)
				}
				if took := time.Since(start); took < c.took || took > c.took+c.late {
					t.Errorf("took %v, want %v and at most %v more", took, c.took, c.late)
				}
				if q.asked > c.mostAsked {
					t.Errorf("asked %d times, want at most %d", q.asked, c.mostAsked)
				}
			})
		})
	}
}

func TestWaitForClaimEndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		q := &claims{until: start.Add(time.Hour), none: amber.ErrQueueEmpty}
		_, err := waitForClaim(ctx, q, "w1", time.Minute)
		if amber.KindOf(err) != amber.KindUnreachable {
			t.Errorf("error %v of kind %q, want kind %q", err, amber.KindOf(err), amber.KindUnreachable)
		}
		must.Equal(t, "time it took", time.Since(start), 3*time.Second)
	})
}
