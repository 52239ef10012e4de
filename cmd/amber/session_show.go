package main

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

// lastTurns is how many turns `session show` prints.
const lastTurns = 5

func (a *app) sessionListCommand() *cobra.Command {
	var f pageFlags
	var binding, project string
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List sessions, last changed first",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := pageSize(f.n); err != nil {
				return err
			}
			if cmd.Flags().Changed("binding") {
				if err := amber.CheckID("binding", binding); err != nil {
					return err
				}
			}
			if cmd.Flags().Changed("project") {
				if err := amber.CheckID("project", project); err != nil {
					return err
				}
			}
			return a.withStore(cmd, func(ctx context.Context, s *opened) error {
				active := activeSet{}
				read := func(n int, c amber.Cursor) (amber.Page[amber.Session], error) {
					page, err := s.Store.Sessions.ListSessions(ctx, amber.SessionQuery{Binding: binding, Project: project, Limit: n, Cursor: c})
					if err == nil && !a.global.json && !f.jsonl {
						err = active.look(ctx, s, page.Items)
					}
					return page, err
				}
				return showPage(a, cmd, f, read, func(w io.Writer, items []amber.Session) { a.printSessions(w, items, active) })
			})
		},
	}
	f.add(cmd)
	cmd.Flags().StringVar(&binding, "binding", "", "only sessions of this chat or terminal")
	cmd.Flags().StringVar(&project, "project", "", "only sessions of this project (default every project)")
	return cmd
}

// activeSet holds the active session of each binding that was looked at, ""
// where there is none.
type activeSet map[string]amber.SessionID

// look asks for the bindings of sessions.
func (m activeSet) look(ctx context.Context, s *opened, sessions []amber.Session) error {
	for _, item := range sessions {
		if _, known := m[item.Binding]; known {
			continue
		}
		active, err := s.Store.Active.ActiveSession(ctx, item.Binding)
		if err != nil && amber.KindOf(err) != amber.KindNotFound {
			return err
		}
		m[item.Binding] = active.ID
	}
	return nil
}

func (a *app) printSessions(w io.Writer, items []amber.Session, active activeSet) {
	rows := make([][]string, len(items))
	for i, s := range items {
		mark := ""
		if active[s.Binding] == s.ID {
			mark = "*"
		}
		rows[i] = []string{mark, shortID(string(s.ID)), oneLine(s.Name, 40), s.Binding, sessionStatus(s), a.out.when(s.UpdatedAt), s.Project}
	}
	table(w, []string{"", "ID", "NAME", "BINDING", "STATUS", "CHANGED", "PROJECT"}, rows)
}

func sessionStatus(s amber.Session) string {
	if s.EndedAt.IsZero() {
		return "open"
	}
	return string(s.EndReason)
}

func (a *app) sessionShowCommand() *cobra.Command {
	var which sessionChoice
	cmd := &cobra.Command{
		Use:   "show [ID]",
		Short: "Show a session and its last turns (default the active one)",
		Args:  upTo(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.withStore(cmd, func(ctx context.Context, s *opened) error {
				id, err := which.find(ctx, cmd, s, args)
				if err != nil {
					return err
				}
				found, err := s.Store.Sessions.Session(ctx, id)
				if err != nil {
					return err
				}
				var turns []amber.Turn
				var done []amber.Activity
				if !a.global.json {
					if turns, err = allTurns(ctx, s, id); err != nil {
						return err
					}
					if done, err = recentActivity(ctx, s, id); err != nil {
						return err
					}
				}
				return a.out.show(found, func(w io.Writer) { a.printSession(w, found, turns, done) })
			})
		},
	}
	which.add(cmd)
	return cmd
}

// allTurns returns every turn of a session, none where turns are not kept.
func allTurns(ctx context.Context, s *opened, id amber.SessionID) ([]amber.Turn, error) {
	turns, err := s.Store.Turns.LoadTurns(ctx, id, math.MaxInt32)
	if amber.KindOf(err) == amber.KindUnsupported {
		return nil, nil
	}
	return turns, err
}

func (a *app) printSession(w io.Writer, s amber.Session, turns []amber.Turn, done []amber.Activity) {
	p := a.out
	fmt.Fprintln(w, p.style(bold, flat(s.Name)))
	ended := ""
	if !s.EndedAt.IsZero() {
		ended = fmt.Sprintf("%s (%s)", s.EndedAt, s.EndReason)
	}
	p.fact(w, "id", string(s.ID))
	p.fact(w, "binding", s.Binding)
	p.fact(w, "project", s.Project)
	p.fact(w, "directory", s.Directory)
	p.fact(w, "parent", string(s.Parent))
	p.fact(w, "trust", string(s.Trust))
	p.fact(w, "started", s.StartedAt.String())
	p.fact(w, "ended", ended)
	p.fact(w, "summary", s.Summary)
	p.fact(w, "turns", fmt.Sprint(len(turns)))
	if len(turns) > 0 {
		fmt.Fprintln(w)
		a.printTurns(w, turns[max(0, len(turns)-lastTurns):])
	}
	if len(done) > 0 {
		fmt.Fprintln(w)
		a.printActivity(w, done)
	}
}
