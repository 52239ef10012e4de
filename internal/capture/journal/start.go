package journal

import (
	"context"

	"github.com/amber-memory/amber"
)

// Start makes the folder of a session, says whose it is and begins its first
// segment, and returns once all of it is durable; the first entry then waits
// for its own sync only. Append starts a session that is not there, so Start
// may be left out, and repeated. Errors: those of [Journal.Append].
func (j *Journal) Start(ctx context.Context, s Session) error {
	if err := s.Check(); err != nil {
		return err
	}
	begin := func() error {
		a, _, err := j.place(s)
		if err != nil {
			return err
		}
		a.close()
		return nil
	}
	err := j.locked(ctx, s.Key(), begin)
	if amber.KindOf(err) == amber.KindNotFound {
		if err = j.makeFolder(s.Key()); err == nil {
			err = j.locked(ctx, s.Key(), begin)
		}
	}
	return err
}
