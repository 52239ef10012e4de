package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) completionCommand() *cobra.Command {
	return cli.Family("completion", "Print a completion script for a shell",
		a.shellCommand("bash", `source <(amber completion bash)`,
			func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) }),
		a.shellCommand("zsh", `amber completion zsh > "${fpath[1]}/_amber"`,
			(*cobra.Command).GenZshCompletion),
		a.shellCommand("fish", `amber completion fish > ~/.config/fish/completions/amber.fish`,
			func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) }),
		a.shellCommand("powershell", `amber completion powershell | Out-String | Invoke-Expression`,
			(*cobra.Command).GenPowerShellCompletionWithDesc),
	)
}

func (a *app) shellCommand(shell, example string, generate func(root *cobra.Command, w io.Writer) error) *cobra.Command {
	return &cobra.Command{
		Use:     shell,
		Short:   "Print the completion script for " + shell,
		Example: "  " + example,
		Args:    cli.Exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := generate(cmd.Root(), a.Stdout); err != nil {
				return &amber.Error{Op: "print completion", Kind: amber.KindInternal, ID: shell, Err: err}
			}
			return nil
		},
	}
}
