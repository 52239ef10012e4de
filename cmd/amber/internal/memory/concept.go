package memory

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) conceptCommand() *cobra.Command {
	cmd := cli.Family("concept", "Tag memories with concepts, so that recall finds them",
		a.conceptListCommand(), a.conceptShowCommand(), a.conceptSetCommand())
	cmd.Long = `Tag memories with concepts. Recall finds a memory by the words of its concepts, also
when its text does not have them. Bundles of nexo bring concepts and take them along.`
	return cmd
}

func (a *app) conceptListCommand() *cobra.Command {
	var jsonl bool
	cmd := &cobra.Command{
		Use:     "list",
		Short:   "List the concepts of all memories, most common first",
		Example: `  amber concept list`,
		Args:    cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
				return cli.Listing(s.Store.Concepts.CountConcepts(ctx))(a.App, jsonl, func(w io.Writer, list []amber.ConceptCount) {
					for _, c := range list {
						fmt.Fprintf(w, "%6d  %s\n", c.Memories, cli.Flat(c.Concept))
					}
				})
			})
		},
	}
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

// conceptsOf is the JSON of concept show and concept set.
type conceptsOf struct {
	ID       amber.MemoryID `json:"id"`
	Concepts []string       `json:"concepts"`
}

func (a *app) showConcepts(ctx context.Context, s *cli.Opened, id amber.MemoryID) error {
	concepts, err := s.Store.Concepts.Concepts(ctx, id)
	if err != nil {
		return err
	}
	return a.Out.Show(conceptsOf{id, append([]string{}, concepts...)}, func(w io.Writer) {
		for _, c := range concepts {
			fmt.Fprintln(w, cli.Flat(c))
		}
	})
}

func (a *app) conceptShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "show ID",
		Short:   "Print the concepts of a memory",
		Long:    "Print the concepts of a memory.\n\n" + idHelp,
		Example: `  amber concept show 5f3a91c0`,
		Args:    cli.Exactly("the id of a memory"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.WithMemory(cmd, args[0], a.showConcepts)
		},
	}
}

func (a *app) conceptSetCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "set ID [CONCEPT...]",
		Short:   "Replace the concepts of a memory, or remove all of them",
		Long:    "Replace the concepts of a memory. Without CONCEPT all of them are removed.\n\n" + idHelp,
		Example: `  amber concept set 5f3a91c0 databases "message queues"`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usage("concept set needs the id of a memory")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			for _, c := range args[1:] {
				if strings.TrimSpace(c) == "" {
					return cli.Usage("a concept is empty")
				}
			}
			return a.WithMemory(cmd, args[0], func(ctx context.Context, s *cli.Opened, id amber.MemoryID) error {
				if err := s.Store.Concepts.SetConcepts(ctx, id, args[1:]); err != nil {
					return err
				}
				return a.showConcepts(ctx, s, id)
			})
		},
	}
}
