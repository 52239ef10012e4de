package survey

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// ErrTorn is returned by [Read] for a file that is not, or not any more, what the survey saw. The caller may
// call [Stat] and read again, a few times: an editor is writing the file.
var ErrTorn = errors.New("the file changes while it is read")

// Stat describes the file or folder at a slash-separated path below root as [Walk] would, without its bounds. Errors
// satisfy errors.Is for [fs.ErrNotExist], and for [fsx.ErrNotRegular] when it is neither file nor folder.
func Stat(fsys fsx.FS, root, path string) (Entry, error) {
	info, err := fsys.Lstat(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		return Entry{}, fmt.Errorf("survey: %w", err)
	}
	e, ok := entryOf(path, info)
	if !ok {
		return Entry{}, fmt.Errorf("survey %s: %w: %s", path, fsx.ErrNotRegular, kindOf(info.Mode()))
	}
	return e, nil
}

// Read writes the content of the file e of a survey of root to out. It returns nil when that is the file the survey
// saw, whole and unchanged from then to the last byte; what it wrote before an error is worth nothing. Errors:
// ErrTorn, also when the file is gone or was replaced by another one; those of the disk; those of out, as they are.
func Read(fsys fsx.FS, root string, e Entry, out io.Writer) (err error) {
	if e.Mode != Regular && e.Mode != Exec {
		return fmt.Errorf("read %s: %w", e.Path, fsx.ErrNotRegular)
	}
	f, err := fsys.OpenFile(filepath.Join(root, filepath.FromSlash(e.Path)), os.O_RDONLY, 0)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fsx.ErrNotRegular):
		return torn(e)
	case err != nil:
		return fmt.Errorf("read %s: %w", e.Path, err)
	}
	defer f.Close()
	if err := unchanged(f, e); err != nil {
		return err
	}
	n, err := io.Copy(out, io.LimitReader(f, e.Size+1))
	if err != nil {
		return fmt.Errorf("read %s: %w", e.Path, err)
	}
	if n != e.Size {
		return torn(e)
	}
	return unchanged(f, e)
}

// unchanged compares the open file with what the survey saw.
func unchanged(f fsx.File, e Entry) error {
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("read %s: %w", e.Path, err)
	}
	if now, ok := entryOf(e.Path, info); !ok || !same(now, e) {
		return torn(e)
	}
	return nil
}

func torn(e Entry) error { return fmt.Errorf("read %s: %w", e.Path, ErrTorn) }
