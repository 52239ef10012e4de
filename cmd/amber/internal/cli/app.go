// Package cli is what the verbs of the command line share: the flags, the agent they
// name and how it is opened, what is printed and asked, and the errors of the command
// line.
package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// App is one run of the command.
type App struct {
	World
	Global Globals
	Out    Printer
	Meter  Meter // how far the engine of snapshots is
	Access access
	Remote *remote // that the verb works on; nil: a home of this machine
	Edge   bool    // memory.backend is remote: the home keeps the crash journal only
	// Publisher gets the events of snapshots and notes; nil: no publisher.
	Publisher events.Publisher
	Aside     asideNotes
	// Ctx ends when the run is interrupted; that of a hook does not.
	Ctx      context.Context
	pumped   *interruptible // stdin, once a verb has read of it
	toldHome bool           // the user was told where a relative home is
	// Databases are open until the command is over; nil: each agent opens its own.
	Databases *agent.Databases
	// Closers let go what was opened on the way, when the command is over.
	Closers []func() error
	Verb    string // that runs
	Version string // of this program
	Commit  string // that this program was built from; empty: unknown
	absent  bool   // there is no agent, and the verb only works on what is there
}

// Globals are the flags every command takes.
type Globals struct {
	Home, Config, Tenant, Agent string
	remote, tokenFile, remoteCA string
	JSON, Quiet, NoColor        bool
	NewAgent                    bool
}

// ForAgent returns the run as a command about another agent would see it.
func (a *App) ForAgent(tenant amber.TenantID, agent amber.AgentID) *App {
	b := &App{World: a.World, Global: a.Global, Out: a.Out, Access: a.Access, Publisher: a.Publisher, Databases: a.Databases, Version: a.Version, Commit: a.Commit}
	b.Global.Tenant, b.Global.Agent = string(tenant), string(agent)
	return b
}

// Getenv reads one variable; the last assignment wins, as in a shell.
func (a *App) Getenv(name string) string {
	value := ""
	for _, kv := range a.Environ {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			value = v
		}
	}
	return value
}

// Close closes what was opened on the way.
func (a *App) Close() (err error) {
	for _, c := range a.Closers {
		err = errors.Join(err, c())
	}
	a.Closers = nil
	if a.Databases != nil {
		err = errors.Join(err, a.Databases.Close())
	}
	return err
}

// World is everything a run takes from outside, so that tests can stand in
// for it.
type World struct {
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Environ        []string
	Directory      func() (string, error)
	Clock          amber.Clock
	After          func(time.Duration) <-chan time.Time // of the schedule of a server; nil: time.After
	Random         io.Reader
	// Terminal reports whether a person watches stdout and can be asked.
	Terminal func() bool
	FSInfo   func(path string) (fsx.FSInfo, error)
	// Program is the path of this program, which runs it again as a process.
	Program func() (string, error)
	// SetGCPercent is that of runtime/debug, in a process that is for this run alone; nil: the run shares its process
	// with others and leaves the collection of garbage as it is.
	SetGCPercent func(percent int) (before int)
	// Snapshots stands in for the engine; nil means the real one.
	Snapshots func(ctx context.Context) (agent.Snapshots, error)
}
