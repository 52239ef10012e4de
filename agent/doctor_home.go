package agent

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitrun"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// Free space below which the doctor warns, and below which it fails: a write
// that runs out of space is refused whole, but nothing can be stored then.
const (
	littleSpace = 1 << 30
	noSpace     = 32 << 20
)

// checkHome looks at the folders without making any. It returns the agent's
// handle where there is something to look at.
func (d *doctor) checkHome() (*home.Agent, bool) {
	dir := d.o.Home
	if _, err := os.Lstat(dir); errors.Is(err, fs.ErrNotExist) {
		d.agent, _ = d.look() // one that cannot be there has a home that cannot be there
		d.add(wire.Finding{Code: "home", Status: wire.FindingWarning, Detail: "no home at " + dir + " yet; the first command makes it"})
		return nil, false
	}
	h, agent, err := d.lookAtHome()
	if err == nil {
		_, err = os.Lstat(agent.Dir())
		if errors.Is(err, fs.ErrNotExist) {
			d.judge("home", nil, "%s", h.Dir())
			d.checkModes(h.Dir())
			if !d.onPostgres() {
				d.add(wire.Finding{Code: "current", Status: wire.FindingWarning, Detail: "there is no agent " + string(agent.ID()) + " yet"})
			}
			return nil, false
		}
	}
	d.judge("home", err, "%s", dir)
	if err != nil {
		return nil, false
	}
	d.checkModes(h.Dir(), agent.Dir())
	return agent, true
}

// lookAtHome returns the home and the agent where both are usable.
func (d *doctor) lookAtHome() (h *home.Home, agent *home.Agent, err error) {
	if d.agent, err = d.look(); err != nil {
		return nil, nil, err
	}
	if err := sqlite.CheckHome(d.o.Home, d.agent.Tenant(), d.agent.ID()); err != nil {
		return nil, nil, err
	}
	return d.agent.home, d.agent.folder, nil
}

// look returns the agent to be examined.
func (d *doctor) look() (*Agent, error) {
	a, err := At(d.o)
	if err != nil {
		return nil, err
	}
	a.probe = true
	return a, nil
}

// checkModes checks that other users cannot get at the folders.
func (d *doctor) checkModes(dirs ...string) {
	if d.NoModes {
		d.skip(noModes, "home_modes")
		return
	}
	for _, dir := range dirs {
		info, err := os.Stat(dir)
		if err != nil {
			d.judge("home_modes", &amber.Error{Op: "look at folder", Kind: amber.KindInternal, ID: dir, Err: err}, "")
			return
		}
		if open := info.Mode().Perm() & 0o077; open != 0 {
			e := amber.Errorf(amber.KindRefused, "check modes", dir, "the mode is %04o, want access for the owner only", info.Mode().Perm()).WithHint("chmod 700 " + dir)
			d.judge("home_modes", e, "")
			return
		}
	}
	d.judge("home_modes", nil, "only their owner can reach the folders")
}

// checkDisk looks at free space and at the file system.
func (d *doctor) checkDisk(dir string) {
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(dir); err == nil {
			break
		}
	}
	info, err := d.FSInfo(dir)
	if err != nil {
		e := &amber.Error{Op: "look at file system", Kind: amber.KindInternal, ID: dir, Err: err}
		d.judge("disk", e, "")
		d.judge("file_system", e, "")
		return
	}
	free := fmt.Sprintf("%d MiB free", info.FreeBytes>>20)
	switch {
	case info.FreeBytes < noSpace:
		e := amber.Errorf(amber.KindInternal, "check disk", dir, "%s", free).WithHint("free some disk space; nothing new can be stored safely")
		d.judge("disk", e, "")
	case info.FreeBytes < littleSpace:
		d.add(wire.Finding{Code: "disk", Status: wire.FindingWarning, Detail: free})
	default:
		d.judge("disk", nil, "%s", free)
	}
	var network error
	if info.Network {
		e := amber.Errorf(amber.KindRefused, "check file system", dir, "%s is a network file system; its locks do not keep a write-ahead log safe", info.Type).
			WithHint("choose a local folder with --home")
		network = e
	}
	d.judge("file_system", network, "%s", info.Type)
}

func (d *doctor) checkGit(ctx context.Context) {
	version, err := gitrun.Version(ctx, "git")
	d.judge("git", err, "%s", version)
}

// checkRestore reports whether a restore was interrupted.
func (d *doctor) checkRestore(agent *home.Agent) {
	r, err := agent.Restoring()
	switch {
	case err != nil || r == nil:
		d.judge("restore", err, "no restore is under way")
	case r.Running:
		d.judge("restore", nil, "generation %d is being built from %s", r.Generation, r.From)
	case r.Switched:
		d.warn("restore", "amber remember, or any other write, finishes the restore", "a restore from %s was interrupted when generation %d was live", r.From, r.Generation)
	default:
		d.warn("restore", "amber remember, or any other write, undoes the restore", "a restore from %s was interrupted; generation %d is live as before", r.From, r.Replaces)
	}
}

// checkLocks checks that the lock files can be used. That they are held
// is normal.
func (d *doctor) checkLocks(agent *home.Agent) {
	d.checkRestore(agent)
	for _, name := range []string{"gate", "lock"} {
		path := filepath.Join(agent.Dir(), name)
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // made at the first write
		case err == nil && !info.Mode().IsRegular():
			err = fmt.Errorf("mode is %s, want a regular file", info.Mode().Type())
		case err == nil:
			var l *fsx.Lock
			if l, err = fsx.TryLock(path, fsx.Shared); err == nil {
				err = l.Unlock()
			}
		}
		if errors.Is(err, fsx.ErrLocked) {
			d.add(wire.Finding{Code: "locks", Status: wire.FindingWarning, Detail: name + " is held by a process that switches or freezes the agent"})
			return
		}
		if err != nil {
			d.judge("locks", &amber.Error{Op: "check lock", Kind: amber.KindDamaged, ID: path, Err: err, Hint: "rm " + path}, "")
			return
		}
	}
	d.judge("locks", nil, "gate and lock work")
}
