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
	return ledgers{a}.open(ctx, false)
}

// LookAtLedger opens the ledger if there is one; otherwise it returns nil and makes nothing.
func (a *Agent) LookAtLedger(ctx context.Context) (*ledger.DB, error) {
	d, err := ledgers{a}.open(ctx, true)
	switch amber.KindOf(err) {
	case amber.KindNotFound:
		return nil, nil
	case amber.KindConflict: // an older Amber made it
		return ledgers{a}.open(ctx, false)
	}
	return d, err
}

// ledgers opens the ledgers that an agent has a part in.
type ledgers struct{ a *Agent }

func (l ledgers) open(ctx context.Context, look bool) (*ledger.DB, error) {
	if l.a.config.OnPostgres() {
		return l.shared(ctx)
	}
	return l.own(ctx, look)
}

// shared opens the ledger that all who use the database have in common.
func (l ledgers) shared(ctx context.Context) (*ledger.DB, error) {
	server, done, err := l.a.CommonDatabase(ctx)
	if err != nil {
		return nil, err
	}
	db, err := ledger.OpenPostgres(ctx, server.DB(), ledger.PostgresOptions{Clock: server.Now, Random: l.a.o.Random, Away: l.a.EntriesAway, Done: done})
	if err != nil {
		return nil, errors.Join(err, done())
	}
	return db, nil
}

// EntriesAway counts the entries of the audit log that lie in databases of tenants, to be carried to the common one.
func (a *Agent) EntriesAway(ctx context.Context) (n int64, err error) {
	for _, tenant := range a.config.OwnDatabases() {
		some, err := ledgers{a}.entriesOf(ctx, amber.TenantID(tenant))
		if err != nil {
			return 0, err
		}
		n += some
	}
	return n, nil
}

// entriesOf counts the entries that lie in the database of a tenant.
func (l ledgers) entriesOf(ctx context.Context, tenant amber.TenantID) (n int64, err error) {
	server, done, err := l.a.DatabaseOf(ctx, tenant)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	db, err := ledger.OpenPostgres(ctx, server.DB(), ledger.PostgresOptions{Clock: server.Now, Random: l.a.o.Random})
	if err != nil {
		return 0, err
	}
	n, err = db.Away(ctx)
	return n, errors.Join(err, db.Close())
}

// HasOwnTokens reports whether tokens were made in the home itself, wherever its agents live now.
// Nothing is made. Errors: those of the database of the home.
func (a *Agent) HasOwnTokens(ctx context.Context) (has bool, err error) {
	d, err := ledgers{a}.own(ctx, true)
	switch amber.KindOf(err) {
	case amber.KindNotFound:
		return false, nil
	case amber.KindConflict:
		d, err = ledgers{a}.own(ctx, false)
	}
	if err != nil {
		return false, err
	}
	has, err = d.HasTokens(ctx)
	return has, errors.Join(err, d.Close())
}

// own opens the database of the home.
func (l ledgers) own(ctx context.Context, look bool) (*ledger.DB, error) {
	return ledger.Open(ctx, filepath.Join(l.a.home.Dir(), "home.db"), ledger.Options{
		Clock: l.a.o.Clock, Random: l.a.o.Random, Head: filepath.Join(l.a.home.KeysDir(), "audit-head"), Look: look,
	})
}
