package fsx_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	dir    = "/home"
	target = "/home/file"
)

// Longer than one block, so that a crash can tear them, and of different length.
var (
	oldData = bytes.Repeat([]byte("old "), 3000)
	newData = bytes.Repeat([]byte("new!"), 4000)
)

// intents lists every way to write a file, from every state it can start from.
var intents = []struct {
	name   string
	before []byte // nil: no file
	write  func(fsx.FS) error
}{
	{"create new", nil, func(f fsx.FS) error { return fsx.CreateNew(f, target, 0o600, newData) }},
	{"stage new", nil, func(f fsx.FS) error {
		return stream(f, target, string(newData[:5000]), string(newData[5000:9000]), string(newData[9000:]))
	}},
	{"create same, absent", nil, func(f fsx.FS) error { return fsx.CreateSame(f, target, 0o600, newData) }},
	{"create same, present", newData, func(f fsx.FS) error { return fsx.CreateSame(f, target, 0o600, newData) }},
	{"replace, absent", nil, func(f fsx.FS) error { return fsx.Replace(f, target, 0o600, newData) }},
	{"replace, present", oldData, func(f fsx.FS) error { return fsx.Replace(f, target, 0o600, newData) }},
}

// home returns a file system whose directory holds a durable file with the given content, if any.
func home(t *testing.T, content []byte) *crashfs.FS {
	t.Helper()
	c := crashfs.New()
	must.Do(t, fsx.MkdirAll(c, dir, 0o700))
	if content != nil {
		must.Do(t, fsx.CreateNew(c, target, 0o600, content))
	}
	return c
}

// content returns what the target holds, or nil when it is absent.
func content(t *testing.T, f fsx.FS) []byte {
	t.Helper()
	got, err := fsx.ReadFile(f, target, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	must.Do(t, err)
	return append([]byte{}, got...)
}

// checkDurable checks that the target holds want after every way a power cut can go.
func checkDurable(t *testing.T, c *crashfs.FS, want []byte) {
	t.Helper()
	for seed := range uint64(20) {
		if got := content(t, c.CrashClone(rand.New(rand.NewPCG(seed, 0)))); !bytes.Equal(got, want) {
			t.Fatalf("seed %d: %d bytes after the crash, want %d", seed, len(got), len(want))
		}
	}
}

// failEach fails one call of act after the other, each time on a file system of its own: act has to report the error.
// It returns how many calls act made.
func failEach(t *testing.T, base func() *crashfs.FS, act func(fsx.FS) error) int {
	t.Helper()
	for n := 1; ; n++ {
		e := errfs.Wrap(base(), errfs.Rule{Nth: n, Err: syscall.EIO})
		err := act(e)
		if len(e.Injected()) == 0 {
			if err != nil || n == 1 {
				t.Fatalf("without a fault, call %d: %v", n, err)
			}
			return n - 1
		}
		if !errors.Is(err, syscall.EIO) {
			t.Fatalf("%s, call %d: got %v, want EIO", e.Injected()[0], n, err)
		}
	}
}

// checkOneWinner has several writers create one file at once.
func checkOneWinner(t *testing.T, create func(path string) error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	results := make(chan error, 8)
	for range cap(results) {
		go func() { results <- create(path) }()
	}
	won := 0
	for range cap(results) {
		switch err := <-results; {
		case err == nil:
			won++
		case !errors.Is(err, fs.ErrExist):
			t.Error(err)
		}
	}
	must.Equal(t, "writers that created the file", won, 1)
}

func temps(t *testing.T, f fsx.FS) []string {
	t.Helper()
	entries := must.Get(f.ReadDir(dir))(t)
	var names []string
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), fsx.TempPrefix) {
			names = append(names, e.Name())
		}
	}
	return names
}

func TestIntentsSurviveCrashAtEveryCall(t *testing.T) {
	t.Parallel()
	for _, tt := range intents {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := home(t, tt.before)
			start := c.Calls()
			must.Do(t, tt.write(c))
			for n := start + 1; n <= c.Calls()+1; n++ {
				for seed := range uint64(20) {
					crashAt(t, tt.before, tt.write, n, seed)
				}
			}
		})
	}
}

