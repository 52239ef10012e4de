package openviking

import (
	"context"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking/api"
)

const (
	awaitPause = 500 * time.Millisecond
	// awaitPatience is how long the server may make no vector before they are made again.
	awaitPatience = 20 * time.Second
)

// awaitVain is how often vectors are made again without effect before Await gives up.
const awaitVain = 2

// Await waits until the server has made the vectors of all files, however long that takes. Where the server makes none
// for a while, Await has the missing ones made again, as long as that helps. Tell, if it is not nil, is called with how
// many are missing. Errors: unreachable when some cannot be made, or the server does not say which; those of the server
// and of the primary; that of ctx.
func (s *Store) Await(ctx context.Context, tell func(missing int)) error {
	l, err := s.ready(ctx)
	if err != nil {
		return err
	}
	w := waiter{since: s.o.Clock()}
	for {
		before, err := s.o.Cursors.IndexCursor(ctx, l.place(&s.o))
		if err != nil {
			return err
		}
		found, err := s.missing(ctx, l)
		now := s.o.Clock()
		busy := err != nil && passing(err) && ctx.Err() == nil && now.Sub(w.since) < awaitPatience // with the others
		switch {
		case busy:
		case err != nil:
			return err
		case found.none():
			return s.checked(ctx, l, before.Fence)
		default:
			if tell != nil {
				tell(found.number())
			}
			if err := s.proceed(ctx, &w, found, now); err != nil {
				return err
			}
		}
		if err := s.o.Wait(ctx, awaitPause); err != nil {
			return err
		}
	}
}

// checked notes that all files have their vectors, unless something was fed since.
func (s *Store) checked(ctx context.Context, l layout, fence int64) error {
	err := s.alone(ctx, l, func(r *round) error {
		if !r.notes.Unchecked || r.cursor.Fence != fence {
			return nil
		}
		r.notes.mending = mending{}
		return r.save(ctx, r.cursor.Position)
	})
	if amber.KindOf(err) == amber.KindBusy {
		return nil // a feeder looks at them itself
	}
	return err
}

// waiter is how far waiting has come.
type waiter struct {
	since time.Time // of the last progress
	left  lacking
	made  bool // again, just before
	vain  int  // how often that was done since the last progress
}

// proceed makes vectors again where the server makes none by itself, or where that helped just
// before.
func (s *Store) proceed(ctx context.Context, w *waiter, found lacking, now time.Time) error {
	fewer := found.count < w.left.count
	helped := w.made && fewer
	if fewer || !slices.Equal(found.uris, w.left.uris) {
		w.since, w.vain = now, 0
	}
	w.left, w.made = found, false
	early := now.Sub(w.since) < awaitPatience
	switch {
	case early && (!helped || len(found.uris) == 0):
		return nil
	case len(found.uris) == 0:
		return amber.Errorf(amber.KindUnreachable, "wait for openviking", s.o.URL, "the server makes no vectors: %d are missing, and it does not say whether some of them are of our files", found.count)
	case w.vain == awaitVain:
		return amber.Errorf(amber.KindUnreachable, "wait for openviking", s.o.URL, "the server makes no vectors: %d files have none, the first is %s", found.number(), found.uris[0])
	}
	if err := s.makeAgain(ctx, found.uris); err != nil {
		return err
	}
	w.since, w.made = s.o.Clock(), true
	w.vain++
	return nil
}

// passing reports whether an error may be gone the next time.
func passing(err error) bool {
	k := amber.KindOf(err)
	return k == amber.KindUnreachable || k == amber.KindBusy
}

// lacking is what has no vector.
type lacking struct {
	uris  []string // our files; a server may name some of them only
	count int      // of records, also of others than files
	whole bool     // the names are all
}

func (l lacking) none() bool { return len(l.uris) == 0 && l.whole }

// number is how many files it may be.
func (l lacking) number() int {
	if l.whole {
		return len(l.uris)
	}
	return max(len(l.uris), l.count)
}

// missing returns what has no vector.
func (s *Store) missing(ctx context.Context, l layout) (lacking, error) {
	m, err := s.o.Server.Missing(ctx, l.root())
	if amber.KindOf(err) == amber.KindNotFound {
		return lacking{whole: true}, nil
	}
	found := lacking{count: m.Count, whole: m.Whole}
	for _, uri := range m.URIs {
		if _, ours := l.parse(uri); ours {
			found.uris = append(found.uris, uri)
		}
	}
	slices.Sort(found.uris)
	return found, err
}

// makeAgain makes vectors again, at most of so many files as a round mends.
func (s *Store) makeAgain(ctx context.Context, uris []string) error {
	for _, uri := range uris[:min(len(uris), mendPerRound)] {
		_, err := (&round{s: s}).reindex(ctx, uri)
		if err != nil && amber.KindOf(err) != amber.KindNotFound && amber.KindOf(err) != amber.KindInvalid {
			return err
		}
	}
	return nil
}

var _ Server = (*api.Client)(nil)
