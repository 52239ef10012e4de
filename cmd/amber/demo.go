package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

// demoReport is the JSON of the demo.
type demoReport struct {
	OK      bool       `json:"ok"`
	Problem string     `json:"problem,omitempty"` // what went otherwise than promised
	Steps   []demoStep `json:"steps"`
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

func (a *app) demoCommand() *cobra.Command {
	var keep bool
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "See it remember, survive a kill, and come back from damage",
		Long: `Show what Amber promises, on a temporary home that is gone afterwards: it remembers and
recalls, writers are killed while they write and nothing acknowledged is lost, a snapshot is
taken, the live agent is damaged, and the snapshot brings it back, equal to the digest.

Nothing is staged: every line with a $ is run as a process of this program, and what it
prints is shown. It exits with 0 only when every promise was kept.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, name := range []string{"home", "tenant", "agent", "config"} {
				if cmd.Flags().Changed(name) {
					return usage("demo makes a home of its own and does not take --%s", name)
				}
			}
			return a.demo(cmd.Context(), keep)
		},
	}
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the home and tell where it is")
	return cmd
}

// demo runs the whole of it and cleans up.
func (a *app) demo(ctx context.Context, keep bool) (err error) {
	begin := a.clock()
	d, err := a.newDemo()
	if err != nil {
		return &amber.Error{Op: "prepare demo", Kind: amber.KindInternal, Err: err}
	}
	if keep {
		d.report.Home = d.home()
	} else {
		defer func() { err = errors.Join(err, os.RemoveAll(d.dir)) }()
	}
	if !a.global.json && !a.global.quiet {
		fmt.Fprintf(a.stdout, "everything happens in %s\n", d.home())
	}
	problem := d.play(ctx)
	if problem == nil {
		problem = ctx.Err()
	}
	d.report.OK, d.report.Seconds = problem == nil, a.clock().Sub(begin).Seconds()
	if problem != nil {
		d.report.Problem = oneLine(problem.Error(), 1000)
	}
	if err := a.out.show(d.report, d.conclude); err != nil {
		return err
	}
	if problem != nil {
		return errReported{amber.KindInternal}
	}
	return nil
}

// newDemo makes the folders. The user's configuration and agents stay out of
// it.
func (a *app) newDemo() (*demo, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "amber-demo-")
	if err != nil {
		return nil, err
	}
	d := &demo{app: a, self: self, dir: dir}
	d.report.Steps = []demoStep{}
	if err := os.Mkdir(filepath.Join(dir, "work"), 0o700); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	for _, kv := range a.environ {
		key, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(key, "AMBER_") && key != "XDG_CONFIG_HOME" {
			d.environ = append(d.environ, kv)
		}
	}
	d.environ = append(d.environ, "AMBER_HOME="+d.home(), "XDG_CONFIG_HOME="+filepath.Join(dir, "config"), "NO_COLOR=1")
	return d, nil
}

// demo is one run of the demo.
type demo struct {
	*app
	self    string // this program
	dir     string
	environ []string
	report  demoReport
	step    *demoStep
	acked   []string // entries of the journal whose writer said that they are kept
}

func (d *demo) home() string { return filepath.Join(d.dir, "home") }

// play makes one step after the other until one is not as promised.
func (d *demo) play(ctx context.Context) error {
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
		d.report.Steps = append(d.report.Steps, demoStep{Title: step.title, Commands: []demoRun{}, Found: []string{}})
		d.step = &d.report.Steps[len(d.report.Steps)-1]
		d.tell("\n%d. %s\n", len(d.report.Steps), step.title)
		if err := step.play(ctx); err != nil {
			return fmt.Errorf("%s: %w", strings.ToLower(step.title), err)
		}
		d.step.OK = true
	}
	return nil
}

const (
	demoQuestion = "which database did we pick and why"
	demoSession  = "demo"
)

// remember fills the agent. A few hundred memories make a database of many
// pages.
func (d *demo) remember(ctx context.Context) error {
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
		{"recall", demoQuestion, "-n", "1"},
	} {
		if err := d.ok(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// freeze takes a snapshot, looks through it, and notes what the agent is.
func (d *demo) freeze(ctx context.Context) error {
	if err := d.ok(ctx, "snapshot", "create", "--label", "before the accident"); err != nil {
		return err
	}
	d.report.Snapshot = strings.TrimSpace(d.last().Output)
	if err := d.ok(ctx, "snapshot", "verify", d.report.Snapshot, "--read-data"); err != nil {
		return err
	}
	digest, err := d.digest(ctx)
	if err != nil {
		return err
	}
	d.report.Before = digest.sum
	d.found("%s; digest of all of it: %s", digest, digest.sum)
	return nil
}

// restore brings the snapshot back over the damaged agent.
func (d *demo) restore(ctx context.Context) error {
	return d.ok(ctx, "snapshot", "restore", d.report.Snapshot, "--yes")
}

// prove compares the agent with what it was.
func (d *demo) prove(ctx context.Context) error {
	digest, err := d.digest(ctx)
	if err != nil {
		return err
	}
	d.report.After = digest.sum
	if d.report.After != d.report.Before {
		return fmt.Errorf("the digest of %s is %s, it was %s", digest, d.report.After, d.report.Before)
	}
	d.found("%s; digest of all of it: %s, as before", digest, digest.sum)
	for _, args := range [][]string{{"recall", demoQuestion, "-n", "1"}, {"doctor"}} {
		if err := d.ok(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// conclude is the last word for people.
func (d *demo) conclude(w io.Writer) {
	p := d.out
	fmt.Fprintln(w)
	if d.report.OK {
		fmt.Fprintf(w, "%s in %.1f s: %d acknowledged entries survived %d kills, and the agent came back as it was\n",
			p.style(bold, "every promise kept"), d.report.Seconds, d.report.Acknowledged, d.report.Killed)
	} else {
		fmt.Fprintf(w, "%s: %s\n", p.style(amb, "NOT AS PROMISED"), flat(d.report.Problem))
	}
	if d.report.Home != "" {
		fmt.Fprintf(w, "the home was kept: AMBER_HOME=%s\n", d.report.Home)
	}
}

// last is the command that ran last.
func (d *demo) last() demoRun { return d.step.Commands[len(d.step.Commands)-1] }

// ok runs a command that must exit with 0, and shows it.
func (d *demo) ok(ctx context.Context, args ...string) error {
	run, err := d.show(ctx, args...)
	if err == nil && run.ExitCode != 0 {
		err = fmt.Errorf("amber %s exits with %d: %s", strings.Join(args[:min(2, len(args))], " "), run.ExitCode, oneLine(run.Stderr+" "+run.Output, 600))
	}
	return err
}

// fails runs a command that must fail with a kind of error, and shows it.
func (d *demo) fails(ctx context.Context, kind amber.Kind, args ...string) error {
	run, err := d.show(ctx, args...)
	if err == nil && run.ExitCode != kind.ExitCode() {
		err = fmt.Errorf("%s exits with %d: it should have told that something is %s", run.Command, run.ExitCode, kind)
	}
	return err
}
