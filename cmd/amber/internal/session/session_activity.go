package session

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// lastActivity is how many things of a kind `session show` prints.
const lastActivity = 5

func (a *app) sessionActivityCommand() *cobra.Command {
	var which sessionChoice
	var kind string
	cmd := cli.Verb("activity", func(cmd *cobra.Command, args []string) error {
		return which.with(a, cmd, args, func(ctx context.Context, s *cli.Opened, id amber.SessionID) error {
			if _, err := s.Store.Sessions.Session(ctx, id); err != nil {
				return err
			}
			list, err := s.Store.Activities.ListActivity(ctx, id, amber.ActivityKind(kind))
			if err != nil {
				return err
			}
			page := amber.Page[amber.Activity]{Items: list}
			return a.Out.Show(page, func(w io.Writer) { a.printActivity(w, list) })
		})
	})
	which.add(cmd)
	cmd.Flags().StringVar(&kind, "kind", "", "only tool, file, command, task, error, subagent, compaction, gap, context or other")
	return cmd
}

func (a *app) printActivity(w io.Writer, list []amber.Activity) {
	cli.TableOf(w, []string{"KIND", "WHAT", "STATUS", "TIMES", "LAST"}, list, func(d amber.Activity) []string {
		times := fmt.Sprint(d.Count)
		if d.Failed > 0 {
			times = fmt.Sprintf("%d (%d failed)", d.Count, d.Failed)
		}
		return []string{string(d.Kind), cli.OneLine(d.Name, 70), cli.Flat(d.Status), times, a.Out.When(d.LastAt)}
	})
}

// recentActivity returns what was done last of each kind, none where it is
// not kept.
func recentActivity(ctx context.Context, s *cli.Opened, id amber.SessionID) ([]amber.Activity, error) {
	all, err := s.Store.Activities.ListActivity(ctx, id, "")
	if err != nil {
		if amber.KindOf(err) == amber.KindUnsupported {
			err = nil
		}
		return nil, err
	}
	left := map[amber.ActivityKind]int{}
	for _, d := range all {
		left[d.Kind]++
	}
	var last []amber.Activity
	for _, d := range all {
		if left[d.Kind]--; left[d.Kind] < lastActivity {
			last = append(last, d)
		}
	}
	return last, nil
}
