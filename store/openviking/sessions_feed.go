package openviking

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/amber-memory/amber"
)

const (
	stepSessions = 50
	listSessions = 100
)

// SessionReport is what a feed did about conversations.
type SessionReport struct {
	Sent      int `json:"sent"`      // conversations of which messages were sent
	Messages  int `json:"messages"`  // of them
	Committed int `json:"committed"` // conversations that the server was asked to learn from
	Dropped   int `json:"dropped"`   // conversations that were deleted on the server
	Aside     int `json:"aside"`     // conversations that the server did not take
	// Problem says why not everything was sent, and Again when to try; memories are not affected.
	Problem string        `json:"problem,omitempty"`
	Again   time.Duration `json:"again,omitempty"`
}

// mirror is the part of a round that is about conversations.
type mirror struct {
	*round
	place  string
	cursor amber.IndexCursor
	notes  sessionNotes
	dirty  bool
	failed error // of the server
	report *SessionReport
	sends  bool // they may leave
}

// mirrored goes on with conversations when a round is done with memories. What goes wrong there does
// not concern these: it is noted apart. A feed before a question leaves conversations alone, since
// no question is answered from them.
func (r *round) mirrored(ctx context.Context, err error) error {
	o := &r.s.o
	if err != nil || !r.report.Done || o.Sessions == "" || r.budget.Hard {
		return err
	}
	r.report.Sessions = &SessionReport{}
	m := &mirror{round: r, place: r.sessionsPlace(o), report: r.report.Sessions, sends: o.leaves(amber.ScopeSession)}
	switch err := m.run(ctx); {
	case errors.Is(err, errSpent):
		r.report.Done = false
	case err != nil:
		m.report.Problem = oneLine(err.Error(), maxReason)
	}
	return nil
}

func (m *mirror) run(ctx context.Context) (err error) {
	if m.cursor, m.notes, err = m.s.loadSessions(ctx, m.layout); err != nil {
		return err
	}
	if !m.sends && m.cursor.Fence == 0 {
		return nil // nothing was ever sent
	}
	if m.budget.Force {
		m.force()
	}
	if m.report.Again, err = m.notes.blocked(m.now()); err != nil {
		return err
	}
	return m.settle(ctx, m.work(ctx))
}

// force lets go of what would keep the round from its work. Conversations that were set aside are
// tried again.
func (m *mirror) force() {
	m.notes.succeeded()
	if m.notes.Uncounted > 0 {
		m.notes.Listing, m.notes.Listed, m.notes.Uncounted = true, "", 0
	}
	m.dirty = true
}

// server notes an error of the server, to tell it from those of the primary.
func (m *mirror) server(err error) error {
	if err != nil {
		m.failed = err
	}
	return err
}

func (m *mirror) ofServer(err error) bool { return m.failed != nil && errors.Is(err, m.failed) }

func (m *mirror) save(ctx context.Context, p amber.Position) error {
	b, err := json.Marshal(m.notes)
	if err != nil {
		return err
	}
	next := amber.IndexCursor{Position: p, Fence: m.cursor.Fence + 1, Notes: b}
	if err := m.s.o.Cursors.MoveIndexCursor(ctx, m.place, next); err != nil {
		return err
	}
	m.cursor, m.dirty = next, false
	return nil
}

// settle notes how the work ended.
func (m *mirror) settle(ctx context.Context, err error) error {
	switch {
	case err == nil || errors.Is(err, errSpent):
		if m.notes.failing() {
			m.notes.succeeded()
			m.dirty = true
		}
	case m.gaveUp() == nil && m.ofServer(err):
		asked, _ := m.s.o.RetryAfter(err)
		m.notes.failed(m.now(), err, asked)
		m.report.Again, _ = m.notes.blocked(m.now())
		m.dirty = true
	}
	if !m.dirty {
		return err
	}
	return errors.Join(err, m.save(context.WithoutCancel(ctx), m.cursor.Position))
}

