package session

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
)

// lastTurns is how many turns `session show` prints.
const lastTurns = 5

func (a *app) sessionListCommand() *cobra.Command {
	var f cli.PageFlags
	var binding, project string
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
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
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			active := activeSet{}
			read := func(n int, c amber.Cursor) (amber.Page[amber.Session], error) {
				page, err := s.Store.Sessions.ListSessions(ctx, amber.SessionQuery{Binding: binding, Project: project, Limit: n, Cursor: c})
				if err == nil && !a.Global.JSON && !f.JSONL {
					err = active.look(ctx, s, page.Items)
				}
				return page, err
			}
			return cli.ShowPage(a.App, cmd, f, read, func(w io.Writer, items []amber.Session) { a.printSessions(w, items, active) })
		})
	})
	f.Add(cmd)
	cmd.Flags().StringVar(&binding, "binding", "", "only sessions of this chat or terminal")
	cmd.Flags().StringVar(&project, "project", "", "only sessions of this project (default every project)")
	return cmd
}

// activeSet holds the active session of each binding that was looked at, ""
// where there is none.
type activeSet map[string]amber.SessionID

// look asks for the bindings of sessions.
func (m activeSet) look(ctx context.Context, s *cli.Opened, sessions []amber.Session) error {
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
	cli.TableOf(w, []string{"", "ID", "NAME", "HOST", "STATUS", "CHANGED", "PROJECT"}, items, func(s amber.Session) []string {
		mark := ""
		if active[s.Binding] == s.ID {
			mark = "*"
		}
		return []string{mark, cli.ShortID(string(s.ID)), cli.OneLine(s.Name, 40), words.Host(s.Binding), words.State(s), a.Out.When(s.UpdatedAt), s.Project}
	})
}

func (a *app) sessionShowCommand() *cobra.Command {
	var which sessionChoice
	cmd := cli.Verb("show", func(cmd *cobra.Command, args []string) error {
		return which.with(a, cmd, args, func(ctx context.Context, s *cli.Opened, id amber.SessionID) error {
			found, err := s.Store.Sessions.Session(ctx, id)
			if err != nil {
				return err
			}
			var turns []amber.Turn
			var done []amber.Activity
			if !a.Global.JSON {
				if turns, err = allTurns(ctx, s, id); err != nil {
					return err
				}
				if done, err = recentActivity(ctx, s, id); err != nil {
					return err
				}
			}
			return a.Out.Show(found, func(w io.Writer) { a.printSession(w, found, turns, done) })
		})
	})
	which.add(cmd)
	return cmd
}

// allTurns returns every turn of a session, none where turns are not kept.
func allTurns(ctx context.Context, s *cli.Opened, id amber.SessionID) ([]amber.Turn, error) {
	turns, err := amber.LastTurns(ctx, s.Store.Turns, id, math.MaxInt32)
	if amber.KindOf(err) == amber.KindUnsupported {
		return nil, nil
	}
	return turns, err
}

func (a *app) printSession(w io.Writer, s amber.Session, turns []amber.Turn, done []amber.Activity) {
	p := a.Out
	fmt.Fprintln(w, p.Style(cli.Bold, cli.Flat(s.Name)))
	ended := ""
	if !s.EndedAt.IsZero() {
		ended = fmt.Sprintf("%s (%s)", s.EndedAt, words.State(s))
	}
	p.Fact(w, "id", string(s.ID))
	p.Fact(w, "host", words.Host(s.Binding))
	if words.Host(s.Binding) != s.Binding {
		p.Fact(w, "binding", s.Binding)
	}
	p.Fact(w, "project", s.Project)
	p.Fact(w, "directory", s.Directory)
	p.Fact(w, "parent", string(s.Parent))
	p.Fact(w, "trust", string(s.Trust))
	p.Fact(w, "started", s.StartedAt.String())
	p.Fact(w, "ended", ended)
	p.Fact(w, "summary", s.Summary)
	p.Fact(w, "turns", fmt.Sprint(len(turns)))
	if len(turns) > 0 {
		fmt.Fprintln(w)
		a.printTurns(w, turns[max(0, len(turns)-lastTurns):])
	}
	if len(done) > 0 {
		fmt.Fprintln(w)
		a.printActivity(w, done)
	}
}
