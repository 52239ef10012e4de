package bundle_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/bundle"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestASourceWithOtherBytesThanItSaysIsNotWritten(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk is gone")
	for name, change := range map[string]func(*bundle.Source){
		"shorter": func(s *bundle.Source) { s.Size++ },
		"longer":  func(s *bundle.Source) { s.Size-- },
		"no open": func(s *bundle.Source) {
			s.Open = func(ctxType) (io.ReadCloser, error) { return nil, broken }
		},
		"fails": func(s *bundle.Source) {
			s.Open = func(ctxType) (io.ReadCloser, error) {
				return io.NopCloser(io.MultiReader(strings.NewReader("te"), failing{broken})), nil
			}
		},
		"fails to close": func(s *bundle.Source) {
			s.Open = func(ctxType) (io.ReadCloser, error) { return badCloser{strings.NewReader("tea"), broken}, nil }
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c, _ := sample()
			c.Databases = nil
			s := text("notes/a.md", "note", "tea")
			change(&s)
			_, err := bundle.Write(t.Context(), filepath.Join(dir, "b"), c, []bundle.Source{s}, bundle.WriteOptions{})
			must.Hold(t, err != nil, "it is written")
			if list, _ := os.ReadDir(dir); len(list) != 0 {
				t.Errorf("something is left: %v", list)
			}
		})
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

type badCloser struct {
	io.Reader
	err error
}

func (b badCloser) Close() error { return b.err }

func TestWhatCannotBeWrittenIsInvalid(t *testing.T) {
	t.Parallel()
	note := text("notes/a.md", "note", "tea")
	with := func(change func(*bundle.Source)) []bundle.Source {
		s := note
		change(&s)
		return []bundle.Source{s}
	}
	for name, tt := range map[string]struct {
		contents func(*bundle.Contents)
		sources  []bundle.Source
		o        bundle.WriteOptions
	}{
		"escape":        {nil, with(func(s *bundle.Source) { s.Path = "notes/../x" }), bundle.WriteOptions{}},
		"other kind":    {nil, with(func(s *bundle.Source) { s.Kind = "state" }), bundle.WriteOptions{}},
		"manifest":      {nil, with(func(s *bundle.Source) { s.Path = "manifest.json" }), bundle.WriteOptions{}},
		"mode":          {nil, with(func(s *bundle.Source) { s.Mode = 0o644 }), bundle.WriteOptions{}},
		"negative":      {nil, with(func(s *bundle.Source) { s.Size = -1 }), bundle.WriteOptions{}},
		"nothing opens": {nil, with(func(s *bundle.Source) { s.Open = nil }), bundle.WriteOptions{}},
		"twice":         {nil, []bundle.Source{note, note}, bundle.WriteOptions{}},
		"twins":         {nil, []bundle.Source{note, text("notes/A.md", "note", "x")}, bundle.WriteOptions{}},
		"tenant":        {func(c *bundle.Contents) { c.Tenant = "A" }, nil, bundle.WriteOptions{}},
		"no time":       {func(c *bundle.Contents) { c.CreatedAt = amber.Time{} }, nil, bundle.WriteOptions{}},
		"no database":   {func(c *bundle.Contents) { c.Databases = []bundle.Database{{Path: "db/x", Name: "x"}} }, nil, bundle.WriteOptions{}},
		"level":         {nil, nil, bundle.WriteOptions{Level: 20}},
		"both":          {nil, nil, bundle.WriteOptions{Passphrase: "x", Recipients: recipients(newKey(t, "x25519"))}},
		"mixed":         {nil, nil, bundle.WriteOptions{Recipients: recipients(newKey(t, "x25519"), newKey(t, "hybrid"))}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, _ := sample()
			c.Databases = nil
			if tt.contents != nil {
				tt.contents(&c)
			}
			dir := t.TempDir()
			must.Fail(bundle.Write(t.Context(), filepath.Join(dir, "b"), c, tt.sources, tt.o))(t, "write", amber.KindInvalid)
			if list, _ := os.ReadDir(dir); len(list) != 0 {
				t.Errorf("something is left: %v", list)
			}
		})
	}
}

