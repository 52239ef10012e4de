// Package share holds the verbs of `amber sync` and `amber vault`: memory that
// goes through git, and documents that are backed up to a vault.
package share

import (
	"context"
	_ "embed"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/documents"
	"github.com/amber-memory/amber/wire"
)

//go:embed verbs.md
var verbs string // the words of the verbs

// app is the run, with the verbs of this package.
type app struct{ *cli.App }

// Commands are the families of this package.
func Commands(c *cli.App) []*cobra.Command {
	a := &app{c}
	return cli.Describe(verbs, nil, a.syncCommand(), a.vaultCommand())
}

// CheckVault is the doctor's check of backups to a vault.
func CheckVault(c *cli.App, homeDir string, vault config.Vault) []wire.Finding {
	return (&app{c}).checkVault(homeDir, vault)
}

// OpenVault opens the configured vault of an agent.
func OpenVault(ctx context.Context, c *cli.App, s *cli.Opened) (*colony.Vault, error) {
	return (&app{c}).openVault(ctx, s, vaultFlags{})
}

// NoteDocuments returns the notes of an agent as documents, without secrets unless
// export.redact is false.
func NoteDocuments(ctx context.Context, c *cli.App, s *cli.Opened) (documents.Set, error) {
	return (&app{c}).noteDocuments(ctx, s)
}
