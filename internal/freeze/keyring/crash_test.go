package keyring_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/must"
)

// seeds is how many ways a power cut can go are tried after each call.
const seeds = 12

// step does something to a ring; dir is its folder.
type step func(ctx context.Context, r *keyring.Ring, dir string) error

// change is something that is done to a ring, from one state.
type change struct {
	name     string
	before   step
	do       step
	old, new string // what state shows
}

func nothing(context.Context, *keyring.Ring, string) error { return nil }

func makeKey(ctx context.Context, r *keyring.Ring, _ string) error {
	_, _, err := r.Make(ctx)
	return err
}

func signKey(ctx context.Context, r *keyring.Ring, _ string) error {
	return must.Err(r.Signer(ctx))
}

// adoptKey adopts the seed that every simulated disk has beside the keys.
func adoptKey(ctx context.Context, r *keyring.Ring, dir string) error {
	return must.Err(r.Adopt(ctx, filepath.Join(filepath.Dir(dir), "colony.seed")))
}

func trustTwo(ctx context.Context, r *keyring.Ring, _ string) error {
	return r.Trust(ctx, keyOf(2), "two")
}

func trustThree(ctx context.Context, r *keyring.Ring, _ string) error {
	return r.Trust(ctx, keyOf(3), "three")
}

func untrustTwo(ctx context.Context, r *keyring.Ring, _ string) error {
	return r.Untrust(ctx, keyOf(2))
}

// cutOff leaves what a killed process has done, none of it durable.
func cutOff(fsys fsx.FS, path string, mode fs.FileMode, content string) error {
	f, err := fsx.Build(fsys, path, mode)
	if err != nil {
		return err
	}
	_, err = f.Write([]byte(content))
	return errors.Join(err, f.Close())
}

var changes = []change{
	{"make", nothing, makeKey, "", "1"},
	{"make again", makeKey, makeKey, "1", "1"},
	{"signer", makeKey, signKey, "1", "1"},
	{"adopt", nothing, adoptKey, "", "1"},
	{"adopt again", adoptKey, adoptKey, "1", "1"},
	{"trust", nothing, trustTwo, "", "two"},
	{"trust another", trustTwo, trustThree, "two", "two three"},
	{"untrust", trustTwo, untrustTwo, "two", ""},
}

// state shows a ring. A file that is half there is an error.
func state(ctx context.Context, r *keyring.Ring) (string, error) {
	var shown []string
	s, err := r.Signer(ctx)
	switch {
	case err == nil && s.KeyID() == keyOf(1):
		shown = append(shown, "1")
	case amber.KindOf(err) != amber.KindNotFound:
		return "", fmt.Errorf("signer %v: %w", s, err)
	}
	l, err := r.Trusted(ctx)
	for _, k := range l {
		shown = append(shown, k.Comment)
	}
	return strings.Join(shown, " "), err
}

// disk is a simulated one with the folder above the keys. Kernel locks know
// only the real one, so the keys' folder is there too.
func disk(t testing.TB, dir string) *crashfs.FS {
	t.Helper()
	d := crashfs.New()
	above := filepath.Dir(dir)
	must.Do(t, errors.Join(fsx.MkdirAll(d, above, 0o700), os.MkdirAll(dir, 0o700)))
	must.Do(t, fsx.CreateNew(d, filepath.Join(above, "colony.seed"), 0o600, []byte(strings.Repeat("\x01", 32))))
	return d
}

func on(dir string, fsys fsx.FS) *keyring.Ring {
	return keyring.Open(dir, keyring.Options{FS: fsys, Random: fixed(1)})
}

// TestChangesSurviveAPowerCut cuts the power at every call. A change that was acknowledged is
// there; otherwise the old state or the new one is there, whole, and the change can be made again.
func TestChangesSurviveAPowerCut(t *testing.T) {
	t.Parallel()
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := keysDir(t)
			for n := 1; ; n++ {
				d := disk(t, dir)
				must.Do(t, c.before(t.Context(), on(dir, d), dir))
				cut := d.Calls() + n
				d.StopAt(cut)
				err := c.do(t.Context(), on(dir, d), dir)
				if err != nil && !errors.Is(err, crashfs.ErrCrashed) {
					t.Fatalf("cut at call %d: %v", n, err)
				}
				over := d.Calls() < cut
				for seed := range uint64(seeds) {
					checkAfterCut(t, c, dir, d.CrashClone(rand.New(rand.NewPCG(seed, uint64(n)))), err == nil)
					if t.Failed() {
						t.Fatalf("cut at call %d, seed %d", n, seed)
					}
				}
				if over {
					t.Logf("%d calls", n-1)
					return
				}
			}
		})
	}
}

func checkAfterCut(t *testing.T, c change, dir string, d *crashfs.FS, acked bool) {
	t.Helper()
	got, err := state(t.Context(), on(dir, d))
	if err != nil || got != c.new && (acked || got != c.old) {
		t.Errorf("got %q, %v, want %q or before that %q", got, err, c.new, c.old)
	}
	if got == c.new {
		return
	}
	err = c.do(t.Context(), on(dir, d), dir)
	if got, serr := state(t.Context(), on(dir, d)); err != nil || serr != nil || got != c.new {
		t.Errorf("once more: got %q, %v, %v, want %q", got, err, serr, c.new)
	}
}

// TestAKeyThatSignsIsDurable finds the seed of a process that was killed before
// it had synced anything. A key that signs must not be lost.
func TestAKeyThatSignsIsDurable(t *testing.T) {
	t.Parallel()
	for name, use := range map[string]step{"make": makeKey, "signer": signKey, "adopt": adoptKey} {
		dir := keysDir(t)
		d := disk(t, dir)
		must.Do(t, fsx.MkdirAll(d, dir, 0o700))
		must.Do(t, cutOff(d, filepath.Join(dir, "signing.seed"), 0o600, strings.Repeat("\x01", 32)))
		must.Do(t, use(t.Context(), on(dir, d), dir))
		for seed := range uint64(4 * seeds) {
			after := d.CrashClone(rand.New(rand.NewPCG(seed, 7)))
			if got, err := state(t.Context(), on(dir, after)); err != nil || got != "1" {
				t.Fatalf("%s, seed %d: got %q, %v", name, seed, got, err)
			}
		}
	}
}

// TestErrorsLeaveTheOldStateOrTheNew fails every call in turn.
func TestErrorsLeaveTheOldStateOrTheNew(t *testing.T) {
	t.Parallel()
	for _, c := range changes {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := keysDir(t)
			for n := 1; ; n++ {
				d := disk(t, dir)
				must.Do(t, c.before(t.Context(), on(dir, d), dir))
				e := errfs.Wrap(d, errfs.Rule{Nth: n, Err: syscall.EIO})
				err := c.do(t.Context(), on(dir, e), dir)
				if len(e.Injected()) == 0 {
					return
				}
				got, serr := state(t.Context(), on(dir, d))
				if serr != nil || got != c.old && got != c.new || err == nil && got != c.new {
					t.Errorf("call %d, %v: %v, and then %q, %v", n, e.Injected(), err, got, serr)
				}
				if err != nil && !errors.Is(err, syscall.EIO) {
					t.Errorf("call %d: %v", n, err)
				}
			}
		})
	}
}
