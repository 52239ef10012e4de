package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
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

// usageHint is the hint of an error about the command line until the command is
// known.
const usageHint = "amber help"

// helpfully lets an error about the command line lead to the help of the command
// that ran.
func helpfully(err error, ran *cobra.Command) error {
	var e *amber.Error
	if errors.As(err, &e) && e.Hint == usageHint && ran != nil {
		e.Hint = ran.CommandPath() + " --help"
	}
	return err
}

// named returns the command that words lead to. The error is of kind invalid and
// says which word is no command.
func named(root *cobra.Command, words []string) (*cobra.Command, error) {
	about, rest, err := root.Find(words)
	switch {
	case err != nil:
		return nil, unknownCommand(root, words[0])
	case len(rest) > 0 && about.HasSubCommands():
		return nil, unknownCommand(about, rest[0])
	case len(rest) > 0:
		return nil, usage("%s has no commands, found %q", about.CommandPath(), oneLine(rest[0], 40))
	}
	return about, nil
}
