// Package exchange holds the verbs that take memories of other programs in and give them back: import and export.
package exchange

import (
	"context"
	_ "embed"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/share/foreign/formats"
)

//go:embed verbs.md
var verbs string // the words of the verbs

type app struct{ *cli.App }

// Commands returns the verbs.
func Commands(a *cli.App) []*cobra.Command {
	own := &app{a}
	values := []string{"{read}", formats.Names(formats.Read()), "{written}", formats.Names(formats.Written())}
	return cli.Describe(verbs, values, own.importCommand(), own.exportCommand())
}

// frugal is the growth of the heap by which a program takes less memory and more time, as long as it reads what may
// have gigabytes.
const frugal = 30

// index brings the index up to date with what was imported, as far as the configuration allows at once.
func (a *app) index(ctx context.Context, s *cli.Opened) {
	if s.Local != nil {
		if a.SetGCPercent != nil { // else the memory is not only ours
			debug.FreeOSMemory() // the model wants room that reading had
		}
		s.Local.SyncWithin(ctx, time.Duration(s.Config.Config.Search.Budget))
	}
}

func (a *app) newID() (string, error) { return amber.NewUUID(a.Clock(), a.Random) }
