package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/term"
)

// filterFlags narrow recall and list.
type filterFlags struct {
	cli.IdentityFlags
	kinds, tags  []string
	since, until string
}

func (f *filterFlags) add(cmd *cobra.Command) {
	f.IdentityFlags.Add(cmd)
	fl := cmd.Flags()
	fl.StringArrayVar(&f.kinds, "kind", nil, "only this kind (repeat)")
	fl.StringArrayVar(&f.tags, "tag", nil, "only with this tag (repeat: all of them)")
	fl.StringVar(&f.since, "since", "", "changed at or after this time: "+cli.TimeForms+" ago")
	fl.StringVar(&f.until, "until", "", "changed before this time: "+cli.TimeForms+" ago")
}

// filter returns what the flags ask for, with the identities known here.
func (a *app) filter(ctx context.Context, s *cli.Opened, f filterFlags) (out amber.Filter, err error) {
	out.Scope, out.Tags = amber.Scope(f.Scope), f.tags
	for _, k := range f.kinds {
		out.Kinds = append(out.Kinds, amber.MemoryKind(k))
	}
	for _, t := range []struct {
		flag, text string
		into       *amber.Time
	}{{"since", f.since, &out.Since}, {"until", f.until, &out.Until}} {
		if *t.into, err = a.Past(t.flag, t.text); err != nil {
			return out, err
		}
	}
	out.Identities, err = a.Identities(ctx, s, f.IdentityFlags)
	return out, err
}

func (a *app) recallCommand() *cobra.Command {
	var f filterFlags
	var n int
	var explain bool
	var at string
	cmd := &cobra.Command{
		Use:   "recall QUERY|-",
		Short: "Find memories that answer a question",
		Long: `Find the memories that best answer a question, best first.

The question is split into words; any of them may match, in any form (database,
databases). Rare words count more, a title counts more than the text.
Without --scope it looks in every scope whose identity is known here (the project
of the working directory, the active session, what the flags name) and in global.

With --at the answer comes from a snapshot; nothing is restored.

On a terminal a hit shows the first 6 lines of its memory; in a pipe it shows the whole.`,
		Example: `  amber recall "which database did we pick and why"
  amber recall "which database did we pick and why" --at 5f3a91c0
  amber recall "release steps" --kind workflow_insight --since 2026-01-01 --explain`,
		Args: cli.Exactly("a question"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("limit") {
				if err := cli.Limit("-n", n); err != nil {
					return err
				}
			}
			text, err := a.Text(args[0], amber.MaxQueryBytes)
			if err != nil {
				return err
			}
			if strings.TrimSpace(text) == "" {
				return amber.Errorf(amber.KindInvalid, "recall", "", "the question is empty").WithHint("amber list")
			}
			if cmd.Flags().Changed("at") {
				return a.recallAt(cmd, at, f, amber.Query{Text: text, Limit: n, Explain: explain})
			}
			return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
				filter, err := a.filter(ctx, s, f)
				if err != nil {
					return err
				}
				result, err := s.Store.LongTerm.Recall(ctx, amber.Query{Text: text, Filter: filter, Limit: n, Explain: explain})
				if err != nil {
					return err
				}
				if len(result.Hits) == 0 {
					defer a.noteOtherNames(ctx, s, f.Project)
				}
				return a.Out.Show(result, func(w io.Writer) { a.printHits(w, result) })
			})
		},
	}
	f.add(cmd)
	cmd.Flags().IntVarP(&n, "limit", "n", 0, "how many hits at most (default memory.recall.top_k, 8; cap 64)")
	cmd.Flags().BoolVar(&explain, "explain", false, "show why each hit ranks where it does")
	cmd.Flags().StringVar(&at, "at", "", "answer from this snapshot")
	return cmd
}

func (a *app) printHits(w io.Writer, r amber.RecallResult) {
	p := a.Out
	for _, c := range r.Clamped {
		p.Note("-n %d is more than allowed; showing at most %d", c.Requested, c.Effective)
	}
	a.NoteAside(r.SetAside)
	if len(r.Hits) == 0 {
		p.Note("nothing found")
		return
	}
	for i, h := range r.Hits {
		if i > 0 {
			fmt.Fprintln(w)
		}
		a.printHit(w, h)
		trust := ""
		if h.Trust != amber.TrustOwn {
			trust = " · " + string(h.Trust)
		}
		cli.Wrapped(w, 6, "      %s", p.Style(cli.Dim, fmt.Sprintf("%s · %s · %s · %s%s", cli.ShortID(string(h.ID)), h.Kind, h.Scope, p.When(h.UpdatedAt), trust)))
		if h.Why != nil {
			printWhy(w, h.Why)
		}
	}
}

// hitLines is how much of a memory a hit shows on a terminal.
const hitLines = 6

// printHit prints a memory under its score: whole, or its first lines on a
// terminal.
func (a *app) printHit(w io.Writer, h amber.Hit) {
	const indent = 6
	p := a.Out
	score := p.Style(cli.Amb, fmt.Sprintf("%.2f", h.Score))
	if h.Title != "" {
		cli.Wrapped(w, indent, "%s  %s", score, p.Style(cli.Bold, cli.Flat(h.Title)))
	}
	lines := strings.Split(strings.TrimRight(cli.Safe(h.Content), "\n"), "\n")
	if p.Columns > 0 {
		var fitting []string
		for _, line := range lines {
			fitting = append(fitting, term.Wrap(strings.ReplaceAll(line, "\t", "    "), max(p.Columns-indent, 20), 0)...)
		}
		if lines = fitting; len(lines) > hitLines {
			more := p.Style(cli.Dim, fmt.Sprintf("… %s: amber get %s", cli.Count(int64(len(lines)-hitLines), "more line", "more lines"), cli.ShortID(string(h.ID))))
			lines = append(lines[:hitLines], more)
		}
	}
	for i, line := range lines {
		if i == 0 && h.Title == "" {
			fmt.Fprintf(w, "%s  %s\n", score, line)
			continue
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Repeat(" ", indent)+line, " "))
	}
}

func printWhy(w io.Writer, why *amber.Why) {
	for _, t := range why.Terms {
		fmt.Fprintf(w, "      %q in %s\n", t.Term, strings.Join(t.Fields, ", "))
	}
	fmt.Fprintf(w, "      words %.3f", why.Words)
	for _, part := range []struct {
		name  string
		value float64
	}{{"meaning", why.Meaning}, {"neighbours", why.Neighbours}, {"session", why.Session}, {"speaker", why.Speaker}, {"near the best", why.Feedback}} {
		if part.value != 0 {
			fmt.Fprintf(w, ", %s %.3f", part.name, part.value)
		}
	}
	if why.Newer {
		fmt.Fprint(w, ", newer than another about the same")
	}
	fmt.Fprintln(w)
}