func crashAt(t *testing.T, before []byte, write func(fsx.FS) error, n int, seed uint64) {
	t.Helper()
	c := home(t, before)
	c.StopAt(n)
	err := write(c)
	if err != nil && !errors.Is(err, crashfs.ErrCrashed) {
		t.Fatalf("call %d: got %v, want a crash", n, err)
	}
	after := c.CrashClone(rand.New(rand.NewPCG(seed, 0)))
	got := content(t, after)
	isOld := bytes.Equal(got, before) && (got == nil) == (before == nil)
	if isNew := bytes.Equal(got, newData); !isNew && (err == nil || !isOld) {
		t.Fatalf("call %d, seed %d: after write returned %v the file holds %d bytes, neither old nor new", n, seed, err, len(got))
	}
	must.Get(fsx.SweepTemp(after, dir))(t)
	if left := temps(t, after); left != nil {
		t.Fatalf("call %d, seed %d: temporary files %q survive the sweep", n, seed, left)
	}
	if err := fsx.Replace(after, target, 0o600, newData); err != nil {
		t.Fatalf("call %d, seed %d: write after the crash: %v", n, seed, err)
	}
}

func TestIntentsReportEveryError(t *testing.T) {
	t.Parallel()
	faults := []errfs.Rule{
		{Err: syscall.EIO},
		{Err: syscall.ENOSPC},
		{Op: errfs.OpWrite, Err: syscall.ENOSPC, Written: 5000},
		{Op: errfs.OpSync, Err: syscall.EIO},
	}
	for _, tt := range intents {
		for _, rule := range faults {
			t.Run(fmt.Sprintf("%s, %s %v", tt.name, rule.Op, rule.Err), func(t *testing.T) {
				t.Parallel()
				n := 1
				for failAt(t, tt.before, tt.write, rule, n) {
					n++
				}
				if n == 1 && !(rule.Op == errfs.OpWrite && bytes.Equal(tt.before, newData)) {
					t.Fatal("no error was injected")
				}
			})
		}
	}
}

// failAt fails the n-th call that matches the rule, and reports whether there was one.
func failAt(t *testing.T, before []byte, write func(fsx.FS) error, rule errfs.Rule, n int) bool {
	t.Helper()
	base := home(t, before)
	rule.Nth = n
	e := errfs.Wrap(base, rule)
	err := write(e)
	if len(e.Injected()) == 0 {
		if err != nil {
			t.Fatalf("without a fault: %v", err)
		}
		return false
	}
	op := e.Injected()[0]
	if !errors.Is(err, rule.Err) {
		t.Fatalf("%s, call %d: got %v, want %v", op, n, err, rule.Err)
	}
	want := before
	if errors.Is(err, fsx.ErrInPlace) {
		want = newData
	}
	if got := content(t, base); !bytes.Equal(got, want) || (got == nil) != (want == nil) {
		t.Fatalf("%s, call %d: after %v the file holds %d bytes, want %d", op, n, err, len(got), len(want))
	}
	if left := temps(t, base); left != nil && op != errfs.OpRemove {
		t.Fatalf("%s, call %d: temporary files left: %q", op, n, left)
	}
	return true
}

func TestFailedSyncIsNotRetried(t *testing.T) {
	t.Parallel()
	// The second sync of the file would return nil and persist nothing.
	base := home(t, oldData)
	e := errfs.Wrap(base, errfs.Rule{Op: errfs.OpSync, Nth: 1, Err: syscall.EIO})
	must.Is(t, "", fsx.Replace(e, target, 0o600, newData), syscall.EIO)
	checkDurable(t, base, oldData)
}

func TestCreateSameConfirmsWhatACrashedWriterLeft(t *testing.T) {
	t.Parallel()
	c := abandoned(t)
	must.Do(t, fsx.CreateSame(c, target, 0o600, newData))
	checkDurable(t, c, newData)
}

// abandoned returns a file system with a file that is visible, but neither its bytes nor its name are durable.
func abandoned(t *testing.T) *crashfs.FS {
	t.Helper()
	c := home(t, nil)
	f := must.Get(c.OpenFile(target, os.O_WRONLY|os.O_CREATE, 0o600))(t)
	must.Get(f.Write(newData))(t)
	return c
}

func TestCreateSameLosesTheRace(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		winner []byte
		want   error
	}{
		{"same bytes", newData, nil},
		{"other bytes", oldData, fsx.ErrDiffers},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := home(t, nil)
			// The other writer comes in between the look and the link.
			racing := errfs.Trace(c, func(line string) {
				if line == "sync /home/.amber-tmp-X" {
					must.NoError(t, fsx.CreateNew(c, target, 0o600, tt.winner))
				}
			})
			must.Is(t, "", fsx.CreateSame(racing, target, 0o600, newData), tt.want)
			must.Equal(t, "content", content(t, c), tt.winner)
			if left := temps(t, c); left != nil {
				t.Fatalf("temporary files left: %q", left)
			}
		})
	}
}

func TestConcurrentCreateNewHasOneWinner(t *testing.T) {
	t.Parallel()
	checkOneWinner(t, func(path string) error { return fsx.CreateNew(fsx.OS(), path, 0o600, []byte("one")) })
}
