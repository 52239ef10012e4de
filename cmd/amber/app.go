package main

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/events"
	"github.com/amber-memory/amber/internal/fsx"
)

// app is one run of the command.
type app struct {
	world
	global globals
	out    printer
	meter  meter // how far the engine of snapshots is
	access access
	remote *remote // that the verb works on; nil: a home of this machine
	// publisher is told what happens to snapshots and notes; nil: no publisher.
	publisher events.Publisher
	aside     asideNotes
	// ctx ends when the run is told to stop; that of a hook does not.
	ctx      context.Context
	pumped   *interruptible // stdin, once a verb has read of it
	toldHome bool           // the user was told where a relative home is
	// closers let go what was opened on the way, when the command is over.
	closers []func() error
	verb    string // that runs
	absent  bool   // there is no agent, and the verb only works on what is there
}

// globals are the flags every command takes.
type globals struct {
	home, config, tenant, agent string
	remote, tokenFile, remoteCA string
	json, quiet, noColor        bool
	newAgent                    bool
}

// getenv reads one variable; the last assignment wins, as in a shell.
func (a *app) getenv(name string) string {
	value := ""
	for _, kv := range a.environ {
		if k, v, ok := strings.Cut(kv, "="); ok && k == name {
			value = v
		}
	}
	return value
}

// close closes what was opened on the way.
func (a *app) close() (err error) {
	for _, c := range a.closers {
		err = errors.Join(err, c())
	}
	a.closers = nil
	return err
}

// world is everything a run takes from outside, so that tests can stand in
// for it.
type world struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string
	directory      func() (string, error)
	clock          amber.Clock
	after          func(time.Duration) <-chan time.Time // of the schedule of a server; nil: time.After
	random         io.Reader
	// terminal reports whether a person watches stdout and can be asked.
	terminal func() bool
	fsInfo   func(path string) (fsx.FSInfo, error)
	// snapshots stands in for the engine; nil means the real one.
	snapshots func(ctx context.Context) (agent.Snapshots, error)
}
