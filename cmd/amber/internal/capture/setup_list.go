package capture

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/capture/hook/setup"
)

// setupList prints how every host stands.
func (a *app) setupList(cmd *cobra.Command, f setupFlags, args []string) error {
	if len(args) > 0 || f.uninstall || f.dryRun || cmd.Flags().Changed("scope") {
		return cli.Usage("--list stands alone")
	}
	o, err := SetupOptions(cmd, a.App)
	if err != nil {
		return err
	}
	all, err := setup.Status(o)
	if err != nil {
		return err
	}
	return a.Out.Show(amber.Page[setup.HostStatus]{Items: all}, func(w io.Writer) {
		var rows [][]string
		for _, st := range all {
			rows = append(rows, []string{st.Host, yes(st.Found), st.InstalledIn(), strings.Join(st.Remarks(), "; ")})
		}
		cli.Table(w, []string{"HOST", "FOUND", "SET UP", "NOTE"}, rows)
	})
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
