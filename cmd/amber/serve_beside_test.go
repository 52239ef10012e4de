//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// TestAServerBesideCommandsAndHooks: requests, commands, hooks and snapshots of one home at one time. None of
// them fails because another was busy, everything is there, and the server drains what the hooks left.
func TestAServerBesideCommandsAndHooks(t *testing.T) {
	t.Parallel()
	u := newUser(t)
	r := u.serve()
	r.answer(http.MethodPost, agentURL+"/memories", remembering("the first"), nil) // it makes the agent
	var wg sync.WaitGroup
	command := func(stdin string, args ...string) {
		if out, errs, code := u.asProcess(stdin, args...); code != 0 || strings.Contains(errs, "busy") {
			t.Errorf("amber %s: exit %d\n%s%s", strings.Join(args, " "), code, out, errs)
		}
	}
	const each = 5
	for c := range 3 {
		wg.Go(func() {
			for i := range 4 * each {
				status, b, err := r.ask(http.MethodPost, agentURL+"/memories", remembering("request %d of %d", i, c))
				if err != nil || status != http.StatusCreated {
					t.Errorf("%d %s %v", status, b, err)
				}
			}
		})
	}
	wg.Go(func() {
		for i := range each {
			command("", "remember", fmt.Sprintf("command %d", i), "--scope", "global")
		}
	})
	wg.Go(func() {
		for i := range each {
			command(fmt.Sprintf(`{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"hook %d"}`, i), "hook", "claude-code", "--no-drain")
		}
	})
	wg.Go(func() {
		for range 2 {
			command("", "snapshot", "create")
		}
	})
	wg.Wait()

	there := r.contents()
	for c := range 3 {
		for i := range 4 * each {
			present(t, there, fmt.Sprintf("request %d of %d", i, c))
		}
	}
	for i := range each {
		present(t, there, fmt.Sprintf("command %d", i))
	}
	r.await("the journal is drained", func() bool { return r.turns("s1") == each })
	var page amber.Page[wire.JournalStatus]
	r.await("the journal knows", func() bool {
		r.get(agentURL+"/journal", &page)
		return len(page.Items) == 1 && page.Items[0].Undrained == 0
	})
	r.await("the round is told", func() bool { return r.worker("journal drain").Detail != "" })
	says(t, "/health", r.worker("journal drain").Detail, "default/default: ", "events")
	if w := r.worker("journal drain"); w.Failures != 0 {
		t.Errorf("the drain failed: %+v", w)
	}
	// The server sees at once what a command writes, and the other way round.
	command("", "remember", "a last word", "--scope", "global")
	present(t, r.contents(), "a last word")
	if out := u.must("", "recall", "request", "--json", "-n", "1"); !strings.Contains(out, "request") {
		t.Errorf("recall: %s", out)
	}
	r.stop()
	u.must("", "doctor")
}

func present(t *testing.T, there map[string]amber.MemoryID, content string) {
	t.Helper()
	if there[content] == "" {
		t.Errorf("%q is not there", content)
	}
}

// turns counts the turns of a session; one that is not there has none.
func (r *running) turns(session string) int {
	r.t.Helper()
	status, b, err := r.ask(http.MethodGet, agentURL+"/sessions/"+session+"/turns", "")
	must.Do(r.t, err)
	var page amber.Page[amber.Turn]
	if status == http.StatusOK {
		must.Do(r.t, json.Unmarshal(b, &page))
	}
	return len(page.Items)
}