func TestAnExistingFileIsNeverReplaced(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "b")
	first := write(t, file, bundle.WriteOptions{})
	c, sources := sample()
	must.Fail(bundle.Write(t.Context(), file, c, sources, bundle.WriteOptions{Level: 1}))(t, "the second", amber.KindConflict)
	nc, nexoSources := nexoSample()
	must.Fail(bundle.WriteNexo(t.Context(), file, nc, nexoSources, bundle.WriteOptions{}))(t, "the other format", amber.KindConflict)
	if r := mustVerify(t, file, bundle.ReadOptions{}); !r.OK() || r.SHA256 != first.SHA256 {
		t.Errorf("the first is not what it was: %v", r.Damaged)
	}
	_, err := bundle.Write(t.Context(), filepath.Join(file+"-no", "b"), c, sources, bundle.WriteOptions{})
	must.Kind(t, "no folder", err, amber.KindNotFound)
}

func TestAnOrphanSidecarIsReplaced(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "b")
	must.Do(t, os.WriteFile(file+".sha256", []byte("of a bundle that never was"), 0o600))
	write(t, file, bundle.WriteOptions{})
	if r := mustVerify(t, file, bundle.ReadOptions{}); !r.OK() {
		t.Errorf("damaged: %v", r.Damaged)
	}
}

func TestOfSeveralWritersOneWins(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "b")
	var wg sync.WaitGroup
	var mu sync.Mutex
	won := 0
	for level := range 6 {
		wg.Go(func() {
			c, sources := sample()
			c.Label = strings.Repeat("x", level) // other bytes
			_, err := bundle.Write(context.Background(), file, c, sources, bundle.WriteOptions{})
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				won++
			} else {
				must.Kind(t, "a loser", err, amber.KindConflict)
			}
		})
	}
	wg.Wait()
	must.Equal(t, "winners", won, 1)
	if r := mustVerify(t, file, bundle.ReadOptions{}); !r.OK() {
		t.Errorf("the one that won is damaged: %v", r.Damaged)
	}
}

// disk returns a disk with an empty folder that is durable.
func disk(t testing.TB) *crashfs.FS {
	t.Helper()
	d := crashfs.New()
	must.Do(t, fsx.MkdirAll(d, "/d", 0o700))
	return d
}

func writeOn(ctx context.Context, fsys fsx.FS, nexo bool) error {
	c, sources := sample()
	o := bundle.WriteOptions{FS: fsys, Signer: newSigner(1)}
	if nexo {
		nc, sources := nexoSample()
		return must.Err(bundle.WriteNexo(ctx, "/d/b", nc, sources, o))
	}
	return must.Err(bundle.Write(ctx, "/d/b", c, sources, o))
}

// TestNoPowerCutLeavesHalfABundle cuts at every call: what has the name of a bundle is whole and has its sidecar.
func TestNoPowerCutLeavesHalfABundle(t *testing.T) {
	t.Parallel()
	for _, nexo := range []bool{false, true} {
		d := disk(t)
		before := d.Calls()
		must.Do(t, writeOn(t.Context(), d, nexo))
		for n := before + 1; n <= d.Calls()+1; n++ {
			for seed := range uint64(8) {
				d := disk(t)
				d.StopAt(n)
				err := writeOn(t.Context(), d, nexo)
				after := d.CrashClone(rand.New(rand.NewPCG(seed, uint64(n))))
				checkAfterCut(t, after, n, err)
			}
		}
	}
}

func checkAfterCut(t *testing.T, d *crashfs.FS, n int, acked error) {
	t.Helper()
	_, lerr := d.Lstat("/d/b")
	switch {
	case lerr != nil && acked == nil:
		t.Errorf("cut at call %d: an acknowledged bundle is lost", n)
	case lerr == nil:
		b := must.Get(bundle.Read(t.Context(), "/d/b", bundle.ReadOptions{FS: d}))(t)
		defer b.Close()
		if r, err := b.Verify(t.Context()); err != nil || !r.OK() {
			t.Errorf("cut at call %d: half a bundle: %v, %v", n, r.Damaged, err)
		}
	}
	// The next process can sweep and write it again.
	must.Kind(t, fmt.Sprintf("cut at call %d: sweep", n), must.Err(fsx.SweepTemp(d, "/d")), "")
	if lerr != nil {
		must.Kind(t, fmt.Sprintf("cut at call %d: the next one", n), writeOn(t.Context(), d, false), "")
	}
}

