package openviking

import (
	"context"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/store/openviking/api"
)

const (
	// mendPerRound is how many vectors one round makes again for each look at what is missing.
	mendPerRound = 32
	// mendLooks is how often one round looks: a server names few files at a time.
	mendLooks = 10
	// mendAfter is how long the server has for the vectors of files that were just written, and
	// the least time between two looks at them.
	mendAfter = 2 * time.Minute
	// mendTimeout bounds one request: the server waits for an embedder that is away.
	mendTimeout = 30 * time.Second
)

// mend makes vectors of files that have none: the server never tries again what failed while its
// embedder was away. Where that fails, files are still written, and mending waits longer and
// longer.
func (r *round) mend(ctx context.Context) error {
	if waits(r.now(), r.notes.MendAt) || r.spent() {
		return nil
	}
	if len(r.notes.Mend) > 0 {
		_, err := r.mendSome(ctx)
		return err
	}
	for look := range mendLooks {
		more, err := r.findMissing(ctx, look > 0)
		if err != nil {
			return r.mendFailed(ctx, err)
		}
		made, err := r.mendSome(ctx)
		if err != nil || !more || made == 0 || len(r.notes.Mend) > 0 {
			return err
		}
	}
	return nil
}

// mendSome makes vectors that are known to be missing, and returns how many it made.
func (r *round) mendSome(ctx context.Context) (made int, err error) {
	failed := 0
	for _, uri := range slices.Clone(r.notes.Mend[:min(len(r.notes.Mend), mendPerRound)]) {
		if r.spent() {
			return made, errSpent
		}
		rebuilt, err := r.reindex(ctx, uri)
		if err != nil && amber.KindOf(err) != amber.KindNotFound && amber.KindOf(err) != amber.KindInvalid {
			return 0, r.mendFailed(ctx, err)
		}
		r.notes.Mend = slices.DeleteFunc(r.notes.Mend, func(m string) bool { return m == uri })
		r.dirty = true
		if err == nil && rebuilt.Failed == 0 {
			made++
			r.report.Mended++
			continue
		}
		if failed++; amber.KindOf(err) != amber.KindNotFound {
			r.s.unmended[uri] = true
		}
	}
	if made > 0 && failed == 0 {
		r.notes.MendAt, r.notes.MendDelay = amber.Time{}, 0
	}
	return made, nil
}

func (r *round) reindex(ctx context.Context, uri string) (api.Rebuilt, error) {
	ctx, cancel := context.WithTimeout(ctx, mendTimeout)
	defer cancel()
	return r.s.o.Server.Reindex(ctx, uri)
}

// findMissing asks which files have no vector, once the server had time to make them, or again
// in the same round. More says that there are others than those it named.
func (r *round) findMissing(ctx context.Context, again bool) (more bool, err error) {
	n := &r.notes
	if !n.Unchecked || !again && r.now().Before(n.WaitSince.Add(mendAfter)) {
		return false, nil
	}
	missing, err := r.s.o.Server.Missing(ctx, r.root())
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return false, err
	}
	failedBefore := 0
	for _, uri := range missing.URIs {
		if _, ok := r.parse(uri); !ok {
			continue
		}
		if r.s.unmended[uri] {
			failedBefore++
			continue
		}
		if len(n.Mend) < maxMend {
			n.Mend = append(n.Mend, uri)
		}
	}
	n.WaitSince, r.dirty = r.now(), true
	switch {
	case len(n.Mend) > 0:
	case failedBefore > 0: // all of them failed: later, from the beginning
		clear(r.s.unmended)
		r.laterMend()
	case missing.Whole || err != nil:
		n.Unchecked, n.WaitSince, n.MendDelay = false, amber.Time{}, 0
	default:
		r.laterMend()
	}
	return err == nil && !missing.Whole, nil
}

func (r *round) laterMend() {
	r.notes.MendDelay = doubled(r.notes.MendDelay)
	r.notes.MendAt = r.now().Add(time.Duration(r.notes.MendDelay) * time.Millisecond)
	r.dirty = true
}

// mendFailed ends the round for errors that stop the feeder.
func (r *round) mendFailed(ctx context.Context, err error) error {
	switch amber.KindOf(err) {
	case amber.KindRefused, amber.KindUnsupported, amber.KindDamaged:
		return r.server(err)
	}
	if ctx.Err() != nil {
		return err
	}
	r.laterMend()
	r.notes.LastError, r.notes.FailedAt = clip.Marked(clip.Printed(err.Error()), maxReason), r.now()
	return nil
}
