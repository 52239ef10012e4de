package main

import (
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/keyring"
)

func (a *app) keyListCommand() *cobra.Command {
	var jsonl bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the keys whose signatures count",
		Long:  "List the keys whose signatures count here: this home's own and those that were trusted.",
		Args:  exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			h, err := a.lookAtHome()
			if err != nil {
				return err
			}
			keys, err := a.ring(h).Known(cmd.Context())
			if err != nil {
				return err
			}
			return showItems(a, jsonl, amber.Page[keyring.KnownKey]{Items: keys}, printKeys)
		},
	}
	addJSONL(cmd, &jsonl)
	return cmd
}

func printKeys(w io.Writer, keys []keyring.KnownKey) {
	rows := make([][]string, len(keys))
	for i, k := range keys {
		rows[i] = []string{string(k.KeyID), string(k.Standing), k.Comment}
	}
	table(w, []string{"KEY", "STANDING", "COMMENT"}, rows)
}
