//go:build linux

package main

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

func memoryEffects() map[string]effect {
	return map[string]effect{
		"memory.enabled":        {value("false"), func(s *setting) string { return s.exit("remember", "x") }, "exit 0", "exit 6"},
		"memory.backend":        refusedBackend("memory.backend", "inmem", "openviking, postgres, remote, sqlite"),
		"memory.recall.enabled": {value("false"), func(s *setting) string { return s.exit("recall", "x") }, "exit 0", "exit 6"},
		"memory.recall.agents_ask_all": {value("true"), func(s *setting) string {
			s.set("CLAUDECODE", "1")
			return fmt.Sprint(told[wire.Asked](s, "ask", "fish").All)
		}, "false", "true"},
		"memory.recall.top_k": {value("1"), func(s *setting) string {
			s.does("remember", "one fish")
			s.does("remember", "two fish")
			return fmt.Sprint(len(told[amber.RecallResult](s, "recall", "fish").Hits))
		}, "2", "1"},
		"memory.write.enabled":        {value("false"), func(s *setting) string { return s.exit("remember", "x") }, "exit 0", "exit 6"},
		"memory.write_back.enabled":   {value("false"), learnt("workflow_insight"), "1", "0"},
		"memory.write_back.learnings": {value("false"), learnt("workflow_insight"), "1", "0"},
		"memory.write_back.digests":   {value("false"), learnt("session_summary"), "1", "0"},
		"memory.write_back.cases":     {value("true"), learnt("historical_case"), "0", "1"},
		"memory.write.max_batch_size": {value("1"), func(s *setting) string {
			status, _ := s.serve().ask("POST", "/v1/tenants/default/agents/default/memories/batch", `{"items":[{"content":"a"},{"content":"b"}]}`)
			return fmt.Sprint(status / 100)
		}, "2", "4"},
		"memory.backends.sqlite.busy_timeout": {value("1ms"), func(s *setting) string {
			s.does("remember", "x")
			return s.whileLocked(s.lockDatabase, "remember", "y")
		}, "exit 0", "exit 4"},
		"memory.backends.sqlite.readers": {value("1"), readersSeen, "more", "a few"},
	}
}

// learnt lets a host live through a session and counts the memories of a kind that were made without a request
// for them.
func learnt(kind string) func(*setting) string {
	return func(s *setting) string {
		for _, event := range []string{
			`{"session_id":"s1","hook_event_name":"UserPromptSubmit","prompt":"why do the tests fail?"}`,
			`{"session_id":"s1","hook_event_name":"Stop","last_assistant_message":"Fixed.\n\n## Key Learnings\n- Integration tests need PostgreSQL 16\n"}`,
			`{"session_id":"s1","hook_event_name":"SessionEnd","reason":"exit"}`,
		} {
			if _, complaint, code := s.amber(event, "hook", "claude-code", "--no-drain", "--timeout", "1m", "--context-timeout", "1m"); code != 0 || complaint != "" {
				s.Fatal(code, complaint)
			}
		}
		s.does("journal", "drain")
		return s.items("list", "--kind", kind, "--all")
	}
}

// layerEffects give each layer a backend that cannot serve the layer.
func layerEffects() map[string]effect {
	all := map[string]effect{}
	for _, l := range amber.Layers() {
		key, names := "memory.layers."+string(l)+".backend", "openviking, sqlite"
		if l == amber.LayerNotes {
			names = "git"
		}
		all[key] = refusedBackend(key, "inmem", names)
	}
	return all
}

// refusedBackend is a backend that the key cannot choose: nothing is written, and
// the complaint names the key and the backends there are.
func refusedBackend(key, name, names string) effect {
	refused := fmt.Sprintf("exit 6, 0 kept, %s to one of: %s", key, names)
	return effect{value(name), func(s *setting) string {
		_, complaint, code := s.amber("", "remember", "x")
		hint := fmt.Sprintf("%s to one of: %s", key, names)
		kept := 0
		if s.with {
			s.env = s.env[:len(s.env)-1]
		} else if complaint == "" || code != 0 {
			hint = "without complaint"
		}
		if _, err := os.Stat(s.path("home")); err == nil {
			n := must.Get(strconv.Atoi(s.items("list")))(s)
			kept = n
		}
		if !strings.Contains(complaint, hint) {
			hint = "without complaint"
		}
		return fmt.Sprintf("exit %d, %d kept, %s", code, kept, hint)
	}, "exit 0, 1 kept, without complaint", refused}
}

