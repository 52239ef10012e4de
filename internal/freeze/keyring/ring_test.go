package keyring_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

func TestOpenTouchesNothing(t *testing.T) {
	t.Parallel()
	dir := keysDir(t)
	r := ring(dir, 1)
	_, err := r.Signer(t.Context())
	must.Kind(t, "signer", err, amber.KindNotFound)
	must.Hold(t, amber.HintOf(err) != "", "no hint how to make a key")
	if l, err := r.Trusted(t.Context()); err != nil || len(l) > 0 {
		t.Errorf("trusted: %v, %v", l, err)
	}
	must.Equal(t, "standing", must.Get(r.Standing(t.Context(), keyOf(1)))(t), sign.StandingStranger)
	must.Is(t, "the folder", must.Err(os.Lstat(dir)), fs.ErrNotExist)
}

func TestMakeMakesOneKeyForEver(t *testing.T) {
	t.Parallel()
	dir := keysDir(t)
	s, created, err := ring(dir, 1).Make(t.Context())
	if err != nil || !created || s.KeyID() != keyOf(1) {
		t.Fatalf("first: %v, %v, %v", s, created, err)
	}
	s, created, err = ring(dir, 2).Make(t.Context())
	must.Hold(t, err == nil && !created && s.KeyID() == keyOf(1), "second: %v, %v, %v", s, created, err)
	s = must.Get(ring(dir, 3).Signer(t.Context()))(t)
	if sig := must.Get(s.Sign(t.Context(), []byte("message")))(t); sig.KeyID != keyOf(1) || sig.Verify([]byte("message")) != nil {
		t.Errorf("signature: %+v", sig)
	}
	if b := must.Get(os.ReadFile(filepath.Join(dir, "signing.seed")))(t); !bytes.Equal(b, bytes.Repeat([]byte{1}, 32)) {
		t.Errorf("the file holds %x", b)
	}
}

