package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
)

func (a *app) taskCommand() *cobra.Command {
	return family("task", "Keep tasks and replay their history",
		a.taskSaveCommand(), a.taskShowCommand(), a.taskListCommand(), a.taskReplayCommand(),
	)
}

// withTask is withStore for a verb about one task; an id that is no id is
// refused before anything is opened.
func (a *app) withTask(cmd *cobra.Command, id string, fn func(ctx context.Context, s *opened) error) error {
	if err := amber.CheckID("task id", id); err != nil {
		return err
	}
	return a.withStore(cmd, fn)
}

func (a *app) taskShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Show one task",
		Example: `  amber task show release-1.4`,
		Args:    exactly("the id of a task"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withTask(cmd, args[0], func(ctx context.Context, s *opened) error {
				t, err := s.Store.Tasks.Task(ctx, args[0])
				if err != nil {
					return err
				}
				return a.out.show(t, func(w io.Writer) { a.printTask(w, t) })
			})
		},
	}
}

func (a *app) printTask(w io.Writer, t amber.Task) {
	fmt.Fprintln(w, a.out.style(bold, flat(t.ID)))
	a.out.fact(w, "state", fmt.Sprintf("%s, version %d", t.State, t.Version))
	a.out.fact(w, "request", t.RequestID)
	a.out.fact(w, "session", string(t.SessionID))
	a.out.fact(w, "attempts", fmt.Sprint(t.Attempts))
	a.out.fact(w, "completed nodes", strings.Join(t.CompletedNodes, ", "))
	a.out.fact(w, "next node", fmt.Sprint(t.NextNodeIndex))
	a.out.fact(w, "pending approval", t.PendingApprovalID)
	a.out.fact(w, "last result", t.LastResult)
	a.out.fact(w, "changed", a.out.when(t.UpdatedAt))
	fmt.Fprintf(w, "\n%s\n", safe(t.Goal))
}

func (a *app) taskListCommand() *cobra.Command {
	var f pageFlags
	var state, session string
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List tasks, newest first",
		Example: `  amber task list --state waiting_approval`,
		Args:    exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := pageSize(f.n); err != nil {
				return err
			}
			if cmd.Flags().Changed("state") && !amber.TaskState(state).Valid() {
				return usage("--state %q is not a state of a task; the states are %s", oneLine(state, 40), taskStates())
			}
			return a.withStore(cmd, func(ctx context.Context, s *opened) error {
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
				return showPage(a, cmd, f, read, a.printTasks)
			})
		},
	}
	f.add(cmd)
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
	rows := make([][]string, len(items))
	for i, t := range items {
		rows[i] = []string{t.ID, string(t.State), fmt.Sprint(t.Version), a.out.when(t.UpdatedAt), oneLine(t.Goal, 60)}
	}
	table(w, []string{"ID", "STATE", "VERSION", "CHANGED", "GOAL"}, rows)
}

func (a *app) taskReplayCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "replay ID",
		Short: "Compare a task with its history and tell what may be done with it",
		Long: `Fold the events of a task and compare the outcome with the stored task.

The verdict is consistent, invalid_transitions, broken_transition_chain or
snapshot_mismatch; what may be done with the task after a crash follows from it.`,
		Example: `  amber task replay release-1.4`,
		Args:    exactly("the id of a task"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withTask(cmd, args[0], func(ctx context.Context, s *opened) error {
				r, err := s.Store.Events.Replay(ctx, args[0])
				if err != nil {
					return err
				}
				return a.out.show(r, func(w io.Writer) { a.printReplay(w, r) })
			})
		},
	}
}

func (a *app) printReplay(w io.Writer, r amber.ReplayReport) {
	verdict := amb
	if r.ConsistencyStatus == amber.ReplayConsistent {
		verdict = bold
	}
	fmt.Fprintf(w, "%s, %s\n", a.out.style(verdict, flat(string(r.ConsistencyStatus))), flat(string(r.RecoveryEligibility)))
	a.out.fact(w, "stored state", string(r.PersistedState))
	a.out.fact(w, "replayed state", string(r.ReplayedState))
	a.out.fact(w, "completed nodes", strings.Join(r.Replay.CompletedNodes, ", "))
	a.out.fact(w, "open nodes", strings.Join(r.ResumeCandidates, ", "))
	a.out.fact(w, "pending approval", r.Replay.PendingApprovalID)
	a.out.fact(w, "events", fmt.Sprintf("%d, %d of them compacted", r.EventCount, r.EventCount-int64(len(r.Events))))
	if len(r.Events) > 0 {
		fmt.Fprintln(w)
		a.printEvents(w, r.Events)
	}
}
