package move

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/notes"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/folder"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/store/statedir"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
)

// The parts of a generation beside its databases.
const (
	stateName = "state"
	memoryDB  = "memory.db"
	controlDB = "control.db"
	scratched = "move-"
	// lockWait is how long another program may hold a database that is to be copied.
	lockWait = 30 * time.Second
)

// leave takes the agent from the home to the database.
func (m *mover) leave(ctx context.Context) error {
	c, err := m.Agent.Current()
	if err != nil {
		return err
	}
	have, err := m.Server.FindMove(ctx, m.note.ID)
	if err != nil {
		return err
	}
	switch {
	case m.note.State == home.MoveLeft && (have == nil || have.Done):
		return amber.Errorf(amber.KindNotFound, opMove, string(m.Agent.ID()), "the move to %s has come to its end", m.note.Place)
	case have != nil && have.Decided:
	case c.Generation != m.note.Generation:
		return amber.Errorf(amber.KindDamaged, opMove, string(m.Agent.ID()), "the home says that the agent has moved, %s does not know of that", m.note.Place).
			WithHint("was the database brought back to an earlier state? The agent is kept in " + m.oldFolder(m.note))
	default:
		if have == nil {
			if err := m.Server.BeginArrival(ctx, m.move(), c.Device); err != nil {
				return err
			}
		}
		if err := m.step("reserved"); err != nil {
			return err
		}
		if err := m.send(ctx, c); err != nil {
			return err
		}
		if have, err = m.Server.FindMove(ctx, m.note.ID); err != nil {
			return err
		}
		if have == nil {
			return amber.Errorf(amber.KindInternal, opMove, string(m.Agent.ID()), "the database lost the move that it has decided")
		}
	}
	return m.left(ctx, c, *have)
}

// send copies the agent into the database and makes it live there.
func (m *mover) send(ctx context.Context, c home.Current) (err error) {
	if err := m.Server.GiveUpArrival(ctx, m.move()); err != nil {
		return err
	}
	m.progress("commit notes")
	if err := m.commitNotes(ctx); err != nil {
		return err
	}
	scratch, done, err := m.scratch()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	m.progress("copy files")
	files, err := m.freeze(ctx, c, m.folder, scratch)
	if err != nil {
		return err
	}
	src, err := folder.Read(ctx, m.Agent.GenDir(c), m.Clock(), folder.Options{Temp: scratch}) // what it leaves out stays
	if err != nil {
		return err
	}
	o := src.Options
	o.Scratch, o.From, o.Device, o.Clock, o.Moves = scratch, m.note.ID, c.Device, c.Clock, true
	o.Documents = func(put func(mirror.Document) error) error { return m.documents(ctx, put) }
	m.progress("copy rows, documents and notes")
	b, err := mirror.Import(ctx, m.mirrored(), files, o)
	if err != nil {
		return err
	}
	m.report.Objects = b.Objects
	err = m.decide(ctx, b)
	if errors.Is(err, ErrStopped) {
		return err
	}
	if err != nil { // which is nothing where the switch was made
		return errors.Join(err, b.Discard(context.WithoutCancel(ctx)))
	}
	return m.step("decided")
}

// decide makes the generation live.
func (m *mover) decide(ctx context.Context, b *mirror.Building) error {
	if err := m.step("copied"); err != nil {
		return err
	}
	if err := m.carry(ctx); err != nil {
		return err
	}
	if err := m.step("compared"); err != nil {
		return err
	}
	m.progress("make the agent live in the database")
	_, err := b.Switch(ctx, mirror.SwitchOptions{Within: func(ctx context.Context, conn *pgx.Conn) error { return postgres.Arrive(ctx, conn, m.move()) }})
	if err != nil {
		return err
	}
	m.carried(b.Tables)
	return nil
}

func (m *mover) carried(tables []mirror.Table) {
	m.report.Tables = tables
	m.report.Rows = 0
	for _, t := range tables {
		m.report.Rows += t.Rows
	}
}

// commitNotes commits what a person has written into the folder of the notes by hand.
func (m *mover) commitNotes(ctx context.Context) error {
	d, err := notes.New(notes.Options{Guard: snapshot.NotesGuard(m.folder), Clock: m.Clock})
	if err != nil {
		return err
	}
	return d.CommitAll(ctx)
}

// scratch makes a folder for copies, and returns what removes it.
func (o Options) scratch() (dir string, done func() error, err error) {
	root := filepath.Join(o.Home.CacheDir(), "move")
	if err := fsx.MkdirAll(fsx.OS(), root, 0o700); err != nil {
		return "", nil, amber.Errorf(amber.KindInternal, opMove, root, "a folder for copies cannot be made: %w", err)
	}
	if _, err := fsx.RemoveScratchFolders(root, scratched); err != nil {
		return "", nil, amber.Errorf(amber.KindInternal, opMove, root, "copies of an earlier move cannot be removed: %w", err)
	}
	dir, held, err := fsx.CreateScratchFolder(root, scratched)
	if err != nil {
		return "", nil, amber.Errorf(amber.KindInternal, opMove, root, "a folder for copies cannot be made: %w", err)
	}
	return dir, func() error { return errors.Join(fsx.RemoveAll(fsx.OS(), dir), held.Close()) }, nil
}

