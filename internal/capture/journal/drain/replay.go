package drain

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// Replay drains entries that [View.Frames] has handed out into a store, each
// once: what the store knows by its cursor or by the ids of the events is not
// applied again, so Replay may be repeated. The cursor goes on from where the
// store has it. An event that the store will never take is counted as quarantined
// and left out; it stays in whatever r reads from. The caller makes sure that no
// other drain writes to the store meanwhile. Errors: damaged for entries that are
// not those of the mark; too_new; those of r and the store.
func Replay(ctx context.Context, m Mark, r io.Reader, into Store, clock amber.Clock) (Report, error) {
	report := newReport()
	if err := m.check(); err != nil {
		return report, err
	}
	if m.Frames == 0 {
		return report, nil
	}
	o := Options{Journal: &captured{mark: m, r: r}, Store: into, Clock: clock, Final: true}
	o.Memories, _ = into.(amber.MemoryReader)
	o.Sessions, _ = into.(amber.Sessions)
	w, err := New(o)
	if err != nil {
		return report, err
	}
	w.keys = map[string]journal.Key{}
	s := &session{Worker: w, key: journal.Key(m.Key), report: &report}
	err = s.run(ctx)
	if errors.Is(err, errOvertaken) {
		err = amber.Errorf(amber.KindConflict, "replay entries", m.Key, "%w", err)
	}
	return report, err
}

// check checks that a mark speaks of one session. The error is of kind damaged.
func (m Mark) check() error {
	s := journal.Session{Host: m.Host, ID: m.SessionID}
	switch {
	case s.Check() != nil, string(s.Key()) != m.Key:
		return m.damaged("the mark does not name its session")
	case m.Drained < 0, m.Last < m.Drained, m.Frames < 0, m.Frames > m.Last-m.Drained:
		return m.damaged("the numbers of the mark contradict each other")
	}
	return nil
}

func (m Mark) damaged(why string) error {
	return amber.Errorf(amber.KindDamaged, "replay entries", m.Key, "%s", why)
}

// captured is a journal of one session that was captured and is read once.
type captured struct {
	mark Mark
	r    io.Reader
}

var _ Journal = (*captured)(nil)

func (c *captured) Keys() ([]journal.Key, error) { return []journal.Key{journal.Key(c.mark.Key)}, nil }

func (c *captured) Origin(journal.Key) (journal.Origin, error) {
	return journal.Origin{Session: journal.Session{Host: c.mark.Host, ID: c.mark.SessionID}, Cursor: c.mark.Cursor}, nil
}

// Read hands out what is behind the cursor, and checks that all of it is
// there and nothing else.
func (c *captured) Read(ctx context.Context, key journal.Key, after int64, fn func(journal.Frame) error) (journal.Damage, error) {
	frames, err := journal.ReadExtract(c.r, key, func(f journal.Frame) error {
		switch {
		case ctx.Err() != nil:
			return &amber.Error{Op: "replay entries", Kind: amber.KindUnreachable, ID: c.mark.Key, Err: context.Cause(ctx)}
		case f.Seq <= c.mark.Drained || f.Seq > c.mark.Last:
			return c.mark.damaged(fmt.Sprintf("entry %d was not captured", f.Seq))
		case f.Seq <= after:
			return nil
		}
		return fn(f)
	})
	if err == nil && frames != c.mark.Frames {
		err = c.mark.damaged(fmt.Sprintf("%d entries, want %d", frames, c.mark.Frames))
	}
	return journal.Damage{}, err
}

// The rest of a journal is not there: what was captured stays as it is.

func (c *captured) BeginDrain(context.Context) (func() error, error) {
	return func() error { return nil }, nil
}
func (c *captured) Start(context.Context, journal.Session) error { return nil }
func (c *captured) Clear(context.Context, journal.Key, int64) (int64, error) {
	return 0, nil
}
func (c *captured) Remove(context.Context, journal.Key, int64) (bool, error) { return false, nil }
func (c *captured) Quarantine(context.Context, journal.Key, int64, []byte, string) error {
	return nil
}
