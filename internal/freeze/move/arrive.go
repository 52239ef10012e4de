package move

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/postgres/folder"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// arrive takes the agent from the database to the home.
func (m *mover) arrive(ctx context.Context) error {
	c, err := m.Agent.Current()
	if err != nil {
		return err
	}
	if c.Generation == m.note.Generation {
		if sqlite.IsHere(m.Agent) { // it was made after the look and before the note, and would be lost
			return amber.Errorf(amber.KindConflict, opMove, string(m.Agent.ID()), "an agent of this name was made in %s meanwhile", m.homePlace()).
				WithHint("delete one of them, or choose another agent with --agent")
		}
		have, err := m.Server.FindMove(ctx, m.note.ID)
		if err != nil {
			return err
		}
		if have == nil {
			m.progress("stop the agent in the database")
			if _, err := m.Server.BeginDeparture(ctx, m.move()); err != nil {
				return err
			}
		}
		if err := m.step("stopped"); err != nil {
			return err
		}
		if err := m.fetch(ctx, c); err != nil {
			return err
		}
	}
	return m.arrived(ctx)
}

// fetch writes the agent into a new generation of the home and makes it live there.
func (m *mover) fetch(ctx context.Context, c home.Current) error {
	next, err := m.folder.BeginRestore(ctx, m.note.ID)
	if err != nil {
		return err
	}
	err = m.take(ctx, c, next)
	if err != nil && !errors.Is(err, ErrStopped) {
		return errors.Join(err, next.Abort())
	}
	return err
}

func (m *mover) take(ctx context.Context, c home.Current, next *home.Restore) error {
	m.progress("copy rows, documents and notes")
	w, err := folder.Take(ctx, m.mirrored(), next.Dir(), folder.Options{})
	if err != nil {
		return err
	}
	m.report.Documents, m.report.Objects = w.Documents, w.Objects
	// Files that belong to this machine stay with it.
	if err := copyFolder(filepath.Join(m.Agent.GenDir(c), stateName), filepath.Join(next.Dir(), stateName), stays); err != nil {
		return err
	}
	if err := m.step("copied"); err != nil {
		return err
	}
	if err := m.carry(ctx); err != nil {
		return err
	}
	if err := errors.Join(next.Adopt(w.Current.Device), next.Sync()); err != nil {
		return err
	}
	if err := m.step("compared"); err != nil {
		return err
	}
	m.progress("make the agent live in the home")
	err = next.Switch(ctx, func(home.Current) (amber.Stamp, error) {
		if err := m.Server.Depart(ctx, m.move()); err != nil {
			return 0, err
		}
		return max(w.Current.Clock, w.Memory.Stamp, w.Control.Stamp), m.step("decided")
	})
	if err != nil {
		return err
	}
	m.carried(w.Tables)
	return m.step("live")
}

// arrived ends a move after CURRENT names the new generation.
func (m *mover) arrived(ctx context.Context) error {
	m.progress("leave the database")
	if err := m.Server.EndMove(ctx, m.move()); err != nil {
		return err
	}
	if err := m.step("ended"); err != nil {
		return err
	}
	for _, n := range []int64{m.note.Old, m.note.Generation} {
		if n == 0 {
			continue
		}
		if err := m.folder.RemoveGeneration(ctx, n); err != nil {
			return err
		}
	}
	if err := m.folder.EndMove(); err != nil {
		return err
	}
	m.report.Kept = "the rows of the agent in " + m.note.Place
	return nil
}
