package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/amber-memory/amber/internal/fsx"
)

// write writes a file where nothing was, or over the one that was looked at.
func write(fsys fsx.FS, name, text string, before found) error {
	if !before.there {
		return fsx.CreateNew(fsys, name, 0o600, []byte(text))
	}
	mode := fs.FileMode(0o600)
	if info, err := fsys.Lstat(name); err == nil {
		mode = info.Mode().Perm() // whoever could read it still can, and nobody else
	}
	return fsx.Replace(unchangedFS{fsys, before.digest}, name, mode, []byte(text))
}

// errChanged is about what is not as it was when the plan was made.
var errChanged = errors.New("it has changed since it was looked at")

// unchangedFS replaces a file only while it has a digest.
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

func digestText(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// digestFile is digestText of what a regular file holds.
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
