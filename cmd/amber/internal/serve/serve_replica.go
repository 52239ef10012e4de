package serve

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/internal/serve/daemon"
	"github.com/amber-memory/amber/internal/store/ledger"
	"github.com/amber-memory/amber/internal/store/postgres"
)

// leaveWithin is how long a server may take to tell others that it is gone. They see it by themselves later.
const leaveWithin = 5 * time.Second

// openLedger opens the ledger that is served: that of the home, or of the database that agents live in, where this server becomes
// one of several. Leave closes it after the daemon.
func (s *serving) openLedger(ctx context.Context, o *daemon.Options) (leave func() error, err error) {
	c := s.config.Loaded().Config
	if !c.OnPostgres() {
		if o.Ledger, err = s.OpenHomeDB(ctx); err != nil {
			return nil, err
		}
		return o.Ledger.Close, nil
	}
	ao, err := s.AgentOptions(&c)
	if err != nil {
		return nil, err
	}
	at, err := agent.At(ao)
	if err != nil {
		return nil, err
	}
	server, done, err := at.CommonDatabase(ctx)
	if err != nil {
		return nil, err
	}
	part, err := s.join(ctx, at, server, o)
	if err != nil {
		return nil, errors.Join(err, done())
	}
	return func() error { return errors.Join(part(), done()) }, nil
}

// join makes this server one of those that serve the databases of the configuration.
func (s *serving) join(ctx context.Context, at *agent.Agent, server *postgres.Server, o *daemon.Options) (leave func() error, err error) {
	if err := s.checkDatabases(ctx, at); err != nil {
		return nil, err
	}
	c := s.config.Loaded().Config.Server.Replica
	if c.Lease < time.Second {
		return nil, amber.Errorf(amber.KindInvalid, "serve", "server.replica.lease", "the lease is %s, want 1s or more", c.Lease)
	}
	if c.Name == "" {
		c.Name, _ = os.Hostname() // a machine without a name has a server without one
	}
	presence := postgres.PresenceOptions{Name: c.Name, Version: o.Version, Lease: c.Lease, Report: func(err error) {
		if err != nil {
			s.log.Warn("the database was not told that this server lives", "error", err)
		}
	}}
	o.Replica = &daemon.Replica{Own: map[amber.TenantID]*daemon.Database{}}
	gone, err := s.joinAll(ctx, at, server, presence, o.Replica)
	if err != nil {
		return nil, errors.Join(err, gone())
	}
	me := o.Replica.Common.Presence
	if o.Ledger, err = ledger.OpenPostgres(ctx, server.DB(), ledger.PostgresOptions{Clock: server.Now, Random: s.Random, Server: me.ID(), Lease: me.Lease(), Away: at.EntriesAway}); err != nil {
		return nil, errors.Join(err, gone())
	}
	leave = func() error { return errors.Join(o.Ledger.Close(), gone()) }
	if err := keepDoor(ctx, at, o.Ledger); err != nil {
		return nil, errors.Join(err, leave())
	}
	if o.Replica.VaultKey, err = server.VaultKey(ctx); err != nil {
		return nil, errors.Join(err, leave())
	}
	noted, err := s.watchDatabases(ctx, o)
	if err != nil {
		return nil, errors.Join(err, leave())
	}
	last := leave // the result is another one
	return func() error { return errors.Join(noted(), last()) }, nil
}

