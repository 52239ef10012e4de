package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

// The doctor's words are those of the root package: a served Amber answers with
// them, too.
type (
	status  = amber.FindingStatus
	finding = amber.Finding
	checkup = amber.Checkup
)

const (
	statusOK      = amber.FindingOK
	statusWarning = amber.FindingWarning
	statusFailed  = amber.FindingFailed
	statusSkipped = amber.FindingNotChecked
)

func (a *app) doctorCommand() *cobra.Command {
	var deep bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look whether everything is well",
		Long: `Look at the home, the agent, its databases, notes and keys, the disk, the clock and the
configuration, and print one line per check. Nothing is changed.

With --deep it also compares the text of every memory with the search indexes, and runs
the promises of the store on a temporary one on this machine's disk.

With --remote the server looks at itself; the hosts of this machine are not looked at.

The exit code is 0 unless a check failed; warnings are no failure.`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			report, err := working(a, "checking", func() (checkup, error) { return a.checkup(cmd, deep) })
			if err != nil {
				return err
			}
			if err := a.out.show(report, func(w io.Writer) { a.printCheckup(w, report.Checks) }); err != nil {
				return err
			}
			return verdict(report)
		},
	}
	cmd.Flags().BoolVar(&deep, "deep", false, "also compare indexes with text, and test the store on this disk")
	return cmd
}

// checkup examines this machine, or lets a server examine itself.
func (a *app) checkup(cmd *cobra.Command, deep bool) (checkup, error) {
	if a.remote != nil {
		return a.remote.agent.Doctor(cmd.Context(), deep)
	}
	d := doctor{app: a, deep: deep}
	d.examine(cmd.Context())
	d.checkHosts(cmd)
	return d.report(), nil
}

// doctor collects findings.
type doctor struct {
	*app
	deep     bool
	findings []finding
}

func (d *doctor) add(f finding) { d.findings = append(d.findings, f) }

// judge adds a finding: failed with the error's kind and hint, or ok with the
// detail.
func (d *doctor) judge(code string, err error, detail string, args ...any) {
	if err != nil {
		d.add(finding{Code: code, Status: statusFailed, Detail: err.Error(), Hint: amber.HintOf(err), Kind: amber.KindOf(err)})
		return
	}
	d.add(finding{Code: code, Status: statusOK, Detail: fmt.Sprintf(detail, args...)})
}

// skip adds a finding about a check that could not be made.
func (d *doctor) skip(code, why string) {
	d.add(finding{Code: code, Status: statusSkipped, Detail: why})
}

// failed reports whether a check has failed.
func (d *doctor) failed(code string) bool {
	return slices.ContainsFunc(d.findings, func(f finding) bool { return f.Code == code && f.Status == statusFailed })
}

func (d *doctor) report() checkup {
	r := checkup{OK: true, Checks: d.findings}
	for _, f := range d.findings {
		r.OK = r.OK && f.Status != statusFailed
	}
	return r
}

// verdict is the error of the first failed check.
func verdict(r checkup) error {
	for _, f := range r.Checks {
		if f.Status == statusFailed {
			return errReported{f.Kind}
		}
	}
	return nil
}

// errReported ends a command whose output has said already what is wrong.
type errReported struct{ kind amber.Kind }

func (e errReported) Error() string { return string(e.kind) }

// showChecked prints a report of what was checked, and ends the command as
// damaged where the report says so.
func (a *app) showChecked(r interface{ OK() bool }, print func(w io.Writer)) error {
	if err := a.out.show(r, print); err != nil {
		return err
	}
	if !r.OK() {
		return errReported{amber.KindDamaged}
	}
	return nil
}

func (a *app) printCheckup(w io.Writer, findings []finding) {
	widest := 0
	for _, f := range findings {
		widest = max(widest, len(f.Code))
	}
	marks := map[status]string{statusOK: "ok  ", statusWarning: "warn", statusFailed: "FAIL", statusSkipped: "----"}
	for _, f := range findings {
		style := dim
		if f.Status == statusFailed || f.Status == statusWarning {
			style = amb
		}
		wrapped(w, widest+8, "%s  %-*s  %s", a.out.style(style, marks[f.Status]), widest, f.Code, oneLine(f.Detail, 400))
		if f.Hint != "" && f.Status != statusOK {
			wrapped(w, widest+14, "%*shint: %s", widest+8, "", f.Hint)
		}
	}
}

// examine makes every check in order. What builds on a failed one is not
// checked, and says so.
func (d *doctor) examine(ctx context.Context) {
	loaded, configErr := d.loadConfig()
	d.judge("config", configErr, "%s", describeConfig(loaded))
	dir, err := d.homeDir()
	if err != nil {
		d.judge("home", err, "")
		return
	}
	agent, ok := d.checkHome(dir)
	d.checkDisk(dir)
	d.checkGit(ctx)
	if configErr == nil {
		d.checkKeys(ctx, loaded)
		d.checkVault(dir, loaded.Config.Vault)
	}
	d.checkHomeDB(ctx)
	if !ok {
		return
	}
	d.checkSpool(ctx, agent)
	current, err := agent.Current()
	if amber.KindOf(err) == amber.KindNotFound { // hooks came before the first command
		d.add(finding{Code: "current", Status: statusWarning, Detail: "there is no agent " + string(agent.ID()) + " yet"})
		return
	}
	d.judge("current", err, "generation %d", current.Generation)
	d.checkLocks(agent)
	if err != nil {
		for _, code := range append(databaseCodes, "clock", "consolidation", "notes", stateCode) {
			d.skip(code, "there is no live generation")
		}
		return
	}
	d.checkDatabases(ctx, agent)
	d.checkState(ctx, agent, current)
	d.checkConsolidation(agent, current)
	d.checkVaultFiles(ctx, agent)
	if d.failed("git") {
		d.skip("notes", "there is no git")
	} else {
		d.checkNotes(ctx, agent, loaded)
	}
	if d.deep {
		d.checkPromises(ctx)
	}
}
