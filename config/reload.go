package config

import (
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/amber-memory/amber"
)

// settleTime is how long a file must have been left alone before it is read again: a program may be
// in the middle of writing it, and half a configuration may well be a valid one.
const settleTime = time.Second

// Reloader is a configuration whose file is read again when it changes. It
// looks when a caller asks and watches nothing meanwhile. Environment and flags
// stay what they were. Safe for concurrent use.
type Reloader struct {
	in    Input
	clock amber.Clock

	mu   sync.Mutex
	last Loaded      // that was right
	seen fs.FileInfo // the file as it was read last; nil when there was none
	told string      // what was last reported and not mended since
}

// NewReloader loads a configuration. The clock tells how old the file is.
// Errors: those of [Load].
func NewReloader(in Input, clock amber.Clock) (*Reloader, error) {
	if clock == nil {
		return nil, invalid(loadOp, in.Path, "there is no clock")
	}
	r := &Reloader{in: in, clock: clock}
	r.seen, _ = r.stat() // before it is read: a change meanwhile is seen next time
	var err error
	r.last, err = Load(in)
	return r, err
}

// Current returns the configuration as it is now. A file that is broken, empty
// or gone changes nothing: the last one that was right is returned, with an
// error the first time. Errors: those of [Load].
func (r *Reloader) Current() (Config, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	info, err := r.stat()
	switch {
	case err != nil:
		return r.last.Config, r.report(err)
	case info == nil || sameFile(info, r.seen) || r.unsettled(info):
		return r.last.Config, nil
	}
	loaded, err := Load(r.in)
	if err == nil && info.Size() == 0 {
		err = invalid(loadOp, r.in.Path, "the file is empty now; what it said before stays")
	}
	r.seen = info
	if err != nil {
		return r.last.Config, r.report(err)
	}
	r.last, r.told = loaded, ""
	return loaded.Config, nil
}

// Loaded returns the story of what Current returned last.
func (r *Reloader) Loaded() Loaded {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// report returns an error unless it is the one that was returned last.
func (r *Reloader) report(err error) error {
	if err.Error() == r.told {
		return nil
	}
	r.told = err.Error()
	return err
}

// stat looks at the file. It returns nil for a file that cannot be read twice, as a pipe, and where
// there never was a file. A file that was there and is gone is an error.
func (r *Reloader) stat() (fs.FileInfo, error) {
	if r.in.Path == "" {
		return nil, nil
	}
	info, err := os.Stat(r.in.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && !r.last.FileFound:
		return nil, nil
	case err != nil:
		return nil, &amber.Error{Op: loadOp, Kind: readKind(err), ID: r.in.Path, Err: err}
	case !info.Mode().IsRegular():
		return nil, nil
	}
	return info, nil
}

// unsettled reports whether the file was written just now. A time to come is
// no reason to wait.
func (r *Reloader) unsettled(info fs.FileInfo) bool {
	age := r.clock().Sub(info.ModTime())
	return age >= 0 && age < settleTime
}

// sameFile reports whether nothing tells two looks at a file apart.
func sameFile(a, b fs.FileInfo) bool {
	return b != nil && os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}
