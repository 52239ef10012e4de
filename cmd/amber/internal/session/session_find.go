package session

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// sessionChoice is an optional ID argument beside --binding.
type sessionChoice struct{ binding string }

func (c *sessionChoice) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.binding, "binding", amber.DefaultBinding, "without ID: the active session of this chat or terminal")
}

// find returns the session of the argument, else the active one of the
// binding.
func (c sessionChoice) find(ctx context.Context, cmd *cobra.Command, s *cli.Opened, args []string) (amber.SessionID, error) {
	if len(args) == 1 {
		if cmd.Flags().Changed("binding") {
			return "", cli.Usage("give an id or --binding, not both")
		}
		return agent.FindSession(ctx, s.Store, args[0])
	}
	if err := amber.CheckID("binding", c.binding); err != nil {
		return "", err
	}
	active, err := s.Store.Active.ActiveSession(ctx, c.binding)
	if amber.KindOf(err) == amber.KindNotFound {
		err = &amber.Error{Op: "find active session", Kind: amber.KindNotFound, ID: c.binding, Err: err, Hint: "amber session list"}
	}
	return active.ID, err
}

// with calls fn with the session of the argument, else with the active one of the binding.
func (c sessionChoice) with(a *app, cmd *cobra.Command, args []string, fn sessionWork) error {
	return a.withSession(cmd, func(ctx context.Context, s *cli.Opened) (amber.SessionID, error) { return c.find(ctx, cmd, s, args) }, fn)
}

// sessionWork is what a verb does with a session.
type sessionWork func(ctx context.Context, s *cli.Opened, id amber.SessionID) error

// withSession is WithStore for a verb about the session that find finds.
func (a *app) withSession(cmd *cobra.Command, find func(context.Context, *cli.Opened) (amber.SessionID, error), fn sessionWork) error {
	return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
		id, err := find(ctx, s)
		if err != nil {
			return err
		}
		return fn(ctx, s, id)
	})
}

// withNamed calls fn with the session that a text names.
func (a *app) withNamed(cmd *cobra.Command, text string, fn sessionWork) error {
	return a.withSession(cmd, func(ctx context.Context, s *cli.Opened) (amber.SessionID, error) {
		return agent.FindSession(ctx, s.Store, text)
	}, fn)
}

// sessionFlag is --session of the verbs that work inside a session.
type sessionFlag struct{ text string }

// with calls fn with the session of the flag, else with the active one.
func (f sessionFlag) with(a *app, cmd *cobra.Command, fn sessionWork) error {
	return a.withSession(cmd, func(ctx context.Context, s *cli.Opened) (amber.SessionID, error) { return f.find(ctx, cmd, s) }, fn)
}

// withNamed calls fn with the session of the flag; what removes something does not guess.
func (f sessionFlag) withNamed(a *app, cmd *cobra.Command, fn sessionWork) error {
	return a.withSession(cmd, func(ctx context.Context, s *cli.Opened) (amber.SessionID, error) {
		if !cmd.Flags().Changed("session") {
			return "", cli.Usage("%s needs --session", cmd.CommandPath())
		}
		return agent.FindSession(ctx, s.Store, f.text)
	}, fn)
}

func (f *sessionFlag) add(cmd *cobra.Command, use string) {
	cmd.Flags().StringVar(&f.text, "session", "", use)
}

// find returns the session of the flag, else the active one.
func (f sessionFlag) find(ctx context.Context, cmd *cobra.Command, s *cli.Opened) (amber.SessionID, error) {
	if cmd.Flags().Changed("session") {
		return agent.FindSession(ctx, s.Store, f.text)
	}
	active, err := s.Store.Active.ActiveSession(ctx, amber.DefaultBinding)
	if amber.KindOf(err) == amber.KindNotFound {
		return "", amber.Errorf(amber.KindInvalid, "find session", "", "no session is active, and --session names none").WithHint("amber session start")
	}
	return active.ID, err
}