// TestEveryFailureOfTheDiskIsToldAndLeavesNothing fails every call in turn.
func TestEveryFailureOfTheDiskIsToldAndLeavesNothing(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		base := disk(t)
		e := errfs.Wrap(base, errfs.Rule{Nth: n, Err: syscall.EIO})
		err := writeOn(t.Context(), e, false)
		if len(e.Injected()) == 0 {
			break
		}
		_, lerr := base.Lstat("/d/b")
		switch {
		case err == nil:
			t.Errorf("call %d (%v) failed and nobody was told", n, e.Injected())
		case errors.Is(err, fsx.ErrInPlace) != (lerr == nil):
			t.Errorf("call %d (%v): %v, and the file: %v", n, e.Injected(), err, lerr)
		}
		list, rerr := base.ReadDir("/d")
		for _, entry := range list {
			// A file that cannot be removed is left for the sweeper.
			if strings.HasPrefix(entry.Name(), fsx.TempPrefix) && e.Injected()[0] != errfs.OpRemove {
				t.Errorf("call %d (%v) leaves %s, %v", n, e.Injected(), entry.Name(), rerr)
			}
		}
	}
}

// TestEveryFailureOfTheDiskWhileExtractingEmptiesTheFolder fails every call in turn.
func TestEveryFailureOfTheDiskWhileExtractingEmptiesTheFolder(t *testing.T) {
	t.Parallel()
	s := smalls(t)[0]
	for n := 1; ; n++ {
		base := memory(t, s.bytes, sumOf(s.bytes))
		e := errfs.Wrap(base, errfs.Rule{Nth: n, Err: syscall.EIO})
		b, err := bundle.Read(t.Context(), "/b", bundle.ReadOptions{FS: e})
		if err == nil {
			_, err = b.Extract(t.Context(), "/x")
			b.Close()
		}
		if len(e.Injected()) == 0 {
			break
		}
		if op := e.Injected()[0]; err == nil && op != errfs.OpClose {
			t.Errorf("call %d (%v) failed and nobody was told", n, op)
		}
		if err == nil {
			continue
		}
		must.Kind(t, "a failing disk", err, amber.KindInternal)
		if list, rerr := base.ReadDir("/x"); len(list) > 0 || rerr != nil {
			t.Errorf("call %d (%v) leaves %v, %v", n, e.Injected(), list, rerr)
		}
	}
}

func TestTheEndOfTheContextEndsIt(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	c, _ := sample()
	c.Databases = nil
	s := text("notes/a.md", "note", strings.Repeat("tea", 100_000))
	open := s.Open
	s.Open = func(ctx ctxType) (io.ReadCloser, error) {
		cancel()
		return open(ctx)
	}
	dir := t.TempDir()
	if _, err := bundle.Write(ctx, filepath.Join(dir, "b"), c, []bundle.Source{s}, bundle.WriteOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("write: %v", err)
	}
	if list, _ := os.ReadDir(dir); len(list) != 0 {
		t.Errorf("something is left: %v", list)
	}
	file := filepath.Join(dir, "b")
	write(t, file, bundle.WriteOptions{})
	b := must.Get(bundle.Read(t.Context(), file, bundle.ReadOptions{}))(t)
	defer b.Close()
	x := private(t)
	must.Is(t, "extract", must.Err(b.Extract(ctx, x)), context.Canceled)
	must.Is(t, "verify", must.Err(b.Verify(ctx)), context.Canceled)
	must.Is(t, "read", must.Err(bundle.Read(ctx, file, bundle.ReadOptions{})), context.Canceled)
	must.Kind(t, "close twice", errors.Join(b.Close(), b.Close()), "")
}

func TestOnlyAnEmptyFolderTakesABundle(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "b")
	write(t, file, bundle.WriteOptions{})
	b := must.Get(bundle.Read(t.Context(), file, bundle.ReadOptions{}))(t)
	defer b.Close()
	full := private(t)
	must.Do(t, os.WriteFile(filepath.Join(full, "mine"), nil, 0o600))
	must.Fail(b.Extract(t.Context(), full))(t, "a full folder", amber.KindInvalid)
	must.Kind(t, "what was there before", must.Err(os.Stat(filepath.Join(full, "mine"))), "")
	must.Fail(b.Extract(t.Context(), file))(t, "a file", amber.KindInvalid)
	must.Fail(b.Extract(t.Context(), full+"x"))(t, "no folder", amber.KindNotFound)
}
