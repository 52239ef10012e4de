package journal

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// RecoveryReport says what Recover found.
type RecoveryReport struct {
	Sessions int64             `json:"sessions"`
	Frames   int64             `json:"frames"`     // intact
	Torn     int64             `json:"torn_bytes"` // cut and kept in quarantine
	Damaged  int64             `json:"damaged"`
	Failed   map[string]string `json:"failed"` // sessions that could not be read, and why
}

// Recover cuts the torn tail of every session, sweeps what killed writers have
// left and counts what is intact. One session that fails never keeps another
// from being recovered. Recovering twice finds nothing to cut the second time.
// Errors: unreachable when ctx ends, and those of reading the spool itself.
func (j *Journal) Recover(ctx context.Context) (RecoveryReport, error) {
	report := RecoveryReport{Failed: map[string]string{}}
	keys, err := j.Keys()
	if err != nil {
		return report, err
	}
	for _, k := range keys {
		report.Sessions++
		err := j.locked(ctx, k, func() error { return j.recover(ctx, k, &report) })
		if ctx.Err() != nil {
			return report, ended("recover", "", ctx)
		}
		if err != nil {
			report.Failed[string(k)] = err.Error()
		}
	}
	return report, nil
}

// recover is Recover for one session; its lock is held.
func (j *Journal) recover(ctx context.Context, key Key, report *RecoveryReport) error {
	if err := j.sweep(key); err != nil {
		return err
	}
	a, err := j.newest(key)
	if err != nil {
		return err
	}
	report.Torn += a.cut
	a.close()
	damage, err := j.inspectAll(ctx, key, func(Frame) { report.Frames++ })
	report.Damaged += damage.Count()
	return err
}

// inspectAll reads a whole session as it is now.
func (j *Journal) inspectAll(ctx context.Context, key Key, fn func(Frame)) (Damage, error) {
	return j.Look(ctx, key, func(f Frame) error { fn(f); return nil })
}

// sweep removes what writers that were killed have left. The session's lock
// is held.
func (j *Journal) sweep(key Key) error {
	for _, dir := range []string{j.path(key), j.path(key, quarantineName)} {
		err := j.checkFolder(dir)
		if amber.KindOf(err) == amber.KindNotFound {
			continue
		}
		if err == nil {
			_, err = fsx.SweepTemp(j.o.FS, dir)
		}
		if err != nil {
			return diskerr.Own("sweep session", string(key), err)
		}
	}
	return nil
}
