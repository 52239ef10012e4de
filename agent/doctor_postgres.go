package agent

import (
	"context"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/postgres"
)

// postgresCodes are the checks that need the rows of an agent.
var postgresCodes = []string{"memory.full_text", "memory.counters", "memory.rows", "control.counters", "control.rows", "clock", "notes"}

// checkPostgres looks at the database that agents live in, and at the rows of this one.
func (d *doctor) checkPostgres(ctx context.Context) {
	server, done, err := d.agent.Database(ctx)
	if err != nil {
		d.judge("database", err, "")
		for _, code := range append([]string{"database.safe", "schema"}, postgresCodes...) {
			d.skip(code, "the database was not reached")
		}
		return
	}
	defer func() { _ = done() }() // nothing was written
	settings, err := server.Settings(ctx)
	d.judge("database", err, "%s", settings)
	if err != nil {
		d.skip("database.safe", "the settings are not known")
	} else {
		d.judge("database.safe", Safe(settings), "what is acknowledged survives a crash of the database")
	}
	d.judge("schema", err, "%d of the database", settings.Schema.Number)
	store, err := server.Open(ctx, d.agent.Tenant(), d.agent.ID(), postgres.Options{Existing: true, Model: d.model()})
	if err != nil {
		if amber.KindOf(err) == amber.KindNotFound {
			d.warn("current", "", "there is no agent %s in the database yet", d.agent.ID())
		} else {
			d.judge("current", err, "")
		}
		for _, code := range postgresCodes {
			d.skip(code, "the agent does not open")
		}
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
	d.skip("database.pages", "the pages and indexes of PostgreSQL are its operator's to check: pg_amcheck, data checksums")
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
