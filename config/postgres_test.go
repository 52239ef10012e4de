package config_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/test/must"
)

// With memory.backend: postgres every layer lies in the database, the notes too, or none does.
func TestPostgresServesEveryLayer(t *testing.T) {
	t.Parallel()
	const file = "memory.backends.postgres.dsn_file"
	h, database := newHouse(t), &fake{name: "database"}
	must.Do(t, h.Register(config.PostgresBackend, database.open))
	c := load(t, config.Input{Flags: map[string]string{"memory.backend": "postgres", file: "/etc/amber/dsn"}}).Config
	must.Hold(t, c.OnPostgres() && c.IsElsewhere() && !c.IsEdge(), "not in a database")
	r := must.Get(h.Resolve(t.Context(), c))(t)
	for l, name := range servedBy(t, r.Store) {
		must.Equal(t, "backend of "+string(l), name, "database")
	}
	for name, tt := range map[string]struct {
		flags map[string]string
		words []string
	}{
		"no file":         {map[string]string{"memory.backend": "postgres"}, []string{file, "not set"}},
		"one layer here":  {map[string]string{"memory.backend": "postgres", file: "/f", "memory.layers.turns.backend": "sqlite"}, []string{"memory.layers.turns.backend", `"sqlite"`}},
		"one layer there": {map[string]string{"memory.layers.turns.backend": "postgres", file: "/f"}, []string{"memory.layers.turns.backend", "not for one layer"}},
	} {
		c := load(t, config.Input{Flags: tt.flags}).Config
		wantError(t, name, h.Check(c), amber.KindInvalid, tt.words...)
	}
}
