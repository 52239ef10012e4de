package move

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
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
	m.progress("copy rows")
	// Files that belong to this machine stay with it.
	state := filepath.Join(next.Dir(), stateName)
	if err := copyFolder(filepath.Join(m.Agent.GenDir(c), stateName), state, stays); err != nil {
		return err
	}
	e, err := mirror.Export(ctx, m.mirrored(), next.Dir(), mirror.ExportOptions{
		Compare: mirror.Rows, Frozen: true,
		Document: func(d mirror.Document) error { return m.document(state, d) },
		VaultFile: func(f mirror.VaultFile) error {
			path := filepath.Join(state, vaultName, mirror.VaultPlace(f.Place))
			if err := fsx.MkdirAll(fsx.OS(), filepath.Dir(path), 0o700); err != nil {
				return err
			}
			return writePages(path, func(fn func([]byte) error) error { return fn(f.Bytes) })
		},
	})
	if err != nil {
		return err
	}
	m.report.Documents = e.Documents
	if err := m.step("copied"); err != nil {
		return err
	}
	if err := m.fetchNotes(ctx, filepath.Join(next.Dir(), notesName)); err != nil {
		return err
	}
	if err := m.carry(ctx); err != nil {
		return err
	}
	if err := errors.Join(next.Adopt(e.Current.Device), next.Sync()); err != nil {
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
		return max(e.Current.Clock, e.Memory.Stamp, e.Control.Stamp), m.step("decided")
	})
	if err != nil {
		return err
	}
	m.carried(e.Tables)
	return m.step("live")
}

// document writes one document of runtime state.
func (m *mover) document(dir string, d mirror.Document) error {
	if err := amber.CheckDocumentName(d.Name); err != nil {
		return err
	}
	if amber.ContentDigest(string(d.JSON)) != d.Revision {
		return amber.Errorf(amber.KindDamaged, opMove, d.Name, "the document does not match its digest")
	}
	if err := fsx.MkdirAll(fsx.OS(), dir, 0o700); err != nil {
		return err
	}
	return writePages(filepath.Join(dir, d.Name+".json"), func(fn func([]byte) error) error { return fn(d.JSON) })
}

// fetchNotes makes the repository of the notes, and compares its references.
func (m *mover) fetchNotes(ctx context.Context, dir string) (err error) {
	m.progress("copy notes")
	s, err := m.Server.Open(ctx, m.Agent.Tenant(), m.Agent.ID(), postgres.Options{Frozen: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	want, objects, err := s.Notes().Refs(ctx)
	if err != nil || len(want.Refs) == 0 {
		return err
	}
	if err := s.Notes().Export(ctx, dir, postgres.GitOptions{}); err != nil {
		return err
	}
	have, _, err := gitobj.ReadRefs(fsx.OS(), dir)
	if err != nil {
		return err
	}
	if !have.Equal(want) {
		return amber.Errorf(amber.KindInternal, opMove, string(m.Agent.ID()), "the repository of the notes that was written has other references than the database")
	}
	m.report.Objects = objects
	return nil
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
