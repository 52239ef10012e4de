package daemon

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/serve/server"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

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
