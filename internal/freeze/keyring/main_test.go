package keyring_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

// fixed is a source of randomness that gives one byte.
func fixed(b byte) *bytes.Reader { return bytes.NewReader(bytes.Repeat([]byte{b}, 32)) }

// keyOf names the key of a seed of one byte.
func keyOf(b byte) sign.KeyID {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, 32))
	return sign.NewKeyID(key.Public().(ed25519.PublicKey))
}

// keysDir is a folder of keys that is not there yet.
func keysDir(t testing.TB) string { return filepath.Join(t.TempDir(), "keys") }

func ring(dir string, b byte) *keyring.Ring {
	return keyring.Open(dir, keyring.Options{Random: fixed(b)})
}

// write puts a file somewhere, as people do.
func write(t testing.TB, path string, mode os.FileMode, content string) {
	t.Helper()
	must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), mode), os.Chmod(path, mode)))
}

type vector struct {
	Seed string     `json:"seed_hex"`
	Key  sign.KeyID `json:"did_key"`
}

func (v vector) bytes(t testing.TB) []byte {
	t.Helper()
	return must.Get(hex.DecodeString(v.Seed))(t)
}

// vectors are the seeds and keys that colony-memory made.
func vectors(t testing.TB) (l []vector) {
	t.Helper()
	b, err := os.ReadFile("../../../wire/sign/testdata/didkeys.json")
	if err == nil {
		err = json.Unmarshal(b, &l)
	}
	if err != nil || len(l) == 0 {
		t.Fatal(err, len(l))
	}
	return l
}
