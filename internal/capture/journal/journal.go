package journal

import (
	"cmp"
	"crypto/rand"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// Options say how a journal works. Clock is required.
type Options struct {
	Clock           amber.Clock
	Random          io.Reader     // nil: the operating system's
	FS              fsx.FS        // nil: the operating system's
	Wait            time.Duration // how long a session's lock is waited for; 0: 30 s
	SegmentBytes    int64         // a segment is sealed when it passes this; 0: 4 MiB
	MaxSessionBytes int64         // of a session's segments; 0: 64 MiB
	MaxBytes        int64         // of the segments of all sessions; 0: 1 GiB
	// FlushInterval and MaxEntries bound how long appends of one process may
	// wait for one another to share a sync, and how many may; 0: 5 ms and 64.
	// An append never returns before its sync. An append that comes alone does
	// not wait.
	FlushInterval time.Duration
	MaxEntries    int
}

func (o Options) withDefaults() (Options, error) {
	if o.Clock == nil {
		return o, amber.Errorf(amber.KindInvalid, "open journal", "", "a clock is required")
	}
	o.FS = cmp.Or(o.FS, fsx.OS())
	o.Random = cmp.Or(o.Random, rand.Reader)
	for _, d := range []struct {
		v   *int64
		def int64
	}{
		{&o.SegmentBytes, 4 << 20},
		{&o.MaxSessionBytes, 64 << 20},
		{&o.MaxBytes, 1 << 30},
		{(*int64)(&o.Wait), int64(30 * time.Second)},
		{(*int64)(&o.FlushInterval), int64(5 * time.Millisecond)},
	} {
		*d.v = cmp.Or(*d.v, d.def)
		if *d.v < 0 {
			return o, amber.Errorf(amber.KindInvalid, "open journal", "", "a bound is negative")
		}
	}
	if o.MaxEntries < 0 {
		return o, amber.Errorf(amber.KindInvalid, "open journal", "", "a bound is negative")
	}
	o.MaxEntries = cmp.Or(o.MaxEntries, 64)
	return o, nil
}

// Journal is the spool of one agent. It is safe for concurrent use, also by
// several processes.
type Journal struct {
	dir string
	o   Options

	mu       sync.Mutex
	groups   map[Key]*group // of sessions with appends under way
	poisoned map[Key]poison // segments whose sync failed
}

// Open returns the journal in dir. It touches no disk; the folder is made
// with the first append. Errors: invalid.
func Open(dir string, o Options) (*Journal, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	if !filepath.IsAbs(dir) {
		return nil, amber.Errorf(amber.KindInvalid, "open journal", dir, "the path is not absolute")
	}
	return &Journal{dir: dir, o: o, groups: map[Key]*group{}, poisoned: map[Key]poison{}}, nil
}

const (
	lockName       = "lock"
	metaName       = "meta"
	quarantineName = "quarantine"
	drainLockName  = "drain.lock"
)

func (j *Journal) path(key Key, name ...string) string {
	return filepath.Join(append([]string{j.dir, string(key)}, name...)...)
}

// Keys returns the sessions that have a folder, sorted. A journal that was
// never written to has none. Errors: those of the disk; damaged when the path
// of the journal is not a folder.
func (j *Journal) Keys() ([]Key, error) {
	if err := j.checkFolder(j.dir); err != nil {
		if amber.KindOf(err) == amber.KindNotFound {
			return nil, nil
		}
		return nil, err
	}
	entries, err := j.o.FS.ReadDir(j.dir)
	if err != nil {
		return nil, diskerr.Own("list sessions", j.dir, err)
	}
	var keys []Key
	for _, e := range entries {
		if k, err := ParseKey(e.Name()); err == nil && e.IsDir() {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys, nil
}

// segmentFile is a file with the name of a segment.
type segmentFile struct {
	number  int64
	size    int64
	regular bool // not a link, a fifo or a folder
}

// segments returns the files of a session that are named like segments, by
// number. A session without a folder has none.
func (j *Journal) segments(key Key) ([]segmentFile, error) {
	entries, err := j.o.FS.ReadDir(j.path(key))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, diskerr.Own("list segments", string(key), err)
	}
	var files []segmentFile
	for _, e := range entries {
		n, ok := segmentNumber(e.Name())
		if !ok {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) { // cleared meanwhile
			continue
		}
		if err != nil {
			return nil, diskerr.Own("list segments", string(key), err)
		}
		f := segmentFile{number: n, regular: info.Mode().IsRegular()}
		if f.regular {
			f.size = info.Size()
		}
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b segmentFile) int { return cmp.Compare(a.number, b.number) })
	return files, nil
}
