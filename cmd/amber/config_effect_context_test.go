//go:build linux

package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/amber-memory/amber/internal/serve/hooksocket"
	"github.com/amber-memory/amber/internal/test/must"
)

func contextEffects() map[string]effect {
	return map[string]effect{
		"context.trust": {value("own"), func(s *setting) string {
			s.begins("s1", "why is the coupon total rounded twice?", "--context-timeout", "1m")
			s.does("journal", "drain")
			said, _ := s.begins("s2", "", "--context-timeout", "1m")
			return fmt.Sprint(strings.Contains(said, "rounded twice"))
		}, "true", "false"},
		"context.min_score": {value("0.01"), func(s *setting) string {
			s.set("AMBER_SEARCH__MODEL", "none")
			s.does("remember", "The coupon rounding is done in cents")
			said, _ := s.begins("s2", "is the coupon rounding of vouchers done in dollars", "--context-timeout", "1m")
			return fmt.Sprint(strings.Contains(said, "in cents"))
		}, "false", "true"},
		"context.max_bytes": {value("600"), func(s *setting) string {
			s.does("remember", strings.Repeat("The coupon rounding is done in cents. ", 50))
			said, _ := s.begins("s2", "", "--context-timeout", "1m")
			return fmt.Sprint(strings.Contains(said, "in cents"), " ", len(said) > 1000)
		}, "true true", "true false"},
		"context.stay": {value("0"), (*setting).drainer, "it answers hooks", "it ends"},
		"context.budget": {func(s *setting) string {
			s.embedder(func(r *http.Request) { // longer than the usual budget, unless the caller gives up
				select {
				case <-r.Context().Done():
				case <-time.After(time.Second):
				}
			})
			return "1m"
		}, func(s *setting) string {
			s.does("remember", "The coupon rounding is done in cents")
			_, complaint := s.begins("s2", "is the coupon rounding done in cents")
			return fmt.Sprint(slices.ContainsFunc([]string{"in time", "is used up", "soon enough"}, func(said string) bool { return strings.Contains(complaint, said) }))
		}, "true", "false"},
	}
}

// drainer runs the process behind hooks and reports what it does.
func (s *setting) drainer() string {
	tmp := must.Get(os.MkdirTemp("", "amber"))(s)
	s.Cleanup(func() { _ = os.RemoveAll(tmp) })
	s.set("TMPDIR", tmp)
	s.set("XDG_RUNTIME_DIR", tmp)
	s.begins("s1", "", "--context-timeout", "0")
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"journal", "drain", "--detached"}, s.world("", io.Discard, io.Discard))
	}()
	for {
		select {
		case <-ended:
			return "it ends"
		case <-time.After(10 * time.Millisecond):
		}
		socket, err := hooksocket.OfHolder(s.path("home", "tenants", "default", "agents", "default", "spool", "background.lock"), func(string) string { return tmp }, false)
		if err == nil && hooksocket.Answers(ctx, socket) {
			cancel()
			<-ended
			return "it answers hooks"
		}
	}
}

// begins lets a host begin a session, or send a prompt, and returns what the hook printed.
func (s *setting) begins(session, prompt string, args ...string) (said, complaint string) {
	s.Helper()
	work := s.path("shop")
	must.Do(s, os.MkdirAll(filepath.Join(work, ".git"), 0o700))
	must.Do(s, os.WriteFile(filepath.Join(work, ".git", "config"), []byte("[remote \"origin\"]\n\turl = https://host.invalid/acme/shop.git\n"), 0o600))
	event := fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":"SessionStart","source":"startup"}`, session, work)
	if prompt != "" {
		event = fmt.Sprintf(`{"session_id":%q,"cwd":%q,"hook_event_name":"UserPromptSubmit","prompt":%q}`, session, work, prompt)
	}
	said, complaint, code := s.amber(event, append([]string{"hook", "claude-code", "--no-drain", "--timeout", "1m"}, args...)...)
	if code != 0 {
		s.Fatal(code, complaint)
	}
	return said, complaint
}