func TestACancelledCallMakesNothing(t *testing.T) {
	t.Parallel()
	dir := keysDir(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	must.Hold(t, makeKey(ctx, ring(dir, 1), "") != nil, "make: no error")
	must.Error(t, "trust", ring(dir, 1).Trust(ctx, keyOf(1), ""))
	for _, name := range []string{"signing.seed", "trusted"} {
		must.Is(t, name, must.Err(os.Lstat(filepath.Join(dir, name))), fs.ErrNotExist)
	}
}

func TestAShortSourceOfRandomnessMakesNoKey(t *testing.T) {
	t.Parallel()
	dir := keysDir(t)
	r := keyring.Open(dir, keyring.Options{Random: strings.NewReader("too short")})
	must.Hold(t, makeKey(t.Context(), r, "") != nil, "no error")
	must.Fail(r.Signer(t.Context()))(t, "signer", amber.KindNotFound)
}

// TestMakersAtTheSameTimeGetOneKey has rings that share nothing but the folder,
// as processes do.
func TestMakersAtTheSameTimeGetOneKey(t *testing.T) {
	t.Parallel()
	for range 20 {
		const makers = 8
		dir := keysDir(t)
		keys, made := make([]sign.KeyID, makers), make([]bool, makers)
		var wg sync.WaitGroup
		for i := range makers {
			wg.Go(func() {
				s, created, err := ring(dir, byte(i)).Make(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				keys[i], made[i] = s.KeyID(), created
			})
		}
		wg.Wait()
		n := 0
		for i := range makers {
			must.Equal(t, "key of another process", keys[i], keys[0])
			if made[i] {
				n++
				if keys[i] != keyOf(byte(i)) {
					t.Errorf("%d made %s, which is another's", i, keys[i])
				}
			}
		}
		must.Equal(t, "processes that made a key", n, 1)
	}
}

// TestASeedOfColonyKeepsItsName adopts every seed in every spelling.
func TestASeedOfColonyKeepsItsName(t *testing.T) {
	t.Parallel()
	for _, v := range vectors(t) {
		raw := v.bytes(t)
		spellings := map[string]string{
			"raw": string(raw), "hex": v.Seed, "upper-case hex": strings.ToUpper(v.Seed), "hex line": v.Seed + "\n", "hex line of Windows": v.Seed + "\r\n",
			"base64": base64.StdEncoding.EncodeToString(raw), "base64 line": base64.StdEncoding.EncodeToString(raw) + "\n",
			"base64 without padding": base64.RawStdEncoding.EncodeToString(raw),
			"base64url":              base64.URLEncoding.EncodeToString(raw), "base64url without padding": base64.RawURLEncoding.EncodeToString(raw),
		}
		dir := keysDir(t)
		for name, text := range spellings {
			file := filepath.Join(t.TempDir(), "colony.seed")
			write(t, file, 0o600, text)
			// The first is written, the others are the same again.
			must.Equal(t, v.Seed+", "+name, must.Get(ring(dir, 1).Adopt(t.Context(), file))(t), v.Key)
			// In the place of the home's own.
			write(t, filepath.Join(dir, "signing.seed"), 0o600, text)
			must.Equal(t, v.Seed+", "+name+": signer", must.Get(ring(dir, 1).Signer(t.Context()))(t).KeyID(), v.Key)
		}
	}
}

func TestAdoptWritesTheSeedItself(t *testing.T) {
	t.Parallel()
	v := vectors(t)[3]
	dir, file := keysDir(t), filepath.Join(t.TempDir(), "seed")
	write(t, file, 0o600, v.Seed+"\n")
	must.Get(ring(dir, 1).Adopt(t.Context(), file))(t)
	if b := must.Get(os.ReadFile(filepath.Join(dir, "signing.seed")))(t); !bytes.Equal(b, v.bytes(t)) {
		t.Errorf("%x", b)
	}
}

func TestAdoptNeverReplacesAKey(t *testing.T) {
	t.Parallel()
	dir, file := keysDir(t), filepath.Join(t.TempDir(), "seed")
	must.Do(t, makeKey(t.Context(), ring(dir, 1), ""))
	write(t, file, 0o600, vectors(t)[3].Seed)
	key, err := ring(dir, 1).Adopt(t.Context(), file)
	must.Kind(t, "adopt another", err, amber.KindConflict)
	must.Equal(t, "key", key, "")
	must.Equal(t, "the key", must.Get(ring(dir, 1).Signer(t.Context()))(t).KeyID(), keyOf(1))
	must.Fail(ring(dir, 1).Adopt(t.Context(), filepath.Join(t.TempDir(), "none")))(t, "no file", amber.KindNotFound)
}

// TestWhatIsNoSeedIsNotUsedAndNotQuoted looks at files that might hold a
// secret nevertheless.
func TestWhatIsNoSeedIsNotUsedAndNotQuoted(t *testing.T) {
	t.Parallel()
	good := vectors(t)[3]
	half := good.Seed[:32]
	base := base64.StdEncoding.EncodeToString(good.bytes(t))
	for name, text := range map[string]string{
		"empty": "", "a line end": "\n", "31 bytes": strings.Repeat("s", 31), "33 bytes": strings.Repeat("s", 33), "raw with a line end": strings.Repeat("s", 32) + "\n",
		"a key with its public half": strings.Repeat("s", 64), "63 digits": good.Seed[1:], "65 digits": good.Seed + "0", "no digit": good.Seed[1:] + "g",
		"two lines": good.Seed + "\n\n", "a space": " " + good.Seed, "a line end inside": half + "\n" + half, "a prefix": "0x" + good.Seed,
		"base64 cut": base[:42], "base64 with a line end inside": base[:20] + "\n" + base[20:], "other last bits": strings.TrimRight(base[:42]+"9", "="),
		"long": strings.Repeat(good.Seed, 1000), "a PEM block": "-----BEGIN PRIVATE KEY-----\n" + half,
	} {
		dir, file := keysDir(t), filepath.Join(t.TempDir(), "seed")
		write(t, file, 0o600, text)
		write(t, filepath.Join(dir, "signing.seed"), 0o600, text)
		_, adopted := ring(keysDir(t), 1).Adopt(t.Context(), file)
		must.Kind(t, name, adopted, amber.KindInvalid)
		_, signed := ring(dir, 1).Signer(t.Context())
		must.Kind(t, name, signed, amber.KindDamaged)
		_, _, made := ring(dir, 1).Make(t.Context())
		must.Kind(t, name, made, amber.KindDamaged)
		_, standing := ring(dir, 1).Standing(t.Context(), keyOf(1))
		must.Kind(t, name, standing, amber.KindDamaged)
		for _, err := range []error{adopted, signed, made, standing} {
			if secret := strings.TrimSpace(text); len(secret) > 8 && err != nil && strings.Contains(err.Error(), secret[:8]) {
				t.Errorf("%s: the error quotes it: %v", name, err)
			}
		}
		must.Equal(t, name+": the file", string(must.Get(os.ReadFile(filepath.Join(dir, "signing.seed")))(t)), text)
	}
}

func TestStandings(t *testing.T) {
	t.Parallel()
	dir := keysDir(t)
	r := ring(dir, 1)
	must.Do(t, makeKey(t.Context(), r, ""))
	for _, b := range []byte{2, 3} {
		must.Do(t, r.Trust(t.Context(), keyOf(b), ""))
	}
	must.Do(t, r.Untrust(t.Context(), keyOf(3)))
	for b, want := range map[byte]sign.Standing{1: sign.StandingOwn, 2: sign.StandingTrusted, 3: sign.StandingStranger, 4: sign.StandingStranger} {
		must.Equal(t, fmt.Sprintf("key of %d", b), must.Get(r.Standing(t.Context(), keyOf(b)))(t), want)
	}
	must.Equal(t, "no key", must.Get(r.Standing(t.Context(), ""))(t), sign.StandingStranger)
}

// TestKeysAreNeverShown prints what holds a key in every way.
func TestKeysAreNeverShown(t *testing.T) {
	t.Parallel()
	v := vectors(t)[3]
	dir, file := keysDir(t), filepath.Join(t.TempDir(), "seed")
	write(t, file, 0o600, v.Seed)
	r := ring(dir, 1)
	must.Get(r.Adopt(t.Context(), file))(t)
	s := must.Get(r.Signer(t.Context()))(t)
	for _, shown := range everyWay(t, s) {
		must.Hold(t, !leaks(shown, v.bytes(t)), "it shows %q", shown)
	}
	must.Equal(t, "the test sees a leak", leaks(hex.EncodeToString(v.bytes(t)), v.bytes(t)), true)
}