// watchDatabases begins to note, in this home, how far the databases are. A token that is known to be revoked
// stays so, also in a database that was set back. Noted notes it for the last time.
func (s *serving) watchDatabases(ctx context.Context, o *daemon.Options) (noted func() error, err error) {
	for _, d := range o.Replica.All() {
		w, revoked, err := d.Server.Watch(ctx)
		if d != o.Replica.Common && isAwaited(err) {
			continue // it is watched when it answers
		}
		if err != nil {
			return nil, err
		}
		if d.Watch.Store(w); d != o.Replica.Common {
			continue
		}
		again, err := o.Ledger.RevokeAgain(ctx, revoked)
		if err != nil {
			return nil, err
		}
		for _, t := range again {
			s.log.Warn("a token that was revoked was good again, and is revoked now", "token", t.ID, "name", t.Name)
		}
	}
	return func() error {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
		defer cancel()
		var errs []error
		for _, d := range o.Replica.All() {
			w := d.Watch.Load()
			if w == nil {
				continue
			}
			if err := w.Note(ctx, true); !postgres.IsSetBack(err) { // that was told when it was found
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	}, nil
}

// joinAll makes this server known in the common database and in those that tenants have of their own, where it holds leases and keeps
// migrations from what it does not know. Gone ends that, also after an error.
func (s *serving) joinAll(ctx context.Context, at *agent.Agent, common *postgres.Server, o postgres.PresenceOptions, r *daemon.Replica) (gone func() error, err error) {
	var leave []func() error
	gone = func() error {
		var errs []error
		for _, fn := range slices.Backward(leave) {
			errs = append(errs, fn())
		}
		return errors.Join(errs...)
	}
	joined := map[*postgres.Server]*daemon.Database{}
	enter := func(server *postgres.Server, o postgres.PresenceOptions) (*daemon.Database, error) {
		if d := joined[server]; d != nil {
			return d, nil
		}
		me, err := server.Join(ctx, o)
		if err != nil {
			return nil, err
		}
		leave = append(leave, func() error {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), leaveWithin)
			defer cancel()
			return me.Leave(ctx)
		})
		joined[server] = &daemon.Database{Server: server, Presence: me, Leases: server.Leases(me.ID(), me.Lease())}
		return joined[server], nil
	}
	if r.Common, err = enter(common, o); err != nil {
		return gone, err
	}
	o.Later = true // one that does not answer is waited for by its tenant alone
	for _, t := range s.config.Loaded().Config.OwnDatabases() {
		tenant := amber.TenantID(t)
		server, done, err := at.DatabaseOf(ctx, tenant)
		if isAwaited(err) {
			s.log.Warn("the database of a tenant cannot be used; its agents are served once it can", "tenant", t, "error", err)
			server, done, err = at.AwaitDatabase(tenant, s.accept)
		}
		if err != nil {
			return gone, err
		}
		leave = append(leave, done)
		if r.Own[tenant], err = enter(server, o); err != nil {
			return gone, err
		}
	}
	return gone, nil
}

// isAwaited reports whether an error says that the database of a tenant does not answer, or was set back and no operator has accepted that yet: the
// server serves the others meanwhile.
func isAwaited(err error) bool {
	return amber.KindOf(err) == amber.KindUnreachable || postgres.IsSetBack(err)
}

// keepDoor keeps a server that asked for tokens from asking for none, because those it had are in its home and not in the database.
func keepDoor(ctx context.Context, at *agent.Agent, l *ledger.DB) error {
	has, err := l.HasTokens(ctx)
	if err != nil || has {
		return err
	}
	if has, err = at.HasOwnTokens(ctx); err != nil || !has {
		return err
	}
	return amber.Errorf(amber.KindRefused, "serve", "", "the tokens of this home do not count in the database, which has none: everybody on this machine could do everything").
		WithHint("amber token create NAME makes one in the database")
}

// checkDatabases refuses to serve from a database that may lose what it acknowledged, unless that is wanted. That of a tenant that does not answer is
// looked at when it does.
func (s *serving) checkDatabases(ctx context.Context, at *agent.Agent) error {
	told := false
	for _, t := range append([]string{""}, s.config.Loaded().Config.OwnDatabases()...) {
		settings, err := settingsOf(ctx, at, amber.TenantID(t))
		switch {
		case t != "" && isAwaited(err):
			continue
		case err != nil:
			return err
		}
		if err := s.accept(settings); err != nil {
			return err
		}
		if err := agent.Safe(settings); err != nil && !told {
			told = true
			s.Out.Warn("%s", err.Error())
		}
	}
	return nil
}

func settingsOf(ctx context.Context, at *agent.Agent, tenant amber.TenantID) (x postgres.Settings, err error) {
	server, done, err := at.DatabaseOf(ctx, tenant)
	if err != nil {
		return x, err
	}
	x, err = server.Settings(ctx)
	return x, errors.Join(err, done())
}

// accept says whether a database may be served.
func (s *serving) accept(x postgres.Settings) error {
	err := agent.Safe(x)
	if err == nil || s.unsafe {
		return nil
	}
	return amber.Errorf(amber.KindRefused, "serve", "", "%s", err.Error()).
		WithHint("change the settings of the PostgreSQL server, or serve with --accept-unsafe-database")
}
