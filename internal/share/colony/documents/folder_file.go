package documents

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/amber-memory/amber/internal/base/fsx"
)

// write makes a file, or replaces the one that the plan found.
func write(fsys fsx.FS, name, text string, before Found) error {
	if !before.Exists {
		return fsx.CreateNew(fsys, name, 0o600, []byte(text))
	}
	mode := fs.FileMode(0o600)
	if info, err := fsys.Lstat(name); err == nil {
		mode = info.Mode().Perm() // the same people can read it as before
	}
	return fsx.Replace(unchangedFS{fsys, before.Digest}, name, mode, []byte(text))
}

// unchangedFS replaces a file only while its content has the digest.
type unchangedFS struct {
	fsx.FS
	digest string
}

func (u unchangedFS) Rename(from, to string) error {
	digest, err := digestFile(u.FS, to)
	if errors.Is(err, fs.ErrNotExist) || err == nil && digest != u.digest {
		return errChanged
	}
	if err != nil {
		return err
	}
	return u.FS.Rename(from, to)
}

// digestFile is the digest of the content of a regular file.
func digestFile(fsys fsx.FS, name string) (string, error) {
	f, err := fsys.OpenFile(name, os.O_RDONLY, 0)
	if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fsx.ErrNotRegular
	}
	if err != nil {
		return "", err
	}
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}
