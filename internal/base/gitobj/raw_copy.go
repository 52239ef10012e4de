package gitobj

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/base/gitrun"
)

// maxPacks bounds how many packs a repository may have.
const maxPacks = 1000

// rawObjects is the objects folder of a repository that git must not see.
type rawObjects struct {
	fsys  fsx.FS
	dir   string
	view  *view // where they go
	files int
}

// copy copies loose objects and packs, and has git index the packs.
func (r *rawObjects) copy(ctx context.Context, oidLen int) error {
	entries, err := r.list("")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !e.IsDir() || len(e.Name()) != 2 || !isHex(e.Name()) {
			continue
		}
		err := r.folder(ctx, e.Name(), func(name string) bool { return len(name) == oidLen-2 && isHex(name) }, maxObjects)
		if err != nil {
			return err
		}
	}
	return r.packs(ctx)
}

func isHex(s string) bool { return strings.Trim(s, "0123456789abcdef") == "" }

// packs copies the packs. An index that came with one is not used: it could say anything.
func (r *rawObjects) packs(ctx context.Context) error {
	before := r.files
	if err := r.folder(ctx, "pack", isPack, before+maxPacks); err != nil || r.files == before {
		return err
	}
	own := filepath.Join(r.view.dir, "objects", "pack")
	entries, err := fsx.OS().ReadDir(own)
	if err != nil {
		return err
	}
	for _, e := range entries {
		_, err := r.view.git.Run(ctx, r.view.indexPack(filepath.Join(own, e.Name())))
		if errors.Is(err, gitrun.ErrExit) {
			err = amberError(amber.KindDamaged, "check a pack", err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isPack reports whether git takes a file for a pack.
func isPack(name string) bool {
	rest, found := strings.CutPrefix(name, "pack-")
	rest, isPack := strings.CutSuffix(rest, ".pack")
	return found && isPack && (len(rest) == 40 || len(rest) == 64) && isHex(rest)
}

// folder copies the regular files of a folder whose names are wanted, until there are most files of all folders.
func (r *rawObjects) folder(ctx context.Context, dir string, wanted func(name string) bool, most int) error {
	entries, err := r.list(dir)
	if err != nil {
		return err
	}
	made := dir == "pack" // by the skeleton
	for _, e := range entries {
		if err := ctx.Err(); err != nil {
			return err
		}
		if !e.Type().IsRegular() || !wanted(e.Name()) {
			continue
		}
		if r.files++; r.files > most {
			return amberError(amber.KindQuota, "", fmt.Errorf("more than %d objects or %d packs", maxObjects, maxPacks))
		}
		if !made {
			made = true
			if err := os.Mkdir(filepath.Join(r.view.dir, "objects", dir), dirPerm); err != nil {
				return err
			}
		}
		if err := r.file(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func (r *rawObjects) file(name string) error {
	from, err := r.fsys.OpenFile(filepath.Join(r.dir, name), os.O_RDONLY, 0)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := fsx.OS().OpenFile(filepath.Join(r.view.dir, "objects", name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, filePerm)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return errors.Join(err, to.Close())
}

// list returns the entries of a folder of objects; none when there is no such folder.
func (r *rawObjects) list(dir string) ([]fs.DirEntry, error) {
	path := filepath.Join(r.dir, dir)
	if info, err := r.fsys.Lstat(path); err == nil && !info.IsDir() {
		return nil, unsupportedRepo(fmt.Sprintf("objects/%s is not a folder", dir))
	}
	entries, err := r.fsys.ReadDir(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}
