package capture

import (
	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/capture/journal"
)

func (a *app) journalCommand() *cobra.Command {
	return cli.Family("journal",
		a.journalStatusCommand(), a.journalShowCommand(), a.journalVerifyCommand(), a.journalDrainCommand(), a.journalQuarantineCommand(),
		a.journalAppendCommand(), a.journalImportCommand(), a.journalDiscardCommand(),
	)
}

// openJournal returns the crash journal of the agent the flags name, as the
// configuration bounds it.
func (a *app) openJournal() (*journal.Journal, error) {
	at, err := a.Configured()
	if err != nil {
		return nil, err
	}
	return at.Journal()
}
