package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/registry"
)

// How long it is waited after a backup that failed, twice as long each time, and
// for how long a vault may ask for peace.
const (
	backupRetry    = time.Minute
	maxBackupRetry = time.Hour
	maxBackupWait  = 24 * time.Hour
)

// try backs up one agent and writes down how it ended; "" when it failed. The
// error is that it could not be written down.
func (b *backups) try(ctx context.Context, k agentKey, c registry.Vault) (backedUp, error) {
	st := b.states[k]
	began := amber.At(b.clock())
	outcome, err := b.backup(ctx, k, c)
	if ctx.Err() != nil {
		return "", nil // the next server makes it
	}
	now := b.clock()
	if outcome != backupNothing || err != nil {
		b.observe.Backup(k.tenant, k.agent, outcome == backupUnchanged, err)
	}
	var next backupState
	if err == nil {
		next = st.succeeded(began, outcome == backupNothing)
		b.answered()
		if !next.Success.IsZero() {
			b.observe.BackedUp(k.tenant, k.agent, next.Success)
		}
	} else {
		outcome = ""
		next = st.failed(amber.At(now), amber.At(now.Add(retryIn(st.Failures, err))), err)
		b.missed(now, err)
		b.log.Warn("vault backup", "tenant", k.tenant, "agent", k.agent, "failing_since", next.FailingSince, "next", next.Next, "error", err)
	}
	*st = next
	return outcome, b.records.write(k, next)
}

// missed notes that the vault did not answer: the others need not try before it
// had some peace. Any other failure is one agent's own.
func (b *backups) missed(now time.Time, err error) {
	if amber.KindOf(err) != amber.KindUnreachable {
		b.answered()
		return
	}
	b.hold = now.Add(retryIn(b.misses, err))
	b.misses++
}

// answered notes that the vault is there, so that whoever waits for it need not
// any longer.
func (b *backups) answered() {
	if b.misses == 0 {
		return
	}
	b.hold, b.misses = time.Time{}, 0
	for _, st := range b.states {
		if st.Kind == amber.KindUnreachable {
			st.Next = amber.Time{}
		}
	}
}

// retryIn is how long to wait after a failure, of which there were some before:
// as long as the vault says if it is longer.
func retryIn(before int, err error) time.Duration {
	wait := maxBackupRetry
	if before < 6 { // 1 << 6 minutes are more than an hour
		wait = backupRetry << before
	}
	var told interface{ RetryAfter() time.Duration }
	if errors.As(err, &told) {
		wait = min(max(wait, told.RetryAfter()), maxBackupWait)
	}
	return wait
}

// failing tells of every agent whose last backup failed.
func (b *backups) failing() (errs []error) {
	for k, st := range b.states {
		if st.Failures > 0 {
			errs = append(errs, fmt.Errorf("%s/%s: %s", k.tenant, k.agent, st.describeFailure()))
		}
	}
	slices.SortFunc(errs, func(x, y error) int { return strings.Compare(x.Error(), y.Error()) })
	return errs
}

// describeFailure says since when backups fail, and why.
func (st *backupState) describeFailure() string {
	last := "there was none before"
	if !st.Success.IsZero() {
		last = "the last one is of " + st.Success.String()
	}
	return fmt.Sprintf("backups fail since %s (%s): %s", st.FailingSince, last, st.Error)
}

// lastSuccess tells when a backup of any agent last succeeded.
func (b *backups) lastSuccess() string {
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
