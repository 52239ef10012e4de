package freeze

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/freeze/target/location"
)

// added is the JSON of repo add.
type added struct {
	location.Repository
	Tenant    amber.TenantID `json:"tenant"`
	Snapshots int            `json:"snapshots"` // of the tenant
	Encrypted bool           `json:"encrypted"`
}

func (a *app) repoAddCommand() *cobra.Command {
	return cli.Verb("add", func(cmd *cobra.Command, args []string) error {
		name, err := location.ParseName(args[0])
		if err != nil {
			return err
		}
		l, err := a.parseLocation(args[1])
		if err != nil {
			return err
		}
		at, err := a.Closed(nil)
		if err != nil {
			return err
		}
		made, err := at.Make()
		a.NoteMade(made, at)
		if err != nil {
			return err
		}
		a.Closers = append(a.Closers, at.Close)
		found, err := cli.Working(a.App, "looking", func() (agent.RepositoryContent, error) { return at.LookInto(cmd.Context(), l) })
		if err != nil {
			return err
		}
		out := added{Tenant: at.Tenant(), Snapshots: found.Snapshots, Encrypted: found.Encrypted}
		out.Repository, err = at.Repositories().Add(cmd.Context(), location.Repository{Name: name, URL: l.String(), AddedAt: amber.At(a.Clock())})
		if err != nil {
			return err
		}
		return a.Out.Show(out, func(w io.Writer) {
			fmt.Fprintf(w, "added %s: %s\n", out.Name, out.URL)
			fmt.Fprintln(w, describeAdded(out))
		})
	})
}

// parseLocation reads a URL or the path of a folder on the command line.
func (a *app) parseLocation(text string) (location.Location, error) {
	return location.Parse(text, location.Env{Getenv: a.Getenv, Absolute: a.Absolute})
}

func describeAdded(r added) string {
	if r.Snapshots == 0 && !r.Encrypted {
		return "there is no snapshot of tenant " + string(r.Tenant) + " yet"
	}
	text := fmt.Sprintf("there are %s of tenant %s", words.Count(int64(r.Snapshots), "snapshot", "snapshots"), r.Tenant)
	if r.Snapshots == 1 {
		text = "there is 1 snapshot of tenant " + string(r.Tenant)
	}
	if r.Encrypted {
		text += ", encrypted"
	}
	return text
}
