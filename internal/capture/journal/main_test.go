package journal_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/capture/journal"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/must"
)

var (
	update    = flag.Bool("update", false, "rewrite the golden files and the vectors")
	histories = flag.Int("journal.histories", 20, "how many random histories of kills, power cuts and faults to run")
	firstSeed = flag.Uint64("journal.seed", 1, "the seed of the first history")
)

// one is the session most tests write to.
var one = journal.Session{Host: "test", ID: "one"}

// today is a clock that stands still.
func today() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC) }

// spoolDir returns the path of a spool that is not there yet.
func spoolDir(t testing.TB) string { return filepath.Join(t.TempDir(), "spool") }

// lockedSpool returns the path of a spool that lies on a simulated disk. The folders of the sessions are on the
// real disk too: kernel locks know no other.
func lockedSpool(t testing.TB, sessions ...journal.Session) string {
	t.Helper()
	dir := spoolDir(t)
	for _, s := range append(sessions, one) {
		must.Do(t, os.MkdirAll(filepath.Join(dir, string(s.Key())), 0o700))
	}
	return dir
}

// newDisk returns a disk with the folder above the spool.
func newDisk(t testing.TB, dir string) *crashfs.FS {
	t.Helper()
	disk := crashfs.New()
	must.Do(t, fsx.MkdirAll(disk, filepath.Dir(dir), 0o700))
	return disk
}

// open returns a journal of its own, as another process would have it.
func open(t testing.TB, dir string, o journal.Options) *journal.Journal {
	t.Helper()
	if o.Clock == nil {
		o.Clock = today
	}
	return must.Get(journal.Open(dir, o))(t)
}

// newSpool returns the path of a new spool, and its journal.
func newSpool(t testing.TB, o journal.Options) (string, *journal.Journal) {
	t.Helper()
	dir := spoolDir(t)
	return dir, open(t, dir, o)
}

// on is open with the defaults on a file system.
func on(t testing.TB, fsys fsx.FS, dir string) *journal.Journal {
	t.Helper()
	return open(t, dir, journal.Options{FS: fsys})
}

// entry is the n-th entry a test writes.
func entry(n int) journal.Entry { return journal.Entry{Payload: fmt.Appendf(nil, "entry %d", n)} }

// long is an entry of several blocks without a zero in it, so that a power cut can tear it.
func long(n int) journal.Entry {
	return journal.Entry{Payload: bytes.Repeat(fmt.Appendf(nil, "long entry %d. ", n), 700)}
}

// mustAppend appends entries and checks that their sequences follow one another.
func mustAppend(t testing.TB, j *journal.Journal, s journal.Session, entries ...journal.Entry) (last int64) {
	t.Helper()
	for _, e := range entries {
		seq := must.Get(j.Append(context.Background(), s, e))(t)
		if last != 0 && seq != last+1 {
			t.Fatalf("got sequence %d after %d", seq, last)
		}
		last = seq
	}
	return last
}

// fill appends the entries 1 to n.
func fill(t testing.TB, j *journal.Journal, s journal.Session, n int) {
	t.Helper()
	for i := range n {
		mustAppend(t, j, s, entry(i+1))
	}
}

// readAll returns what Read hands out, with payloads of its own.
func readAll(j *journal.Journal, key journal.Key, after int64) (frames []journal.Frame, d journal.Damage, err error) {
	d, err = j.Read(context.Background(), key, after, func(f journal.Frame) error {
		f.Payload = bytes.Clone(f.Payload)
		frames = append(frames, f)
		return nil
	})
	return frames, d, err
}

// mustRead is readAll without errors and damage.
func mustRead(t testing.TB, j *journal.Journal, key journal.Key, after int64) []journal.Frame {
	t.Helper()
	frames, d, err := readAll(j, key, after)
	if err != nil || d != (journal.Damage{}) {
		t.Fatalf("read: %+v, %v", d, err)
	}
	return frames
}

// texts returns the sequences and payloads of frames, cut to a few words.
func texts(frames []journal.Frame) []string {
	var out []string
	for _, f := range frames {
		out = append(out, fmt.Sprintf("%d %.12s", f.Seq, f.Payload))
	}
	return out
}

// numbered is what texts returns for the entries from a to b under their own numbers.
func numbered(a, b int) []string {
	var out []string
	for i := a; i <= b; i++ {
		out = append(out, fmt.Sprintf("%d %.12s", i, entry(i).Payload))
	}
	return out
}

// files returns the names in a folder of the session, without temporary ones.
func files(t testing.TB, fsys fsx.FS, dir string, elem ...string) []string {
	t.Helper()
	entries, err := fsys.ReadDir(filepath.Join(append([]string{dir}, elem...)...))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), fsx.TempPrefix) {
			names = append(names, e.Name())
		}
	}
	return names
}

// segment is the path of a segment of the session one.
func segment(dir string, n int) string {
	return filepath.Join(dir, string(one.Key()), fmt.Sprintf("%06d.seg", n))
}

// slurp returns the content of a file.
func slurp(t testing.TB, fsys fsx.FS, path string) []byte {
	t.Helper()
	return must.Get(fsx.ReadFile(fsys, path, 1<<30))(t)
}

// put sets the content of a file, durably.
func put(t testing.TB, fsys fsx.FS, path string, b []byte) {
	t.Helper()
	must.Do(t, fsx.Replace(fsys, path, 0o600, b))
}

func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

var sameTimes = cmpopts.EquateComparable(amber.Time{})
