package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
)

// added is the JSON of repo add.
type added struct {
	agent.Repository
	Tenant    amber.TenantID `json:"tenant"`
	Snapshots int            `json:"snapshots"` // of the tenant that are there
	Encrypted bool           `json:"encrypted"`
}

func (a *app) repoAddCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "add NAME URL",
		Short: "Add a repository under a name",
		Long: `Add a repository under a name, once it could be opened, and tell what is there. URL is one of

  /path or file:///path           a folder that exists
  s3://bucket/prefix              a bucket at AWS, or at AWS_ENDPOINT_URL_S3
  s3+https://host/bucket/prefix   a bucket elsewhere; ?region=, ?path_style=true

The repository of each tenant lies in a folder of its own below that. Credentials for a bucket
come from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile of ~/.aws/credentials;
they are not stored, and a URL that holds some is refused.`,
		Example: `  amber repo add disk /mnt/backup/amber
  amber repo add bucket s3+https://minio.example.org/amber/team`,
		Args: exactly("a name", "a URL or a folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			name, err := agent.ParseRepositoryName(args[0])
			if err != nil {
				return err
			}
			l, err := a.parseLocation(args[1])
			if err != nil {
				return err
			}
			at, err := a.closed(nil)
			if err != nil {
				return err
			}
			made, err := at.Make()
			a.noteMade(made, at)
			if err != nil {
				return err
			}
			a.closers = append(a.closers, at.Close)
			found, err := working(a, "looking", func() (agent.RepositoryContent, error) { return at.LookInto(cmd.Context(), l) })
			if err != nil {
				return err
			}
			out := added{Tenant: at.Tenant(), Snapshots: found.Snapshots, Encrypted: found.Encrypted}
			out.Repository, err = at.Repositories().Add(cmd.Context(), agent.Repository{Name: name, URL: l.String(), AddedAt: amber.At(a.clock())})
			if err != nil {
				return err
			}
			return a.out.show(out, func(w io.Writer) {
				fmt.Fprintf(w, "added %s: %s\n", out.Name, out.URL)
				fmt.Fprintln(w, describeAdded(out))
			})
		},
	}
}

// parseLocation reads a URL or the path of a folder on the command line.
func (a *app) parseLocation(text string) (agent.Location, error) {
	if agent.IsPath(text) {
		path, err := a.absolute(text)
		if err != nil {
			return agent.Location{}, err
		}
		text = path
	}
	return agent.ParseLocation(text, a.getenv)
}

func describeAdded(r added) string {
	if r.Snapshots == 0 && !r.Encrypted {
		return "there is no snapshot of tenant " + string(r.Tenant) + " yet"
	}
	text := fmt.Sprintf("there are %s of tenant %s", count(int64(r.Snapshots), "snapshot", "snapshots"), r.Tenant)
	if r.Snapshots == 1 {
		text = "there is 1 snapshot of tenant " + string(r.Tenant)
	}
	if r.Encrypted {
		text += ", encrypted"
	}
	return text
}
