package agent

import (
	"context"
	"errors"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres"
)

// postgresCodes are the checks that need the rows of an agent.
var postgresCodes = []string{"memory.full_text", "memory.counters", "memory.rows", "control.counters", "control.rows", "clock", "notes"}

// onPostgres reports whether agents are configured to live in a database.
func (d *doctor) onPostgres() bool {
	return d.ConfigErr == nil && d.agent != nil && d.agent.config.OnPostgres()
}

// checkPostgres looks at the databases of the configuration, and at the rows of this agent. It reports whether agents live in one.
func (d *doctor) checkPostgres(ctx context.Context) bool {
	if !d.onPostgres() {
		return false
	}
	d.checkRows(ctx)
	d.checkOthers(ctx)
	return true
}

// checkOthers looks at the databases that this agent does not live in: servers refuse to start where one of them is unsafe.
func (d *doctor) checkOthers(ctx context.Context) {
	c, seen := d.agent.config, 0
	var errs []error
	for _, t := range append([]string{""}, c.OwnDatabases()...) {
		if c.DSNFileOf(t) == c.DSNFileOf(string(d.agent.Tenant())) {
			continue
		}
		name := "of tenant " + t
		if t == "" {
			name = "of all other tenants"
		}
		seen++
		if err := d.lookAtOther(ctx, amber.TenantID(t)); err != nil {
			errs = append(errs, &amber.Error{Op: "the database " + name, Kind: amber.KindOf(err), Err: err, Hint: amber.HintOf(err)})
		}
	}
	if seen > 0 {
		d.judge("database.others", errors.Join(errs...), "%d other databases of the configuration answer, and what they acknowledge survives a crash", seen)
	}
}

func (d *doctor) lookAtOther(ctx context.Context, tenant amber.TenantID) error {
	server, done, err := d.agent.DatabaseOf(ctx, tenant)
	if err != nil {
		return err
	}
	defer func() { _ = done() }() // nothing was written
	settings, err := server.Settings(ctx)
	if err != nil && !errors.Is(err, postgres.ErrEmpty) {
		return err
	}
	return Safe(settings)
}

// checkRows looks at the database of the agent, and at its rows.
func (d *doctor) checkRows(ctx context.Context) {
	server, done, err := d.agent.Database(ctx)
	var settings postgres.Settings
	if err == nil {
		defer func() { _ = done() }() // nothing was written
		settings, err = server.Settings(ctx)
	}
	empty := errors.Is(err, postgres.ErrEmpty)
	if settings.Version == "" { // it did not answer
		d.judge("database", err, "")
		d.skip("the database was not reached", "database.safe")
	} else {
		d.judge("database", nil, "%s", settings)
		d.judge("database.safe", Safe(settings), "what is acknowledged survives a crash of the database")
		if known, setBack := server.Compare(ctx); known || setBack != nil {
			d.judge("database.state", setBack, "as far as servers of this home have noted, or further")
		}
	}
	switch {
	case settings.Version == "":
		d.skip("the database was not reached", "schema")
	case empty:
		d.warn("schema", "", "the database has no tables of Amber yet; the first command makes them")
	default:
		d.judge("schema", err, "%d of the database", settings.Schema.Number)
	}
	if err != nil {
		d.skip("the rows of the agent were not reached", postgresCodes...)
		return
	}
	store, err := server.Open(ctx, d.agent.Tenant(), d.agent.ID(), postgres.Options{Existing: true, Model: d.model()})
	if err != nil {
		if amber.KindOf(err) == amber.KindNotFound {
			d.warn("current", "", "there is no agent %s in the database yet", d.agent.ID())
		} else {
			d.judge("current", err, "")
		}
		d.skip("the agent does not open", postgresCodes...)
		return
	}
	defer store.Close()
	d.judge("current", nil, "generation %d, in the database", store.Generation())
	for _, f := range store.Check(ctx) {
		if f.Check == "memory.full_text" && f.Err == nil {
			f.Err, f.Scope = store.VerifyIndex(ctx), "the indexes equal the text of every memory"
		}
		d.judge(f.Check, f.Err, "%s", f.Scope)
	}
	d.judge("clock", d.behind(store.LastStamp(ctx)), "not behind the newest change")
	d.judge("notes", store.Notes().Check(ctx), "every commit is whole")
	d.checkVaultRows(ctx, server)
	d.skip("the pages and indexes of PostgreSQL are its operator's to check: pg_amcheck, data checksums", "database.pages")
}

// Safe is an error where the settings of a database make acknowledged writes unsafe.
func Safe(s postgres.Settings) error {
	why := s.Unsafe()
	if len(why) == 0 {
		return nil
	}
	return amber.Errorf(amber.KindRefused, "check database", "", "%s", strings.Join(why, "; ")).
		WithHint("change the settings of the PostgreSQL server")
}
