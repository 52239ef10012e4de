package local

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/home"
	"github.com/amber-memory/amber/internal/fsx"
	"github.com/amber-memory/amber/journal/drain"
	"github.com/amber-memory/amber/snapshot"
	"github.com/amber-memory/amber/store/sqlite"
)

// databases are those of SQLite.
type databases struct {
	clock  amber.Clock
	random io.Reader
}

var (
	_ snapshot.Databases = databases{}
	_ snapshot.Examiner  = databases{}
	_ snapshot.Adopter   = databases{}
	_ snapshot.Viewer    = databases{}
)

// Open returns what freezes the databases of an agent. Where one of them
// cannot be opened, each is frozen on its own later.
func (d databases) Open(ctx context.Context, agent *home.Agent) (snapshot.Freezer, error) {
	f := &freezer{agent: agent}
	var err error
	f.store, err = sqlite.Open(ctx, agent, d.options())
	switch amber.KindOf(err) {
	case amber.KindDamaged, amber.KindConflict: // damaged, or of an older schema
		return f, nil
	}
	return f, err
}

// Make makes an empty control.db.
func (d databases) Make(ctx context.Context, path string, c home.Current) error {
	return sqlite.MakeControl(ctx, path, c, sqlite.Options{Clock: d.clock, Random: d.random})
}

// Ready migrates the databases of an agent.
func (d databases) Ready(ctx context.Context, agent *home.Agent) error {
	store, err := sqlite.Open(ctx, agent, sqlite.Options{Clock: d.clock, Random: d.random})
	if amber.KindOf(err) == amber.KindDamaged {
		return nil
	}
	if err != nil {
		return err
	}
	return store.Close()
}

// FreezeFile freezes somebody else's database.
func (databases) FreezeFile(ctx context.Context, path string) (amber.FrozenDatabase, error) {
	return sqlite.Freeze(ctx, path)
}

// freezer freezes the databases of one agent.
type freezer struct {
	agent *home.Agent
	store *sqlite.Store // nil when it cannot be opened
}

func (f *freezer) Close() error {
	if f.store == nil {
		return nil
	}
	return f.store.Close()
}

func (f *freezer) Freeze(ctx context.Context, c home.Current) ([]amber.FrozenDatabase, map[string]error, error) {
	if f.store != nil {
		frozen, err := f.store.Freeze(ctx, c)
		if amber.KindOf(err) != amber.KindDamaged {
			return frozen, nil, err
		}
	}
	// The exclusive lock keeps Amber's writers out, so what is frozen one
	// after the other is of one instant all the same.
	var frozen []amber.FrozenDatabase
	lost := map[string]error{}
	for _, name := range []string{"memory.db", "control.db"} {
		d, err := sqlite.Freeze(ctx, filepath.Join(f.agent.GenDir(c), name))
		switch {
		case err == nil:
			frozen = append(frozen, d)
		case amber.KindOf(err) == amber.KindDamaged, amber.KindOf(err) == amber.KindNotFound,
			amber.KindOf(err) == amber.KindRefused: // no file of ours
			lost[name] = err
		default:
			for _, d := range frozen {
				err = errors.Join(err, d.Close())
			}
			return nil, nil, err
		}
	}
	return frozen, lost, nil
}

// Examine looks at a database that was built from a repository.
func (databases) Examine(ctx context.Context, path string, deep bool) ([]amber.Check, error) {
	x, err := sqlite.Examine(ctx, path, deep)
	if err != nil {
		return nil, err
	}
	if x.Name != filepath.Base(path) {
		return nil, amber.Errorf(amber.KindRefused, "examine database", path, "it is a %s", x.Name)
	}
	return x.Checks, nil
}

// Adopt makes a database fit to be the live one. A live one that is damaged
// cannot be compared with: that must not keep the agent from coming back.
func (d databases) Adopt(ctx context.Context, r snapshot.AdoptRequest) (snapshot.AdoptReport, error) {
	adopt := sqlite.Adopt
	if r.Name == "control.db" {
		adopt = sqlite.AdoptControl
	}
	request := sqlite.AdoptRequest{
		Path: r.Path, Live: r.Live, Current: r.Current, Carried: !r.Restored, LocalOnly: r.LocalOnly, Cursors: r.Cursors,
		Clock: d.clock, Random: d.random,
	}
	var out snapshot.AdoptReport
	var report sqlite.AdoptReport
	err := d.comparable(request.Live)
	if err == nil {
		report, err = adopt(ctx, request)
	}
	if request.Live != "" && amber.KindOf(err) == amber.KindDamaged {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the live %s could not be compared with, so what was erased or synced since the snapshot is not known: %v", r.Name, err))
		request.Live = ""
		report, err = adopt(ctx, request)
	}
	if err != nil {
		return out, err
	}
	out.Clock = report.Clock
	for _, w := range []struct {
		n    int64
		text string
	}{
		{report.KeptErased, "%d memories of the snapshot were erased since, and stay erased"},
		{report.ParkedLoops, "%d suspended loops came back parked"},
		{report.SetAside, "%d records cannot be read here or in the snapshot; they stay as the snapshot has them (amber doctor)"},
	} {
		if w.n > 0 {
			out.Warnings = append(out.Warnings, fmt.Sprintf(w.text, w.n))
		}
	}
	return out, nil
}

// comparable reports whether there is a file with something in it. The error is
// of kind damaged.
func (databases) comparable(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Lstat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = fsx.ErrNotRegular
	case err == nil && info.Size() == 0: // no database has no page
		err = errors.New("it is empty")
	}
	if err != nil {
		return &amber.Error{Op: "adopt database", Kind: amber.KindDamaged, ID: path, Err: err}
	}
	return nil
}

// Replay drains captured journal entries into a generation that is being
// built.
func (d databases) Replay(ctx context.Context, agent *home.Agent, c home.Current, m snapshot.Mark, frames io.Reader) (int64, error) {
	store, err := sqlite.OpenGeneration(ctx, agent, c, sqlite.Options{Clock: d.clock, Random: d.random})
	if err != nil {
		return 0, err
	}
	report, err := drain.Replay(ctx, drain.Mark(m), frames, store, d.clock)
	return report.Applied, errors.Join(err, store.Close())
}

// View opens a memory.db for reading.
func (d databases) View(ctx context.Context, f snapshot.DatabaseFile) (snapshot.View, error) {
	return sqlite.OpenReadOnly(ctx, "memory.db", f.Reader, f.Size, d.options())
}

// Diff compares two databases.
func (d databases) Diff(ctx context.Context, name string, a, b snapshot.DatabaseFile, rows bool) (diff amber.StoreDiff, err error) {
	var sources [2]sqlite.DBSource
	for i, f := range []snapshot.DatabaseFile{a, b} {
		if f.Reader == nil {
			live, err := sqlite.Open(ctx, f.Agent, d.options())
			if err != nil {
				return diff, err
			}
			defer live.Close()
			sources[i].Live = live
			continue
		}
		open, err := sqlite.OpenReadOnly(ctx, name, f.Reader, f.Size, d.options())
		if err != nil {
			return diff, err
		}
		defer open.Close()
		sources[i].Open = open
	}
	return sqlite.Diff(ctx, sources[0], sources[1], rows)
}
