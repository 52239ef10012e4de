// Package demo shows what Amber promises on a temporary home, by running the program.
package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
)

// Report says what a demo has shown.
type Report struct {
	OK      bool   `json:"ok"`
	Problem string `json:"problem,omitempty"` // what went otherwise than promised
	Steps   []Step `json:"steps"`
	// Entries of the journal: those whose writer had said they are kept, the
	// writers that were killed, and those found in the store afterwards.
	Acknowledged int     `json:"acknowledged"`
	Killed       int     `json:"killed"`
	Recovered    int     `json:"recovered"`
	Before       string  `json:"digest_before"` // of every memory, turn and note
	After        string  `json:"digest_after"`
	Snapshot     string  `json:"snapshot"`
	Seconds      float64 `json:"seconds"`
	Home         string  `json:"home,omitempty"` // where it was kept
}

// Options are what a demo needs of the program that shows it.
type Options struct {
	Self    string   // the program
	Environ []string // of the program
	Clock   amber.Clock
	Random  io.Reader
	// Tell is called with each step of the demo; it may be nil.
	Tell func(format string, args ...any)
	// Bold and Dim style a text for people, Safe makes it harmless for a terminal, and
	// Line also makes it one line of at most n characters.
	Bold, Dim, Safe func(string) string
	Line            func(s string, n int) string
}

// Demo is one run of the demo.
type Demo struct {
	Report Report

	o       Options
	dir     string
	environ []string
	step    *Step
	acked   []string // entries of the journal whose writer said that they are kept
}

// New makes the folders. The user's configuration and agents stay out of them. Close
// removes them.
func New(o Options) (*Demo, error) {
	dir, err := os.MkdirTemp("", "amber-demo-")
	if err != nil {
		return nil, err
	}
	d := &Demo{o: o, dir: dir, Report: Report{Steps: []Step{}}}
	if err := os.Mkdir(filepath.Join(dir, "work"), 0o700); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	for _, kv := range o.Environ {
		key, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(key, "AMBER_") && key != "XDG_CONFIG_HOME" {
			d.environ = append(d.environ, kv)
		}
	}
	d.environ = append(d.environ, "AMBER_HOME="+d.Home(), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "NO_COLOR=1")
	return d, nil
}

// Close removes the folders.
func (d *Demo) Close() error { return os.RemoveAll(d.dir) }

// Play shows every step and fills the report. The error says what was not as
// promised.
func (d *Demo) Play(ctx context.Context) error {
	begin := d.o.Clock()
	problem := d.play(ctx)
	if problem == nil {
		problem = ctx.Err()
	}
	d.Report.OK, d.Report.Seconds = problem == nil, d.o.Clock().Sub(begin).Seconds()
	if problem != nil {
		d.Report.Problem = d.o.Line(problem.Error(), 1000)
	}
	return problem
}

// Home is the home of the demo.
func (d *Demo) Home() string { return filepath.Join(d.dir, "home") }

// play makes one step after the other until one is not as promised.
func (d *Demo) play(ctx context.Context) error {
	for _, step := range []struct {
		title string
		play  func(context.Context) error
	}{
		{"Remember, and recall", d.remember},
		{"Kill writers while they write", d.killWriters},
		{"Recover their journal", d.recoverJournal},
		{"Freeze the agent", d.freeze},
		{"Damage the live agent", d.damage},
		{"Bring it back", d.restore},
		{"Prove that it is the same", d.prove},
	} {
		d.Report.Steps = append(d.Report.Steps, Step{Title: step.title, Commands: []Run{}, Found: []string{}})
		d.step = &d.Report.Steps[len(d.Report.Steps)-1]
		d.tell("\n%d. %s\n", len(d.Report.Steps), step.title)
		if err := step.play(ctx); err != nil {
			return fmt.Errorf("%s: %w", strings.ToLower(step.title), err)
		}
		d.step.OK = true
	}
	return nil
}

const (
	question = "which database did we pick and why"
	session  = "demo"
)

// remember fills the agent. A few hundred memories make a database of many
// pages.
func (d *Demo) remember(ctx context.Context) error {
	var many strings.Builder
	const lines = 400
	for i := range lines {
		fmt.Fprintf(&many, `{"title":"Ticket %d","content":"Ticket %d was closed: the %s service had a wrong timeout.","tags":["ticket"]}`+"\n",
			i, i, []string{"billing", "search", "checkout", "mail"}[i%4])
	}
	if err := d.ok(ctx, "remember", "We chose PostgreSQL for JSONB", "--title", "Database", "--tag", "decision"); err != nil {
		return err
	}
	if _, err := d.quietly(ctx, many.String(), "remember", "--jsonl", "-"); err != nil {
		return err
	}
	d.found("%d more memories with amber remember --jsonl -", lines)
	for _, args := range [][]string{
		{"note", "write", "decisions/database", "# Database\nPostgreSQL, for JSONB."},
		{"note", "write", "people", "# People\nAda runs the billing service."},
		{"recall", question, "-n", "1"},
	} {
		if err := d.ok(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// freeze takes a snapshot, looks through it, and notes what the agent is.
func (d *Demo) freeze(ctx context.Context) error {
	if err := d.ok(ctx, "snapshot", "create", "--label", "before the accident"); err != nil {
		return err
	}
	d.Report.Snapshot = strings.TrimSpace(d.last().Output)
	if err := d.ok(ctx, "snapshot", "verify", d.Report.Snapshot, "--read-data"); err != nil {
		return err
	}
	digest, err := d.digest(ctx)
	if err != nil {
		return err
	}
	d.Report.Before = digest.sum
	d.found("%s; digest of all of it: %s", digest, digest.sum)
	return nil
}

// restore brings the snapshot back over the damaged agent.
func (d *Demo) restore(ctx context.Context) error {
	return d.ok(ctx, "snapshot", "restore", d.Report.Snapshot, "--yes")
}

// prove compares the agent with what it was.
func (d *Demo) prove(ctx context.Context) error {
	digest, err := d.digest(ctx)
	if err != nil {
		return err
	}
	d.Report.After = digest.sum
	if d.Report.After != d.Report.Before {
		return fmt.Errorf("digest of %s is %s, want %s as before", digest, d.Report.After, d.Report.Before)
	}
	d.found("%s; digest of all of it: %s, as before", digest, digest.sum)
	for _, args := range [][]string{{"recall", question, "-n", "1"}, {"doctor"}} {
		if err := d.ok(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// last is the command that ran last.
func (d *Demo) last() Run { return d.step.Commands[len(d.step.Commands)-1] }

// ok runs a command that must exit with 0, and shows it.
func (d *Demo) ok(ctx context.Context, args ...string) error {
	run, err := d.show(ctx, args...)
	if err == nil && run.ExitCode != 0 {
		err = fmt.Errorf("amber %s exits with %d: %s", strings.Join(args[:min(2, len(args))], " "), run.ExitCode, d.o.Line(run.Stderr+" "+run.Output, 600))
	}
	return err
}

// fails runs a command that must fail with a kind of error, and shows it.
func (d *Demo) fails(ctx context.Context, kind amber.Kind, args ...string) error {
	run, err := d.show(ctx, args...)
	if err == nil && run.ExitCode != kind.ExitCode() {
		err = fmt.Errorf("%s exits with %d: it should have told that something is %s", run.Command, run.ExitCode, kind)
	}
	return err
}
