package bundle_test

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/freeze/bundle"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestSSHKeysOpenABundle(t *testing.T) {
	t.Parallel()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	must.Do(t, err)
	block := must.Get(ssh.MarshalPrivateKey(key, ""))(t)
	ids := must.Get(agekey.ParseIdentities(strings.NewReader(string(pem.EncodeToMemory(block)))))(t)
	r, ok := agekey.RecipientOf(ids[0])
	if !ok {
		t.Fatal("no recipient")
	}
	file := filepath.Join(t.TempDir(), "b")
	write(t, file, bundle.WriteOptions{Recipients: append(recipients(newKey(t, agekey.X25519)), r), Signer: newSigner(1)})
	must.NoError(t, must.Err(extract(t, file, bundle.ReadOptions{Identities: ids})))
	_, sources := sample()
	must.Equal(t, "entries that age finds", len(tarNames(t, plainTar(t, file, ids...))), len(sources)+1)
}
