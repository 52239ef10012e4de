package repo

import (
	"context"
	"io"
	"sync"
)

const (
	// aheadBytes is the longest blob that is opened ahead; a longer one is
	// read when its turn comes.
	aheadBytes = 1 << 20
	openers    = 2
	ahead      = 3 * openers // blobs that are read and not handed out
)

// readAhead reads the blobs of a plan: one goroutine reads stored bytes, some
// open them, and the caller's hands them out, in the order of the plan.
//
//	fetch ─┬─ work ──> open (2) ── ready ──┐
//	       └─ order ─────────────────────> fn ──> free
type readAhead struct {
	repo  *Repo
	plan  []place
	keep  bool            // see opener
	free  chan *aheadBlob // their number bounds what is in memory
	work  chan *aheadBlob
	order chan *aheadBlob
	done  sync.WaitGroup
}

// aheadBlob is a blob on its way.
type aheadBlob struct {
	place  *place
	opener opener
	stored []byte
	blob   Blob
	filled bool  // stored has been read
	opened bool  // blob is what was asked for
	err    error // of the way to the target
	ready  chan struct{}
}

// readPlan hands out the blobs of a plan, with their stored bytes if they are
// to be kept.
func (r *Repo) readPlan(ctx context.Context, plan []place, keep bool, fn func(Blob) error) error {
	a := &readAhead{
		repo: r, plan: plan, keep: keep,
		free: make(chan *aheadBlob, ahead), work: make(chan *aheadBlob, ahead), order: make(chan *aheadBlob, ahead),
	}
	for range ahead {
		b := &aheadBlob{opener: r.newOpener(), ready: make(chan struct{}, 1)}
		b.opener.keep = keep
		a.free <- b
	}
	fetching, cancel := context.WithCancel(ctx)
	a.done.Go(func() { a.fetch(fetching) })
	for range openers {
		a.done.Go(a.open)
	}
	defer a.done.Wait()
	defer cancel()
	return a.handOut(ctx, fn)
}

// handOut calls fn for every blob. It looks for a blob that was not intact where the plan says in its other places.
func (a *readAhead) handOut(ctx context.Context, fn func(Blob) error) error {
	s := a.repo.newStream()
	s.opener.keep = a.keep
	for range a.plan {
		b, ok := <-a.order
		if !ok {
			return ctx.Err()
		}
		<-b.ready
		if b.err != nil {
			return b.err
		}
		if !b.opened {
			var err error
			if b.blob, err = s.any(ctx, b.place.id); err != nil {
				return err
			}
		}
		if err := fn(b.blob); err != nil {
			return err
		}
		a.free <- b
	}
	return nil
}

// fetch reads stored bytes, neighbours with one request. It ends behind the
// first error of the target.
func (a *readAhead) fetch(ctx context.Context) {
	defer close(a.order)
	defer close(a.work)
	for plan := a.plan; len(plan) > 0; {
		n := neighbours(plan)
		if !a.fetchRange(ctx, plan[:n]) {
			return
		}
		plan = plan[n:]
	}
}

// fetchRange reads neighbours and reports whether to go on.
func (a *readAhead) fetchRange(ctx context.Context, plan []place) bool {
	name := packName(plan[0].pack)
	at, end := int64(plan[0].offset), plan[len(plan)-1].end()
	body, err := openRange(ctx, a.repo.target, name, at, end-at)
	if err == nil {
		defer body.Close()
	}
	for i := range plan {
		var b *aheadBlob
		select {
		case b = <-a.free:
		case <-ctx.Done():
			return false
		}
		b.place, b.filled, b.opened, b.err = &plan[i], false, false, nil
		if err == nil {
			at, err = b.fill(body, name, at)
		}
		if err != nil && !isProblem(err) {
			b.err = err
		}
		// Neither blocks: there are no more blobs than places.
		a.order <- b
		a.work <- b
		if b.err != nil {
			return false
		}
	}
	return true
}

// fill reads the stored bytes behind a gap, and returns where the body is then.
func (b *aheadBlob) fill(body io.Reader, name string, at int64) (_ int64, err error) {
	if b.place.plain > aheadBytes {
		return at, nil // skipped with the next gap
	}
	b.stored, err = fill(body, name, int64(b.place.offset)-at, int(b.place.stored), b.stored)
	b.filled = err == nil
	return b.place.end(), err
}

func (a *readAhead) open() {
	for b := range a.work {
		if b.filled {
			var err error
			b.blob, err = b.opener.open(&b.place.entry, b.stored)
			b.opened = err == nil
		}
		b.ready <- struct{}{}
	}
}
