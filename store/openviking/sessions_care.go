package openviking

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
)

// SessionStatus is how the conversations on the server stand.
type SessionStatus struct {
	Mode     Sessions `json:"mode"`
	Mirrored int      `json:"mirrored"` // conversations of which the server has something
	// Behind counts sessions that ended, or are gone, and that the server does not know as such.
	Behind int  `json:"behind"`
	More   bool `json:"more,omitempty"` // there are more than were counted
	// Withheld says that no conversation leaves this machine, since include does not name sessions.
	Withheld bool `json:"withheld,omitempty"`
	// Listing says that all sessions have to be gone through: before the first feed, after a
	// restore, and after a change of settings.
	Listing   bool       `json:"listing,omitempty"`
	Aside     []SetAside `json:"aside,omitempty"`
	Uncounted int        `json:"uncounted,omitempty"` // set aside and not listed
	Stopped   bool       `json:"stopped,omitempty"`   // waits for somebody who mends the server or the key
	RetryAt   amber.Time `json:"retry_at,omitzero"`
	LastError string     `json:"last_error,omitempty"`
	FailedAt  amber.Time `json:"failed_at,omitzero"`
}

// sessionStatus asks the cursors. Errors: those of the primary.
func (s *Store) sessionStatus(ctx context.Context) (*SessionStatus, error) {
	l := s.known()
	c, n, err := s.loadSessions(ctx, l)
	if err != nil {
		return nil, err
	}
	st := &SessionStatus{
		Mode: s.o.Sessions, Withheld: !s.o.leaves(amber.ScopeSession),
		Listing: n.Listing || n.Recheck || c.Position == "" || n.Settings != s.o.sessionSettings(),
		Aside:   n.Aside, Uncounted: n.Uncounted, Stopped: n.Stopped != "", RetryAt: n.RetryAt, LastError: n.LastError, FailedAt: n.FailedAt,
	}
	if st.Withheld && c.Fence == 0 {
		st.Listing = false
		return st, nil
	}
	err = s.eachMirrored(ctx, l, func(_ *shard, _ amber.SessionID, at mirroredTo) error {
		if at.N > 0 {
			st.Mirrored++
		}
		return nil
	})
	if err != nil {
		return st, err
	}
	return st, s.countSessions(ctx, c.Position, st)
}

// eachMirrored calls fn with every entry.
func (s *Store) eachMirrored(ctx context.Context, l layout, fn func(*shard, amber.SessionID, mirroredTo) error) error {
	for n := range shards {
		x, err := s.shard(ctx, l, n)
		if err != nil {
			return err
		}
		for _, id := range slices.Sorted(maps.Keys(x.all)) {
			if err := fn(x, id, x.all[id]); err != nil {
				return err
			}
		}
	}
	return nil
}

// countSessions reads the change log from a position.
func (s *Store) countSessions(ctx context.Context, at amber.Position, st *SessionStatus) error {
	seen := map[amber.SessionID]bool{}
	for read := 0; read < maxBehind; {
		page, err := s.o.Primary.Changes.Changes(ctx, at, changesPage)
		if amber.KindOf(err) == amber.KindConflict {
			st.Listing = true
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range page {
			id := amber.SessionID(e.Key)
			if at = e.Position; e.Scope != amber.ChangeSession || seen[id] {
				continue
			}
			seen[id] = true
			session, err := s.o.Primary.Sessions.Session(ctx, id)
			if err != nil || !session.EndedAt.IsZero() {
				st.Behind++
			}
		}
		if read += len(page); len(page) < changesPage {
			return nil
		}
	}
	st.More = true
	return nil
}

// SessionVerification is what a comparison of conversations found, by their names.
type SessionVerification struct {
	Mirrored int   `json:"mirrored"` // that should be on the server
	Missing  Names `json:"missing"`  // sessions of which the server has nothing
	Strange  Names `json:"strange"`  // conversations that are named like ours and that nobody sent
}

// verifySessions compares the conversations that the server has with the entries. It returns the
// sessions that are missing.
func (s *Store) verifySessions(ctx context.Context, l layout, v *Verification) (lost []amber.SessionID, err error) {
	if s.o.Sessions == "" {
		return nil, nil
	}
	there, err := s.listSessions(ctx, l)
	if err != nil {
		return nil, err
	}
	v.Sessions = &SessionVerification{}
	err = s.eachMirrored(ctx, l, func(_ *shard, id amber.SessionID, at mirroredTo) error {
		name := l.sessionName(id)
		if at.N > 0 {
			v.Sessions.Mirrored++
		}
		if at.N > 0 && !there[name] {
			v.Sessions.Missing.add(string(id))
			lost = append(lost, id)
		}
		delete(there, name)
		return nil
	})
	for _, name := range slices.Sorted(maps.Keys(there)) {
		v.Sessions.Strange.add(name)
	}
	return lost, err
}

// listSessions returns the names of the conversations of this agent on the server.
func (s *Store) listSessions(ctx context.Context, l layout) (map[string]bool, error) {
	there := map[string]bool{}
	err := s.o.Server.List(ctx, l.sessionsRoot(), func(uri string) error {
		if name, ours := l.parseSession(uri); ours {
			there[name] = true
		}
		return nil
	})
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return nil, err
	}
	return there, nil
}

