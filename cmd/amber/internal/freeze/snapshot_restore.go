package freeze

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

// restoreFlags say what of a snapshot goes where.
type restoreFlags struct {
	toAgent, memory, source, to string
	only                        []string
	withControl, localOnly      bool
	noSafety, discardOld        bool
	acceptRedacted              bool
	acceptUnsigned              bool
	passphrase                  string // a file
	yes, dryRun                 bool
}

func (a *app) snapshotRestoreCommand() *cobra.Command {
	var f restoreFlags
	cmd := cli.Verb("restore", func(cmd *cobra.Command, args []string) error {
		if err := f.check(cmd); err != nil {
			return err
		}
		if !f.dryRun && f.source == "" && f.toAgent == "" { // the owner's records become what they were
			if err := a.OwnerOnly("restore snapshot"); err != nil {
				return err
			}
		}
		file, isBundle, err := a.bundleFile(args[0])
		if err != nil {
			return err
		}
		if isBundle {
			return a.restoreBundle(cmd, file, f)
		}
		if err := a.HomeIsThere(); err != nil { // only a file is restored into a new home
			return err
		}
		switch {
		case f.source != "":
			return a.restoreSource(cmd, args[0], f)
		case f.memory != "":
			return a.restoreMemory(cmd, args[0], f)
		}
		return a.WithSnapshot(cmd, cli.MayBeMade, args[0], func(ctx context.Context, s *cli.Opened, e cli.SnapshotEngine, ref wire.SnapshotRef) error {
			r, err := f.request(s, ref)
			if err != nil {
				return err
			}
			return a.restore(s, restoring{
				agent: Restored(r), from: "snapshot " + cli.ShortID(string(r.ID)), yes: f.yes, dryRun: f.dryRun,
				run: func(dryRun bool) (wire.RestoreReport, error) {
					r.DryRun = dryRun
					return e.Restore(ctx, r)
				},
			})
		})
	})
	fl := cmd.Flags()
	fl.StringVar(&f.toAgent, "to-agent", "", "restore to a new agent of this name")
	fl.StringSliceVar(&f.only, "only", nil, "restore only memory, notes or state (repeat); other parts stay as they are")
	fl.BoolVar(&f.withControl, "with-control", false, "also restore tasks, events, approvals, results and the queue")
	fl.StringVar(&f.memory, "memory", "", "restore only this memory, as a new revision")
	fl.StringVar(&f.source, "source", "", "write the files of this source to --to instead")
	fl.StringVar(&f.to, "to", "", "empty or new folder for --source")
	fl.BoolVar(&f.localOnly, "local-only", false, "keep the old stamps; the next sync may undo the restore")
	fl.BoolVar(&f.noSafety, "no-safety-snapshot", false, "take no snapshot of the live agent first")
	fl.BoolVar(&f.discardOld, "discard-old", false, "remove the old data even if no snapshot holds it")
	fl.BoolVar(&f.acceptRedacted, "accept-redacted", false, "let a redacted snapshot or bundle replace the live agent")
	fl.BoolVar(&f.acceptUnsigned, "accept-unsigned", false, "restore an unsigned snapshot that follows signed ones")
	cli.OnlyHere(fl, "to")
	cli.AddPassphraseFlag(cmd, &f.passphrase)
	cli.AddPlanFlags(cmd, &f.yes, &f.dryRun, "show what would change and change nothing")
	return cmd
}

// check refuses flags that exclude each other.
func (f restoreFlags) check(cmd *cobra.Command) error {
	given := cmd.Flags().Changed
	for _, name := range []string{"to-agent", "memory", "source", "to", "only"} {
		if v := cmd.Flags().Lookup(name).Value.String(); given(name) && (v == "" || v == "[]") {
			return cli.Usage("--%s is empty", name)
		}
	}
	switch {
	case given("source") != given("to"):
		return cli.Usage("--source and --to go together")
	case given("memory") && given("source"):
		return cli.Usage("--memory and --source exclude each other")
	}
	for _, alone := range []string{"memory", "source"} {
		if !given(alone) {
			continue
		}
		for _, other := range []string{"to-agent", "only", "with-control", "local-only", "no-safety-snapshot", "discard-old", "accept-redacted"} {
			if given(other) {
				return cli.Usage("--%s and --%s exclude each other", alone, other)
			}
		}
	}
	return nil
}

// request makes the request of the flags and the configuration.
func (f restoreFlags) request(s *cli.Opened, ref wire.SnapshotRef) (wire.RestoreRequest, error) {
	return f.bare(s, ref).Normalize()
}

