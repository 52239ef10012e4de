package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

// added is the JSON of repo add.
type added struct {
	repository
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
			name, err := parseRepositoryName(args[0])
			if err != nil {
				return err
			}
			l, err := a.parseLocation(args[1])
			if err != nil {
				return err
			}
			h, agent, err := a.openHome()
			if err != nil {
				return err
			}
			out, err := working(a, "looking", func() (added, error) { return a.survey(cmd.Context(), l, agent.Tenant()) })
			if err != nil {
				return err
			}
			out.repository, err = repositories{a, h}.add(cmd.Context(), repository{name, l.String(), amber.At(a.clock())})
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

// survey looks what of a tenant is in a repository. One that is empty is fine.
func (a *app) survey(ctx context.Context, l location, tenant amber.TenantID) (added, error) {
	out := added{Tenant: tenant}
	t, err := l.target(ctx, a, tenant, false)
	switch {
	case errors.Is(err, errNoTenant):
		return out, nil
	case err != nil:
		return out, err
	}
	// The names are those of docs/format/repository.md. To open the repository
	// would mean to read its whole index.
	err = t.List(ctx, "snapshots/", func(amber.Object) error { out.Snapshots++; return nil })
	if err == nil {
		err = t.List(ctx, "keys/", func(amber.Object) error { out.Encrypted = true; return nil })
	}
	return out, err
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
