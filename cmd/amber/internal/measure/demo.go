package measure

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/demo"
	"github.com/amber-memory/amber/internal/base/words"
)

func (a *app) demoCommand() *cobra.Command {
	var keep bool
	cmd := cli.Verb("demo", func(cmd *cobra.Command, _ []string) error {
		for _, name := range []string{"home", "tenant", "agent", "config"} {
			if cmd.Flags().Changed(name) {
				return cli.Usage("demo makes a home of its own and does not take --%s", name)
			}
		}
		return a.demo(cmd.Context(), keep)
	})
	cmd.Flags().BoolVar(&keep, "keep", false, "keep the home and tell where it is")
	return cmd
}

// demo runs the whole of it and cleans up.
func (a *app) demo(ctx context.Context, keep bool) (err error) {
	d, err := a.newDemo()
	if err != nil {
		return &amber.Error{Op: "prepare demo", Kind: amber.KindInternal, Err: err}
	}
	if keep {
		d.Report.Home = d.Home()
	} else {
		defer func() { err = errors.Join(err, d.Close()) }()
	}
	problem := d.Play(ctx)
	if err := a.Out.Show(d.Report, func(w io.Writer) { a.printDemo(w, d.Report) }); err != nil {
		return err
	}
	if problem != nil {
		return cli.Reported(amber.KindInternal)
	}
	return nil
}

func (a *app) newDemo() (*demo.Demo, error) {
	self, err := a.Program()
	if err != nil {
		return nil, err
	}
	o := demo.Options{
		Self: self, Environ: a.Environ, Clock: a.Clock, Random: a.Random, Safe: cli.Safe, Line: cli.OneLine,
		Bold: func(s string) string { return a.Out.Style(cli.Bold, s) }, Dim: func(s string) string { return a.Out.Style(cli.Dim, s) },
	}
	quiet := a.Global.JSON || a.Global.Quiet
	if !quiet {
		o.Tell = func(format string, args ...any) { fmt.Fprintf(a.Stdout, format, args...) }
	}
	d, err := demo.New(o)
	if err == nil && !quiet {
		o.Tell("everything happens in %s\n", d.Home())
	}
	return d, err
}

// printDemo is the last word for people.
func (a *app) printDemo(w io.Writer, r demo.Report) {
	fmt.Fprintln(w)
	if r.OK {
		fmt.Fprintf(w, "%s in %.1f s: %s survived %s, and the agent came back as it was\n",
			a.Out.Style(cli.Bold, "every promise kept"), r.Seconds,
			words.Count(r.Acknowledged, "acknowledged entry", "acknowledged entries"), words.Count(r.Killed, "kill", "kills"))
	} else {
		fmt.Fprintf(w, "%s: %s\n", a.Out.Style(cli.Amb, "NOT AS PROMISED"), cli.Flat(r.Problem))
	}
	if r.Home != "" {
		fmt.Fprintf(w, "the home was kept: AMBER_HOME=%s\n", r.Home)
	}
}
