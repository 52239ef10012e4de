package agekey

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"

	"github.com/amber-memory/amber"
)

const (
	// maxIdentityBytes bounds a file of identities.
	maxIdentityBytes = 64 << 10
	// maxIdentities bounds how many are tried.
	maxIdentities = 100

	pemBegin = "-----BEGIN "
	ageIntro = "age-encryption.org/"
)

// ParseIdentities reads secret keys, one in a line: "AGE-SECRET-KEY-1…" or "AGE-SECRET-KEY-PQ-1…"; empty lines and
// those that begin with '#' are skipped. Or it reads one SSH private key as ssh-keygen writes it, without a passphrase.
// Errors: invalid, which tells the line and never what is in it; internal when r fails.
func ParseIdentities(r io.Reader) ([]age.Identity, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxIdentityBytes+1))
	switch {
	case err != nil:
		return nil, &amber.Error{Op: "read identities", Kind: amber.KindInternal, Err: err}
	case len(b) > maxIdentityBytes:
		return nil, badIdentity(fmt.Errorf("more than %d bytes", maxIdentityBytes))
	}
	ids, err := parseIdentities(b)
	if err != nil {
		return nil, badIdentity(err)
	}
	return ids, nil
}

func parseIdentities(b []byte) ([]age.Identity, error) {
	text := bytes.TrimSpace(b)
	switch {
	case bytes.HasPrefix(text, []byte(pemBegin+"AGE ")), bytes.HasPrefix(text, []byte(ageIntro)):
		return nil, errors.New("the identity file is encrypted; decrypt the file with age first")
	case bytes.HasPrefix(text, []byte(pemBegin)):
		id, err := parseSSHIdentity(text)
		return []age.Identity{id}, err
	}
	var ids []age.Identity
	for i, line := range strings.Split(string(b), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, err := parseIdentity(line)
		if err != nil {
			return nil, fmt.Errorf("line %d: %v", i+1, err)
		}
		if ids = append(ids, id); len(ids) > maxIdentities {
			return nil, fmt.Errorf("more than %d identities", maxIdentities)
		}
	}
	if len(ids) == 0 {
		return nil, errors.New("the file has no identity")
	}
	return ids, nil
}

// parseIdentity reads one secret key. The library's errors are not passed on: they may quote.
func parseIdentity(line string) (age.Identity, error) {
	switch {
	case strings.HasPrefix(line, secretPrefix+"1"):
		if id, err := age.ParseX25519Identity(line); err == nil {
			return id, nil
		}
		return nil, errors.New("the key is not intact")
	case strings.HasPrefix(line, secretPrefix+"PQ-1"):
		if id, err := age.ParseHybridIdentity(line); err == nil {
			return id, nil
		}
		return nil, errors.New("the key is not intact")
	case strings.HasPrefix(line, "AGE-PLUGIN-"):
		return nil, errors.New("the identity needs a plugin, and amber does not start plugins")
	case strings.HasPrefix(line, agePrefix), strings.HasPrefix(line, "ssh-"):
		return nil, errors.New("this is a public key, want a secret key")
	}
	return nil, errors.New("not a secret key of age")
}

func badIdentity(err error) error {
	return &amber.Error{Op: "read identities", Kind: amber.KindInvalid, Err: err}
}

// RecipientOf returns whom to encrypt to so that id can open it; false for a passphrase and for identities that this
// package has not made.
func RecipientOf(id age.Identity) (Recipient, bool) {
	switch id := id.(type) {
	case *age.X25519Identity:
		r := id.Recipient()
		return Recipient{r, r.String(), X25519}, true
	case *age.HybridIdentity:
		r := id.Recipient()
		return Recipient{r, r.String(), Hybrid}, true
	case *sshIdentity:
		return id.recipient, true
	}
	return Recipient{}, false
}

// sshIdentity is an SSH key and its public half, which the library does not tell.
type sshIdentity struct {
	age.Identity
	recipient Recipient
}

// String keeps the key out of logs.
func (*sshIdentity) String() string { return "ssh identity" }
