package snapshot

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal/drain"
	"github.com/amber-memory/amber/internal/freeze/nexo"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// The databases of an agent.
const (
	memoryDB  = "memory.db"
	controlDB = "control.db"
)

// writing are the options of a store that may be made or migrated.
func (e *Engine) writing() sqlite.Options {
	return sqlite.Options{Clock: e.o.Clock, Random: e.o.Random}
}

// looking are the options of a store that is only read: its schema stays.
func (e *Engine) looking() sqlite.Options {
	o := e.writing()
	o.KeepSchema = true
	return o
}

// migrate brings the databases of an agent to the newest schema. A damaged
// database is no error.
func (e *Engine) migrate(ctx context.Context, agent *home.Agent) error {
	store, err := sqlite.Open(ctx, agent, e.writing())
	if amber.KindOf(err) == amber.KindDamaged {
		return nil
	}
	if err != nil {
		return err
	}
	return store.Close()
}

// writersWait is how long a program that is not Amber may keep a database from being frozen.
const writersWait = 30 * time.Second

// freezeDatabases pins both databases in the folder of a generation at this instant. The caller
// keeps all writers of Amber out until it returns. Lost holds, by name, the databases that
// cannot be opened, and why.
func (e *Engine) freezeDatabases(ctx context.Context, dir string) (frozen []wire.FrozenDatabase, lost map[string]error, err error) {
	if !e.place.Copies() { // no other program writes to a copy, and nothing else may either
		frozen, err := image.FreezeBoth(ctx, dir, writersWait)
		if !unreadable(err) {
			return frozen, nil, err
		}
	}
	lost = map[string]error{}
	for _, name := range []string{memoryDB, controlDB} {
		d, err := image.Freeze(ctx, filepath.Join(dir, name))
		switch {
		case err == nil:
			frozen = append(frozen, d)
		case unreadable(err):
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

// unreadable reports whether an error says that a file is not a database of Amber.
func unreadable(err error) bool {
	switch amber.KindOf(err) {
	case amber.KindDamaged, amber.KindNotFound, amber.KindRefused:
		return true
	}
	return false
}

// examineFile opens a database file that was built from a repository as a
// stranger's. Deep reads all of it. A check that failed is no error. Errors:
// damaged, too_new or refused for a file that must not be used whatever its
// checks say.
func examineFile(ctx context.Context, path string, deep bool) ([]wire.Check, error) {
	x, err := image.Examine(ctx, path, deep)
	if err != nil {
		return nil, err
	}
	if x.Name != filepath.Base(path) {
		return nil, amber.Errorf(amber.KindRefused, "examine database", path, "the file is a %s, want a %s", x.Name, filepath.Base(path))
	}
	return x.Checks, nil
}

// adoptFile makes a database of a new generation fit to be the live one, and
// warns of what that changed. A damaged live database cannot be compared with;
// the agent comes back without the comparison.
func (e *Engine) adoptFile(ctx context.Context, name string, r image.AdoptRequest) (clock amber.Stamp, warnings []string, err error) {
	adopt := image.Adopt
	if name == controlDB {
		adopt = image.AdoptControl
	}
	r.Clock, r.Random = e.o.Clock, e.o.Random
	var report image.AdoptReport
	if err = nonEmpty(r.Live); err == nil {
		report, err = adopt(ctx, r)
	}
	if r.Live != "" && amber.KindOf(err) == amber.KindDamaged {
		warnings = append(warnings, fmt.Sprintf("the live %s could not be compared with, so what was erased or synced since the snapshot is not known: %v", name, err))
		r.Live = ""
		report, err = adopt(ctx, r)
	}
	if err != nil {
		return 0, warnings, err
	}
	for _, w := range []struct {
		n    int64
		text string
	}{
		{report.KeptErased, "%d memories of the snapshot were erased since, and stay erased"},
		{report.ParkedLoops, "%d suspended loops came back parked"},
		{report.SetAside, "%d records cannot be read here or in the snapshot; they stay as the snapshot has them (amber doctor)"},
	} {
		if w.n > 0 {
			warnings = append(warnings, fmt.Sprintf(w.text, w.n))
		}
	}
	return report.Clock, warnings, nil
}

// nonEmpty checks that a live database is a file with content; "" is no
// database and no error. The error is of kind damaged.
func nonEmpty(path string) error {
	if path == "" {
		return nil
	}
	info, err := os.Lstat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		err = fsx.ErrNotRegular
	case err == nil && info.Size() == 0: // a database has at least one page
		err = errors.New("the file is empty")
	}
	if err != nil {
		return &amber.Error{Op: "adopt database", Kind: amber.KindDamaged, ID: path, Err: err}
	}
	return nil
}

// replayInto drains captured journal entries into a generation that is being
// built.
func (e *Engine) replayInto(ctx context.Context, agent *home.Agent, c home.Current, m repo.JournalMark, frames io.Reader) error {
	store, err := sqlite.OpenGeneration(ctx, agent, c, e.writing())
	if err != nil {
		return err
	}
	_, err = drain.Replay(ctx, drain.Mark(m), frames, store, e.o.Clock)
	return errors.Join(err, store.Close())
}

// pages reads a database where it lies: in a repository, or in a file.
type pages interface {
	io.ReaderAt
	Size() int64
}

// diffPages compares two databases of one name. Live is the agent whose
// database takes the place of a; nil: a is read.
func (e *Engine) diffPages(ctx context.Context, name string, live *home.Agent, a, b pages, rows bool) (diff wire.StoreDiff, err error) {
	var from, to sqlite.DBSource
	switch {
	case live != nil && e.place.Copies():
		c, err := live.Current()
		if err != nil {
			return diff, err
		}
		if from.Open, err = sqlite.OpenReadOnlyFile(ctx, filepath.Join(live.GenDir(c), name), e.looking()); err != nil {
			return diff, err
		}
		defer from.Open.Close()
	case live != nil:
		if from.Live, err = sqlite.Open(ctx, live, e.looking()); err != nil {
			return diff, err
		}
		defer from.Live.Close()
	default:
		if from.Open, err = sqlite.OpenReadOnly(ctx, name, a, a.Size(), e.looking()); err != nil {
			return diff, err
		}
		defer from.Open.Close()
	}
	if to.Open, err = sqlite.OpenReadOnly(ctx, name, b, b.Size(), e.looking()); err != nil {
		return diff, err
	}
	defer to.Open.Close()
	return sqlite.Compare(ctx, from, to, rows)
}

// exportNexo makes the databases of nexo in dir from a memory.db.
func exportNexo(ctx context.Context, memory, dir string, agent amber.AgentID) ([]wire.Skipped, error) {
	from, err := image.OpenRecords(ctx, memory)
	if err != nil {
		return nil, err
	}
	left, err := nexo.Export(ctx, from, dir, agent)
	return leftOut(left), errors.Join(err, from.Close())
}

// importNexo makes memory.db and control.db in gen from the databases of nexo
// in dir. Their generation is a placeholder: a restore gives them another.
func (e *Engine) importNexo(ctx context.Context, dir, gen string, agent amber.AgentID) ([]wire.Skipped, error) {
	id, err := amber.NewUUID(e.o.Clock(), e.o.Random)
	if err != nil {
		return nil, err
	}
	c := home.Current{Generation: 1, Incarnation: id, Device: id}
	into, err := sqlite.Fill(ctx, filepath.Join(gen, memoryDB), c, sqlite.Options{Clock: e.o.Clock, Random: e.o.Random})
	if err != nil {
		return nil, err
	}
	left, err := nexo.Import(ctx, dir, into.Filler, agent)
	err = errors.Join(err, into.Close())
	if err == nil {
		err = sqlite.MakeControl(ctx, filepath.Join(gen, controlDB), c, e.writing())
	}
	return leftOut(left), err
}

// leftOut names the records that were not converted.
func leftOut(counts []nexo.Count) []wire.Skipped {
	var list []wire.Skipped
	for _, c := range counts {
		list = append(list, wire.Skipped{Part: wire.PartMemory, Path: c.What, Reason: wire.SkipUnsupported, Detail: fmt.Sprintf("%d of them", c.Count)})
	}
	return list
}
