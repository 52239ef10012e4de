package main

import (
	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// helpCommand is `help`, which knows commands and nothing else.
func (a *app) helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND...]",
		Short: "Show how a command is used",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			about, err := named(cmd.Root(), args)
			if err != nil {
				return err
			}
			about.InitDefaultHelpFlag()
			return about.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
			about, err := named(cmd.Root(), args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, c := range about.Commands() {
				if c.IsAvailableCommand() {
					names = append(names, c.Name()+"\t"+c.Short)
				}
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// named returns the command that words lead to. The error is of kind invalid and
// says which word is no command.
func named(root *cobra.Command, words []string) (*cobra.Command, error) {
	about, rest, err := root.Find(words)
	switch {
	case err != nil:
		return nil, cli.UnknownCommand(root, words[0])
	case len(rest) > 0 && about.HasSubCommands():
		return nil, cli.UnknownCommand(about, rest[0])
	case len(rest) > 0:
		return nil, cli.Usage("%s has no commands, found %q", about.CommandPath(), cli.OneLine(rest[0], 40))
	}
	return about, nil
}