// work brings the server up to date.
func (m *mirror) work(ctx context.Context) error {
	if m.cursor.Position == "" || m.notes.Settings != m.s.o.sessionSettings() {
		if err := m.begin(ctx); err != nil {
			return err
		}
	}
	if m.budget.Force {
		for _, a := range slices.Clone(m.notes.Aside) {
			if err := m.one(ctx, a.ID, true); err != nil {
				return err
			}
		}
	}
	for {
		more, err := m.step(ctx)
		if amber.KindOf(err) == amber.KindConflict && m.failed == nil {
			more, err = true, m.begin(ctx) // a restore: the log is another one
		}
		if err != nil || !more {
			return err
		}
		if m.spent() {
			return errSpent
		}
	}
}

// begin has everything gone through, and the log read on from its head.
func (m *mirror) begin(ctx context.Context) error {
	head, err := m.s.o.Primary.Changes.Head(ctx)
	if err != nil {
		return err
	}
	m.notes.Settings = m.s.o.sessionSettings()
	m.notes.Listing, m.notes.Listed = true, ""
	m.notes.recheck()
	return m.save(ctx, head)
}

func (m *mirror) step(ctx context.Context) (more bool, err error) {
	switch {
	case m.notes.Recheck:
		return true, m.recheck(ctx)
	case m.notes.Listing:
		return true, m.list(ctx)
	}
	return m.follow(ctx)
}

// enough reports whether to leave the rest for another round: once something was done in this one.
func (m *mirror) enough() bool {
	return m.spent() && m.report.Sent+m.report.Dropped+m.report.Committed > 0
}

// recheck goes through the conversations that the server has: of a shard at a time.
func (m *mirror) recheck(ctx context.Context) error {
	x, err := m.s.shard(ctx, m.layout, m.notes.Shard)
	if err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(x.all)) {
		if id <= m.notes.After {
			continue
		}
		if err := m.one(ctx, id, true); err != nil {
			return err
		}
		if m.notes.After, m.dirty = id, true; m.enough() {
			return errSpent
		}
	}
	m.notes.Shard, m.notes.After, m.dirty = m.notes.Shard+1, "", true
	if m.notes.Shard >= shards {
		m.notes.Recheck, m.notes.Shard = false, 0
	}
	return nil
}

// list goes through the sessions of the primary, a page at a time. Those that change meanwhile are
// told by the log.
func (m *mirror) list(ctx context.Context) error {
	page, err := m.s.o.Primary.Sessions.ListSessions(ctx, amber.SessionQuery{Limit: listSessions, Cursor: m.notes.Listed})
	if err != nil {
		return err
	}
	for i := range page.Items {
		if page.Items[i].EndedAt.IsZero() {
			continue
		}
		if err := m.one(ctx, page.Items[i].ID, false); err != nil {
			return err
		}
		if m.enough() {
			return errSpent // the page begins anew, and what was sent is known
		}
	}
	if page.Next == "" {
		if err := m.sweep(ctx); err != nil {
			return err
		}
	}
	m.notes.Listed, m.notes.Listing, m.dirty = page.Next, page.Next != "", true
	return nil
}

