package openviking

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/clip"
	"github.com/amber-memory/amber/internal/store/openviking/api"
)

// backendName is how the store signs hits and health.
const backendName = "openviking"

// Store is a primary store with an OpenViking server beside it. It is safe for concurrent use;
// the caller closes the primary.
type Store struct {
	o       Options
	circuit circuit

	outage atomic.Bool // an embedder seems to be away: the feeder looks for vectors that are missing

	// feeding is held by the feeder of this process; it guards early, files and unmended.
	feeding  sync.Mutex
	early    pace // before it is known whose files they are
	files    files
	unmended map[string]bool // names of files whose vectors could not be made

	mu       sync.Mutex // guards everything below
	user     string
	tested   time.Time       // when the version was looked at; zero: not yet
	suspects map[string]bool // names of files that are not what they should be
}

var (
	_ amber.LongTerm = (*Store)(nil)
	_ amber.Eraser   = (*Store)(nil)
)

// New puts a store together. It does not ask the server. Errors: invalid.
func New(o Options) (*Store, error) {
	o, err := o.complete()
	if err != nil {
		return nil, err
	}
	return &Store{o: o, user: o.User, unmended: map[string]bool{}}, nil
}

// Parts returns the parts of the primary. Long-term memory and erasure go through the server, too.
func (s *Store) Parts() amber.Parts {
	p := s.o.Primary
	p.LongTerm, p.Semantic = s, true
	if p.Eraser != nil {
		p.Eraser = s
	}
	return p
}

// Write implements [amber.LongTerm]: the primary's.
func (s *Store) Write(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error) {
	return s.o.Primary.LongTerm.Write(ctx, r)
}

// Delete implements [amber.LongTerm]: the primary's.
func (s *Store) Delete(ctx context.Context, id amber.MemoryID) error {
	return s.o.Primary.LongTerm.Delete(ctx, id)
}

// Health implements [amber.LongTerm]: the primary's, degraded where the index is not what it
// should be.
func (s *Store) Health(ctx context.Context) (amber.Health, error) {
	h, err := s.o.Primary.LongTerm.Health(ctx)
	if err != nil || h.Status == amber.Unavailable {
		return h, err
	}
	if why := s.ailing(ctx); why != "" {
		h.Status = amber.Degraded
		if h.Detail != "" {
			h.Detail += "; "
		}
		h.Detail += why
	}
	return h, ctx.Err()
}

// ailing says what is wrong with the index, "" if nothing is.
func (s *Store) ailing(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, s.o.FindTimeout)
	defer cancel()
	st, err := s.Status(ctx)
	switch {
	case err != nil:
		return "OpenViking: " + clip.Marked(clip.Printed(err.Error()), maxReason)
	case st.Problem != "":
		return "OpenViking: " + st.Problem
	case st.Stopped:
		return "OpenViking is not fed: " + st.LastError
	case st.Compare:
		return "OpenViking has to be compared with the store"
	case st.Behind > s.o.Behind:
		return fmt.Sprintf("OpenViking is behind by %d changes", st.Behind)
	}
	return ""
}

// known returns whose files they are, as far as that is known.
func (s *Store) known() layout {
	s.mu.Lock()
	defer s.mu.Unlock()
	return layout{s.user, s.o.Tenant, s.o.Agent}
}

// testedFor is how long a version counts as looked at.
const testedFor = 5 * time.Minute

// ready finds out whose files they are, and whether this version of the server was tested.
// Errors: those of the server; unsupported.
func (s *Store) ready(ctx context.Context) (layout, error) {
	l := s.known()
	s.mu.Lock()
	fresh := !s.tested.IsZero() && s.o.Clock().Sub(s.tested) < testedFor
	s.mu.Unlock()
	if !fresh {
		h, err := s.o.Server.Health(ctx)
		if err == nil {
			err = s.testedVersion(h)
		}
		if err != nil {
			return l, err
		}
	}
	if l.user == "" {
		user, err := s.o.Server.User(ctx)
		if err != nil {
			return l, err
		}
		if !validUser(user) {
			return l, amber.Errorf(amber.KindUnsupported, "ask openviking", s.o.URL, "the user is %.40q, want 1 to %d letters, digits and any of -_.@", user, maxUser)
		}
		l.user = user
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.user = l.user
	if !fresh {
		s.tested = s.o.Clock()
	}
	return l, nil
}

func (s *Store) forgetVersion() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tested = time.Time{}
}

// testedVersion refuses versions that were never tested, unless any is fine.
func (s *Store) testedVersion(h api.Health) error {
	if s.o.AnyVersion || isTested(h.Version) {
		return nil
	}
	return amber.Errorf(amber.KindUnsupported, "ask openviking", s.o.URL, "the server has version %.40q, tested are 0.5.0 up to 0.6", h.Version).
		WithHint("set memory.backends.openviking.any_version to use it")
}

// isTested reports whether a version is one from 0.5 up to 0.6.
func isTested(version string) bool {
	parts := strings.SplitN(strings.TrimPrefix(version, "v"), ".", 3)
	if len(parts) < 2 {
		return false
	}
	minor, err := strconv.Atoi(parts[1])
	return err == nil && parts[0] == "0" && minor == 5
}

// maxSuspects bounds the files that recalls report to the feeder. A comparison finds the rest.
const maxSuspects = 1000

// suspect notes files for the feeder that are not what they should be.
func (s *Store) suspect(uris ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.suspects == nil {
		s.suspects = map[string]bool{}
	}
	for _, uri := range uris {
		if len(s.suspects) < maxSuspects {
			s.suspects[uri] = true
		}
	}
}

func (s *Store) takeSuspects() (uris []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for uri := range s.suspects {
		uris = append(uris, uri)
	}
	s.suspects = nil
	return uris
}
