package agent

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/ledger"
)

// Ledger opens the ledger: that of the PostgreSQL database where agents live in one, else that of the
// home, made with the home if they are missing. The caller closes it.
func (a *Agent) Ledger(ctx context.Context) (*ledger.DB, error) {
	if _, err := a.Make(); err != nil {
		return nil, err
	}
	return a.openLedger(ctx, false)
}

// LookAtLedger opens the ledger if there is one; otherwise it returns nil and makes nothing.
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
	if a.config.OnPostgres() {
		return a.sharedLedger(ctx)
	}
	return a.ownLedger(ctx, look)
}

// sharedLedger opens the ledger that all who use the database have in common.
func (a *Agent) sharedLedger(ctx context.Context) (*ledger.DB, error) {
	server, done, err := a.CommonDatabase(ctx)
	if err != nil {
		return nil, err
	}
	l, err := ledger.OpenPostgres(ctx, server.DB(), ledger.PostgresOptions{Clock: server.Now, Random: a.o.Random, Away: a.EntriesAway, Done: done})
	if err != nil {
		return nil, errors.Join(err, done())
	}
	return l, nil
}

// EntriesAway counts the entries of the audit log that lie in databases of tenants, to be carried to the common one.
func (a *Agent) EntriesAway(ctx context.Context) (n int64, err error) {
	for _, tenant := range a.config.OwnDatabases() {
		some, err := a.entriesOf(ctx, amber.TenantID(tenant))
		if err != nil {
			return 0, err
		}
		n += some
	}
	return n, nil
}

// entriesOf counts the entries that lie in the database of a tenant.
func (a *Agent) entriesOf(ctx context.Context, tenant amber.TenantID) (n int64, err error) {
	server, done, err := a.DatabaseOf(ctx, tenant)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	l, err := ledger.OpenPostgres(ctx, server.DB(), ledger.PostgresOptions{Clock: server.Now, Random: a.o.Random})
	if err != nil {
		return 0, err
	}
	n, err = l.Away(ctx)
	return n, errors.Join(err, l.Close())
}

// HasOwnTokens reports whether tokens were made in the home itself, wherever its agents live now.
// Nothing is made. Errors: those of the database of the home.
func (a *Agent) HasOwnTokens(ctx context.Context) (has bool, err error) {
	d, err := a.ownLedger(ctx, true)
	switch amber.KindOf(err) {
	case amber.KindNotFound:
		return false, nil
	case amber.KindConflict:
		d, err = a.ownLedger(ctx, false)
	}
	if err != nil {
		return false, err
	}
	has, err = d.HasTokens(ctx)
	return has, errors.Join(err, d.Close())
}

// ownLedger opens the database of the home.
func (a *Agent) ownLedger(ctx context.Context, look bool) (*ledger.DB, error) {
	return ledger.Open(ctx, filepath.Join(a.home.Dir(), "home.db"), ledger.Options{
		Clock: a.o.Clock, Random: a.o.Random, Head: filepath.Join(a.home.KeysDir(), "audit-head"), Look: look,
	})
}
