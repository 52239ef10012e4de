//go:build linux

package main

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber/internal/test/must"
)

// A server removes the remains of a deletion that was cut off from every database.
func TestReplicasSweepEveryDatabase(t *testing.T) {
	t.Parallel()
	homes, dsn := replicas(t, 1)
	own, common := ownDatabase(t, homes, dsn)
	homes[0].does("remember", "x")
	homes[0].does("remember", "x", "--tenant", "acme", "--new-agent")
	const (
		cut = `UPDATE amber_meta.agents SET state = 'deleting', live_gen = NULL; UPDATE amber_meta.generations SET state = 'dropping'`
		all = `SELECT (SELECT count(*) FROM amber_meta.agents) + (SELECT count(*) FROM amber_meta.generations)`
	)
	for _, c := range []*pgx.Conn{own, common} {
		must.Get(c.Exec(t.Context(), cut))(t)
		must.Hold(t, counted(t, c, all) >= 2, "nothing is left over")
	}
	homes[0].replica()
	becomes(t, "agents and generations of the tenant", own, all, 0)
	becomes(t, "agents and generations of others", common, all, 0)
}
