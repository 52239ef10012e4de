package home

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Generations returns the numbers of all generations that have a folder,
// sorted: the live one, the one that is being built, and those that were kept.
func (a *Agent) Generations() ([]int64, error) {
	return a.numbers(genName, "")
}

// numbers returns the numbers in the names of a folder that end with suffix:
// folders without one, files with one.
func (a *Agent) numbers(dir, suffix string) ([]int64, error) {
	entries, err := a.o.FS.ReadDir(a.path(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diskerr.Own("list "+dir, a.path(dir), err)
	}
	var out []int64
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), suffix)
		n, isNumber := parseGeneration(name)
		if ok && isNumber && e.IsDir() == (suffix == "") {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, nil
}

// removingSuffix marks, beside its folder, a generation that is being removed.
const removingSuffix = ".removing"

func (a *Agent) removingPath(n int64) string {
	return filepath.Join(a.dir, genName, strconv.FormatInt(n, 10)+removingSuffix)
}

// removals returns the generations whose removal has begun.
func (a *Agent) removals() ([]int64, error) { return a.numbers(genName, removingSuffix) }

// RemoveGeneration removes a generation that is not live, durably. The caller is inside
// [Agent.Operate]. If a removal is cut off, [Agent.Settle] or the next restore finishes it; a
// half-removed generation never counts as one that was kept. It is no error if the generation does
// not exist.
//
// A reader that has the databases of the generation open reads on, where the system lets open files
// be removed. Another reader may have read CURRENT before the switch and be about to open these
// databases. It fails, reads CURRENT again, and finds another generation. Errors: refused for the
// live generation, for one that a restore builds and for one that a move has left; those of Current
// and the disk.
func (a *Agent) RemoveGeneration(ctx context.Context, n int64) error {
	if ctx.Err() != nil {
		return a.busy(ctx, "remove generation", ctx.Err())
	}
	if n < 1 {
		return amber.Errorf(amber.KindInvalid, "remove generation", string(a.agent), "%d is not a generation of the agent", n)
	}
	c, err := a.settled()
	if err != nil {
		return err
	}
	if err := a.mayRemove(c, n); err != nil {
		return err
	}
	if _, err := a.o.FS.Lstat(a.genPath(n)); errors.Is(err, fs.ErrNotExist) {
		if _, err := a.o.FS.Lstat(a.removingPath(n)); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
	}
	if err := a.removeGeneration(n); err != nil {
		return diskerr.Own("remove generation", a.genPath(n), err)
	}
	return nil
}

// mayRemove refuses the removal of a generation that is live, that a restore builds, or that a move
// has left.
func (a *Agent) mayRemove(c Current, n int64) error {
	refuse := func(why string) error {
		return amber.Errorf(amber.KindRefused, "remove generation", string(a.agent), "generation %d %s", n, why)
	}
	if n == c.Generation {
		return refuse("is live")
	}
	note, found, err := a.readNote()
	if err != nil {
		return err // it could be about this one
	}
	if found && n == note.generation {
		return refuse("is being built")
	}
	if kept, err := a.Keeps(n); kept || err != nil {
		return errors.Join(err, refuse("is kept since the agent has moved"))
	}
	return nil
}

// removeTries bounds how often a folder is begun again that a reader puts
// files into while it is being removed: SQLite does, when it opens a database.
const removeTries = 5

// removeGeneration marks a generation, removes its folder, then the mark. A mark
// that is there may not be durable yet, and must be before the first file goes.
func (a *Agent) removeGeneration(n int64) error {
	err := fsx.CreateSame(a.o.FS, a.removingPath(n), 0o600, nil)
	if err != nil {
		return err
	}
	for range removeTries {
		if err = fsx.RemoveAll(a.o.FS, a.genPath(n)); !errors.Is(err, syscall.ENOTEMPTY) {
			break
		}
	}
	if err != nil {
		return err
	}
	return fsx.RemoveAll(a.o.FS, a.removingPath(n))
}

// resumeRemovals goes on with removals that were cut off. The caller is inside
// Operate.
func (a *Agent) resumeRemovals(c Current) ([]int64, error) {
	marked, err := a.removals()
	if err != nil {
		return nil, err
	}
	for i, n := range marked {
		if n == c.Generation {
			return marked[:i], amber.Errorf(amber.KindDamaged, "remove generation", string(a.agent), "generation %d is live and marked to be removed", n).
				WithHint("nothing was removed; remove " + a.removingPath(n))
		}
		if err := a.removeGeneration(n); err != nil {
			return marked[:i], diskerr.Own("remove generation", a.genPath(n), err)
		}
	}
	return marked, nil
}

// ParkedDir returns the folder of the journal entries that were not drained
// into the generation n when another took its place. It need not exist.
func (a *Agent) ParkedDir(n int64) string {
	return filepath.Join(a.dir, parkedName, strconv.FormatInt(n, 10))
}

// ParkedBefore returns the generations before the live one that left journal entries behind, sorted. Entries that were parked
// for a switch that did not happen are not among them.
func (a *Agent) ParkedBefore(live int64) ([]int64, error) {
	all, err := a.numbers(parkedName, "")
	return slices.DeleteFunc(all, func(n int64) bool { return n >= live }), err
}

// RemoveParkedBefore removes what a generation before the live one left behind, durably; the caller has
// made sure that nothing of it is needed. Errors: refused for another generation; those of the disk.
func (a *Agent) RemoveParkedBefore(n, live int64) error {
	if n < 1 || n >= live {
		return amber.Errorf(amber.KindRefused, "remove parked entries", string(a.agent), "generation %d was never replaced", n)
	}
	if err := fsx.RemoveAll(a.o.FS, a.ParkedDir(n)); err != nil {
		return diskerr.Own("remove parked entries", a.ParkedDir(n), err)
	}
	return nil
}
