package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

// findSession returns the session that text names: a whole id, or the end of
// a UUID in the catalogue. Hosts bring ids of any form and need no catalogue,
// so a text that is the end of none is taken for a whole id.
func findSession(ctx context.Context, s *opened, text string) (amber.SessionID, error) {
	id, err := amber.ParseSessionID(text)
	if err != nil {
		return "", err
	}
	end, err := parseIDEnd(text)
	if _, whole := end.whole(); err != nil || whole {
		return id, nil
	}
	_, err = s.Store.Sessions.Session(ctx, id)
	switch amber.KindOf(err) {
	case amber.KindNotFound:
	case "", amber.KindUnsupported:
		return id, nil
	default:
		return "", err
	}
	fits, err := sessionsEnding(ctx, s, end)
	switch {
	case err != nil:
		return "", err
	case len(fits) == 0:
		return id, nil
	}
	fit, err := onlyFit("session", end, fits)
	return amber.SessionID(fit), err
}

// onlyFit returns the one id that ends in end.
func onlyFit(what string, end idEnd, fits []string) (string, error) {
	if len(fits) == 1 {
		return fits[0], nil
	}
	return "", amber.Errorf(amber.KindInvalid, "find "+what, string(end), "several ids end in these digits: %s", strings.Join(fits[:min(len(fits), maxNamed)], ", "))
}

// sessionsEnding looks through the catalogue.
func sessionsEnding(ctx context.Context, s *opened, end idEnd) ([]string, error) {
	var fits []string
	q := amber.SessionQuery{Limit: amber.MaxPageSize}
	for {
		page, err := s.Store.Sessions.ListSessions(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, item := range page.Items {
			if endsWith(string(item.ID), string(end)) {
				fits = append(fits, string(item.ID))
			}
		}
		if page.Next == "" {
			return fits, nil
		}
		q.Cursor = page.Next
	}
}

// sessionChoice is an optional ID argument beside --binding.
type sessionChoice struct{ binding string }

func (c *sessionChoice) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.binding, "binding", amber.DefaultBinding, "without ID: the active session of this chat or terminal")
}

// find returns the session of the argument, else the active one of the
// binding.
func (c sessionChoice) find(ctx context.Context, cmd *cobra.Command, s *opened, args []string) (amber.SessionID, error) {
	if len(args) == 1 {
		if cmd.Flags().Changed("binding") {
			return "", usage("give an id or --binding, not both")
		}
		return findSession(ctx, s, args[0])
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

// sessionFlag is --session of the verbs that work inside a session.
type sessionFlag struct{ text string }

func (f *sessionFlag) add(cmd *cobra.Command, use string) {
	cmd.Flags().StringVar(&f.text, "session", "", use)
}

// find returns the session of the flag, else the active one.
func (f sessionFlag) find(ctx context.Context, cmd *cobra.Command, s *opened) (amber.SessionID, error) {
	if cmd.Flags().Changed("session") {
		return findSession(ctx, s, f.text)
	}
	active, err := s.Store.Active.ActiveSession(ctx, amber.DefaultBinding)
	if amber.KindOf(err) == amber.KindNotFound {
		e := amber.Errorf(amber.KindInvalid, "find session", "", "no session is active, and --session names none")
		e.Hint = "amber session start"
		return "", e
	}
	return active.ID, err
}

// named returns the session of the flag; what removes something does not
// guess.
func (f sessionFlag) named(ctx context.Context, cmd *cobra.Command, s *opened) (amber.SessionID, error) {
	if !cmd.Flags().Changed("session") {
		return "", usage("%s needs --session", cmd.CommandPath())
	}
	return findSession(ctx, s, f.text)
}
