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
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/journal"
)

func memoryEffects() map[string]effect {
	return map[string]effect{
		"memory.enabled":        {value("false"), func(s *setting) string { return s.exit("remember", "x") }, "exit 0", "exit 6"},
		"memory.backend":        refusedBackend("memory.backend", "inmem", "sqlite"),
		"memory.recall.enabled": {value("false"), func(s *setting) string { return s.exit("recall", "x") }, "exit 0", "exit 6"},
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
		"memory.backends.sqlite.readers": {value("16"), readersSeen, "a few", "more"},
	}
}

// learnt lets a host live through a session and counts the memories of a kind
// that nobody asked for.
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
		key, names := "memory.layers."+string(l)+".backend", "sqlite"
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
			n, err := strconv.Atoi(s.items("list"))
			if err != nil {
				s.Fatal(err)
			}
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
		"journal.flush_interval":    {value("200ms"), waitSeen, "5ms", "200ms"},
		"journal.max_entries":       {value("1"), syncsSeen, "2 syncs", "4 syncs"},
		"journal.max_session_bytes": {value("1MiB"), appends("s1", "s1"), "exit 0", "exit 6"},
		"journal.max_bytes":         {value("1MiB"), appends("s1", "s1", "s2"), "exit 0", "exit 6"},
	}
}

// whileLocked runs a command while somebody holds what it needs, and tells how it
// ended. With the key set it has to give up by itself; without it, it is let go on.
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
	db, err := sql.Open("sqlite", found[0])
	if err != nil {
		s.Fatal(err)
	}
	conn, err := db.Conn(s.Context())
	if err != nil {
		s.Fatal(err)
	}
	if _, err := conn.ExecContext(s.Context(), "BEGIN IMMEDIATE"); err != nil {
		s.Fatal(err)
	}
	return func() {
		_ = conn.Close()
		_ = db.Close()
	}
}

// readersSeen reads with many at one time, and tells how often the database is
// open: once for each reader, twice to write, and now and then once to look.
func readersSeen(s *setting) string {
	w := s.serve()
	w.ofAgent("POST", "/memories", `{"content":"x"}`)
	for range 40 {
		var all sync.WaitGroup
		for range 48 {
			all.Go(func() { w.ofAgent("GET", "/memories", "") })
		}
		all.Wait()
		if s.opened("memory.db") > 10 {
			return "more"
		}
		if !s.with {
			return "a few"
		}
	}
	return "a few"
}

// opened counts the descriptors of this process on a file of the home.
func (s *setting) opened(name string) (n int) {
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		s.Fatal(err)
	}
	for _, d := range all {
		to, _ := os.Readlink(filepath.Join("/proc/self/fd", d.Name())) // it may be gone
		if strings.HasPrefix(to, s.path("home")) && filepath.Base(to) == name {
			n++
		}
	}
	return n
}

// slowDisk is one on which the first sync of a segment waits until it is let go.
type slowDisk struct {
	fsx.FS
	release chan struct{}
	mu      sync.Mutex
	syncs   int
}

func (d *slowDisk) OpenFile(name string, flag int, perm os.FileMode) (fsx.File, error) {
	f, err := d.FS.OpenFile(name, flag, perm)
	if err != nil || filepath.Ext(name) != ".seg" {
		return f, err
	}
	return slowFile{f, d}, nil
}

type slowFile struct {
	fsx.File
	disk *slowDisk
}

func (f slowFile) Sync() error {
	f.disk.mu.Lock()
	f.disk.syncs++
	f.disk.mu.Unlock()
	<-f.disk.release
	return f.File.Sync()
}

// crowd appends one entry and, while that waits for the disk, three more; then it
// calls alone with what appends another one.
func (s *setting) crowd(alone func(d *slowDisk, one func())) {
	a := &app{world: s.world("", nil, nil)}
	c, err := a.loadConfig()
	if err != nil {
		s.Fatal(err)
	}
	dir := s.path("spool")
	if err := os.Mkdir(dir, 0o700); err != nil {
		s.Fatal(err)
	}
	synctest.Test(s.T, func(t *testing.T) {
		d := &slowDisk{FS: fsx.OS(), release: make(chan struct{})}
		o := journalOptions(c.Config.Journal, time.Now)
		o.FS = d
		j, err := journal.Open(dir, o)
		if err != nil {
			t.Fatal(err)
		}
		one := func() {
			if _, err := j.Append(t.Context(), journal.Session{Host: "amber", ID: "s1"}, journal.Entry{Payload: []byte("{}")}); err != nil {
				t.Error(err)
			}
		}
		var all sync.WaitGroup
		all.Go(one)
		synctest.Wait()
		for range 3 {
			all.Go(one)
		}
		synctest.Wait()
		close(d.release)
		all.Wait()
		alone(d, one)
		time.Sleep(time.Minute) // until nobody waits for others to come
	})
}

// syncsSeen counts what four appends cost of which three may share.
func syncsSeen(s *setting) (seen string) {
	s.crowd(func(d *slowDisk, _ func()) { seen = fmt.Sprint(d.syncs, " syncs") })
	return seen
}

// waitSeen measures how long an append waits for others to come.
func waitSeen(s *setting) (seen string) {
	s.crowd(func(_ *slowDisk, one func()) {
		begin := time.Now()
		one()
		seen = time.Since(begin).String()
	})
	return seen
}
