package agent

import (
	"context"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/proc"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/store/sqlite"
)

// CheckConfig reports whether a configuration names backends that are built in,
// without opening any. Errors: those of [config.Registry.Check].
func CheckConfig(c config.Config) error {
	r, err := new(Agent).backends()
	if err != nil {
		return err
	}
	return errors.Join(r.Check(c), checkPrimary(c))
}

// checkPrimary refuses a primary beside which no OpenViking server can stand. The error is of kind invalid.
func checkPrimary(c config.Config) error {
	if p := c.Memory.Backends.OpenViking.Primary; p != "sqlite" {
		return amber.Errorf(amber.KindInvalid, "choose backend", "memory.backends.openviking.primary", "%q is no backend that an OpenViking server can stand beside, want sqlite", p)
	}
	return nil
}

// backends registers what memory can be stored in.
func (a *Agent) backends() (*config.Registry, error) {
	r := config.New()
	return r, errors.Join(
		r.Register("sqlite", a.openSQLite, amber.LayerNotes),
		r.Register("openviking", vikingSide{a}.open, amber.LayerNotes),
		r.Register(config.RemoteBackend, a.openRemote),
		r.Register(config.PostgresBackend, a.openPostgres),
		r.RegisterLayer(amber.LayerNotes, "git", func(context.Context, config.Config) (config.Opened, error) {
			d, err := notes.New(notes.Options{Guard: snapshot.NotesGuard(a.data), Clock: a.o.Clock})
			if err != nil {
				return config.Opened{}, err
			}
			a.notes = d
			return config.Opened{Parts: amber.Parts{Notes: d, NoteLog: d}, Close: func() error { return nil }}, nil
		}),
	)
}

// openSQLite opens the store, once: it may serve some layers, and be the primary of others.
func (a *Agent) openSQLite(ctx context.Context, c config.Config) (config.Opened, error) {
	if a.sqlite != nil {
		return config.Opened{Parts: a.sqlite.Parts()}, nil
	}
	model, err := NewModel(c.Search, a.o.Home, a.o.Getenv)
	if err != nil {
		return config.Opened{}, err
	}
	store, err := sqlite.Open(ctx, a.data, sqlite.Options{
		Clock: a.o.Clock, Random: a.o.Random, Queue: c.Control.Queue,
		BusyTimeout: c.Memory.Backends.SQLite.BusyTimeout, Readers: c.Memory.Backends.SQLite.Readers,
		KeepSchema: a.look && !a.absent, SetAside: a.o.SetAside, Model: model, Crowded: proc.Crowded, MeaningOnly: a.o.MeaningOnly,
	})
	if err != nil {
		return config.Opened{}, err
	}
	a.sqlite, a.core = store, store.Contracts
	return config.Opened{Parts: store.Parts(), Close: store.Close}, nil
}
