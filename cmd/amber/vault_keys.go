package main

import (
	"context"
	"path/filepath"
	"strings"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/agekey"
	"github.com/amber-memory/amber/keyring"
)

// stdinKey is what the key file is called when the key comes on stdin.
const stdinKey = "-"

// vaultKey reads the key of a vault. Errors: invalid; refused when others may
// read it.
func (a *app) vaultKey(file string) (string, error) {
	const op = "read vault key"
	var text string
	var err error
	if file == stdinKey {
		text, err = a.text(stdinKey, maxTokenFile)
	} else {
		text, err = a.secretFile(op, a.followed(file), maxTokenFile)
	}
	if err != nil {
		return "", ofThisSide(err)
	}
	key := strings.TrimSpace(text)
	if key == "" || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "", amber.Errorf(amber.KindInvalid, op, file, "it does not hold one key and nothing else")
	}
	return key, nil
}

// vaultSigner is the key that signs new snapshots: that of a file, the home's
// own, or nil.
func (a *app) vaultSigner(ctx context.Context, s *opened, f vaultFlags) (amber.Signer, error) {
	if f.sign != "" && f.sign != signWithHome {
		path, err := a.absolute(f.sign)
		if err != nil {
			return nil, err
		}
		return keyring.ReadSigner(path)
	}
	return a.signer(ctx, s, f.sign != "" || s.config.Config.Vault.Sign && !f.noSign)
}

// vaultTrust is the ring of the home, and the keys that count this once.
func (a *app) vaultTrust(s *opened, once []string, signer amber.Signer) (func(context.Context, amber.KeyID) (amber.Standing, error), error) {
	also := map[amber.KeyID]amber.Standing{}
	for _, text := range once {
		key, err := amber.ParseKeyID(text)
		if err != nil {
			return nil, err
		}
		also[key] = amber.StandingTrusted
	}
	if signer != nil {
		also[signer.KeyID()] = amber.StandingOwn
	}
	ring := a.ring(s.home)
	return func(ctx context.Context, key amber.KeyID) (amber.Standing, error) {
		if standing, ok := also[key]; ok {
			return standing, nil
		}
		return ring.Standing(ctx, key)
	}, nil
}

// vaultIdentities are the keys that open encrypted snapshots: those of files,
// and the home's own where it has some.
func (a *app) vaultIdentities(s *opened) ([]age.Identity, error) {
	keys, err := a.keys(s.config.Config)
	if err != nil {
		return nil, err
	}
	var all []age.Identity
	for _, file := range keys.Identities {
		ids, err := agekey.ReadIdentities(nil, file)
		if err != nil {
			return nil, err
		}
		all = append(all, ids...)
	}
	own, err := agekey.ReadIdentities(nil, filepath.Join(s.home.KeysDir(), ageIdentityName))
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return nil, err
	}
	return append(all, own...), nil
}

// vaultRecipients are whom snapshots are encrypted to: those that are named, and
// this home, or it could not restore what it backed up. None: they are not
// encrypted.
func (a *app) vaultRecipients(s *opened, texts []string) ([]age.Recipient, error) {
	named, err := agekey.ParseRecipients(texts)
	if err != nil || len(named) == 0 {
		return nil, err
	}
	path := filepath.Join(s.home.KeysDir(), ageIdentityName)
	ids, err := agekey.Own(nil, path)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		own, ok := agekey.RecipientOf(id)
		if !ok {
			continue
		}
		// Of its two the one that can stand beside the others.
		if all, err := agekey.ParseRecipients(append([]string{own.Text}, texts...)); err == nil {
			return agekey.Ages(all), nil
		}
	}
	return nil, amber.Errorf(amber.KindRefused, "encrypt snapshot", path, "none of this home's identities can stand beside the recipients")
}
