package care

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/cmd/amber/internal/share"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/wire"
)

func (a *app) doctorCommand() *cobra.Command {
	var deep bool
	cmd := cli.Verb("doctor", func(cmd *cobra.Command, _ []string) error {
		report, err := cli.Working(a.App, "checking", func() (wire.Checkup, error) { return Checkup(cmd, a.App, deep) })
		if err != nil {
			return err
		}
		if err := a.Out.Show(report, func(w io.Writer) { a.printCheckup(w, report.Checks) }); err != nil {
			return err
		}
		return verdict(report)
	})
	cmd.Flags().BoolVar(&deep, "deep", false, "also compare indexes with text, and test the store on this disk")
	return cmd
}

// Checkup examines this machine, or lets a server examine itself.
func Checkup(cmd *cobra.Command, c *cli.App, deep bool) (wire.Checkup, error) {
	a := &app{c}
	if a.Remote != nil {
		return a.Remote.Agent.Doctor(cmd.Context(), deep)
	}
	report := Examine(cmd.Context(), c, deep)
	return agent.Judge(append(report.Checks, a.checkHosts(cmd)...)), nil
}

// Examine examines the agent of the flags and its home.
func Examine(ctx context.Context, a *cli.App, deep bool) wire.Checkup {
	e := agent.Examination{Deep: deep, FSInfo: a.FSInfo}
	loaded, err := a.LoadConfig()
	e.Config, e.ConfigErr = cli.DescribeConfig(loaded), err
	var c *config.Config
	if err == nil {
		c = &loaded.Config
		e.Backups = func(home string) []wire.Finding { return share.CheckVault(a, home, c.Vault) }
	}
	o, err := a.AgentOptions(c)
	if o.Home == "" {
		e.HomeErr = err
	}
	return agent.Examine(ctx, o, e)
}

// verdict is the error of the first failed check.
func verdict(r wire.Checkup) error {
	for _, f := range r.Checks {
		if f.Status == wire.FindingFailed {
			return cli.Reported(f.Kind)
		}
	}
	return nil
}

func (a *app) printCheckup(w io.Writer, findings []wire.Finding) {
	widest := 0
	for _, f := range findings {
		widest = max(widest, len(f.Code))
	}
	marks := map[wire.FindingStatus]string{wire.FindingOK: "ok  ", wire.FindingWarning: "warn", wire.FindingFailed: "FAIL", wire.FindingNotChecked: "----"}
	for _, f := range findings {
		style := cli.Dim
		if f.Status == wire.FindingFailed || f.Status == wire.FindingWarning {
			style = cli.Amb
		}
		cli.Wrapped(w, widest+8, "%s  %-*s  %s", a.Out.Style(style, marks[f.Status]), widest, f.Code, cli.OneLine(f.Detail, 400))
		if f.Hint != "" && f.Status != wire.FindingOK {
			cli.Wrapped(w, widest+14, "%*shint: %s", widest+8, "", f.Hint)
		}
	}
}
