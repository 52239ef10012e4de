package openviking

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
)

// Status is how an index stands.
type Status struct {
	URL      string `json:"url"`
	Version  string `json:"version,omitempty"`
	AuthMode string `json:"auth_mode,omitempty"`
	User     string `json:"user,omitempty"`
	Root     string `json:"root,omitempty"` // of the files of this agent
	// Problem says why the server cannot be used now; "" if it can.
	Problem string `json:"problem,omitempty"`

	// Behind counts changes of memories that the server does not know, up to More.
	Behind int        `json:"behind"`
	More   bool       `json:"more,omitempty"`  // there are more than were counted
	Oldest amber.Time `json:"oldest,omitzero"` // of them
	// Compare says that the server has to be compared with the store as a whole: before the
	// first feed, and after a restore.
	Compare bool `json:"compare,omitempty"`

	Quarantined []Quarantined `json:"quarantined,omitempty"`
	Uncounted   int           `json:"uncounted,omitempty"` // in quarantine, not listed
	NoVector    int           `json:"no_vector,omitempty"` // files that are known to have none
	Busy        int           `json:"busy,omitempty"`      // memories whose files are not up to date yet, for they are busy or damaged
	Unchecked   bool          `json:"unchecked,omitempty"` // whether all files are there with their vectors is looked at later
	Stopped     bool          `json:"stopped,omitempty"`   // feeding waits until a person mends the server or the key
	RetryAt     amber.Time    `json:"retry_at,omitzero"`
	LastError   string        `json:"last_error,omitempty"`
	FailedAt    amber.Time    `json:"failed_at,omitzero"`
}

// maxBehind bounds how many entries of the change log a status reads.
const maxBehind = 20 * changesPage

// Status asks the server and the cursor. An outage is no error. Errors: those of the primary.
func (s *Store) Status(ctx context.Context) (Status, error) {
	st := Status{URL: s.o.URL}
	h, err := s.o.Server.Health(ctx)
	if err == nil {
		st.Version, st.AuthMode = h.Version, h.AuthMode
		err = s.testedVersion(h)
	}
	l := s.known()
	if err == nil {
		l, err = s.ready(ctx)
	}
	if err != nil {
		st.Problem = clip.Marked(clip.Printed(err.Error()), maxReason)
	}
	if st.User = l.user; l.user == "" {
		return st, nil
	}
	st.Root = l.root()
	cursor, err := s.o.Cursors.IndexCursor(ctx, l.place(&s.o))
	if err != nil {
		return st, err
	}
	n := readNotes(cursor.Notes)
	st.Compare = n.Compare || outdated(cursor, n, &s.o)
	st.Quarantined, st.Uncounted, st.NoVector, st.Unchecked = n.Quarantine, n.Uncounted, len(n.Mend), n.Unchecked || !n.CompareAt.IsZero()
	st.Busy = len(n.Rewrite)
	st.Stopped, st.RetryAt, st.LastError, st.FailedAt = n.Stopped != "", n.RetryAt, n.LastError, n.FailedAt
	return st, s.countBehind(ctx, cursor.Position, &st)
}

// countBehind reads the change log from a position.
func (s *Store) countBehind(ctx context.Context, at amber.Position, st *Status) error {
	for read := 0; read < maxBehind; {
		page, err := s.o.Primary.Changes.Changes(ctx, at, changesPage)
		if amber.KindOf(err) == amber.KindConflict {
			st.Compare = true
			return nil
		}
		if err != nil {
			return err
		}
		for _, e := range page {
			if at = e.Position; e.Scope != amber.ChangeMemory {
				continue
			}
			if st.Behind++; st.Oldest.IsZero() {
				st.Oldest = e.At
			}
		}
		if read += len(page); len(page) < changesPage {
			return nil
		}
	}
	st.More = true
	return nil
}
