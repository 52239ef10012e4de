package natsbus

import (
	"strconv"
	"strings"
	"sync"
)

// complaints brings what a server complains about to the caller that publishes there:
// it comes beside the answers, and may come instead of one. The zero value is
// ready. Safe for concurrent use.
type complaints struct {
	mu      sync.Mutex
	waiting map[*listener]struct{} // as many as there are senders
}

// listener is a caller that publishes on a subject and wants to hear complaints about it.
type listener struct {
	quoted string // the subject as a server writes it
	heard  chan string
}

// about returns a channel that gets the next complaint about a subject, until
// forget is called.
func (c *complaints) about(subject string) (heard <-chan string, forget func()) {
	l := &listener{strconv.Quote(subject), make(chan string, 1)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting == nil {
		c.waiting = map[*listener]struct{}{}
	}
	c.waiting[l] = struct{}{}
	return l.heard, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.waiting, l)
	}
}

// tell hands a complaint to those whom it concerns. They are shown the clean
// text: a password may be a word of the subject.
func (c *complaints) tell(text, clean string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for l := range c.waiting {
		if !strings.Contains(text, l.quoted) {
			continue
		}
		select {
		case l.heard <- clean:
		default: // it has one
		}
	}
}
