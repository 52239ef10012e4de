package daemon

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// schedule takes snapshots when it is time.
func (s *Daemon) schedule(ctx context.Context, report server.Report) error {
	return s.scheduler(report).Run(ctx)
}

// scheduler is the worker that does.
func (s *Daemon) scheduler(report server.Report) *snapshot.Schedule {
	return &snapshot.Schedule{
		Taker: s.worker(), Roster: s.people(), Clock: s.o.Clock, After: s.o.After, Mark: s.contentMark,
		When: func() string {
			if c := s.current(); c.Snapshot.Enabled {
				return c.Snapshot.Auto.Schedule
			}
			return "off"
		},
		Report: func(r snapshot.ScheduleReport) {
			var err error
			if len(r.Errors) > 0 {
				err = errors.New(strings.Join(r.Errors[:min(len(r.Errors), 10)], "; "))
			}
			report(fmt.Sprintf("%d taken, %d unchanged", len(r.Taken), r.Unchanged), err)
		},
	}
}

// contentMark is another one whenever a snapshot of the agent would hold something
// else. Unlike changeMark it does not change when a snapshot is taken: files of
// databases change when they are only opened.
func (s *Daemon) contentMark(ctx context.Context, tenant amber.TenantID, id amber.AgentID) (string, error) {
	agent, err := s.o.Home.Agent(tenant, id)
	if err != nil {
		return "", err
	}
	if s.o.Replica != nil {
		return s.rowsMark(ctx, agent)
	}
	current, err := agent.Current()
	if err != nil {
		return "", err
	}
	h := sha256.New()
	if err := s.markDatabases(ctx, agent, h); err != nil {
		return "", err
	}
	if err := s.markJournal(ctx, agent, h); err != nil {
		return "", err
	}
	err = markFolder(agent.GenDir(current), h)
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

// rowsMark is contentMark for an agent of a database. The mark changes with every transaction that
// wrote to the agent, on whatever machine, also with one that is not in the change logs, as those
// of notes and documents. Vectors that were made after a snapshot count. The crash journal is that
// of this machine, which is also what a snapshot taken here holds.
func (s *Daemon) rowsMark(ctx context.Context, agent *home.Agent) (string, error) {
	rows, err := mirror.Look(ctx, mirror.Agent{Server: s.o.Replica.of(agent.Tenant()).Server, Tenant: agent.Tenant(), ID: agent.ID()})
	if err != nil {
		return "", err
	}
	h := sha256.New()
	fmt.Fprintln(h, rows)
	err = s.markJournal(ctx, agent, h)
	return fmt.Sprintf("%x", h.Sum(nil)), err
}

func (s *Daemon) markDatabases(ctx context.Context, agent *home.Agent, h hash.Hash) error {
	store, err := sqlite.Open(ctx, agent, sqlite.Options{Clock: s.o.Clock, Random: s.o.Random, KeepSchema: true})
	if err != nil {
		return err
	}
	mark, err := store.Mark(ctx)
	fmt.Fprintln(h, mark)
	return errors.Join(err, store.Close())
}

// markJournal notes the last entry of every session: a session that was drained
// shows in the databases.
func (s *Daemon) markJournal(ctx context.Context, agent *home.Agent, h hash.Hash) error {
	j, err := s.parts.Journal(agent)
	if err != nil {
		return err
	}
	keys, err := j.Keys()
	if amber.KindOf(err) == amber.KindNotFound {
		return nil
	}
	for _, k := range keys {
		last, lerr := j.Last(ctx, k)
		err = errors.Join(err, lerr)
		fmt.Fprintln(h, k, last)
	}
	return err
}

// markFolder notes every file of a generation that is no database: notes and runtime state. It
// skips the folder of git: its history of the notes follows from the notes.
func markFolder(dir string, h hash.Hash) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir() || filepath.Dir(path) == dir: // memory.db and control.db with what is beside them
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(h, path, info.Mode(), info.Size(), info.ModTime().UnixNano())
		return err
	})
}
