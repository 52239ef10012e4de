package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/hook/setup"
)

// setupList prints how every host stands.
func (a *app) setupList(cmd *cobra.Command, f setupFlags, args []string) error {
	if len(args) > 0 || f.uninstall || f.dryRun || cmd.Flags().Changed("scope") {
		return usage("--list stands alone")
	}
	o, err := a.setupOptions(cmd)
	if err != nil {
		return err
	}
	all, err := setup.Status(o)
	if err != nil {
		return err
	}
	return a.out.show(amber.Page[setup.HostStatus]{Items: all}, func(w io.Writer) {
		var rows [][]string
		for _, st := range all {
			rows = append(rows, []string{st.Host, yes(st.Found), installedIn(st), strings.Join(remarks(st), "; ")})
		}
		table(w, []string{"HOST", "FOUND", "SET UP", "NOTE"}, rows)
	})
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// installedIn lists the scopes in which a host is set up.
func installedIn(st setup.HostStatus) string {
	var scopes []string
	for _, sc := range st.Scopes {
		if sc.Installed {
			scopes = append(scopes, string(sc.Scope))
		}
	}
	if len(scopes) == 0 {
		return "no"
	}
	return strings.Join(scopes, ", ")
}

// remarks says what is wrong with how a host is set up, the worst first.
func remarks(st setup.HostStatus) (out []string) {
	for _, sc := range st.Scopes {
		switch {
		case sc.Error != "":
			out = append(out, sc.Error)
		case sc.Missing != "":
			out = append(out, "the hooks run "+sc.Missing+", which is not there")
		case sc.Outdated:
			out = append(out, "the hooks in "+sc.Path+" are not those of this Amber")
		case sc.Through != "":
			out = append(out, "through the hooks of "+sc.Through)
		}
	}
	switch st.Trust {
	case setup.TrustMissing:
		out = append(out, "no note of trust was found for some of the hooks, and Codex skips what it does not trust; open /hooks in Codex")
	case setup.TrustUnknown:
		out = append(out, "trust was not checked; open /hooks in Codex")
	case setup.TrustRecorded:
		out = append(out, "Codex has a note of trust for every hook; whether it still fits was not checked")
	}
	return append(out, st.Notes...)
}
