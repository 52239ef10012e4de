package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/ledger"
)

// openHomeDB opens the database of the home, both made now if they are missing.
// Whoever opens it closes it.
func (a *app) openHomeDB(ctx context.Context) (*ledger.DB, error) {
	h, _, err := a.openHome()
	if err != nil {
		return nil, err
	}
	return a.homeDB(ctx, h, false)
}

// lookAtHomeDB opens the database of the home if there is one; otherwise it
// returns nil and makes nothing.
func (a *app) lookAtHomeDB(ctx context.Context) (*ledger.DB, error) {
	h, err := a.lookAtHome()
	if err != nil {
		return nil, err
	}
	d, err := a.homeDB(ctx, h, true)
	switch amber.KindOf(err) {
	case amber.KindNotFound:
		return nil, nil
	case amber.KindConflict: // of an older Amber
		return a.homeDB(ctx, h, false)
	}
	return d, err
}

func (a *app) homeDB(ctx context.Context, h *home.Home, look bool) (*ledger.DB, error) {
	return ledger.Open(ctx, filepath.Join(h.Dir(), "home.db"), ledger.Options{
		Clock: a.clock, Random: a.random, Head: filepath.Join(h.KeysDir(), "audit-head"), Look: look,
	})
}

// checkHomeDB looks at the database of the home, where there is one or ought to
// be. Nothing is made or migrated.
func (d *doctor) checkHomeDB(ctx context.Context) {
	const code = "home_db"
	if d.failed("home") {
		return
	}
	h, err := d.lookAtHome()
	var db *ledger.DB
	if err == nil {
		db, err = d.homeDB(ctx, h, true)
	}
	switch amber.KindOf(err) {
	case amber.KindNotFound: // no token was ever made, and nothing was served
		return
	case amber.KindConflict:
		d.add(finding{Code: code, Status: statusWarning, Detail: "an older Amber made it; the next use brings it up to date"})
		return
	}
	if err == nil {
		err = errors.Join(db.Check(ctx), db.Close())
	}
	d.judge(code, err, "tokens, audit log, answers and outbox are whole")
}

// cliActor is who the audit log says did what this command does.
const cliActor = "cli"
