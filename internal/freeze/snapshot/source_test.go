package snapshot_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/snapshot"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// Trouble with the files of a source belongs to their owner and does not prevent a snapshot of the
// agent. The snapshot lists the trouble, with a warning.
func TestTroubleOfASourceIsListed(t *testing.T) {
	t.Parallel()
	denied := &fs.PathError{Op: "open", Path: "it", Err: fs.ErrPermission}
	for _, tt := range []struct {
		name string
		make func(t *testing.T, path string) // what is there
		fs   func(path string) *trouble
		src  func(path string) snapshot.Source
		want string
	}{
		{
			name: "a folder vanishes",
			make: func(t *testing.T, path string) { mkdir(t, path) },
			fs: func(path string) *trouble {
				return &trouble{FS: fsx.OS(), lstat: func(name string) {
					if name == path {
						_ = os.Remove(path)
					}
				}}
			},
			src:  func(path string) snapshot.Source { return snapshot.Source{Files: []string{path}} },
			want: wire.SkipMissing,
		},
		{
			name: "a folder that may not be read",
			make: func(t *testing.T, path string) { mkdir(t, path) },
			fs: func(path string) *trouble {
				return &trouble{FS: fsx.OS(), readDir: func(name string) error {
					if name == path {
						return denied
					}
					return nil
				}}
			},
			src:  func(path string) snapshot.Source { return snapshot.Source{Files: []string{path}} },
			want: wire.SkipUnreadable,
		},
		{
			name: "a repository that may not be read",
			make: func(t *testing.T, path string) { mkdir(t, filepath.Join(path, ".git")) },
			fs: func(path string) *trouble {
				return &trouble{FS: fsx.OS(), open: func(name string) error {
					if strings.HasPrefix(name, path) {
						return denied
					}
					return nil
				}}
			},
			src:  func(path string) snapshot.Source { return snapshot.Source{Git: path} },
			want: wire.SkipUnreadable,
		},
		{
			name: "a database that is cut off",
			make: func(t *testing.T, path string) {
				change(t, path, "CREATE TABLE t(x)", "INSERT INTO t VALUES(randomblob(100000))")
				must.Do(t, os.Truncate(path, 20<<10+100))
			},
			fs:   func(string) *trouble { return nil },
			src:  func(path string) snapshot.Source { return snapshot.Source{SQLite: []string{path}} },
			want: "", // it is captured as it is
		},
		{
			name: "a file that is not a database",
			make: func(t *testing.T, path string) {
				must.Do(t, os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600))
			},
			fs:   func(string) *trouble { return nil },
			src:  func(path string) snapshot.Source { return snapshot.Source{SQLite: []string{path}} },
			want: wire.SkipUnreadable,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "it")
			tt.make(t, path)
			w := newWorld(t, func(o *snapshot.Options) {
				o.Sources = map[string]snapshot.Source{"other": tt.src(path)}
				if f := tt.fs(path); f != nil {
					o.FS = f
				}
			})
			meta := w.snapshotOther()
			if got := skipped(meta.Skipped, path); got != tt.want || len(meta.Warnings) == 0 {
				t.Errorf("skipped is %q, want %q: %+v, %v", got, tt.want, meta.Skipped, meta.Warnings)
			}
		})
	}
}

// A database of another program changes while it is read. The capture reads it again, and skips it
// if it never rests.
func TestAChangingDatabaseOfASource(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		times int64
		want  string
	}{{1, ""}, {1000, wire.SkipTorn}} {
		t.Run(fmt.Sprint(tt.times), func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "other.db")
			change(t, path, "PRAGMA journal_mode=WAL", "CREATE TABLE t(x)", "INSERT INTO t VALUES(1)")
			var n atomic.Int64
			w := newWorld(t, func(o *snapshot.Options) {
				o.Sources = map[string]snapshot.Source{"other": {SQLite: []string{path}}}
				o.Progress = func(step string, _, _ int64) {
					if i := n.Load(); step == "capture other.db" && i < tt.times {
						n.Add(1)
						at := time.UnixMilli(1e12 + i)
						must.NoError(t, os.Chtimes(path, at, at))
					}
				}
			})
			meta := w.snapshotOther()
			must.Equal(t, "reason "+path+" was skipped", skipped(meta.Skipped, path), tt.want)
		})
	}
}

// A disk that is full is no matter of the source.
func TestTheRepositorysTroubleIsNotTheSources(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db := filepath.Join(dir, "other.db")
	change(t, db, "CREATE TABLE t(x)", "INSERT INTO t VALUES(randomblob(10000000))")
	full := &trouble{FS: fsx.OS()}
	w := newWorld(t, func(o *snapshot.Options) {
		o.Sources = map[string]snapshot.Source{"other": {SQLite: []string{db}}}
		o.FS = full
	})
	w.snapshot()
	full.open = func(name string) error {
		if strings.Contains(name, "packs") {
			return errors.New("the disk is full")
		}
		return nil
	}
	_, err := w.trySnapshot(withSource("other"))
	must.Hold(t, err != nil && strings.Contains(err.Error(), "the disk is full"), "got %v", err)
}
