package control

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
)

func (a *app) taskCommand() *cobra.Command {
	return cli.Family("task",
		a.taskSaveCommand(), a.taskShowCommand(), a.taskListCommand(), a.taskReplayCommand(),
	)
}

// withTask is withStore for a verb about one task; an id that is no id is
// refused before anything is opened.
func (a *app) withTask(cmd *cobra.Command, id string, fn func(ctx context.Context, s *cli.Opened) error) error {
	if err := amber.CheckID("task id", id); err != nil {
		return err
	}
	return a.WithStore(cmd, fn)
}

func (a *app) taskShowCommand() *cobra.Command {
	return cli.Verb("show", func(cmd *cobra.Command, args []string) error {
		return a.withTask(cmd, args[0], func(ctx context.Context, s *cli.Opened) error {
			return cli.Answer(s.Store.Tasks.Task(ctx, args[0]))(a.Out, a.printTask)
		})
	})
}

func (a *app) printTask(w io.Writer, t amber.Task) {
	fmt.Fprintln(w, a.Out.Style(cli.Bold, cli.Flat(t.ID)))
	a.Out.Fact(w, "state", fmt.Sprintf("%s, version %d", t.State, t.Version))
	a.Out.Fact(w, "request", t.RequestID)
	a.Out.Fact(w, "session", string(t.SessionID))
	a.Out.Fact(w, "attempts", fmt.Sprint(t.Attempts))
	a.Out.Fact(w, "completed nodes", strings.Join(t.CompletedNodes, ", "))
	a.Out.Fact(w, "next node", fmt.Sprint(t.NextNodeIndex))
	a.Out.Fact(w, "pending approval", t.PendingApprovalID)
	a.Out.Fact(w, "last result", t.LastResult)
	a.Out.Fact(w, "changed", a.Out.When(t.UpdatedAt))
	fmt.Fprintf(w, "\n%s\n", cli.Safe(t.Goal))
}

func (a *app) taskListCommand() *cobra.Command {
	var f cli.PageFlags
	var state, session string
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().Changed("state") && !amber.TaskState(state).Valid() {
			return cli.Usage("--state %q is not a state of a task; the states are %s", cli.OneLine(state, 40), taskStates())
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			q := amber.TaskQuery{State: amber.TaskState(state)}
			if cmd.Flags().Changed("session") {
				id, err := agent.FindSession(ctx, s.Store, session)
				if err != nil {
					return err
				}
				q.SessionID = id
			}
			read := func(n int, c amber.Cursor) (amber.Page[amber.Task], error) {
				q.Limit, q.Cursor = n, c
				return s.Store.Tasks.ListTasks(ctx, q)
			}
			return cli.ShowPage(a.App, cmd, f, read, a.printTasks)
		})
	})
	f.Add(cmd)
	cmd.Flags().StringVar(&state, "state", "", "only tasks in this state")
	cmd.Flags().StringVar(&session, "session", "", "only tasks of this session")
	return cmd
}

// taskStates names every state.
func taskStates() string {
	var names []string
	for _, s := range amber.TaskStates() {
		names = append(names, string(s))
	}
	return strings.Join(names, ", ")
}

func (a *app) printTasks(w io.Writer, items []amber.Task) {
	cli.TableOf(w, []string{"ID", "STATE", "VERSION", "CHANGED", "GOAL"}, items, func(t amber.Task) []string {
		return []string{t.ID, string(t.State), fmt.Sprint(t.Version), a.Out.When(t.UpdatedAt), cli.OneLine(t.Goal, 60)}
	})
}

func (a *app) taskReplayCommand() *cobra.Command {
	return cli.Verb("replay", func(cmd *cobra.Command, args []string) error {
		return a.withTask(cmd, args[0], func(ctx context.Context, s *cli.Opened) error {
			return cli.Answer(s.Store.Events.Replay(ctx, args[0]))(a.Out, a.printReplay)
		})
	})
}

func (a *app) printReplay(w io.Writer, r amber.ReplayReport) {
	verdict := cli.Amb
	if r.ConsistencyStatus == amber.ReplayConsistent {
		verdict = cli.Bold
	}
	fmt.Fprintf(w, "%s, %s\n", a.Out.Style(verdict, cli.Flat(string(r.ConsistencyStatus))), cli.Flat(string(r.RecoveryEligibility)))
	a.Out.Fact(w, "stored state", string(r.PersistedState))
	a.Out.Fact(w, "replayed state", string(r.ReplayedState))
	a.Out.Fact(w, "completed nodes", strings.Join(r.Replay.CompletedNodes, ", "))
	a.Out.Fact(w, "open nodes", strings.Join(r.ResumeCandidates, ", "))
	a.Out.Fact(w, "pending approval", r.Replay.PendingApprovalID)
	a.Out.Fact(w, "events", fmt.Sprintf("%d, %d of them compacted", r.EventCount, r.EventCount-int64(len(r.Events))-r.EventsLeft))
	if len(r.Events) > 0 {
		fmt.Fprintln(w)
		a.printEvents(w, r.Events)
	}
	if r.EventsLeft > 0 {
		fmt.Fprintf(w, "\n%s\n", a.Out.Style(cli.Amb, words.Count(r.EventsLeft, "later event is", "later events are")+" not shown: amber event list shows all"))
	}
}
