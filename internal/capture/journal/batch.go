package journal

import "context"

// AppendAll keeps entries in their order, as many to a sync as the options
// allow, and returns how many are durable. The error is that of the first that
// is not; entries behind it may be. When ctx ends, what is not being written
// yet is left out. Errors: those of [Journal.Append].
func (j *Journal) AppendAll(ctx context.Context, s Session, entries []Entry) (kept int, err error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	for _, e := range entries {
		if err := e.check(); err != nil {
			return 0, err
		}
	}
	if ctx.Err() != nil {
		return 0, ended("append", string(s.Key()), ctx)
	}
	waits := make([]*pending, len(entries))
	groups := make([]*group, len(entries))
	for i, e := range entries {
		waits[i] = &pending{entry: e, done: make(chan struct{})}
		groups[i] = j.join(s, waits[i])
	}
	for i, p := range waits {
		outcome := j.outcome(ctx, groups[i], p)
		if outcome == nil {
			kept++
		} else if err == nil {
			err = outcome
		}
	}
	return kept, err
}

// outcome waits until an append is over, or takes it back when ctx ends.
func (j *Journal) outcome(ctx context.Context, g *group, p *pending) error {
	select {
	case <-p.done:
		return p.err
	case <-ctx.Done():
	}
	if j.withdraw(g, p) {
		return ended("append", string(g.session.Key()), ctx)
	}
	<-p.done
	return p.err
}
