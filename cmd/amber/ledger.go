package main

import (
	"context"

	"github.com/amber-memory/amber/ledger"
)

// openHomeDB opens the database of the home, both made now if they are missing. The
// caller closes it.
func (a *app) openHomeDB(ctx context.Context) (*ledger.DB, error) {
	if _, _, err := a.openHome(); err != nil {
		return nil, err
	}
	at, err := a.closed(nil)
	if err != nil {
		return nil, err
	}
	return at.Ledger(ctx)
}

// lookAtHomeDB opens the database of the home if there is one; otherwise it
// returns nil and makes nothing.
func (a *app) lookAtHomeDB(ctx context.Context) (*ledger.DB, error) {
	at, err := a.closed(nil)
	if err != nil {
		return nil, err
	}
	return at.LookAtLedger(ctx)
}

// cliActor is who the audit log says did what this command does.
const cliActor = "cli"
