package natsbus

import "sync"

// Health is how a bus is doing.
type Health struct {
	Connected  bool
	Published  int64
	Failed     int64 // publications, each attempt
	Reconnects int64
	// LastError says why it is not connected, or why the last publication
	// failed; "" when neither is so.
	LastError string
}

// link is the state of the connection.
type link int

const (
	linkDown link = iota // being connected again
	linkUp
	linkGone // given up by the client library
)

// status collects what Health tells. Safe for concurrent use.
type status struct {
	mu   sync.Mutex
	link link
	lost chan struct{} // closed when the link is up no more; nil while it is not
	h    Health
}

func (s *status) current() link {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link
}

// turn notes a new state of the connection and reports whether it is one.
func (s *status) turn(to link, why string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.link != to
	switch {
	case changed && to == linkUp:
		s.lost = make(chan struct{})
	case changed && s.link == linkUp:
		close(s.lost)
		s.lost = nil
	}
	s.link, s.h.Connected, s.h.LastError = to, to == linkUp, why
	return changed
}

// watch returns a channel that is closed when the connection there is now is
// lost; nil where there is none.
func (s *status) watch() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

// blame keeps why there is no connection, and reports whether that is news.
func (s *status) blame(why string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.link == linkUp || s.h.LastError == why {
		return false
	}
	s.h.LastError = why
	return true
}

func (s *status) reconnected() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.h.Reconnects++
}

// published counts the outcome of one publication; why is "" for success.
func (s *status) published(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case why != "":
		s.h.Failed++
		if s.link == linkUp {
			s.h.LastError = why
		}
	default:
		s.h.Published++
		s.h.LastError = ""
	}
}

func (s *status) health() Health {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.h
}
