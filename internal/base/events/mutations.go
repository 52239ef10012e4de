package events

import (
	"context"
	"time"

	"github.com/amber-memory/amber"
)

// Mutations publishes one event for every entry of a change log, in order. An
// agent has two logs, of its memory and of its control plane; each has a
// Mutations of its own, with a cursor of its own.
//
// It goes on where its cursor stands. After a restore the log is another one:
// entries that the restored log shares with the one before were published then
// and are not published again; what the restore itself changed, and what was
// written since, is. Where the two logs share nothing that the cursor knows, only
// the entries of the newest incarnation are published.
//
// Set the fields before the first call and use it from one goroutine.
type Mutations struct {
	Log       amber.ChangeLog
	Tenant    amber.TenantID
	Agent     amber.AgentID
	Publisher Publisher
	Cursor    CursorStore

	Prefix string // of subjects; "": [DefaultMutationPrefix]
	// FromBeginning publishes the whole log when there is no cursor yet.
	// Without it only what changes from now on is published.
	FromBeginning bool
	Interval      time.Duration                        // 0: DefaultInterval
	After         func(time.Duration) <-chan time.Time // nil: [time.After]
	// Report is called with the reason when something has to be tried again. It
	// may be nil, and must not block.
	Report func(error)

	loaded bool
	at     amber.Position // published up to here
	dirty  bool           // at is newer than the cursor
}

func (m *Mutations) check() error {
	if m.Log == nil || m.Publisher == nil || m.Cursor == nil {
		return amber.Errorf(amber.KindInvalid, "publish mutations", string(m.Agent), "log, publisher and cursor are required")
	}
	if _, err := amber.ParseTenantID(string(m.Tenant)); err != nil {
		return err
	}
	_, err := amber.ParseAgentID(string(m.Agent))
	return err
}

// Run publishes until ctx ends and returns nil then. Whatever fails is tried
// again, later and later, and nothing is left out. Errors: invalid for missing
// fields; unsupported when the backend has no change log.
func (m *Mutations) Run(ctx context.Context) error {
	if err := m.check(); err != nil {
		return err
	}
	return steps(ctx, pace{m.Interval, m.After, m.Report, nil}, m.Step)
}

// Step publishes what the log holds behind the cursor, at most one batch, and
// saves how far it came, also when it fails. It returns how many events the
// publisher has taken. Errors: those of the log, the publisher and the cursor.
func (m *Mutations) Step(ctx context.Context) (published int, err error) {
	if err := m.check(); err != nil {
		return 0, err
	}
	if !m.loaded {
		if err := m.load(ctx); err != nil {
			return 0, err
		}
	}
	changes, err := m.Log.Changes(ctx, m.at, batch)
	if amber.KindOf(err) == amber.KindConflict {
		if m.at, err = m.rejoin(ctx, m.at); err != nil {
			return 0, err
		}
		m.dirty = m.at != ""
		changes, err = m.Log.Changes(ctx, m.at, batch)
	}
	if err != nil {
		return 0, err
	}
	for _, c := range changes {
		if err = m.Publisher.Publish(ctx, m.event(c)); err != nil {
			break
		}
		m.at, m.dirty = c.Position, true
		published++
	}
	if serr := m.save(ctx); err == nil {
		err = serr
	}
	return published, err
}

// CatchUp publishes what the log holds at this moment, and of what comes
// meanwhile no more than fits: who goes from log to log is not held up by one that
// never rests. It returns how many events the publisher has taken. Errors: those
// of Step.
func (m *Mutations) CatchUp(ctx context.Context) (published int, err error) {
	if err := m.check(); err != nil {
		return 0, err
	}
	head, err := m.Log.Head(ctx)
	if err != nil {
		return 0, err
	}
	_, last, err := head.Parse()
	if err != nil {
		return 0, err
	}
	for ctx.Err() == nil {
		n, err := m.Step(ctx)
		published += n
		if err != nil || n == 0 {
			return published, err
		}
		if _, at, err := m.at.Parse(); err != nil || at >= last {
			return published, err
		}
	}
	return published, nil
}

// load finds out where to begin. The head of the log becomes the cursor at
// once: what changes from here on is published whatever happens.
func (m *Mutations) load(ctx context.Context) error {
	at, found, err := m.Cursor.Load(ctx)
	if err != nil {
		return err
	}
	if !found && !m.FromBeginning {
		if at, err = m.Log.Head(ctx); err != nil {
			return err
		}
		m.dirty = true
	}
	m.at, m.loaded = at, true
	return m.save(ctx)
}

// save makes the position durable, also when ctx has ended meanwhile: the
// events are out.
func (m *Mutations) save(ctx context.Context) error {
	if !m.dirty {
		return nil
	}
	if err := m.Cursor.Save(context.WithoutCancel(ctx), m.at); err != nil {
		return err
	}
	m.dirty = false
	return nil
}

func (m *Mutations) event(c amber.Change) Event {
	return MutationEvent(m.Prefix, m.Tenant, m.Agent, c)
}