// resend notes that the server has nothing of some sessions.
func (s *Store) resend(ctx context.Context, l layout, lost []amber.SessionID) error {
	if len(lost) == 0 {
		return nil
	}
	return s.alone(ctx, l, func(*round) error {
		for _, id := range lost {
			x, err := s.shard(ctx, l, shardOf(id))
			if err == nil {
				err = s.keep(ctx, x, id, &mirroredTo{})
			}
			if err != nil {
				return err
			}
		}
		return s.noteSessions(ctx, l, (*sessionNotes).recheck)
	})
}

// noteSessions changes the notes about conversations.
func (s *Store) noteSessions(ctx context.Context, l layout, change func(*sessionNotes)) error {
	c, n, err := s.loadSessions(ctx, l)
	if err != nil {
		return err
	}
	change(&n)
	b, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return s.o.Cursors.MoveIndexCursor(ctx, l.sessionsPlace(&s.o), amber.IndexCursor{Position: c.Position, Fence: c.Fence + 1, Notes: b})
}

// forgetSessions drops every conversation of this agent, also those of a time when they were sent.
// If they are, the next feed sends them again.
func (s *Store) forgetSessions(ctx context.Context, r *round) error {
	c, _, err := s.loadSessions(ctx, r.layout)
	if err != nil || c.Fence == 0 || s.o.Conversations == nil {
		return err
	}
	there, err := s.listSessions(ctx, r.layout)
	if err != nil {
		return err
	}
	err = s.noteSessions(ctx, r.layout, func(n *sessionNotes) { *n = sessionNotes{Learnt: n.Learnt} }) // goes through all again
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if err := r.patient(ctx, func() error { return s.dropConversation(ctx, name) }); err != nil {
			return err
		}
	}
	return s.eachMirrored(ctx, r.layout, func(x *shard, id amber.SessionID, _ mirroredTo) error { return s.keep(ctx, x, id, nil) })
}

// eraseSessions drops conversations of which turns were erased since a position of the log. Those
// that cannot be dropped are reported as remaining; the feeder drops them later, and sends what is
// left of the others.
func (s *Store) eraseSessions(ctx context.Context, l layout, since amber.Position, alone bool, report *amber.EraseReport) {
	remains := func(what string, err error) {
		report.Remaining = append(report.Remaining, fmt.Sprintf("%s: %s: %s", s.o.URL, what, oneLine(err.Error(), maxReason)))
	}
	c, n, err := s.loadSessions(ctx, l)
	if err == nil && c.Fence == 0 && l.user != "" && s.neverSent(ctx, l) {
		return
	}
	erased := true
	if err == nil {
		erased, err = s.erasedTurns(ctx, since)
	}
	if err == nil && erased && !alone {
		err = amber.Errorf(amber.KindBusy, "erase session", "", "a feeder is at work, or the server is away; %s drops them", s.dropper())
	}
	if err != nil {
		remains("conversations with turns that were erased", err)
	}
	if err != nil || !erased {
		return
	}
	if c.Fence == 0 {
		remains("conversations with turns that were erased", amber.Errorf(amber.KindBusy, "erase session", "", "which they are is not known any more; %s drops them", s.dropper()))
	}
	dropped := 0
	err = s.eachMirrored(ctx, l, func(x *shard, id amber.SessionID, at mirroredTo) error {
		if !at.Unsure && (at.N == 0 || s.still(ctx, id, at)) {
			return nil
		}
		name := l.sessionName(id)
		if s.o.Conversations == nil {
			return amber.Errorf(amber.KindUnsupported, "erase session", name, "the server is not asked for conversations")
		}
		if err := s.dropConversation(ctx, name); err != nil {
			remains(l.sessionsRoot()+"/"+name, err)
			return nil
		}
		dropped++
		return s.keep(ctx, x, id, &mirroredTo{})
	})
	if err != nil {
		remains("conversations", err)
	}
	if dropped > 0 {
		report.Removed = append(report.Removed, fmt.Sprintf("conversations of OpenViking: %d", dropped))
	}
	if n.Learnt {
		report.Remaining = append(report.Remaining, s.o.URL+": what OpenViking learnt from conversations is its own and stays")
	}
}

// neverSent reports whether the server has no conversation of this agent, where no entry tells.
func (s *Store) neverSent(ctx context.Context, l layout) bool {
	if s.o.Conversations == nil {
		return true
	}
	there, err := s.listSessions(ctx, l)
	return err == nil && len(there) == 0
}

// dropper is what drops conversations of turns that are gone.
func (s *Store) dropper() string {
	if s.o.Sessions == "" {
		return "amber index rebuild"
	}
	return "the next feed"
}

// erasedTurns reports whether turns are gone since a position.
func (s *Store) erasedTurns(ctx context.Context, since amber.Position) (bool, error) {
	for at := since; ; {
		page, err := s.o.Primary.Changes.Changes(ctx, at, changesPage)
		if err != nil {
			return true, err
		}
		for _, e := range page {
			if at = e.Position; e.Scope == amber.ChangeTurn && e.Op == amber.OpDelete {
				return true, nil
			}
		}
		if len(page) < changesPage {
			return false, nil
		}
	}
}

// still reports whether a session has all turns that the server has.
func (s *Store) still(ctx context.Context, id amber.SessionID, at mirroredTo) bool {
	messages, err := s.messages(ctx, id)
	return err == nil && at.fits(messages)
}
