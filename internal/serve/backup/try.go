package backup

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/share/colony/api"
)

// How long the worker waits after a backup that failed, twice as long each time, and the longest
// pause that a vault may ask for.
const (
	retryWait    = time.Minute
	maxRetryWait = time.Hour
	maxWait      = 24 * time.Hour
)

// try backs up one agent and writes down how it ended; "" when it failed. The
// error is that it could not be written down.
func (b *Worker) try(ctx context.Context, k server.AgentName, c config.Vault) (Outcome, error) {
	st := b.states[k]
	began := amber.At(b.Clock())
	outcome, err := b.Backup(ctx, k, c)
	if ctx.Err() != nil {
		return "", nil // the next server makes it
	}
	now := b.Clock()
	if outcome != Nothing || err != nil {
		b.Observe.Backup(k.Tenant, k.Agent, outcome == Unchanged, err)
	}
	var next State
	if err == nil {
		next = st.Succeeded(began, outcome == Nothing)
		b.answered()
	} else {
		outcome = ""
		next = st.Failed(amber.At(now), amber.At(now.Add(retryIn(st.Failures, err))), err)
		next.shared = ofAll(err)
		b.missed(now, err)
		b.Log.Warn("vault backup", "tenant", k.Tenant, "agent", k.Agent, "failing_since", next.FailingSince, "next", next.Next, "error", err)
	}
	*st = next
	b.show(k)
	return outcome, b.Records.Write(k, next)
}

// ofAll reports whether a failure is that of every agent: they all use one vault
// and one key. It does not answer, it asks for peace, or does not take the key.
// Any other failure is one agent's own.
func ofAll(err error) bool {
	return amber.KindOf(err) == amber.KindUnreachable || asksForPeace(err) != nil || errors.Is(err, api.ErrKeyRefused)
}

// asksForPeace returns what says how long a vault asks to be left alone.
func asksForPeace(err error) (told interface{ RetryAfter() time.Duration }) {
	errors.As(err, &told)
	return told
}

// held reports whether no agent may be tried now. A time that is too far ahead is from a clock that
// was wrong, and does not count.
func (b *Worker) held() bool {
	wait := b.hold.Sub(b.Clock())
	return wait > 0 && wait <= maxWait
}

// missed notes that the vault has nothing for anybody: the others need not try
// before it had some peace.
func (b *Worker) missed(now time.Time, err error) {
	if !ofAll(err) {
		b.answered()
		return
	}
	b.hold = now.Add(retryIn(b.misses, err))
	b.misses++
}

// answered notes that the vault is there, so that agents that wait for what all wait
// for need not any longer.
func (b *Worker) answered() {
	if b.misses == 0 {
		return
	}
	b.hold, b.misses = time.Time{}, 0
	for _, st := range b.states {
		if st.shared {
			st.Next = amber.Time{}
		}
	}
}

// retryIn is how long to wait after a failure, of which there were some before:
// as long as the vault says if it is longer.
func retryIn(before int, err error) time.Duration {
	wait := maxRetryWait
	if before < 6 { // 1 << 6 minutes are more than an hour
		wait = retryWait << before
	}
	if told := asksForPeace(err); told != nil {
		wait = min(max(wait, told.RetryAfter()), maxWait)
	}
	return wait
}

// failing lists every agent whose last backup failed, with the reason.
func (b *Worker) failing() (errs []error) {
	for k, st := range b.states {
		if st.Failures > 0 {
			errs = append(errs, fmt.Errorf("%s/%s: %s", k.Tenant, k.Agent, st.DescribeFailure()))
		}
	}
	slices.SortFunc(errs, func(x, y error) int { return strings.Compare(x.Error(), y.Error()) })
	return errs
}

// DescribeFailure says since when backups fail, and why.
func (st *State) DescribeFailure() string {
	last := "no backup before"
	if !st.Success.IsZero() {
		last = "last backup " + st.Success.String()
	}
	why := st.Error
	if st.Hint != "" {
		why += "; hint: " + st.Hint
	}
	return fmt.Sprintf("backups have failed since %s (%s): %s", st.FailingSince, last, why)
}

// lastSuccess tells when a backup of any agent last succeeded.
func (b *Worker) lastSuccess() string {
	var last amber.Time
	for _, st := range b.states {
		if last.Before(st.Success) {
			last = st.Success
		}
	}
	if last.IsZero() {
		return ""
	}
	return "; last success " + last.String()
}
