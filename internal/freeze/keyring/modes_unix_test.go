//go:build unix

package keyring_test

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestFilesAreForTheOwnerAlone(t *testing.T) {
	t.Parallel()
	dir := keysDir(t)
	r := ring(dir, 1)
	must.Do(t, makeKey(t.Context(), r, ""))
	must.Do(t, r.Trust(t.Context(), keyOf(2), ""))
	for name, want := range map[string]os.FileMode{"": 0o700 | os.ModeDir, "signing.seed": 0o600, "trusted": 0o600, "trusted.lock": 0o600} {
		must.Equal(t, fmt.Sprintf("%q", name), must.Get(os.Lstat(filepath.Join(dir, name)))(t).Mode(), want)
	}
}

func TestASeedThatOthersMayReadIsRefused(t *testing.T) {
	t.Parallel()
	v := vectors(t)[3]
	for _, mode := range []os.FileMode{0o640, 0o604, 0o644, 0o660, 0o620, 0o601, 0o777} {
		dir := keysDir(t)
		own, file := filepath.Join(dir, "signing.seed"), filepath.Join(t.TempDir(), "seed")
		write(t, own, mode, v.Seed)
		write(t, file, mode, v.Seed)
		r := ring(dir, 1)
		_, signed := r.Signer(t.Context())
		_, _, made := r.Make(t.Context())
		_, standing := r.Standing(t.Context(), v.Key)
		_, adopted := ring(keysDir(t), 1).Adopt(t.Context(), file)
		for what, err := range map[string]error{"signer": signed, "make": made, "standing": standing, "adopt": adopted} {
			must.Kind(t, what, err, amber.KindRefused)
			path := own
			if what == "adopt" {
				path = file
			}
			must.Equal(t, what+": hint", amber.HintOf(err), "chmod 600 "+path)
		}
		// The same seed, offered safely, does not make the file in place safe.
		must.Do(t, os.Chmod(file, 0o600))
		must.Fail(r.Adopt(t.Context(), file))(t, "adopt what is there", amber.KindRefused)
	}
	for _, mode := range []os.FileMode{0o600, 0o400, 0o700} {
		dir := keysDir(t)
		write(t, filepath.Join(dir, "signing.seed"), mode, v.Seed)
		must.Equal(t, fmt.Sprintf("mode %v", mode), must.Get(ring(dir, 1).Signer(t.Context()))(t).KeyID(), v.Key)
	}
}

func TestAListThatOthersMayWriteIsNotBelieved(t *testing.T) {
	t.Parallel()
	for mode, want := range map[os.FileMode]amber.Kind{0o600: "", 0o644: "", 0o444: "", 0o664: amber.KindRefused, 0o646: amber.KindRefused, 0o602: amber.KindRefused} {
		dir := keysDir(t)
		write(t, filepath.Join(dir, "trusted"), mode, string(keyOf(2))+"\n")
		r := ring(dir, 1)
		l, err := r.Trusted(t.Context())
		must.Kind(t, mode.String(), err, want)
		must.Equal(t, fmt.Sprintf("mode %v is listed", mode), len(l) == 1, want == "")
		must.Fail(r.Standing(t.Context(), keyOf(2)))(t, mode.String(), want)
	}
}

// TestOnlyRegularFilesAreRead puts other things in the place of files.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, secret, 0o600, vectors(t)[3].Seed)
	for name, make := range map[string]func(path string) error{
		"link":   func(path string) error { return os.Symlink(secret, path) },
		"folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"fifo":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
	} {
		dir := keysDir(t)
		write(t, filepath.Join(dir, "x"), 0o600, "")
		for _, file := range []string{"signing.seed", "trusted"} {
			must.Do(t, make(filepath.Join(dir, file)))
		}
		r := ring(dir, 1)
		_, signed := r.Signer(t.Context())
		_, _, made := r.Make(t.Context())
		_, adopted := r.Adopt(t.Context(), filepath.Join(dir, "signing.seed"))
		_, listed := r.Trusted(t.Context())
		for what, err := range map[string]error{
			"signer": signed, "make": made, "adopt": adopted, "trusted": listed, "trust": r.Trust(t.Context(), keyOf(2), ""),
		} {
			must.Kind(t, name+", "+what, err, amber.KindRefused)
		}
	}
}
