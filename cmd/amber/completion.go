package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) completionCommand() *cobra.Command {
	return cli.Family("completion",
		a.shellCommand("bash", func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) }),
		a.shellCommand("zsh", (*cobra.Command).GenZshCompletion),
		a.shellCommand("fish", func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }),
		a.shellCommand("powershell", (*cobra.Command).GenPowerShellCompletionWithDesc),
	)
}

func (a *app) shellCommand(shell string, generate func(root *cobra.Command, w io.Writer) error) *cobra.Command {
	return cli.Verb(shell, func(cmd *cobra.Command, _ []string) error {
		if err := generate(cmd.Root(), a.Stdout); err != nil {
			return &amber.Error{Op: "print completion", Kind: amber.KindInternal, ID: shell, Err: err}
		}
		return nil
	})
}