// freeze copies both databases of a generation as they are at one instant, and examines the copies.
func (o Options) freeze(ctx context.Context, c home.Current, folder *home.Agent, dir string) (f mirror.Files, err error) {
	f = mirror.Files{Memory: filepath.Join(dir, memoryDB), Control: filepath.Join(dir, controlDB)}
	err = folder.Exclusive(ctx, func(now home.Current) error {
		if now.Generation != c.Generation {
			return amber.Errorf(amber.KindConflict, opMove, string(o.Agent.ID()), "another generation of the agent became live meanwhile").WithHint("try again")
		}
		frozen, err := image.FreezeBoth(ctx, folder.GenDir(c), lockWait)
		if err != nil {
			return err
		}
		for _, d := range frozen {
			if err == nil {
				info := d.Info()
				if info.Damage != "" {
					err = damaged(info.Name, info.Damage)
				} else {
					err = image.WriteFile(ctx, fsx.OS(), d, filepath.Join(dir, info.Name))
				}
			}
			err = errors.Join(err, d.Close())
		}
		return err
	})
	for _, path := range []string{f.Memory, f.Control} {
		if err == nil {
			err = examine(ctx, path)
		}
	}
	return f, err
}

func damaged(file, why string) error {
	return amber.Errorf(amber.KindDamaged, opMove, file, "the database is damaged: %s", why).
		WithHint("amber doctor; restore a snapshot before you move the agent")
}

// examine reads all of a database. Damage to the full-text index alone does not stop a move: the index moves along and
// can be made again.
func examine(ctx context.Context, path string) error {
	x, err := image.Examine(ctx, path, true)
	if err != nil {
		return err
	}
	for _, c := range x.Checks {
		if !c.OK && c.Name != "full_text" {
			return damaged(x.Name, fmt.Sprintf("%s: %s", c.Name, c.Detail))
		}
	}
	return nil
}

// documents hands out the documents of runtime state.
func (m *mover) documents(ctx context.Context, put func(mirror.Document) error) error {
	d, err := statedir.New(m.folder, statedir.Options{})
	if err != nil {
		return err
	}
	list, err := d.ListDocuments(ctx)
	if err != nil {
		return err
	}
	for _, l := range list {
		doc, err := d.ReadDocument(ctx, l.Name)
		if err != nil {
			return err
		}
		if err := put(mirror.Document{Name: doc.Name, Revision: doc.Revision, JSON: doc.Document}); err != nil {
			return err
		}
	}
	m.report.Documents = len(list)
	return nil
}

// left makes the folder one without memory, after the decision.
func (m *mover) left(ctx context.Context, c home.Current, have postgres.Move) error {
	m.progress("leave the home")
	if c.Generation == m.note.Generation {
		if err := m.empty(ctx, c); err != nil {
			return err
		}
		if err := m.step("emptied"); err != nil {
			return err
		}
	}
	if m.note.State != home.MoveLeft {
		m.note.State = home.MoveLeft
		if err := m.folder.NoteMove(m.note); err != nil {
			return err
		}
	}
	if err := m.step("left"); err != nil {
		return err
	}
	m.report.Kept = m.oldFolder(m.note)
	if err := m.Server.EndMove(ctx, m.move()); err != nil {
		return err
	}
	if have.Gen != 0 { // what an earlier move had left there
		if err := mirror.Discard(ctx, m.Server, have.Gen); err != nil {
			return err
		}
	}
	return m.discardOld(ctx)
}

// empty puts a generation without memory in the place of the one that has left. Files that belong to the machine stay:
// all that are neither a document nor a file of the vault.
func (m *mover) empty(ctx context.Context, c home.Current) error {
	next, err := m.folder.BeginRestore(ctx, m.note.ID)
	if err != nil {
		return err
	}
	err = sqlite.LeaveElsewhere(next.Dir())
	if err == nil {
		err = copyFolder(filepath.Join(m.Agent.GenDir(c), stateName), filepath.Join(next.Dir(), stateName), stays)
	}
	if err == nil {
		err = next.Switch(ctx, func(home.Current) (amber.Stamp, error) { return 0, nil })
	}
	if err != nil {
		return errors.Join(err, next.Abort())
	}
	return nil
}

// vaultName is the folder of the vault in that of the state.
const vaultName = "vault"

// stays reports whether a file of the state, by its path in there, belongs to the machine.
func stays(rel string) bool {
	file, inVault := strings.CutPrefix(rel, vaultName+"/")
	return !isDocument(rel) && !(inVault && mirror.IsVaultFile(filepath.FromSlash(file)))
}

// isDocument reports whether a file of the state, by its path in there, is a document.
func isDocument(rel string) bool {
	name, is := strings.CutSuffix(rel, ".json")
	return is && amber.CheckDocumentName(name) == nil
}

// copyFolder copies regular files for which want reports true, given their path in the folder, and all folders. It
// leaves other files where they are.
func copyFolder(from, to string, want func(rel string) bool) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == from {
			return fs.SkipAll
		}
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		at := filepath.Join(to, rel)
		switch {
		case e.IsDir():
			return fsx.MkdirAll(fsx.OS(), at, 0o700)
		case !e.Type().IsRegular() || !want(filepath.ToSlash(rel)) || strings.HasPrefix(e.Name(), fsx.TempPrefix):
			return nil
		}
		return copyFile(path, at)
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return fsx.BuildWith(fsx.OS(), to, 0o600, func(out fsx.File) error {
		_, err := io.Copy(out, in)
		return err
	})
}
