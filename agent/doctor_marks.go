package agent

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/wire"
)

// checkHomeDB looks at the database of the home, where there is one or ought to
// be. Nothing is made or migrated.
func (d *doctor) checkHomeDB(ctx context.Context) {
	const code = "home_db"
	if d.agent == nil || d.failed("home") {
		return
	}
	db, err := ledgers{d.agent}.open(ctx, true)
	switch amber.KindOf(err) {
	case amber.KindNotFound: // no token was ever made, and nothing was served
		return
	case amber.KindConflict:
		if d.onPostgres() { // the check of its schema says so
			d.skip("the database does not have the tables of this Amber", code)
			return
		}
		d.add(wire.Finding{Code: code, Status: wire.FindingWarning, Detail: "an older Amber made the database; the next use brings it up to date"})
		return
	}
	if err == nil {
		err = errors.Join(db.Check(ctx), db.Close())
	}
	d.judge(code, err, "tokens, audit log, answers and outbox are whole")
}

// checkConsolidation reports a program that rewrites memory and has not ended.
func (d *doctor) checkConsolidation(agent *home.Agent, current home.Current) {
	open, err := snapshot.ConsolidationOf(fsx.OS(), agent, current)
	switch {
	case amber.KindOf(err) == amber.KindNotFound:
		d.judge("consolidation", nil, "no consolidation is open")
	case err != nil:
		d.judge("consolidation", err, "")
	default:
		hint := "amber consolidate end " + open.ID
		if open.Snapshot != "" {
			hint += "; what was before it: amber snapshot restore " + short(open.Snapshot)
		}
		d.warn("consolidation", hint, "%s began at %s and has not ended", open.ID, open.BeganAt)
	}
}
