package main

import (
	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/journal"
)

func (a *app) journalCommand() *cobra.Command {
	return family("journal", "Look after the crash journal",
		a.journalStatusCommand(), a.journalShowCommand(), a.journalVerifyCommand(), a.journalDrainCommand(), a.journalQuarantineCommand(),
		a.journalAppendCommand(), a.journalImportCommand(), a.journalDiscardCommand(),
	)
}

// openJournal returns the crash journal of the agent the flags name, as the
// configuration bounds it. It makes nothing and opens no database: agent hosts
// wait for it. The first append makes the folders it needs.
func (a *app) openJournal() (*journal.Journal, error) {
	loaded, err := a.loadConfig()
	if err != nil {
		return nil, err
	}
	return a.journalWith(loaded.Config.Journal)
}

// journalWith is openJournal with bounds of the caller's, for those who must
// keep an event even when the configuration is broken.
func (a *app) journalWith(c config.Journal) (*journal.Journal, error) {
	agent, err := a.lookAtAgent()
	if err != nil {
		return nil, err
	}
	return journal.Open(agent.SpoolDir(), journalOptions(c, a.clock))
}

func journalOptions(c config.Journal, clock amber.Clock) journal.Options {
	return journal.Options{
		Clock:           clock,
		FlushInterval:   c.FlushInterval,
		MaxEntries:      c.MaxEntries,
		MaxSessionBytes: int64(c.MaxSessionBytes),
		MaxBytes:        int64(c.MaxBytes),
	}
}

// lookAtAgent returns the agent the flags name. Neither it nor the home need
// be there, and neither is made.
func (a *app) lookAtAgent() (*home.Agent, error) {
	tenant, err := amber.ParseTenantID(a.global.tenant)
	if err != nil {
		return nil, err
	}
	id, err := amber.ParseAgentID(a.global.agent)
	if err != nil {
		return nil, err
	}
	dir, err := a.homeDir()
	if err != nil {
		return nil, err
	}
	h, err := home.At(dir, home.Options{Clock: a.clock, Random: a.random})
	if err != nil {
		return nil, err
	}
	return h.Agent(tenant, id)
}
