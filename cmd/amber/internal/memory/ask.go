package memory

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/wire"
)

// askCommand is recall --all under a name of its own.
func (a *app) askCommand() *cobra.Command {
	var f filterFlags
	var h hitFlags
	cmd := cli.Verb("ask", func(cmd *cobra.Command, args []string) error {
		q, err := a.question(cmd, strings.Join(args, " "), h)
		if err != nil {
			return err
		}
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error { return a.ask(ctx, s, q, f, h.weak) })
	})
	f.addNarrowing(cmd)
	cmd.Flags().StringVar(&f.Project, "project", "", "the project that goes first among equals (default from the working directory)")
	h.add(cmd)
	return cmd
}

// ask answers a question from everything, or in the shell of an agent from what its project sees.
func (a *app) ask(ctx context.Context, s *cli.Opened, q amber.Query, f filterFlags, weak bool) error {
	var err error
	if q.Filter, err = a.filter(ctx, s, f); err != nil {
		return err
	}
	if q.Scope != "" {
		return cli.Usage("--scope does not go with --all")
	}
	leave, why := a.Everything(s)
	var result amber.RecallResult
	if why == "" {
		result, err = s.Store.Everything.Ask(ctx, q, leave)
	} else {
		a.Out.Note("%s", why)
		result, err = s.Store.LongTerm.Recall(ctx, q)
	}
	if err != nil {
		return err
	}
	asked := wire.Grouped(result, q.ProjectID)
	asked.All = why == ""
	return a.Out.Show(asked, func(w io.Writer) {
		shown, note := a.fold(result.Hits, weak)
		defer note()
		result.Hits = shown
		a.printGroups(w, wire.Grouped(result, q.ProjectID))
	})
}

func (a *app) printGroups(w io.Writer, asked wire.Asked) {
	a.noteAnswer(asked.RecallResult)
	for i, hits := range asked.Of() {
		if i > 0 {
			fmt.Fprintln(w)
		}
		cli.Wrapped(w, 2, "%s", a.Out.Style(cli.Bold, cli.Flat(asked.Groups[i].Heading())))
		for _, h := range hits {
			fmt.Fprintln(w)
			a.printFound(w, h)
		}
	}
}

// elsewhere returns the groups that hold better hits than an answer here; none where the one who asks has no leave.
func (a *app) elsewhere(ctx context.Context, s *cli.Opened, q amber.Query, here amber.RecallResult) ([]wire.AskGroup, error) {
	leave, why := a.Everything(s)
	if why != "" || q.Scope != "" {
		return nil, nil
	}
	q.Explain = false
	everything, err := s.Store.Everything.Ask(ctx, q, leave)
	if amber.KindOf(err) == amber.KindUnsupported {
		return nil, nil
	}
	return wire.Elsewhere(here, everything, q.Identities), err
}
