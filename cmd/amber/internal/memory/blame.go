package memory

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) blameCommand() *cobra.Command {
	var session string
	cmd := cli.Verb("blame", func(cmd *cobra.Command, args []string) error {
		switch {
		case cmd.Flags().Changed("session") && len(args) > 0:
			return cli.Usage("blame takes the id of a memory or --session, not both")
		case cmd.Flags().Changed("session"):
			return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
				id, err := agent.FindSession(ctx, s.Store, session)
				if err != nil {
					return err
				}
				return a.showShown(s.Store.Activities.ListActivity(ctx, id, amber.ActivityContext))
			})
		case len(args) == 0:
			return cli.Usage("blame needs the id of a memory, or --session")
		}
		return a.WithMemory(cmd, args[0], func(ctx context.Context, s *cli.Opened, id amber.MemoryID) error {
			return a.showShown(s.Store.Activities.ActivityNamed(ctx, amber.ActivityContext, amber.ShownName(amber.LayerMemory, string(id))))
		})
	})
	cmd.Flags().StringVar(&session, "session", "", "show what stood before the agent of this session")
	return cmd
}

// showShown prints which passages stood before agents.
func (a *app) showShown(list []amber.Activity, err error) error {
	if err != nil {
		return err
	}
	return a.Out.Show(amber.Page[amber.Activity]{Items: list}, func(w io.Writer) {
		if len(list) == 0 {
			a.Out.Note("nothing of it stood before an agent")
			return
		}
		cli.TableOf(w, []string{"WHEN", "SESSION", "LAYER", "ID", "WHY"}, list, func(d amber.Activity) []string {
			layer, owner, _ := strings.Cut(d.Name, " ")
			return []string{a.Out.When(d.LastAt), cli.Flat(string(d.SessionID)), layer, cli.OneLine(owner, 70), cli.Flat(d.Status)}
		})
	})
}
