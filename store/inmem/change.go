package inmem

import (
	"context"
	"slices"

	"github.com/amber-memory/amber"
)

var (
	_ amber.ChangeLog = (*Store)(nil)
	_ amber.ChangeLog = controlChanges{}
)

// changeLog is one of the two logs: of the memory layers, of the control
// plane.
type changeLog struct {
	incarnation string
	stamp       amber.Stamp // the last one given out
	entries     []amber.Change
}

// tick returns the next stamp.
func (l *changeLog) tick(now amber.Time) amber.Stamp {
	l.stamp = l.stamp.Next(now.Time())
	return l.stamp
}

// add appends an entry. Its time comes from a stamp, so the times of a log
// never go back.
func (l *changeLog) add(now amber.Time, c amber.Change) {
	c.At = l.tick(now).Time()
	c.Position = amber.PositionAt(l.incarnation, int64(len(l.entries))+1)
	l.entries = append(l.entries, c)
}

func (l *changeLog) head() amber.Position {
	return amber.PositionAt(l.incarnation, int64(len(l.entries)))
}

func (l *changeLog) after(p amber.Position, limit int) ([]amber.Change, error) {
	seq, err := l.place(p, limit)
	if err != nil {
		return nil, err
	}
	rest := l.entries[seq:]
	return append([]amber.Change{}, rest[:min(limit, len(rest))]...), nil
}

func (l *changeLog) before(q amber.ChangeQuery) ([]amber.Change, error) {
	seq, err := l.place(q.Before, q.Limit)
	if err != nil {
		return nil, err
	}
	if q.Before == "" {
		seq = int64(len(l.entries)) + 1
	}
	found := []amber.Change{}
	for i := seq - 2; i >= 0 && len(found) < q.Limit; i-- {
		if c := l.entries[i]; len(q.Scopes) == 0 || slices.Contains(q.Scopes, c.Scope) {
			found = append(found, c)
		}
	}
	return found, nil
}

// place is the sequence of a position of this log.
func (l *changeLog) place(p amber.Position, limit int) (int64, error) {
	incarnation, seq, err := p.Parse()
	switch {
	case err != nil:
		return 0, err
	case limit < 0:
		return 0, invalid("read changes", "", "the limit is negative, want 0 or more")
	case incarnation != "" && (incarnation != l.incarnation || seq > int64(len(l.entries))):
		return 0, amber.Errorf(amber.KindConflict, "read changes", "", "the position is not in this history: the agent was restored since").
			WithHint("read again from the beginning: leave out the position")
	}
	return seq, nil
}

// Changes implements [amber.ChangeLog] for the memory layers.
func (s *Store) Changes(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error) {
	return run(ctx, s, "read changes", func() ([]amber.Change, error) { return s.changes.after(after, limit) })
}

// ChangesBefore implements [amber.ChangeLog] for the memory layers.
func (s *Store) ChangesBefore(ctx context.Context, q amber.ChangeQuery) ([]amber.Change, error) {
	return run(ctx, s, "read changes", func() ([]amber.Change, error) { return s.changes.before(q) })
}

// Head implements [amber.ChangeLog] for the memory layers.
func (s *Store) Head(ctx context.Context) (amber.Position, error) {
	return run(ctx, s, "read changes", func() (amber.Position, error) { return s.changes.head(), nil })
}

// controlChanges is the change log of the control plane.
type controlChanges struct{ s *Store }

func (c controlChanges) Changes(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error) {
	return run(ctx, c.s, "read changes", func() ([]amber.Change, error) { return c.s.control.after(after, limit) })
}

func (c controlChanges) ChangesBefore(ctx context.Context, q amber.ChangeQuery) ([]amber.Change, error) {
	return run(ctx, c.s, "read changes", func() ([]amber.Change, error) { return c.s.control.before(q) })
}

func (c controlChanges) Head(ctx context.Context) (amber.Position, error) {
	return run(ctx, c.s, "read changes", func() (amber.Position, error) { return c.s.control.head(), nil })
}

// log appends to the log of the memory layers.
func (s *Store) log(now amber.Time, op amber.Op, scope amber.ChangeScope, key, oldDigest, newDigest string) {
	s.changes.add(now, amber.Change{Op: op, Scope: scope, Key: key, OldDigest: oldDigest, NewDigest: newDigest})
}

// logControl appends to the log of the control plane.
func (s *Store) logControl(now amber.Time, op amber.Op, key string) {
	s.control.add(now, amber.Change{Op: op, Scope: amber.ChangeControl, Key: key})
}

// saved is the operation of a save that found something stored, or did not.
func saved(found bool) amber.Op {
	if found {
		return amber.OpUpdate
	}
	return amber.OpInsert
}
