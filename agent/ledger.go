package agent

import (
	"context"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/ledger"
)

// Ledger opens the database of the home, made with the home if they are missing. The
// caller closes it.
func (a *Agent) Ledger(ctx context.Context) (*ledger.DB, error) {
	if _, err := a.Make(); err != nil {
		return nil, err
	}
	return a.openLedger(ctx, false)
}

// LookAtLedger opens the database of the home if there is one; otherwise it returns
// nil and makes nothing.
func (a *Agent) LookAtLedger(ctx context.Context) (*ledger.DB, error) {
	d, err := a.openLedger(ctx, true)
	switch amber.KindOf(err) {
	case amber.KindNotFound:
		return nil, nil
	case amber.KindConflict: // an older Amber made it
		return a.openLedger(ctx, false)
	}
	return d, err
}

func (a *Agent) openLedger(ctx context.Context, look bool) (*ledger.DB, error) {
	return ledger.Open(ctx, filepath.Join(a.home.Dir(), "home.db"), ledger.Options{
		Clock: a.o.Clock, Random: a.o.Random, Head: filepath.Join(a.home.KeysDir(), "audit-head"), Look: look,
	})
}
