//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/test/must"
)

func eventEffects() map[string]effect {
	remembers := func(s *setting) *waiter {
		w := s.serve()
		w.ofAgent("POST", "/memories", `{"content":"x"}`)
		return w
	}
	return map[string]effect{
		"events.nats_url": {func(s *setting) string { return s.broker().ClientURL() }, func(s *setting) string {
			w := remembers(s)
			if _, text := w.ask("GET", "/metrics", ""); !strings.Contains(text, "amber_nats_connected") {
				return "not published"
			}
			return s.next(events.DefaultMutationPrefix + ".>").Subject
		}, "not published", "amber.memory.mutated.default.default"},
		"events.nats_creds": {func(s *setting) string {
			file, wants := credentials(s)
			s.set("AMBER_EVENTS__NATS_URL", s.broker(wants).ClientURL())
			return file
		}, func(s *setting) string {
			w := s.serve()
			var log string
			await(s.T, func() bool {
				log = w.log.String()
				return strings.Contains(log, "connected to NATS") || strings.Contains(log, "cannot connect")
			})
			return fmt.Sprint(strings.Contains(log, "connected to NATS"))
		}, "false", "true"},
		"events.jetstream": {value("true"), func(s *setting) string {
			b := s.broker()
			s.set("AMBER_EVENTS__NATS_URL", b.ClientURL())
			remembers(s)
			s.next(events.DefaultMutationPrefix + ".>")
			js := must.Get(jetstream.New(s.conn))(s)
			_, err := js.Stream(s.Context(), "AMBER")
			return fmt.Sprint("kept: ", err == nil)
		}, "kept: false", "kept: true"},
		"events.mutation_enabled": {value("false"), func(s *setting) string {
			s.set("AMBER_EVENTS__NATS_URL", s.broker().ClientURL())
			w := s.serve()
			w.ofAgent("POST", "/memories", `{"content":"x"}`)
			w.ofAgent("PUT", "/notes/a", `{"content":"x"}`)
			before := w.rounds("events")
			await(s.T, func() bool { return w.rounds("events") >= before+2 })
			w.ofAgent("POST", "/snapshots", `{}`)
			s.next(events.DefaultLifecyclePrefix + ".>") // what comes before it is there, too
			return fmt.Sprint(len(s.mutations) > 0)
		}, "true", "false"},
		"events.mutation_prefix": {value("acme.changes"), func(s *setting) string {
			s.set("AMBER_EVENTS__NATS_URL", s.broker().ClientURL())
			remembers(s)
			return s.next("*.*.mutated.>", "acme.changes.>").Subject
		}, "amber.memory.mutated.default.default", "acme.changes.default.default"},
		"events.lifecycle_prefix": {value("acme.frozen"), func(s *setting) string {
			s.set("AMBER_EVENTS__NATS_URL", s.broker().ClientURL())
			remembers(s).ofAgent("POST", "/snapshots", `{}`)
			return s.next("*.*.snapshot.>", "acme.frozen.>").Subject
		}, "amber.memory.snapshot.default.default.created", "acme.frozen.default.default.created"},
	}
}

// TestEveryEventIsPublished causes one event of each promised subject and scope, and
// waits until a listener has received it. No event holds a text.
func TestEveryEventIsPublished(t *testing.T) {
	t.Parallel()
	s := newSetting(t, true)
	s.set("AMBER_EVENTS__NATS_URL", s.broker().ClientURL())
	w := s.serve()
	w.changeEverything()
	w.lifeOfSnapshots()
	want := map[string]bool{events.DefaultLifecyclePrefix + ".default._all.gc": true}
	for _, name := range []events.EventName{events.EventCreated, events.EventRestored, events.EventDeleted, events.EventVerified, events.EventPruned} {
		want[events.DefaultLifecyclePrefix+".default.default."+string(name)] = true
	}
	for _, scope := range []amber.ChangeScope{
		amber.ChangeMemory, amber.ChangeTurn, amber.ChangeSession, amber.ChangeLoop, amber.ChangeNote, amber.ChangeGit,
		amber.ChangeState, amber.ChangeCompaction, amber.ChangeControl,
	} {
		want[string(scope)] = true
	}
	late := time.After(time.Minute)
	for len(want) > 0 {
		select {
		case m := <-s.heard:
			delete(want, m.Subject)
			must.Hides(t, "an event", string(m.Data), "confidence")
			if m.Subject == events.DefaultMutationPrefix+".default.default" {
				delete(want, scopeOf(t, m.Data))
			}
		case <-late:
			t.Fatalf("no event was received for %v", want)
		}
	}
}

// scopeOf is what a mutation was about.
func scopeOf(t *testing.T, event []byte) string {
	t.Helper()
	var e struct{ Payload events.Mutation }
	if err := json.Unmarshal(event, &e); err != nil {
		t.Fatalf("%v in %s", err, event)
	}
	return string(e.Payload.Scope)
}

// changeEverything changes one thing of each scope.
func (w *waiter) changeEverything() {
	w.Helper()
	w.ofAgent("POST", "/memories", `{"content":"in confidence"}`)
	w.ofAgent("POST", "/sessions", `{"id":"s1"}`)
	w.ofAgent("POST", "/sessions/s1/turns", `{"role":"user","content":"in confidence"}`)
	w.ofAgent("PUT", "/sessions/s1/loop", `{"run_id":"r1","state_json":{}}`)
	w.ofAgent("PUT", "/sessions/s1/state", `{"document":{}}`)
	w.ofAgent("POST", "/sessions/s1/compactions", `{"summary":"in confidence"}`)
	w.ofAgent("PUT", "/notes/a", `{"content":"in confidence"}`)
	w.ofAgent("PUT", "/tasks/t1", `{"goal":"in confidence"}`)
}

// lifeOfSnapshots does everything that can be done with snapshots.
func (w *waiter) lifeOfSnapshots() {
	w.Helper()
	var ids []string
	for range 3 {
		ids = append(ids, w.idOf(w.ofAgent("POST", "/snapshots", `{}`)))
	}
	w.ofAgent("POST", "/snapshots/"+ids[0]+"/verify", `{}`)
	w.ofAgent("POST", "/snapshots/"+ids[0]+"/restore", `{}`)
	w.ofAgent("DELETE", "/snapshots/"+ids[0], "")
	w.ofAgent("POST", "/snapshots/prune", `{"keep_last":1}`)
	if status, text := w.ask("POST", "/v1/tenants/default/gc", `{}`); status != http.StatusOK {
		w.Fatal(text)
	}
}
