package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/op"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// FeedWorker is the worker that feeds indexes outside of the stores.
const FeedWorker = "openviking"

// feedLook is when an agent is looked at once more after something was fed: vectors that an
// index could not make are found then.
const feedLook = 150 * time.Second

// feeding is when agents are fed again. One goroutine uses it.
type feeding struct {
	*Daemon
	next map[string]feedPause // by their folders
}

// feedPause is a time in which an agent is left alone, and not opened: after an error whatever
// happens to the agent, else as long as its files do not change.
type feedPause struct {
	until time.Time
	err   error // that is told meanwhile
	mark  string
}

func (p feedPause) holds(now time.Time, mark string) bool {
	return now.Before(p.until) && (p.err != nil || mark != "" && mark == p.mark)
}

// agent gives the index outside of an agent's store what it does not have yet.
func (f *feeding) agent(ctx context.Context, agent *home.Agent) (detail string, err error) {
	now, mark := f.o.Clock(), changeMark(agent)
	if p, ok := f.next[agent.Dir()]; ok && p.holds(now, mark) {
		if p.err != nil {
			return "", p.err
		}
		return "", errNotNow
	}
	delete(f.next, agent.Dir())
	var again time.Duration
	err = f.with(ctx, agent, func(a *op.Agent) (err error) {
		if a.Feed == nil {
			return nil
		}
		var done bool
		if detail, again, done, err = a.Feed(ctx); err == nil && !done {
			return errNotNow
		}
		return err
	})
	switch {
	case amber.KindOf(err) == amber.KindBusy: // another process is at it
		return detail, errNotNow
	case err != nil && !errors.Is(err, errNotNow):
		if again == 0 { // not of the index
			again = roundLook
		}
		f.next[agent.Dir()] = feedPause{until: now.Add(again), err: err}
	case err == nil && again > 0: // after that time a visit tries a part of it again
		f.next[agent.Dir()] = feedPause{until: now.Add(again), mark: mark}
		return detail, errNotNow
	case err == nil && detail != "":
		f.next[agent.Dir()] = feedPause{until: now.Add(feedLook), mark: mark}
		return detail, errNotNow
	}
	return detail, err
}

// changeMark is another one whenever an agent has changed; "": that cannot be told.
// The files are looked at and never opened.
func changeMark(agent *home.Agent) string {
	mark := databaseMark(agent)
	if mark == "" {
		return ""
	}
	spool := journal.Mark(agent.SpoolDir())
	if spool == "" {
		return ""
	}
	return mark + spool
}

// databaseMark is another one whenever a database of an agent has changed.
func databaseMark(agent *home.Agent) string {
	current, err := agent.Current()
	if err != nil {
		return ""
	}
	if !sqlite.IsHere(agent) {
		return "" // its rows are in a database, of which files say nothing
	}
	b := fmt.Append(nil, current.Generation)
	dir := agent.GenDir(current)
	for _, name := range []string{"memory.db", "memory.db-wal", "control.db", "control.db-wal"} {
		// An empty log comes and goes with every program that opens the database.
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Size() > 0 {
			b = fmt.Append(b, "/", info.Size(), ".", info.ModTime().UnixNano())
		}
	}
	return string(b)
}

// databaseMark is that of an agent of the home.
func (s *Daemon) databaseMark(n server.AgentName) string {
	agent, err := s.o.Home.Agent(n.Tenant, n.Agent)
	if err != nil {
		return ""
	}
	return databaseMark(agent)
}
