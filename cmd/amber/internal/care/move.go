package care

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/freeze/move"
)

// MovedAgent is the JSON of a move.
type MovedAgent struct {
	move.Report
	Snapshot *amber.SnapshotID `json:"snapshot"` // of the agent as it was; null where none was taken
	Set      string            `json:"set"`      // what the configuration has to say from now on
}

// forgottenCopy is the JSON of what was erased, or would be.
type forgottenCopy struct {
	Agent  amber.AgentID `json:"agent"`
	Copy   string        `json:"copy"`
	DryRun bool          `json:"dry_run"`
}

func (a *app) moveCommand() *cobra.Command {
	var to string
	var resume, undo, forget, noSnapshot, yes, dryRun bool
	cmd := cli.Verb("move", func(cmd *cobra.Command, _ []string) error {
		chosen := 0
		for _, is := range []bool{to != "", resume, undo, forget} {
			if is {
				chosen++
			}
		}
		if chosen != 1 {
			return amber.Errorf(amber.KindInvalid, "move agent", "", "want one of --to, --resume, --undo and --forget").WithHint("amber move --to postgres --dry-run")
		}
		if dryRun && (resume || undo) {
			return amber.Errorf(amber.KindInvalid, "move agent", "", "--dry-run is for --to and --forget")
		}
		return a.withMoved(func(at *agent.Agent) error {
			ctx := cmd.Context()
			switch {
			case resume:
				return a.showMove(cli.Working(a.App, "moving", func() (agent.Moved, error) { return report(at.ResumeMove(ctx)) }))
			case undo:
				return a.showMove(cli.Working(a.App, "undoing", func() (agent.Moved, error) { return report(at.UndoMove(ctx)) }))
			case forget:
				return a.forgetMoved(ctx, at, yes, dryRun)
			}
			end, err := move.ParseTo(to)
			if err != nil {
				return err
			}
			if dryRun {
				p, err := cli.Working(a.App, "counting", func() (move.Plan, error) { return at.PlanMove(ctx, end) })
				if err != nil {
					return err
				}
				return a.Out.Show(p, func(w io.Writer) { printMovePlan(w, p) })
			}
			return a.showMove(cli.Working(a.App, "moving", func() (agent.Moved, error) { return at.Move(ctx, end, noSnapshot) }))
		})
	})
	cmd.Flags().StringVar(&to, "to", "", "where the agent moves: postgres or sqlite")
	cmd.Flags().BoolVar(&resume, "resume", false, "go on with a move that was interrupted")
	cmd.Flags().BoolVar(&undo, "undo", false, "take back a move that was interrupted")
	cmd.Flags().BoolVar(&forget, "forget", false, "erase the copy that a move has kept where the agent was")
	cmd.Flags().BoolVar(&noSnapshot, "no-snapshot", false, "do not take a snapshot before the agent leaves its home")
	cli.AddPlanFlags(cmd, &yes, &dryRun, "tell what would move, or be erased, and change nothing")
	return cmd
}

// withMoved runs fn with the agent of the flags, whose store stays closed.
func (a *app) withMoved(fn func(at *agent.Agent) error) (err error) {
	at, err := a.Configured()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	return fn(at)
}

func report(r move.Report, err error) (agent.Moved, error) { return agent.Moved{Report: r}, err }

func (a *app) forgetMoved(ctx context.Context, at *agent.Agent, yes, dryRun bool) error {
	kept, err := at.MoveKeeps(ctx)
	if err != nil {
		return err
	}
	out := forgottenCopy{Agent: at.ID(), Copy: kept, DryRun: dryRun}
	if !dryRun {
		if err := a.Confirm(yes, fmt.Sprintf("erase the copy of agent %s, %s", at.ID(), kept)); err != nil {
			return err
		}
		if _, err := cli.Working(a.App, "erasing", func() (move.Report, error) { return at.ForgetMove(ctx) }); err != nil {
			return err
		}
	}
	return a.Out.Show(out, func(w io.Writer) {
		verb := "erased"
		if dryRun {
			verb = "would erase"
		}
		cli.Wrapped(w, 4, "%s the copy of agent %s: %s", verb, out.Agent, out.Copy)
	})
}

func (a *app) showMove(m agent.Moved, err error) error {
	if err != nil {
		return err
	}
	out := MovedAgent{Report: m.Report, Set: "memory.backend: " + string(m.To)}
	if m.Undone {
		out.Set = "memory.backend: " + string(otherEnd(m.To))
	}
	if m.Snapshot != nil {
		out.Snapshot = &m.Snapshot.ID
		a.WarnSkipped(m.Snapshot.Skipped, m.Snapshot.Warnings)
	}
	return a.Out.Show(out, func(w io.Writer) { printMoved(w, out) })
}

func otherEnd(to move.To) move.To {
	if to == move.Postgres {
		return move.SQLite
	}
	return move.Postgres
}

func printMovePlan(w io.Writer, p move.Plan) {
	cli.Wrapped(w, 4, "would move agent %s", p.Agent)
	cli.Wrapped(w, 4, "  from %s", p.From)
	cli.Wrapped(w, 4, "  to %s", p.Place)
	for _, t := range p.Tables {
		if t.Rows > 0 {
			fmt.Fprintf(w, "  %-11s %-18s %d\n", t.File, t.Name, t.Rows)
		}
	}
	cli.Wrapped(w, 4, "%s, %s, %s, %s", words.Count(p.Rows, "row", "rows"), cli.ByteSize(p.Bytes),
		words.Count(int64(p.Notes), "note", "notes"), words.Count(int64(p.Documents), "document", "documents"))
}

func printMoved(w io.Writer, m MovedAgent) {
	if m.Undone {
		cli.Wrapped(w, 4, "agent %s is where it was: %s", m.Agent, m.From)
		cli.Wrapped(w, 4, "set %s", m.Set)
		return
	}
	cli.Wrapped(w, 4, "moved agent %s to %s", m.Agent, m.Place)
	if m.Rows > 0 {
		cli.Wrapped(w, 4, "%s, %s of git, %s; both ends were compared", words.Count(m.Rows, "row", "rows"),
			words.Count(int64(m.Objects), "object", "objects"), words.Count(int64(m.Documents), "document", "documents"))
	}
	if m.Snapshot != nil {
		cli.Wrapped(w, 4, "a snapshot was taken before: %s", cli.ShortID(string(*m.Snapshot)))
	}
	if m.Kept != "" {
		cli.Wrapped(w, 4, "what it was before is kept, and nobody can open it: %s (amber move --forget erases it)", m.Kept)
	}
	cli.Wrapped(w, 4, "set %s", m.Set)
}
