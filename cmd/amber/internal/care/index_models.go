package care

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/recall/packs"
)

func (a *app) indexModelsCommand() *cobra.Command {
	return cli.Family("models", a.indexModelsListCommand(), a.indexModelsAddCommand(), a.indexModelsRemoveCommand())
}

// ModelsReport is the JSON of index models.
type ModelsReport struct {
	Models []packs.State `json:"models"`
}

func (a *app) indexModelsListCommand() *cobra.Command {
	verify := false
	cmd := cli.Verb("list", func(*cobra.Command, []string) error {
		home, err := a.HomeDir()
		if err != nil {
			return err
		}
		all, err := packs.List(home, verify)
		if err != nil {
			return err
		}
		return a.Out.Show(ModelsReport{all}, func(w io.Writer) {
			for _, p := range all {
				has := "not installed"
				if p.Installed {
					has = "installed"
				}
				fmt.Fprintf(w, "%s: %s, %d MB, %s, made of %s: %s\n", p.Name, p.Model, p.Bytes/1_000_000, p.Licence, p.Source, has)
				fmt.Fprintf(w, "  %s\n", strings.Join(p.Languages, " "))
				if p.Problem != "" {
					a.Out.Note("%s is not used: %s; amber index models add %s FILE", p.Name, p.Problem, p.Name)
				}
			}
		})
	})
	cmd.Flags().BoolVar(&verify, "verify", false, "read each file that is there, and compare its digest")
	return cmd
}

func (a *app) indexModelsAddCommand() *cobra.Command {
	return cli.Verb("add", func(_ *cobra.Command, args []string) error {
		if err := a.OwnerOnly("add model"); err != nil {
			return err
		}
		home, err := a.HomeDir()
		if err != nil {
			return err
		}
		file, err := a.Absolute(args[1])
		if err != nil {
			return err
		}
		p, err := cli.Working(a.App, "reading", func() (packs.Pack, error) { return packs.Add(home, args[0], file) })
		if err != nil {
			return err
		}
		return a.Out.Show(p, func(w io.Writer) {
			fmt.Fprintf(w, "%s is installed: %s, %d MB\n", p.Name, p.Model, p.Bytes/1_000_000)
			a.Out.Note("amber index sync makes the vectors of what is stored; a server that runs has to be started anew")
		})
	})
}

func (a *app) indexModelsRemoveCommand() *cobra.Command {
	return cli.Verb("remove", func(_ *cobra.Command, args []string) error {
		if err := a.OwnerOnly("remove model"); err != nil {
			return err
		}
		home, err := a.HomeDir()
		if err != nil {
			return err
		}
		if err := packs.Remove(home, args[0]); err != nil {
			return err
		}
		return a.Out.Show(map[string]string{"removed": args[0]}, func(w io.Writer) {
			fmt.Fprintf(w, "%s is removed; amber index sync removes its vectors\n", args[0])
		})
	})
}
