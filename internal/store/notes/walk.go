package notes

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/store/notefile"
)

// walk collects the files of the notes in a folder.
type walk struct {
	fsys  fsx.FS
	dir   string
	most  int                    // files and folders
	own   bool                   // leave out repositories inside the folder
	files map[string]fs.FileInfo // by slash-separated path
	temps []string               // left by writers that died

	seen int
}

// folder goes through the folder at a slash-separated path. Names bound how deep it goes. The error is of kind quota
// when there are too many files and folders.
func (w *walk) folder(ctx context.Context, rel string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := w.fsys.ReadDir(filepath.Join(w.dir, filepath.FromSlash(rel)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if w.own && rel != "" && slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == ".git" }) {
		return nil
	}
	if w.seen += len(entries); w.seen > w.most {
		return notefile.TooMany()
	}
	for _, e := range entries {
		if err := w.visit(ctx, path.Join(rel, e.Name()), e); err != nil {
			return err
		}
	}
	return nil
}

func (w *walk) visit(ctx context.Context, rel string, e fs.DirEntry) error {
	if e.IsDir() {
		if _, err := amber.CheckNoteName(rel + "/x"); err != nil {
			return nil
		}
		return w.folder(ctx, rel)
	}
	if strings.HasPrefix(e.Name(), fsx.TempPrefix) {
		w.temps = append(w.temps, rel)
		return nil
	}
	if _, isNote := notefile.NameOf(rel); !isNote || !e.Type().IsRegular() {
		return nil
	}
	info, err := e.Info()
	if errors.Is(err, fs.ErrNotExist) {
		return nil // deleted since the folder was read
	}
	if err != nil {
		return err
	}
	if w.files == nil {
		w.files = map[string]fs.FileInfo{}
	}
	w.files[rel] = info
	return nil
}
