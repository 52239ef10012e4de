package freeze

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/freeze/target/location"
)

func (a *app) repoListCommand() *cobra.Command {
	var jsonl bool
	cmd := cli.Verb("list", func(*cobra.Command, []string) error {
		at, err := a.Closed(nil)
		if err != nil {
			return err
		}
		return cli.Listing(at.Repositories().List())(a.App, jsonl, func(w io.Writer, items []location.Repository) {
			cli.TableOf(w, []string{"NAME", "URL", "ADDED"}, items, func(r location.Repository) []string {
				return []string{r.Name, r.URL, r.AddedAt.Time().Format("2006-01-02")}
			})
		})
	})
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

// removedRepo is the JSON of repo remove.
type removedRepo struct {
	Name    string `json:"name"`
	URL     string `json:"url"`
	Removed bool   `json:"removed"`
}

func (a *app) repoRemoveCommand() *cobra.Command {
	return cli.Verb("remove", func(cmd *cobra.Command, args []string) error {
		name, err := location.ParseName(args[0])
		if err != nil {
			return err
		}
		at, err := a.Closed(nil)
		if err != nil {
			return err
		}
		gone, err := at.Repositories().Remove(cmd.Context(), name)
		if err != nil {
			return err
		}
		return a.Out.Show(removedRepo{gone.Name, gone.URL, true}, func(w io.Writer) {
			fmt.Fprintf(w, "removed %s; the snapshots at %s stay\n", gone.Name, gone.URL)
		})
	})
}
