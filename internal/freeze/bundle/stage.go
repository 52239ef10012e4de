package bundle

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// staged is a bundle being written, under a temporary name that no reader opens and [fsx.SweepTemp] sweeps.
type staged struct {
	fsys fsx.FS
	path string // of the bundle
	temp string
	file fsx.File // nil once it ended
	size int64
}

// stage begins the bundle at path. Errors: conflict when there is anything of that name; not_found without its folder;
// refused; internal.
func stage(fsys fsx.FS, path string) (*staged, error) {
	if _, err := fsys.Lstat(path); err == nil {
		return nil, taken(path)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, diskerr.Given("write bundle", path, err)
	}
	temp := filepath.Join(filepath.Dir(path), fsx.TempPrefix+rand.Text())
	f, err := fsx.Build(fsys, temp, 0o600)
	if err != nil {
		return nil, diskerr.Given("write bundle", path, err)
	}
	return &staged{fsys: fsys, path: path, temp: temp, file: f}, nil
}

func taken(path string) error {
	return amber.Errorf(amber.KindConflict, "write bundle", path, "a file of this name exists")
}

// Write appends.
func (s *staged) Write(p []byte) (int, error) {
	n, err := s.file.Write(p)
	s.size += int64(n)
	if err == nil && n < len(p) {
		err = io.ErrShortWrite
	}
	return n, err
}

// digest reads everything back and returns its SHA-256, and the CRC-32C of what lies behind skip bytes.
func (s *staged) digest(ctx context.Context, skip int64) (whole string, rest uint32, err error) {
	h := sha256.New()
	r := &cancelled{ctx, io.NewSectionReader(s.file, 0, s.size)}
	if _, err := io.CopyN(h, r, skip); err != nil {
		return "", 0, err
	}
	sum := crc32.New(castagnoli)
	if _, err := io.CopyBuffer(hashes{h, sum}, r, make([]byte, 4*copyBytes)); err != nil {
		return "", 0, err
	}
	return hexSum(h), sum.Sum32(), nil
}

func hexSum(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

// commit gives the bundle its name and returns once it and its sidecar are durable. It writes the sidecar first, so
// that no crash leaves a bundle without one. The next writer replaces a sidecar that a crash leaves alone. Errors:
// conflict when another writer took the name before; internal.
func (s *staged) commit(ctx context.Context, digest string) error {
	f := s.file
	s.file = nil
	err := errors.Join(f.Sync(), f.Close())
	if err == nil {
		err = fsx.Replace(s.fsys, sidecarPath(s.path), 0o600, []byte(digest))
		if errors.Is(err, fsx.ErrInPlace) {
			err = fmt.Errorf("%v", err) // the sidecar is, the bundle is not
		}
	}
	linked := false
	if err == nil {
		err = s.fsys.Link(s.temp, s.path) // fails when the name is taken
		linked = err == nil
	}
	err = errors.Join(err, s.fsys.Remove(s.temp))
	switch {
	case errors.Is(err, fs.ErrExist) && !linked:
		return errors.Join(taken(s.path), repairSidecar(ctx, s.fsys, s.path))
	case !linked:
		return diskerr.Given("write bundle", s.path, err)
	}
	if err = errors.Join(err, s.fsys.SyncDir(filepath.Dir(s.path))); err != nil {
		err = fmt.Errorf("%w: %w", fsx.ErrInPlace, err)
	}
	return diskerr.Given("write bundle", s.path, err)
}

// repairSidecar gives the bundle of a faster writer its digest back.
func repairSidecar(ctx context.Context, fsys fsx.FS, path string) error {
	f, err := fsys.OpenFile(path, os.O_RDONLY, 0)
	if err != nil {
		return diskerr.Given("write sidecar", path, err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, &cancelled{ctx, f}); err != nil {
		return diskerr.Given("write sidecar", path, err)
	}
	return diskerr.Given("write sidecar", path, fsx.Replace(fsys, sidecarPath(path), 0o600, []byte(hexSum(h))))
}

// abort removes what was written; after commit it does nothing.
func (s *staged) abort() error {
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return diskerr.Given("write bundle", s.path, errors.Join(f.Close(), s.fsys.Remove(s.temp)))
}

func sidecarPath(path string) string { return path + ".sha256" }
