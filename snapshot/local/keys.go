package local

import (
	"context"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/agekey"
	"github.com/amber-memory/amber/keyring"
	"github.com/amber-memory/amber/snapshot"
)

// Keys says how snapshots are signed, encrypted and trusted. The zero value
// signs, and encrypts nothing.
type Keys struct {
	NoSign        bool
	RequireSigned bool
	Recipients    []string // age recipients of everything that is written
	// Identities are files that open what is encrypted, beside this home's own.
	Identities []string
	Passphrase string // opens bundles
}

// keys are those of a home.
type keys struct {
	*keyring.Ring
	o Keys
}

var _ snapshot.Keys = (*keys)(nil)

func (k *keys) Signer(ctx context.Context, create bool) (amber.Signer, error) {
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

func (k *keys) Recipients(context.Context) ([]agekey.Recipient, error) {
	return agekey.ParseRecipients(k.o.Recipients)
}

func (k *keys) Identities(context.Context) ([]age.Identity, error) {
	list, err := k.Ring.Identities(k.o.Identities)
	if err != nil || k.o.Passphrase == "" {
		return list, err
	}
	_, id, err := agekey.Passphrase(k.o.Passphrase)
	return append(list, id), err
}

func (k *keys) Own(_ context.Context, others []agekey.Recipient) (agekey.Recipient, error) {
	return k.Ring.OwnRecipient(others)
}
