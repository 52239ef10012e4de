package repo_test

import (
	"io"
	"testing"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/test/must"
)

// Identities of three people. They protect nothing but testdata.
const (
	alice = "AGE-SECRET-KEY-1FTXUVKJ5GYECPYQXSLXK08GSYMV335DCMA6Q67YUM9Q8945M2CMQVFH5UM"
	carol = "AGE-SECRET-KEY-1LR7MJU3MHSHM96JXNPGXMQ0EGXA6PEURA7NJAH9VJ6MKAR3R7G8QJCJVAT"
	dave  = "AGE-SECRET-KEY-1M9FGRW6YSQ2E3M9SE33HA27STTZ8M3GED7DJ7RRQ3GWRQ7YEPXASZJS33C"
)

func identity(t testing.TB, secret string) *age.X25519Identity {
	t.Helper()
	return must.Get(age.ParseX25519Identity(secret))(t)
}

func recipients(t testing.TB, secrets ...string) []agekey.Recipient {
	t.Helper()
	var list []agekey.Recipient
	for _, s := range secrets {
		r := must.Get(agekey.ParseRecipient(identity(t, s).Recipient().String()))(t)
		list = append(list, r)
	}
	return list
}

// openAs opens a repository with the identities of secrets.
func openAs(t testing.TB, target target.Target, secrets ...string) *repo.Repo {
	t.Helper()
	o := &repo.Options{}
	for _, s := range secrets {
		o.Identities = append(o.Identities, identity(t, s))
	}
	return must.Get(repo.Open(ctx, target, o))(t)
}

// steady is random bytes that are the same for every test.
type steady struct{ n uint64 }

func (s *steady) Read(b []byte) (int, error) {
	s.n++
	return copy(b, noise(s.n, len(b))), nil
}

var _ io.Reader = (*steady)(nil)

// encrypt makes a repository encrypted, for alice, who opens all repositories
// of these tests.
func encrypt(t testing.TB, target target.Target) {
	t.Helper()
	must.Do(t, openAs(t, target, alice).InitKey(ctx, recipients(t, alice), &steady{}, amber.At(epoch)))
}

// newEncrypted is newMemory for an encrypted repository.
func newEncrypted(t testing.TB) *memory {
	t.Helper()
	m := newMemory()
	encrypt(t, m)
	m.calls = nil
	return m
}

// both runs a test on targets of repositories that are not encrypted and of
// such that are.
func both(t *testing.T, fn func(t *testing.T, newMemory func() *memory)) {
	t.Helper()
	t.Run("plain", func(t *testing.T) {
		t.Parallel()
		fn(t, newMemory)
	})
	t.Run("encrypted", func(t *testing.T) {
		t.Parallel()
		fn(t, func() *memory { return newEncrypted(t) })
	})
}

// sealed returns a manifest as it has to be in the repository, before it is
// published. The writer has stored its inner manifest.
func (s *store) sealed(w *repo.Writer, m repo.Manifest) repo.Manifest {
	if key := s.repo.KeyID(); key != "" {
		m.Encrypted, m.Key, m.Sealed, m.Label, m.GitOID = true, key, w.Sealed(m.Inner), "", ""
	}
	return m
}

// aliceCopies are the options of alice, who proves what she copies.
func aliceCopies(t testing.TB) repo.CopyOptions {
	t.Helper()
	return repo.CopyOptions{Identities: []age.Identity{identity(t, alice)}}
}