func queueEffects() map[string]effect {
	publish := func(s *setting, entry string) string {
		return s.exit("queue", "publish", entry, "--task", "t", "--node", "n", "x")
	}
	return map[string]effect{
		"control.queue.lease": {value("2h"), func(s *setting) string {
			publish(s, "e1")
			c := told[amber.Claim](s, "queue", "claim", "--consumer", "c")
			return fmt.Sprint(amber.At(s.clock().Add(time.Hour)).Before(c.Lease.ExpiresAt))
		}, "false", "true"},
		"control.queue.max_in_flight": {value("1"), func(s *setting) string {
			publish(s, "e1")
			publish(s, "e2")
			s.does("queue", "claim", "--consumer", "c")
			return s.exit("queue", "claim", "--consumer", "c")
		}, "exit 0", "exit 4"},
		"control.queue.max_queued": {value("1"), func(s *setting) string {
			publish(s, "e1")
			return publish(s, "e2")
		}, "exit 0", "exit 6"},
		"control.queue.max_attempts": {value("1"), func(s *setting) string {
			publish(s, "e1")
			claim := s.does("--json", "queue", "claim", "--consumer", "c")
			if _, complaint, code := s.amber(claim, "queue", "nack", "-", "--reason", "x"); code != 0 {
				s.Fatal(complaint)
			}
			return s.items("queue", "dead")
		}, "0", "1"},
	}
}

func journalEffects() map[string]effect {
	appends := func(sessions ...string) func(*setting) string {
		return func(s *setting) (last string) {
			for _, session := range sessions {
				_, _, code := s.amber(strings.Repeat("x", 600_000), "journal", "append", "--session", session, "--type", "prompt", "-")
				last = fmt.Sprint("exit ", code)
			}
			return last
		}
	}
	return map[string]effect{
		"journal.flush_interval":    {value("500ms"), func(s *setting) string { return fmt.Sprint(importWaits(s) >= 500*time.Millisecond) }, "false", "true"},
		"journal.max_entries":       {value("1"), func(s *setting) string { return fmt.Sprint(importWaits(s) > 0) }, "true", "false"},
		"journal.max_session_bytes": {value("1MiB"), appends("s1", "s1"), "exit 0", "exit 6"},
		"journal.max_bytes":         {value("1MiB"), appends("s1", "s1", "s2"), "exit 0", "exit 6"},
	}
}

// whileLocked runs a command while the test holds a lock that the command needs, and returns how it ended. With
// the key set the command has to give up by itself; without the key, the test lets go of the lock after a
// while.
func (s *setting) whileLocked(lock func() (unlock func()), args ...string) string {
	s.Helper()
	unlock := sync.OnceFunc(lock())
	defer unlock()
	if !s.with {
		time.AfterFunc(300*time.Millisecond, unlock)
	}
	return s.exit(args...)
}

// lockDatabase writes to the database of the agent, and does not end.
func (s *setting) lockDatabase() (unlock func()) {
	s.Helper()
	found, err := filepath.Glob(s.path("home/tenants/default/agents/default/gen/*/memory.db"))
	if err != nil || len(found) != 1 {
		s.Fatal(found, err)
	}
	db := must.Get(sql.Open("sqlite", found[0]))(s)
	conn := must.Get(db.Conn(s.Context()))(s)
	must.Get(conn.ExecContext(s.Context(), "BEGIN IMMEDIATE"))(s)
	return func() {
		_ = conn.Close()
		_ = db.Close()
	}
}

// readersSeen asks with many at one time, and tells how often the database is open: once for each reader, twice to write, and now and
// then once to look. A reader is opened when all others are in use, so it may take some rounds.
func readersSeen(s *setting) string {
	w := s.serve()
	w.ofAgent("POST", "/memories", `{"content":"x"}`)
	for range 40 {
		var all sync.WaitGroup
		for range 48 {
			all.Go(func() { w.ofAgent("GET", "/stats", "") })
		}
		all.Wait()
		if s.opened("memory.db") > 4 {
			return "more"
		}
	}
	return "a few"
}

// opened counts the descriptors of this process on a file of the home.
func (s *setting) opened(name string) (n int) {
	all := must.Get(os.ReadDir("/proc/self/fd"))(s)
	for _, d := range all {
		to, _ := os.Readlink(filepath.Join("/proc/self/fd", d.Name())) // it may be gone
		if strings.HasPrefix(to, s.path("home")) && filepath.Base(to) == name {
			n++
		}
	}
	return n
}

// importWaits imports events of three sessions and returns how long appends waited for
// others to share their sync. The clock of the bubble moves only while the whole
// program waits.
func importWaits(s *setting) time.Duration {
	var entries []string
	for session := range 3 {
		var said []string
		for i := range 130 + session {
			said = append(said, fmt.Sprintf(`{"role":"user","content":"prompt %d","timestamp":"2026-01-02T03:00:01Z"}`, i))
		}
		entries = append(entries, fmt.Sprintf(`{"timestamp":"2026-01-02T03:00:03Z","context_type":"checkpoint","context":{"agent_type":"claude-code","session_id":"s%d","conversation":[%s]}}`,
			session, strings.Join(said, ",")))
	}
	file := s.file("buffer.json", `{"started_at":"2026-01-02T03:00:00Z","entries":[`+strings.Join(entries, ",")+`]}`)
	var waited time.Duration
	synctest.Test(s.T, func(t *testing.T) {
		inside, begin := *s, time.Now()
		inside.T = t
		inside.does("journal", "import", file)
		waited = time.Since(begin)
		time.Sleep(time.Minute) // until the journal no longer waits for others
	})
	return waited
}
