package control

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// taskFlags name what to change of a task.
type taskFlags struct {
	goal, state, request, session, approval, result string
	attempts, nextNode                              int
	completed                                       []string
	ifVersion                                       int64
}

func (a *app) taskSaveCommand() *cobra.Command {
	var f taskFlags
	cmd := cli.Verb("save", func(cmd *cobra.Command, args []string) error {
		if args[0] == "-" {
			return a.saveWholeTask(cmd)
		}
		return a.saveTask(cmd, f, args[0])
	})
	fl := cmd.Flags()
	fl.StringVar(&f.goal, "goal", "", "what is to be done, or - for stdin")
	fl.StringVar(&f.state, "state", "", "the state it goes to")
	fl.StringVar(&f.request, "request", "", "the request it came from")
	fl.StringVar(&f.session, "session", "", "the session it belongs to")
	fl.IntVar(&f.attempts, "attempts", 0, "attempts so far")
	fl.StringArrayVar(&f.completed, "completed-node", nil, "a node that is done, added to those that were (repeat)")
	fl.IntVar(&f.nextNode, "next-node", 0, "the index of the next node")
	fl.StringVar(&f.approval, "approval", "", `the approval it waits for; "" when it waits no more`)
	fl.StringVar(&f.result, "result", "", "the last result")
	fl.Int64Var(&f.ifVersion, "if-version", 0, "the version that is stored now; 0: there is no task yet (default the version just read)")
	return cmd
}

func (a *app) saveTask(cmd *cobra.Command, f taskFlags, id string) error {
	goal, err := a.Text(f.goal, amber.MaxContentBytes)
	if err != nil {
		return err
	}
	f.goal = goal
	return a.withTask(cmd, id, func(ctx context.Context, s *cli.Opened) error {
		task, err := s.Store.Tasks.Task(ctx, id)
		if amber.KindOf(err) == amber.KindNotFound {
			task, err = newTask(cmd, id, f.ifVersion)
		}
		if err != nil {
			return err
		}
		if f.session != "" {
			id, err := agent.FindSession(ctx, s.Store, f.session)
			if err != nil {
				return err
			}
			f.session = string(id)
		}
		ifVersion := task.Version
		if cmd.Flags().Changed("if-version") {
			ifVersion = f.ifVersion
		}
		saved, err := s.Store.Tasks.SaveTask(ctx, f.apply(task, cmd.Flags()), ifVersion)
		if err != nil {
			return err
		}
		return a.showSaved(saved)
	})
}

// newTask begins a task that is not stored.
func newTask(cmd *cobra.Command, id string, ifVersion int64) (amber.Task, error) {
	t := amber.Task{ID: id, State: amber.TaskQueued}
	if err := amber.CheckSave(nil, t, ifVersion); err != nil {
		return t, err
	}
	if !cmd.Flags().Changed("goal") {
		return t, amber.Errorf(amber.KindInvalid, "save task", id, "the task does not exist, and a new task needs --goal").
			WithHint(fmt.Sprintf("amber task save %s --goal TEXT", id))
	}
	return t, nil
}

// apply changes what the flags name.
func (f taskFlags) apply(t amber.Task, flags *pflag.FlagSet) amber.Task {
	change := func(name string, set func()) {
		if flags.Changed(name) {
			set()
		}
	}
	change("goal", func() { t.Goal = f.goal })
	change("state", func() { t.State = amber.TaskState(f.state) })
	change("request", func() { t.RequestID = f.request })
	change("session", func() { t.SessionID = amber.SessionID(f.session) })
	change("attempts", func() { t.Attempts = f.attempts })
	change("next-node", func() { t.NextNodeIndex = f.nextNode })
	change("approval", func() { t.PendingApprovalID = f.approval })
	change("result", func() { t.LastResult = f.result })
	t.CompletedNodes = slices.Clone(t.CompletedNodes)
	for _, n := range f.completed {
		if !slices.Contains(t.CompletedNodes, n) {
			t.CompletedNodes = append(t.CompletedNodes, n)
		}
	}
	return t
}

// saveWholeTask stores the task on stdin.
func (a *app) saveWholeTask(cmd *cobra.Command) error {
	named := ""
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if cmd.InheritedFlags().Lookup(f.Name) == nil {
			named = f.Name
		}
	})
	if named != "" {
		return cli.Usage("--%s cannot be used with -; put the value into the JSON", named)
	}
	var task amber.Task
	if err := a.ReadJSON("task", &task); err != nil {
		return err
	}
	return a.withTask(cmd, task.ID, func(ctx context.Context, s *cli.Opened) error {
		saved, err := s.Store.Tasks.SaveTask(ctx, task, task.Version)
		if err != nil {
			return err
		}
		return a.showSaved(saved)
	})
}

func (a *app) showSaved(t amber.Task) error {
	return a.Out.Show(t, func(w io.Writer) { fmt.Fprintf(w, "%s is %s, version %d\n", cli.Flat(t.ID), t.State, t.Version) })
}
