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
	return cli.Family("concept",
		a.conceptListCommand(), a.conceptShowCommand(), a.conceptSetCommand())
}

func (a *app) conceptListCommand() *cobra.Command {
	var jsonl bool
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			return cli.Listing(s.Store.Concepts.CountConcepts(ctx))(a.App, jsonl, func(w io.Writer, list []amber.ConceptCount) {
				for _, c := range list {
					fmt.Fprintf(w, "%6d  %s\n", c.Memories, cli.Flat(c.Concept))
				}
			})
		})
	})
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
	return cli.Verb("show", func(cmd *cobra.Command, args []string) error {
		return a.WithMemory(cmd, args[0], a.showConcepts)
	})
}

func (a *app) conceptSetCommand() *cobra.Command {
	return cli.Verb("set", func(cmd *cobra.Command, args []string) error {
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
	})
}
