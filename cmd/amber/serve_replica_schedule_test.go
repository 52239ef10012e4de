//go:build linux

package main

import (
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// A server on a schedule freezes agents of databases once, however many periods pass, and again when anything of them was written.
func TestAnIdleAgentOfADatabaseIsFrozenOnce(t *testing.T) {
	t.Parallel()
	homes, dsn := replicas(t, 1)
	ownDatabase(t, homes, dsn)
	s := homes[0]
	c := &calendar{now: time.Now(), waits: make(chan chan time.Time, 1)}
	s.at, s.after = c.read, c.after
	s.set("AMBER_SNAPSHOT__AUTO__SCHEDULE", "15m")
	s.does("remember", "x", "--tenant", "acme", "--new-agent")
	w := s.replica()
	told := func() string { // by /health, once the period is over
		over := <-c.waits
		c.waits <- over
		return w.worker("scheduled snapshots").Detail
	}
	// The background work of the server may write after the next snapshot, once: vectors, or the end of a
	// session whose process is gone. A round of that work that finds nothing to do writes nothing.
	settles := func(after string) {
		t.Helper()
		for range 3 {
			if c.period(15 * time.Minute); told() == "0 taken, 1 unchanged" {
				return
			}
		}
		t.Errorf("an agent that does not change is frozen again and again after %s", after)
	}
	must.Equal(t, "at first", told(), "1 taken, 0 unchanged")
	settles("the first one")
	for range 3 {
		c.period(15 * time.Minute)
		must.Equal(t, "idle", told(), "0 taken, 1 unchanged")
	}
	changes := [][]string{
		{"remember", "y"},
		{"note", "write", "a.md", "a note"},
		{"task", "save", "t1", "--goal", "x"},
		{"session", "start", "s2"},
		{"journal", "append", "--session", "s3", "--type", "prompt", "hello"},
	}
	for _, change := range changes {
		s.does(append(change, "--tenant", "acme")...)
		c.period(15 * time.Minute)
		must.Equal(t, strings.Join(change, " "), told(), "1 taken, 0 unchanged")
		settles(strings.Join(change, " "))
	}
	must.Hold(t, len(s.listedOf("acme")) > len(changes), "fewer snapshots than changes")
}

// listedOf lists the snapshots of the default agent of a tenant.
func (s *setting) listedOf(tenant string) []wire.SnapshotMeta {
	return told[amber.Page[wire.SnapshotMeta]](s, "snapshot", "list", "--tenant", tenant).Items
}

// A server applies retention to agents of databases, and the audit log records it.
func TestRetentionOfADatabase(t *testing.T) {
	t.Parallel()
	homes, dsn := replicas(t, 1)
	ownDatabase(t, homes, dsn)
	s := homes[0]
	s.set("AMBER_SNAPSHOT__RETENTION__MANUAL", "true")
	s.set("AMBER_SNAPSHOT__RETENTION__KEEP_LAST", s.onlyRule("last"))
	s.does("remember", "x", "--tenant", "acme", "--new-agent")
	for range 3 {
		s.does("snapshot", "create", "--tenant", "acme")
	}
	last := s.listedOf("acme")[0].ID
	w := s.replica()
	await(t, func() bool { return w.rounds("retention") > 0 })
	left := s.listedOf("acme")
	must.Equal(t, "snapshots", len(left), 1)
	must.Equal(t, "the one that is left", left[0].ID, last)
	entries := told[struct{ Items []wire.AuditEntry }](s, "audit", "list", "-n", "100").Items
	pruned := 0
	for _, e := range entries {
		if e.Action == "snapshot.prune" && e.Tenant == "acme" {
			pruned++
		}
	}
	must.Equal(t, "deletions in the audit log", pruned, 2)
}
