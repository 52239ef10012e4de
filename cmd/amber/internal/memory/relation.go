package memory

import (
	"context"
	"fmt"
	"io"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) relationCommand() *cobra.Command {
	return cli.Family("relation", a.relationNearCommand())
}

func (a *app) relationNearCommand() *cobra.Command {
	var f cli.IdentityFlags
	var q amber.NeighbourQuery
	cmd := cli.Verb("near", func(cmd *cobra.Command, args []string) error {
		if q.Depth < 1 || q.Depth > amber.MaxNeighbourDepth {
			return cli.Usage("--depth is %d, want 1 to %d", q.Depth, amber.MaxNeighbourDepth)
		}
		if q.Limit < 1 || q.Limit > amber.MaxNeighbours {
			return cli.Usage("--limit is %d, want 1 to %d", q.Limit, amber.MaxNeighbours)
		}
		return a.WithMemory(cmd, args[0], func(ctx context.Context, s *cli.Opened, id amber.MemoryID) (err error) {
			q.ID = id
			if q.Identities, err = a.Identities(ctx, s, f); err != nil {
				return err
			}
			n, err := s.Store.Relations.Neighbours(ctx, q)
			if err != nil {
				return err
			}
			return a.Out.Show(n, func(w io.Writer) { a.printNeighbours(w, n) })
		})
	})
	f.AddNames(cmd)
	fl := cmd.Flags()
	fl.IntVar(&q.Depth, "depth", amber.MaxNeighbourDepth, "how many steps: 1 or 2")
	fl.StringSliceVar(&q.Types, "type", nil, "only by relations of this type; may be repeated")
	fl.IntVarP(&q.Limit, "limit", "n", amber.MaxNeighbours, fmt.Sprintf("list at most this many memories (up to %d)", amber.MaxNeighbours))
	fl.BoolVar(&q.All, "all", false, "of every scope and identity")
	return cmd
}

// printNeighbours prints the memories, then the relations between them.
func (a *app) printNeighbours(w io.Writer, n amber.Neighbourhood) {
	cli.TableOf(w, []string{"STEPS", "ID", "KIND", "TEXT"}, n.Memories, func(m amber.Neighbour) []string {
		text := m.Snippet
		if m.Title != "" {
			text = m.Title + ": " + text
		}
		return []string{strconv.Itoa(m.Distance), string(m.ID), string(m.Kind), cli.OneLine(text, 80)}
	})
	if len(n.Relations) > 0 {
		fmt.Fprintln(w)
		cli.TableOf(w, []string{"FROM", "TYPE", "TO", "STRENGTH"}, n.Relations, func(r amber.Relation) []string {
			return []string{string(r.From), r.Type, string(r.To), strconv.FormatFloat(r.Strength, 'g', 3, 64)}
		})
	}
	if n.More {
		a.Out.Note("there are more: --type, --depth 1 or another memory narrows it down")
	}
}
