package web

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/amber-memory/amber"
)

// Bounds of log-ins.
const (
	maxSessions = 1024           // one more ends one of the token that has most
	sessionIdle = 12 * time.Hour // a log-in ends after so long without a use
	sessionLife = 7 * 24 * time.Hour
)

// session is one log-in. Its token stays in this process.
type session struct {
	secret         string
	begun, lastUse time.Time
	over           context.Context // ends with the log-in
	end            context.CancelFunc
}

// sessions are the log-ins, by the id that the browser keeps. Safe for concurrent
// use.
type sessions struct {
	clock  amber.Clock
	random io.Reader

	mu   sync.Mutex
	open map[string]*session
}

func newSessions(clock amber.Clock, random io.Reader) *sessions {
	return &sessions{clock: clock, random: random, open: map[string]*session{}}
}

// begin returns the id of a new log-in.
func (s *sessions) begin(secret string) string {
	id, now := newID(s.random), s.clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	if len(s.open) >= maxSessions {
		s.drop(s.stalest())
	}
	over, end := context.WithCancel(context.Background())
	s.open[id] = &session{secret: secret, begun: now, lastUse: now, over: over, end: end}
	return id
}

// use returns the token of a log-in and what ends with the log-in; "" where there is none.
func (s *sessions) use(id string) (secret string, over context.Context) {
	now := s.clock()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sweep(now)
	l, ok := s.open[id]
	if !ok {
		return "", context.Background()
	}
	l.lastUse = now
	return l.secret, l.over
}

func (s *sessions) end(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(id)
}

// drop forgets a log-in, and ends the streams that were opened by it.
func (s *sessions) drop(id string) {
	if l, ok := s.open[id]; ok {
		l.end()
		delete(s.open, id)
	}
}

// sweep ends log-ins whose time is over.
func (s *sessions) sweep(now time.Time) {
	for id, l := range s.open {
		if now.Sub(l.lastUse) >= sessionIdle || now.Sub(l.begun) >= sessionLife {
			s.drop(id)
		}
	}
}

// stalest is the log-in that was not used for longest of the token that has most: who logs in again
// and again ends log-ins of their own.
func (s *sessions) stalest() string {
	of := map[string]int{}
	for _, l := range s.open {
		of[l.secret]++
	}
	stalest, at, most := "", time.Time{}, 0
	for id, l := range s.open {
		if n := of[l.secret]; n > most || n == most && l.lastUse.Before(at) {
			stalest, at, most = id, l.lastUse, n
		}
	}
	return stalest
}

// newID is a random id that an attacker cannot guess.
func newID(random io.Reader) string {
	var b [18]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		_, _ = rand.Read(b[:]) // it never fails
	}
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// isID reports whether a text has the form of what newID returns.
func isID(s string) bool {
	b, err := base64.RawURLEncoding.DecodeString(s)
	return err == nil && len(b) == 18 && len(s) == 24
}

// derived is a value that shows that its bearer was sent a page of this session: it cannot be made without the id,
// and the id cannot be found from it.
func derived(id, purpose string) string {
	sum := sha256.Sum256([]byte("amber " + purpose + "\n" + id))
	return base64.RawURLEncoding.EncodeToString(sum[:18])
}

// same compares without telling how far two values agree.
func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// The cookies of the page. Browsers do not keep the cookies of two ports of one machine
// apart, so the port is in the name.
const (
	cookieSession = "amber-session"
	cookieTheme   = "amber-theme"
)

func cookieName(r *http.Request, name string) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil && port != "" && strings.Trim(port, "0123456789") == "" {
		return name + "-" + port
	}
	return name
}

func (p *Page) setCookie(w http.ResponseWriter, r *http.Request, name, value string, age int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r, name), Value: value, Path: Root, MaxAge: age,
		HttpOnly: true, SameSite: http.SameSiteStrictMode, Secure: !p.o.Insecure,
	})
}

func cookie(r *http.Request, name string) string {
	c, err := r.Cookie(cookieName(r, name))
	if err != nil {
		return ""
	}
	return c.Value
}
