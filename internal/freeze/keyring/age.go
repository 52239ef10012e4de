package keyring

import (
	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// IdentityFile is the path of the home's own age identities.
func (r *Ring) IdentityFile() string { return r.path(AgeIdentityFile) }

// SeedFile is the path of the seed of the key that signs.
func (r *Ring) SeedFile() string { return r.path(SeedFile) }

// Identities returns the age identities of files, then those of the home, if it
// has some. Errors: not_found for a file; refused when others may read it;
// invalid.
func (r *Ring) Identities(files []string) ([]age.Identity, error) {
	var all []age.Identity
	for _, file := range files {
		ids, err := agekey.ReadIdentities(r.o.FS, file)
		if err != nil {
			return nil, err
		}
		all = append(all, ids...)
	}
	own, err := agekey.ReadIdentities(r.o.FS, r.IdentityFile())
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return nil, err
	}
	return append(all, own...), nil
}

// OwnRecipients returns what others encrypt to so that the home can read it;
// nothing when it has no identity yet.
func (r *Ring) OwnRecipients() ([]string, error) {
	texts := []string{}
	ids, err := r.Identities(nil)
	for _, id := range ids {
		if own, ok := agekey.RecipientOf(id); ok {
			texts = append(texts, own.Text)
		}
	}
	return texts, err
}

// OwnRecipient returns a recipient of the home's own identities that may stand
// beside the others, and makes the identities when there are none. Errors: refused
// when age lets none of them stand beside the others.
func (r *Ring) OwnRecipient(others []agekey.Recipient) (agekey.Recipient, error) {
	const op = "make identity"
	if err := fsx.MkdirAll(r.o.FS, r.dir, 0o700); err != nil {
		return agekey.Recipient{}, &amber.Error{Op: op, Kind: amber.KindOf(err), ID: r.dir, Err: err}
	}
	ids, err := agekey.Own(r.o.FS, r.IdentityFile())
	if err != nil {
		return agekey.Recipient{}, err
	}
	texts := make([]string, 1, len(others)+1)
	for _, o := range others {
		texts = append(texts, o.Text)
	}
	for _, id := range ids {
		own, ok := agekey.RecipientOf(id)
		if !ok {
			continue
		}
		texts[0] = own.Text
		if _, err := agekey.ParseRecipients(texts); err == nil {
			return own, nil
		}
	}
	return agekey.Recipient{}, amber.Errorf(amber.KindRefused, op, r.IdentityFile(),
		"age cannot combine this home's identities with the other recipients: post-quantum recipients stand alone")
}

// EncryptTo returns the named recipients and the home itself, which could not read
// what it wrote otherwise; nil without names. Errors: invalid; those of
// [Ring.OwnRecipient].
func (r *Ring) EncryptTo(texts []string) ([]age.Recipient, error) {
	named, err := agekey.ParseRecipients(texts)
	if err != nil || len(named) == 0 {
		return nil, err
	}
	own, err := r.OwnRecipient(named)
	if err != nil {
		return nil, err
	}
	all, err := agekey.ParseRecipients(append([]string{own.Text}, texts...))
	return agekey.Ages(all), err
}
