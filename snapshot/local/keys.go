package local

import (
	"context"
	"path/filepath"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/agekey"
	"github.com/amber-memory/amber/internal/fsx"
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

// ownIdentity is this home's own, in the folder of keys.
const ownIdentity = "age-identity.txt"

// keys are those of a home.
type keys struct {
	*keyring.Ring
	fs  fsx.FS
	dir string
	o   Keys
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

func (k *keys) ownPath() string { return filepath.Join(k.dir, ownIdentity) }

func (k *keys) Identities(context.Context) ([]age.Identity, error) {
	var list []age.Identity
	for _, path := range k.o.Identities {
		ids, err := agekey.ReadIdentities(k.fs, path)
		if err != nil {
			return nil, err
		}
		list = append(list, ids...)
	}
	own, err := agekey.ReadIdentities(k.fs, k.ownPath())
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return nil, err
	}
	list = append(list, own...)
	if k.o.Passphrase != "" {
		_, id, err := agekey.Passphrase(k.o.Passphrase)
		if err != nil {
			return nil, err
		}
		list = append(list, id)
	}
	return list, nil
}

// Own returns the recipient of this home's own identity, which is made when
// there is none: of its two the one that can stand beside the others.
func (k *keys) Own(_ context.Context, others []agekey.Recipient) (agekey.Recipient, error) {
	if err := fsx.MkdirAll(k.fs, k.dir, 0o700); err != nil {
		return agekey.Recipient{}, &amber.Error{Op: "make identity", Kind: amber.KindOf(err), ID: k.dir, Err: err}
	}
	ids, err := agekey.Own(k.fs, k.ownPath())
	if err != nil {
		return agekey.Recipient{}, err
	}
	for _, id := range ids {
		r, ok := agekey.RecipientOf(id)
		if !ok {
			continue
		}
		texts := []string{r.Text}
		for _, o := range others {
			texts = append(texts, o.Text)
		}
		if _, err := agekey.ParseRecipients(texts); err == nil {
			return r, nil
		}
	}
	return agekey.Recipient{}, amber.Errorf(amber.KindRefused, "make identity", k.ownPath(), "none of this home's identities can stand beside the recipients")
}
