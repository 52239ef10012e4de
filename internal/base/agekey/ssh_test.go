package agekey_test

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/test/must"
)

// newSSH returns the private key in PEM and the line of the public one.
func newSSH(t *testing.T, key any, pass string) (private, public string) {
	t.Helper()
	var block *pem.Block
	var err error
	if pass == "" {
		block, err = ssh.MarshalPrivateKey(key, "me@here")
	} else {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "me@here", []byte(pass))
	}
	must.Do(t, err)
	signer := must.Get(ssh.NewSignerFromKey(key))(t)
	return string(pem.EncodeToMemory(block)), strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey())))
}

func newRSA(t *testing.T, bits int) *rsa.PrivateKey {
	t.Helper()
	return must.Get(rsa.GenerateKey(rand.Reader, bits))(t)
}

func newEd25519(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	must.Do(t, err)
	return key
}

func TestSSHKeysAreRecipientsAndIdentities(t *testing.T) {
	t.Parallel()
	for name, key := range map[string]any{"ed25519": newEd25519(t), "rsa": newRSA(t, 2048)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			private, public := newSSH(t, key, "")
			r := must.Get(agekey.ParseRecipient(public + " somebody@host, and more"))(t)
			must.Hold(t, r.Text == public && r.Kind == agekey.SSH, "got %q of kind %s", r.Text, r.Kind)
			ids := must.Get(agekey.ParseIdentities(strings.NewReader("\n" + private)))(t)
			roundTrip(t, r.Recipient, ids[0])
			of, ok := agekey.RecipientOf(ids[0])
			must.Hold(t, ok && of.Text == public, "RecipientOf: got %q, %v", of.Text, ok)
			h := must.Get(agekey.ParseHeader(encrypted(t, r.Recipient)))(t)
			must.Equal(t, "kinds", h.Kinds(), []agekey.Kind{agekey.SSH})
		})
	}
}

func TestSSHKeysThatCannotBeUsedAreInvalid(t *testing.T) {
	t.Parallel()
	locked, _ := newSSH(t, newEd25519(t), "secret")
	curve := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	other, _ := newSSH(t, curve, "")
	whole, public := newSSH(t, newEd25519(t), "")
	for name, text := range map[string]string{
		"with a passphrase": locked, "of another kind": other, "cut": whole[:len(whole)/2],
	} {
		must.Fail(agekey.ParseIdentities(strings.NewReader(text)))(t, name, amber.KindInvalid)
	}
	for name, text := range map[string]string{
		"cut": public[:40], "two lines": public + "\n" + public,
		"of another type": "ssh-rsa " + strings.Fields(public)[1],
	} {
		must.Fail(agekey.ParseRecipient(text))(t, name, amber.KindInvalid)
	}
}
