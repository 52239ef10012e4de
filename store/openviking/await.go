package openviking

import (
	"context"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/openviking/api"
)

const (
	awaitPause = 500 * time.Millisecond
	// awaitPatience is how long the server may make no vector before they are made again.
	awaitPatience = 20 * time.Second
)

// Await waits until the server has made the vectors of all files, however long that takes. Where
// it goes on with none for a while, those that are missing are made again, once. Tell, if it is
// not nil, is told how many are missing. Errors: unreachable when some cannot be made; those of
// the server and of the primary; that of ctx.
func (s *Store) Await(ctx context.Context, tell func(missing int)) error {
	l, err := s.ready(ctx)
	if err != nil {
		return err
	}
	since, again := s.o.Clock(), false
	var left []string // a server may name some of them only
	for {
		missing, err := s.missing(ctx, l)
		now := s.o.Clock()
		if err != nil && passing(err) && ctx.Err() == nil && now.Sub(since) < awaitPatience { // it is busy with the others
			if err := s.o.Wait(ctx, awaitPause); err != nil {
				return err
			}
			continue
		}
		if err != nil || len(missing) == 0 {
			return err
		}
		if tell != nil {
			tell(len(missing))
		}
		switch {
		case !slices.Equal(missing, left):
			since, left = now, missing
		case now.Sub(since) < awaitPatience:
		case again:
			return amber.Errorf(amber.KindUnreachable, "wait for openviking", s.o.URL, "the server makes no vectors: %d files have none, the first is %s", len(missing), missing[0])
		default:
			if err := s.makeAgain(ctx, missing); err != nil {
				return err
			}
			since, again = s.o.Clock(), true
		}
		if err := s.o.Wait(ctx, awaitPause); err != nil {
			return err
		}
	}
}

// passing reports whether an error may be gone the next time.
func passing(err error) bool {
	k := amber.KindOf(err)
	return k == amber.KindUnreachable || k == amber.KindBusy
}

// missing returns our files that have no vector.
func (s *Store) missing(ctx context.Context, l layout) (uris []string, err error) {
	m, err := s.o.Server.Missing(ctx, l.root())
	if amber.KindOf(err) == amber.KindNotFound {
		return nil, nil
	}
	for _, uri := range m.URIs {
		if _, ours := l.parse(uri); ours {
			uris = append(uris, uri)
		}
	}
	slices.Sort(uris)
	return uris, err
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
