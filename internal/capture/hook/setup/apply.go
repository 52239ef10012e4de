package setup

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Apply makes the changes, one file after the other, each in one step. On an
// error the files before it are done and it may be repeated with a new plan.
// Errors: conflict when a file is not what it was when the plan was made;
// refused, internal.
func (p *Plan) Apply() error {
	changes := slices.Clone(p.Changes)
	if p.removing {
		slices.Reverse(changes) // folders were made for the first
	}
	for _, c := range changes {
		if err := p.apply(c); err != nil {
			return err
		}
	}
	return nil
}

func (p *Plan) apply(c Change) error {
	if c.Action == Unchanged {
		if c.drop {
			return p.o.drop(c.file.target)
		}
		return nil
	}
	now, err := p.o.read(c.Path)
	if err != nil {
		return err
	}
	if now.target != c.file.target || now.exists != c.file.exists || digest(now.text) != digest(c.file.text) {
		return conflict(c.Path)
	}
	if c.record != nil {
		return p.write(c)
	}
	return p.giveBack(c)
}

// write changes a file: first the record of it, then the file.
func (p *Plan) write(c Change) error {
	if err := p.o.keep(*c.record, c.original); err != nil {
		return err
	}
	if !c.file.exists {
		if err := p.mkdir(filepath.Dir(c.file.target)); err != nil {
			return err
		}
	}
	return p.replace(c)
}

// mkdir makes a folder, as open as the umask wants folders of a user to be.
func (p *Plan) mkdir(dir string) error {
	if err := fsx.MkdirAll(p.o.FS, dir, 0o755); err != nil {
		return diskerr.Given("make folder", dir, err)
	}
	return nil
}

// replace puts the new text in place with the mode the file had.
func (p *Plan) replace(c Change) error {
	if err := fsx.Replace(p.o.FS, c.file.target, c.file.mode, c.after); err != nil {
		return diskerr.Given("write", c.Path, err)
	}
	if !c.file.exists {
		return nil
	}
	info, err := p.o.FS.Lstat(c.file.target)
	if err != nil {
		return diskerr.Given("look at", c.Path, err)
	}
	if info.Mode().Perm() != c.file.mode { // the umask took something away
		if err := os.Chmod(c.file.target, c.file.mode); err != nil {
			return diskerr.Given("set mode of", c.Path, err)
		}
	}
	return nil
}

// giveBack restores a file or removes it, and then forgets about it.
func (p *Plan) giveBack(c Change) error {
	if c.after != nil {
		if err := p.replace(c); err != nil {
			return err
		}
		return p.o.drop(c.file.target)
	}
	if err := p.remove(c); err != nil {
		return err
	}
	return p.o.drop(c.file.target)
}

// remove removes a file, and the folders that were made for it as far as they
// are empty.
func (p *Plan) remove(c Change) error {
	if err := p.o.FS.Remove(c.file.target); err != nil {
		return diskerr.Given("remove", c.Path, err)
	}
	last := filepath.Dir(c.file.target)
	for _, dir := range slices.Backward(c.dirs) {
		if dir != last || p.o.FS.Remove(dir) != nil {
			break // a user or a program put something into the folder
		}
		last = filepath.Dir(dir)
	}
	if err := p.o.FS.SyncDir(last); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return diskerr.Given("sync", last, err)
	}
	return nil
}

// conflict is returned when a file changed after the plan was made.
func conflict(path string) error {
	return amber.Errorf(amber.KindConflict, "edit", path, "another program changed the file meanwhile; nothing was written").WithHint("run the command again")
}
