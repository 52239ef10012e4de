package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony/api"
	"github.com/amber-memory/amber/config"
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
func (b *backups) try(ctx context.Context, k agentKey, c config.Vault) (backedUp, error) {
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
	} else {
		outcome = ""
		next = st.failed(amber.At(now), amber.At(now.Add(retryIn(st.Failures, err))), err)
		next.shared = ofAll(err)
		b.missed(now, err)
		b.log.Warn("vault backup", "tenant", k.tenant, "agent", k.agent, "failing_since", next.FailingSince, "next", next.Next, "error", err)
	}
	*st = next
	b.show(k)
	return outcome, b.records.write(k, next)
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

// held reports whether nobody is to be tried. A time that is too far ahead is of
// a clock that was wrong.
func (b *backups) held() bool {
	wait := b.hold.Sub(b.clock())
	return wait > 0 && wait <= maxBackupWait
}

// missed notes that the vault has nothing for anybody: the others need not try
// before it had some peace.
func (b *backups) missed(now time.Time, err error) {
	if !ofAll(err) {
		b.answered()
		return
	}
	b.hold = now.Add(retryIn(b.misses, err))
	b.misses++
}

// answered notes that the vault is there, so that whoever waits for what all wait
// for need not any longer.
func (b *backups) answered() {
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
	wait := maxBackupRetry
	if before < 6 { // 1 << 6 minutes are more than an hour
		wait = backupRetry << before
	}
	if told := asksForPeace(err); told != nil {
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
	why := st.Error
	if st.Hint != "" {
		why += "; hint: " + st.Hint
	}
	return fmt.Sprintf("backups fail since %s (%s): %s", st.FailingSince, last, why)
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