// sweep drops the conversations of sessions that are not there any more, as after a restore. Those
// that were set aside stay: they are of others.
func (m *mirror) sweep(ctx context.Context) error {
	if m.notes.Uncounted > 0 {
		return nil // not all of these are known
	}
	there, err := m.s.listSessions(ctx, m.layout)
	if err != nil {
		m.failed = err
		return err
	}
	for _, a := range m.notes.Aside {
		delete(there, m.sessionName(a.ID))
	}
	err = m.s.eachMirrored(ctx, m.layout, func(_ *shard, id amber.SessionID, _ mirroredTo) error {
		delete(there, m.sessionName(id))
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if err := m.patient(ctx, func() error { return m.s.dropConversation(ctx, name) }); err != nil {
			m.failed = err
			return err
		}
		m.report.Dropped++
	}
	return nil
}

// follow takes a part of the log and moves the cursor behind it. More is false at its end.
func (m *mirror) follow(ctx context.Context) (more bool, err error) {
	c, err := m.gather(ctx)
	if err != nil {
		return false, err
	}
	before := *m.report
	for _, id := range c.ids {
		if err := m.one(ctx, id, c.seen[id]); err != nil {
			return false, err
		}
		if m.enough() {
			return false, errSpent // the step begins anew, and what was sent is known
		}
	}
	if c.lost {
		m.notes.recheck()
	}
	if c.lost || *m.report != before || c.entries >= quietEntries {
		if err := m.save(ctx, c.next); err != nil {
			return false, err
		}
	}
	m.cursor.Position = c.next
	return !c.end || c.lost, nil
}

// spokenOf is what a part of the change log says of sessions.
type spokenOf struct {
	ids     []amber.SessionID        // in the order of their first change
	seen    map[amber.SessionID]bool // true for one that lost turns
	deleted []string                 // keys of turns that are gone: of a turn, or of its session
	lost    bool                     // turns are gone, and nobody knows of which session
	next    amber.Position
	entries int
	end     bool // of the log
}

func (c *spokenOf) add(id amber.SessionID, lost bool) {
	before, known := c.seen[id]
	if c.seen[id] = before || lost; !known {
		c.ids = append(c.ids, id)
	}
}

// gather reads the log up to as many sessions as a step takes.
func (m *mirror) gather(ctx context.Context) (*spokenOf, error) {
	c := &spokenOf{seen: map[amber.SessionID]bool{}, next: m.cursor.Position}
	for !c.end && len(c.ids) < stepSessions {
		page, err := m.s.o.Primary.Changes.Changes(ctx, c.next, changesPage)
		if err != nil {
			return nil, err
		}
		for _, e := range page {
			if err := m.take(ctx, c, e); err != nil {
				return nil, err
			}
			c.next = e.Position
			if c.entries++; len(c.ids) >= stepSessions {
				return c, m.findDeleted(ctx, c)
			}
		}
		c.end = len(page) < changesPage
	}
	return c, m.findDeleted(ctx, c)
}

// take notes the session that an entry is about.
func (m *mirror) take(ctx context.Context, c *spokenOf, e amber.Change) error {
	switch {
	case e.Scope == amber.ChangeSession:
		c.add(amber.SessionID(e.Key), e.Op == amber.OpDelete)
	case e.Scope != amber.ChangeTurn:
	case e.Op == amber.OpDelete:
		c.deleted = append(c.deleted, e.Key)
	case m.s.o.TurnSession != nil:
		id, err := m.s.o.TurnSession(ctx, amber.TurnID(e.Key))
		if kind := amber.KindOf(err); kind == amber.KindNotFound || kind == amber.KindDamaged {
			return nil
		}
		if err != nil {
			return err
		}
		c.add(id, false)
	}
	return nil
}

// findDeleted finds out which sessions have lost turns. An entry of the log names the session that
// lost all of them, or the one turn that was erased.
func (m *mirror) findDeleted(ctx context.Context, c *spokenOf) error {
	for _, key := range c.deleted {
		id := amber.SessionID(key)
		if _, known := c.seen[id]; known {
			c.add(id, true)
			continue
		}
		x, err := m.s.shard(ctx, m.layout, shardOf(id))
		if err != nil {
			return err
		}
		if _, noted := x.all[id]; noted {
			c.add(id, true)
			continue
		}
		_, err = m.s.o.Primary.Sessions.Session(ctx, id)
		switch kind := amber.KindOf(err); {
		case kind == amber.KindNotFound:
			c.lost = true
		case err != nil && kind != amber.KindDamaged:
			return err
		}
	}
	return nil
}