func (f restoreFlags) bare(s *cli.Opened, ref wire.SnapshotRef) wire.RestoreRequest {
	return wire.RestoreRequest{
		SnapshotRef: ref, To: amber.AgentID(f.toAgent), Only: f.only, WithControl: f.withControl, LocalOnly: f.localOnly,
		NoSafetySnapshot: f.noSafety || !s.Config.Config.Snapshot.Auto.BeforeRestore,
		DiscardOld:       f.discardOld, AcceptRedacted: f.acceptRedacted, AcceptUnsigned: f.acceptUnsigned, DryRun: f.dryRun,
	}
}

// restoring is one agent being brought back.
type restoring struct {
	agent       amber.AgentID // "": what is restored from decides
	from        string        // what people are told it is
	yes, dryRun bool
	run         func(dryRun bool) (wire.RestoreReport, error)
}

// restore brings an agent back once a person has seen the plan, or has said
// not to ask.
func (a *app) restore(s *cli.Opened, r restoring) error {
	there, err := a.Site(s).Agents()
	if err != nil {
		return err
	}
	question := "restore"
	switch {
	case r.agent == "":
	case there[r.agent]:
		question = "restore agent " + string(r.agent)
	default:
		question = "make agent " + string(r.agent)
	}
	run := func(dryRun bool) (wire.RestoreReport, error) {
		what := "restoring"
		if dryRun {
			what = "comparing"
		}
		report, err := cli.Working(a.App, what, func() (wire.RestoreReport, error) { return r.run(dryRun) })
		report.Restored, report.Checks = cli.OrEmpty(report.Restored), cli.OrEmpty(report.Checks)
		report.Plan.Store.Tables = cli.OrEmpty(report.Plan.Store.Tables)
		return report, err
	}
	report, err := confirmed(a, r.yes, r.dryRun, question, run, func(plan wire.RestoreReport) string {
		a.ShowAside(func(w io.Writer) { a.printRestored(w, !there[plan.Agent], plan) })
		a.WarnSkipped(nil, plan.Warnings)
		return question + " from " + r.from
	})
	if err != nil {
		return err
	}
	err = a.Out.Show(report, func(w io.Writer) { a.printRestored(w, !there[report.Agent], report) })
	a.WarnSkipped(nil, report.Warnings)
	return err
}

// Restored is the agent that gets the snapshot.
func Restored(r wire.RestoreRequest) amber.AgentID {
	if r.To != "" {
		return r.To
	}
	return r.Agent
}

// printRestored prints what a restore did or would do. A restore that makes an agent changes nothing that was
// there.
func (a *app) printRestored(w io.Writer, makes bool, r wire.RestoreReport) {
	parts, agent, from := cli.Flat(strings.Join(r.Restored, ", ")), cli.Flat(string(r.Agent)), cli.Flat(cli.ShortID(string(r.From)))
	switch {
	case makes && r.DryRun:
		fmt.Fprintf(w, "would make agent %s of snapshot %s: %s\n", agent, from, parts)
	case makes:
		fmt.Fprintf(w, "made agent %s of snapshot %s: %s\n", agent, from, parts)
	case r.DryRun:
		fmt.Fprintf(w, "would restore %s of agent %s from snapshot %s\n", parts, agent, from)
	default:
		fmt.Fprintf(w, "restored %s of agent %s from snapshot %s\n", parts, agent, from)
	}
	changed := a.printChanges(w, r.Plan.Store, r.Plan.Notes, r.Plan.State)
	if r.DryRun && !changed && !makes && len(r.Warnings) == 0 {
		fmt.Fprintln(w, "nothing would change")
	}
	if r.DryRun {
		fmt.Fprintf(w, "space needed: %s, free: %s\n", cli.ByteSize(r.Plan.SpaceNeeded), cli.ByteSize(r.Plan.SpaceFree))
	} else {
		printAfterRestore(w, r)
	}
	a.PrintChecks(w, r.Checks)
}

// printAfterRestore prints what a person needs to undo a restore.
func printAfterRestore(w io.Writer, r wire.RestoreReport) {
	fmt.Fprintf(w, "generation %d is live\n", r.Generation)
	if r.SafetySnapshot != "" {
		fmt.Fprintf(w, "the agent as it was before: snapshot %s\n", cli.Flat(string(r.SafetySnapshot)))
	}
	if r.OldGeneration > 0 {
		fmt.Fprintf(w, "generation %d was kept: no verified snapshot holds its last state\n", r.OldGeneration)
	}
	if r.ParkedFrames > 0 {
		fmt.Fprintf(w, "parked with generation %d: %s of the crash journal; amber journal drain --from-generation %[1]d takes them\n",
			r.ParkedGeneration, words.Count(r.ParkedFrames, "entry", "entries"))
	}
}
