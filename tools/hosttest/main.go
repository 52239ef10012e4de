// Command hosttest runs the real command lines of agent hosts, in their newest
// versions from npm, against a scripted model on loopback, and checks what Amber
// makes of them: that its hooks run, that its context reaches the model, that turns
// are whole, that the MCP server is listed, that hooks of the user's own still run, and
// that uninstalling gives the settings back.
//
// Every host has a home of its own, made for the run. It prints a table and exits
// with 1 when a check failed or a host could not be installed. See docs/hosts.md.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	o := options{}
	flag.StringVar(&o.amber, "amber", "bin/amber", "the program to test")
	flag.StringVar(&o.dir, "dir", "", "where packages and homes go; packages that are there are updated; empty: a temporary folder, removed at the end")
	flag.StringVar(&o.only, "only", "", "hosts to run, separated by commas; empty: all")
	flag.BoolVar(&o.offline, "offline", false, "do not install or update packages")
	flag.DurationVar(&o.patience, "patience", 5*time.Minute, "how long one run of a host may take")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ok, err := o.run(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "hosttest:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	amber, dir, only string
	offline          bool
	patience         time.Duration
}

// run tests the hosts one after the other and reports whether all is well.
func (o options) run(ctx context.Context) (bool, error) {
	var err error
	if o.amber, err = filepath.Abs(o.amber); err != nil {
		return false, err
	}
	if o.dir == "" {
		if o.dir, err = os.MkdirTemp("", "amber-hosts-"); err != nil {
			return false, err
		}
		defer os.RemoveAll(o.dir)
	}
	if o.dir, err = filepath.Abs(o.dir); err != nil {
		return false, err
	}
	n := npm{dir: filepath.Join(o.dir, "npm"), offline: o.offline}
	if err := n.installNode(ctx); err != nil {
		return false, err
	}
	var rows []row
	for _, h := range hosts() {
		if o.only != "" && !slices.Contains(strings.Split(o.only, ","), h.name) {
			continue
		}
		rows = append(rows, o.test(ctx, n, h)...)
	}
	return show(os.Stdout, rows), ctx.Err()
}

// test runs one host.
func (o options) test(ctx context.Context, n npm, h host) []row {
	version, err := n.install(ctx, h)
	rows := []row{{h.name, version, "installed", err, ""}}
	if err != nil {
		return rows
	}
	r, err := newRun(o, n, h)
	if err != nil {
		return append(rows, row{h.name, version, "prepared", err, ""})
	}
	defer r.model.close()
	for _, c := range r.checks(ctx) {
		rows = append(rows, row{h.name, version, c.name, c.err, c.skip})
	}
	return rows
}
