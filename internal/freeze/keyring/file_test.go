package keyring_test

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestReadSigner(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "seed")
	must.Fail(keyring.ReadSigner(file))(t, "absent", amber.KindNotFound)
	seed := bytes.Repeat([]byte{1}, 32)
	for name, b := range map[string][]byte{"bytes": seed, "digits": []byte(hex.EncodeToString(seed) + "\n")} {
		must.Do(t, os.WriteFile(file, b, 0o600))
		s, err := keyring.ReadSigner(file)
		if err != nil || s.KeyID() != keyOf(1) {
			t.Fatalf("%s: %v, %v", name, s, err)
		}
		if sig := must.Get(s.Sign(t.Context(), []byte("message")))(t); sig.Verify([]byte("message")) != nil {
			t.Errorf("%s: %+v", name, sig)
		}
	}
	must.Do(t, os.WriteFile(file, []byte("no seed"), 0o600))
	must.Fail(keyring.ReadSigner(file))(t, "no seed", amber.KindInvalid)
}
