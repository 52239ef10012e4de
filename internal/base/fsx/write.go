package fsx

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// CreateNew writes data to the new file path and returns once the file and its name are durable.
// The umask applies to perm. It returns an error satisfying errors.Is for [fs.ErrExist] when anything
// of that name exists, a symbolic link too; of any number of concurrent callers one succeeds.
//
// On an error that is not [ErrInPlace] there is no file of that name from this call, and no temporary one.
func CreateNew(fsys FS, path string, perm fs.FileMode, data []byte) error {
	if err := createNew(fsys, path, perm, data); err != nil {
		return fmt.Errorf("create %s: %w", path, err)
	}
	return nil
}

func createNew(fsys FS, path string, perm fs.FileMode, data []byte) error {
	temp, err := stage(fsys, filepath.Dir(path), perm, data)
	if err != nil {
		return err
	}
	return publish(fsys, temp, path)
}

// publish gives the durable file temp the name path, which must be free, instead of its own. Unless it
// returns nil or ErrInPlace there is neither.
func publish(fsys FS, temp, path string) error {
	// Link, unlike rename, fails when the name is taken.
	if err := fsys.Link(temp, path); err != nil {
		return errors.Join(err, fsys.Remove(temp))
	}
	removed := fsys.Remove(temp)
	synced := fsys.SyncDir(filepath.Dir(path))
	return inPlace(errors.Join(removed, synced))
}

// CreateSame makes sure that the durable file path holds data. When the file exists with the same
// bytes it still syncs the file and its directory, because the writer may have died before doing so, and
// returns nil; the mode is left as it is. When it exists with other bytes CreateSame returns [ErrDiffers];
// when it is not a regular file, [ErrNotRegular]. It is safe for concurrent use, also from several processes.
//
// On an error that is not [ErrInPlace] there is no file of that name from this call, and no temporary one.
func CreateSame(fsys FS, path string, perm fs.FileMode, data []byte) error {
	err := confirm(fsys, path, data)
	if errors.Is(err, fs.ErrNotExist) {
		err = createNew(fsys, path, perm, data)
		if errors.Is(err, fs.ErrExist) {
			// Another writer was faster: its bytes decide.
			err = confirm(fsys, path, data)
		}
	}
	if err != nil {
		return fmt.Errorf("create same %s: %w", path, err)
	}
	return nil
}

// Replace sets the content of path to data atomically: readers, and the next start after a power
// cut, see the old content or the new one. The file need not exist. The umask applies to perm, which the
// new file gets whatever the old one had. Anything but a regular file is refused with [ErrNotRegular].
//
// On an error that is not [ErrInPlace] the old content is untouched and no temporary file is left.
func Replace(fsys FS, path string, perm fs.FileMode, data []byte) error {
	if err := replace(fsys, path, perm, data); err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}

func replace(fsys FS, path string, perm fs.FileMode, data []byte) error {
	info, err := fsys.Lstat(path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return ErrNotRegular
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	temp, err := stage(fsys, filepath.Dir(path), perm, data)
	if err != nil {
		return err
	}
	if err := fsys.Rename(temp, path); err != nil {
		return errors.Join(err, fsys.Remove(temp))
	}
	return inPlace(fsys.SyncDir(filepath.Dir(path)))
}

// stage writes data durably to a temporary file in dir and returns its path. On an error it leaves no file.
func stage(fsys FS, dir string, perm fs.FileMode, data []byte) (string, error) {
	temp := filepath.Join(dir, TempPrefix+rand.Text())
	f, err := fsys.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return "", err
	}
	if err := errors.Join(fill(f, data), f.Close()); err != nil {
		return "", errors.Join(err, fsys.Remove(temp))
	}
	return temp, nil
}

// fill writes and syncs once: after a failed sync the kernel may have dropped the dirty pages, so a
// second sync that succeeds would prove nothing.
func fill(f File, data []byte) error {
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	if err != nil {
		return err
	}
	return f.Sync()
}

// confirm returns nil once path holds data durably. It returns ErrDiffers for other content.
func confirm(fsys FS, path string, data []byte) error {
	f, err := fsys.OpenFile(path, syncAccess, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(compare(f, data), f.Close()); err != nil {
		return err
	}
	return inPlace(fsys.SyncDir(filepath.Dir(path)))
}

func compare(f File, data []byte) error {
	got, err := readAtMost(f, int64(len(data)))
	if errors.Is(err, ErrTooLarge) || err == nil && !bytes.Equal(got, data) {
		return ErrDiffers
	}
	if err != nil {
		return err
	}
	return inPlace(f.Sync())
}

// inPlace marks an error that came after the content became visible.
func inPlace(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrInPlace, err)
}
