package capture

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
)

func (a *app) journalDrainCommand() *cobra.Command {
	var detached, explain bool
	var generation int64
	cmd := cli.Verb("drain", func(cmd *cobra.Command, _ []string) error {
		if detached {
			return a.drainInBackground(cmd.Context())
		}
		report, err := cli.Working(a.App, "draining", func() (drain.Report, error) {
			return a.drain(cmd.Context(), cmd.Flags().Changed("from-generation"), generation, explain)
		})
		if err != nil {
			return err
		}
		if err := a.Out.Show(report, func(w io.Writer) { printDrain(w, report) }); err != nil {
			return err
		}
		return report.Err()
	})
	cmd.Flags().Int64Var(&generation, "from-generation", 0, "drain the entries that a restore parked for this generation")
	cmd.Flags().BoolVar(&explain, "explain", false, "print what could be learnt, and why it was kept or not")
	cmd.Flags().BoolVar(&detached, "detached", false, "drain until nothing comes any more, unless somebody else does")
	if err := cmd.Flags().MarkHidden("detached"); err != nil {
		panic(err)
	}
	return cmd
}

// drain brings the journal into the store, or what was parked of a generation.
func (a *app) drain(ctx context.Context, parked bool, generation int64, explain bool) (report drain.Report, err error) {
	if parked && a.Edge {
		return report, amber.Errorf(amber.KindUnsupported, "drain parked", "", "a restore parks entries where it happens, and memory.backend is remote: that is the server").
			WithHint("run amber journal drain --from-generation on the machine of the server")
	}
	s, err := a.Open(ctx)
	if err != nil {
		return report, err
	}
	if parked {
		report, err = s.Local.DrainParked(ctx, generation, explain)
	} else {
		// A million events take 54 MB resident with this, and 67 MB without.
		a.CollectEarly(20)
		report, err = s.Local.Drain(ctx, explain)
	}
	if report.Applied > 0 {
		s.IndexWritten(ctx, s.Config.Config.Search.Budget)
	}
	return report, errors.Join(err, s.Close())
}

// drainInBackground drains until nothing comes any more, and answers hooks meanwhile.
func (a *app) drainInBackground(ctx context.Context) error {
	in, err := a.ConfigInput()
	if err != nil {
		return err
	}
	r, err := config.NewReloader(in, a.Clock)
	if err != nil {
		return err
	}
	c := r.Loaded().Config
	o, err := a.AgentOptions(&c)
	if err != nil {
		return err
	}
	attend := func(at *agent.Agent) (agent.Attendant, error) { return a.attend(at, r) }
	if c.IsEdge() {
		attend = nil // hooks ask the server
	}
	return agent.DrainInBackground(ctx, o, agent.Background{Attend: attend, Stay: c.Context.Stay})
}

func printDrain(w io.Writer, r drain.Report) {
	fmt.Fprintf(w, "%s of %s: %d applied, %d known already, %s\n", words.Count(r.Events, "event", "events"), words.Count(r.Sessions, "session", "sessions"), r.Applied, r.Duplicates, words.Count(r.Memories, "memory", "memories"))
	for _, id := range r.Ended {
		fmt.Fprintf(w, "ended without a word: %s\n", id)
	}
	if r.Quarantined > 0 {
		fmt.Fprintf(w, "%s in quarantine: amber journal quarantine\n", words.Count(r.Quarantined, "event is", "events are"))
	}
	if r.Damaged > 0 {
		fmt.Fprintf(w, "%s could not be read: amber journal verify\n", words.Count(r.Damaged, "place", "places"))
	}
	for id, why := range r.DigestsByRule {
		fmt.Fprintf(w, "digest of session %s: the writer failed, rules wrote it: %s\n", cli.Flat(id), cli.Flat(why))
	}
	for _, d := range r.Decisions {
		verdict := "kept"
		if !d.Effective {
			verdict = "not kept, " + d.BlockedReason
		}
		fmt.Fprintf(w, "%s of session %s: %s: %s\n", d.Lesson, cli.Flat(string(d.SessionID)), verdict, cli.Flat(d.Text))
	}
	for key, why := range r.Failed {
		fmt.Fprintf(w, "session %s: %s\n", key, why)
	}
}
