package journal

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Losses says how many events could not be kept.
type Losses struct {
	Count  int64                `json:"count"`
	ByKind map[amber.Kind]int64 `json:"by_kind"`       // by the kind of the error
	Last   amber.Time           `json:"last,omitzero"` // when the last one was counted
}

const (
	lossName  = "losses"
	maxLosses = 1 << 20 // more are not counted
)

// lossCodes are the bytes that represent kinds in the file. The list only
// grows.
var lossCodes = map[amber.Kind]byte{
	amber.KindInternal:    'i',
	amber.KindInvalid:     'v',
	amber.KindQuota:       'q',
	amber.KindBusy:        'b',
	amber.KindRefused:     'r',
	amber.KindUnreachable: 'u',
	amber.KindDamaged:     'd',
	amber.KindTooNew:      'n',
}

// CountLoss notes that an event could not be kept because of cause. One byte
// is appended to a file of its own: that needs no lock, and a full disk often
// still has room for it, or gets some from the reserve. It is the best that can be done, no promise: the error
// is for the log.
func (j *Journal) CountLoss(cause error) error {
	err := j.countLoss(cause)
	if errors.Is(err, syscall.ENOSPC) && j.o.FS.Remove(filepath.Join(j.dir, reserveName)) == nil {
		err = j.countLoss(cause)
	}
	return err
}

func (j *Journal) countLoss(cause error) error {
	code, ok := lossCodes[amber.KindOf(cause)]
	if !ok {
		code = lossCodes[amber.KindInternal]
	}
	path := filepath.Join(j.dir, lossName)
	f, err := j.o.FS.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if errors.Is(err, fs.ErrNotExist) {
		f, err = j.makeLosses(path)
	}
	if err != nil {
		return diskerr.Own("count loss", path, err)
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return diskerr.Own("count loss", path, err)
	case !info.Mode().IsRegular():
		return diskerr.Own("count loss", path, fsx.ErrNotRegular)
	case info.Size() >= maxLosses:
		return nil
	}
	return diskerr.Own("count loss", path, noteLoss(f, code))
}

func noteLoss(f fsx.File, code byte) error {
	if _, err := f.Write([]byte{code}); err != nil {
		return err
	}
	return f.Sync()
}

// reserveName is a file that keeps some space for counting losses on a full
// disk. It is made with the first session and again after it was used.
const (
	reserveName  = "reserve"
	reserveBytes = 16 << 10
)

// keepReserve makes the reserve where there is none. It is the best that can
// be done, no promise.
func (j *Journal) keepReserve() {
	path := filepath.Join(j.dir, reserveName)
	if _, err := j.o.FS.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		_ = fsx.CreateNew(j.o.FS, path, 0o600, make([]byte, reserveBytes))
	}
}

func (j *Journal) makeLosses(path string) (fsx.File, error) {
	if err := fsx.MkdirAll(j.o.FS, j.dir, 0o700); err != nil {
		return nil, err
	}
	f, err := j.o.FS.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := j.o.FS.SyncDir(j.dir); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Losses returns what [Journal.CountLoss] has counted.
func (j *Journal) Losses() (Losses, error) {
	out := Losses{ByKind: map[amber.Kind]int64{}}
	path := filepath.Join(j.dir, lossName)
	b, err := fsx.ReadFile(j.o.FS, path, 2*maxLosses)
	if errors.Is(err, fs.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, diskerr.Own("read losses", path, err)
	}
	kinds := map[byte]amber.Kind{}
	for k, c := range lossCodes {
		kinds[c] = k
	}
	for _, c := range b {
		k, ok := kinds[c]
		if !ok {
			k = amber.KindInternal
		}
		out.ByKind[k]++
		out.Count++
	}
	info, err := j.o.FS.Lstat(path)
	if err != nil {
		return out, diskerr.Own("read losses", path, err)
	}
	out.Last = amber.At(info.ModTime())
	return out, nil
}
