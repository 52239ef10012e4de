package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/colony"
)

// mergeFormat is what the documents are said to be.
const mergeFormat = "colony-memory/1"

// vaultMerge is what other programs take an agent's memory from.
type vaultMerge struct {
	Memory colony.Documents `json:"memory"`
	Format string           `json:"memory_format"`
}

func (a *app) vaultExportMergeCommand(f *vaultFlags) *cobra.Command {
	var snapshot string
	cmd := &cobra.Command{
		Use:   "export-merge [SNAPSHOT]",
		Short: "Print the documents of a snapshot for merging agents",
		Long: `Print the documents of the newest snapshot, or of the one that is named, as one JSON document:
{"memory": {NAME: TEXT}, "memory_format": "colony-memory/1"}, which is what merges of agents take
for the memory of a parent. They are checked as restore checks them; nothing is written.`,
		Example: `  amber vault export-merge > parent.json`,
		Args:    upTo(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := vaultSnapshot(args, snapshot)
			if err != nil {
				return err
			}
			return a.withVaultOnly(cmd, f, func(ctx context.Context, _ *opened, v *colony.Vault) error {
				got, err := a.readVault(ctx, v, id)
				if err != nil {
					return err
				}
				// It is JSON whoever reads it; the rest is for people.
				out := a.out
				out.json = true
				err = out.show(vaultMerge{got.Documents, mergeFormat}, nil)
				a.out.note("%s of %s, signature: %s", got.ID, flat(got.Label), a.describeSignature(got.Checks.Signature, got.Issuer))
				a.warnRestored(got)
				return err
			})
		},
	}
	addSnapshotFlag(cmd, &snapshot, "the snapshot (default the newest)")
	return cmd
}
