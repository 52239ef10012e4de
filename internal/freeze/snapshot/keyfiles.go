package snapshot

import (
	"context"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/wire/sign"
)

// Keys says how snapshots are signed, encrypted and trusted. The zero value
// signs, and encrypts nothing.
type Keys struct {
	NoSign        bool     // a chain that is not signed stays so
	RequireSigned bool     // refuse what no trusted key has signed
	Recipients    []string // age recipients of everything that is written
	// Identities are files that open what is encrypted, in addition to this
	// home's own identity.
	Identities []string
	Passphrase string // opens bundles
}

// keys are the keys of a home, and whose signatures it trusts.
type keys struct {
	*keyring.Ring
	o Keys
}

// signer returns the key that signs; nil without one. Create makes the key.
func (k *keys) signer(ctx context.Context, create bool) (sign.Signer, error) {
	if create {
		s, _, err := k.Ring.Make(ctx)
		return s, err
	}
	s, err := k.Ring.Signer(ctx)
	if amber.KindOf(err) == amber.KindNotFound {
		return nil, nil
	}
	return s, err
}

// recipients returns whom everything is encrypted to. None: nothing is.
func (k *keys) recipients() ([]agekey.Recipient, error) {
	return agekey.ParseRecipients(k.o.Recipients)
}

// identities open what is encrypted.
func (k *keys) identities() ([]age.Identity, error) {
	list, err := k.Ring.Identities(k.o.Identities)
	if err != nil || k.o.Passphrase == "" {
		return list, err
	}
	_, id, err := agekey.Passphrase(k.o.Passphrase)
	return append(list, id), err
}
