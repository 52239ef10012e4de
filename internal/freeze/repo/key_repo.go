package repo

import (
	"context"
	"errors"
	"slices"

	"github.com/amber-memory/amber"
)

// The hints of errors about keys.
const (
	hintIdentity = "amber … --identity FILE"
	hintCheck    = "amber snapshot check"
)

// Locked reports whether the repository is encrypted and its keys are not
// known: no identity opens them, or their record is damaged or lost. Whatever
// needs the contents of encrypted blobs answers refused then, or damaged, and
// nothing can be put. Names, sizes, chains and stored bytes can be looked at,
// and what is not encrypted can be read.
func (r *Repo) Locked() bool { return r.keys().closed != nil }

// KeyID names the key that everything new is sealed with, also when the
// repository is locked: 16 hexadecimal digits. It is "" when the repository is
// not encrypted, and when it is locked because its key record cannot be read.
func (r *Repo) KeyID() string { return r.keys().name }

// KeySerial returns the number of the key record, from 1; 0 without one. The
// number only grows: a smaller one than was seen before is an old record.
func (r *Repo) KeySerial() int64 { return r.keys().serial }

// RepositoryID returns the id by which the repository differs from all others, 32 hexadecimal digits: its key record
// says so, and every later one. It is "" when the repository is not encrypted, and when its key record cannot be read.
// The id of a locked repository was not compared with the one in its encrypted box.
func (r *Repo) RepositoryID() string { return r.keys().repository }

// KeySignature says who has signed the key record. One whose signature does not match is damaged. Any person who can
// write to the target can make a record that the recipients can open: whether its signer is to be trusted is up to the
// caller.
func (r *Repo) KeySignature() SignatureState { return r.keys().signature }

// HasKey reports whether the key record holds a key, as [Manifest.Key] names it. A repository whose record does not
// hold the key of its last snapshot was given another person's record.
func (r *Repo) HasKey(name string) bool { return slices.Contains(r.keys().names, name) }

// BlobID returns the id that a blob of any kind but pages has when it is put
// now; the zero ID when the repository is locked.
func (r *Repo) BlobID(kind Kind, plain []byte) ID {
	if c := r.keys(); c.closed == nil {
		return c.current.blobID(kind, plain)
	}
	return ID{}
}

// loadCodec reads the newest key record. A record that cannot be opened or read is no error. Sealed says that some
// object is encrypted: then there must be a key record.
func (r *Repo) loadCodec(ctx context.Context, sealed bool) (*codec, error) {
	for range maxTries {
		serials, err := keySerials(ctx, r.target)
		if err != nil {
			return nil, err
		}
		if len(serials) == 0 {
			return r.withoutKeys(sealed), nil
		}
		serial := serials[len(serials)-1]
		if old := r.keys(); old != nil && old.serial == serial && old.damage == nil {
			return old, nil
		}
		record, err := readKeyRecord(ctx, r.target, serial)
		switch {
		case amber.KindOf(err) == amber.KindNotFound:
			continue // a newer one has replaced it
		case amber.KindOf(err) == amber.KindDamaged:
			return r.damagedKeys(serial, err), nil
		case err != nil:
			return nil, err
		}
		return r.openKeys(record)
	}
	return nil, amber.Errorf(amber.KindBusy, "read key records", "", "other processes keep changing the key records")
}

// withoutKeys is the codec of a repository without a key record.
func (r *Repo) withoutKeys(sealed bool) *codec {
	c := &codec{random: r.random}
	if sealed {
		// It would be taken for one that is not encrypted.
		err := &amber.Error{
			Op: "open repository", Kind: amber.KindDamaged, ID: keyPrefix,
			Err: errors.New("the repository has encrypted blobs but no key record"), Hint: hintCheck,
		}
		problem := problemOf(keyPrefix, ID{}, err)
		c.closed, c.damage = err, &problem
	}
	return c
}

// damagedKeys is the codec of a repository whose newest key record is damaged.
// An older one does not count: who may read what would be another question.
func (r *Repo) damagedKeys(serial int64, err error) *codec {
	problem := problemOf(keyRecordName(serial), ID{}, err)
	return &codec{serial: serial, closed: err, damage: &problem, random: r.random}
}

// openKeys is the codec of a repository with a key record. Errors: too_new.
func (r *Repo) openKeys(record *storedKeys) (*codec, error) {
	c := &codec{
		name: record.Current, serial: record.Serial, repository: record.Repository,
		names: record.Keys, recipients: record.Recipients, signature: record.signature,
		keys: map[keyID]*key{}, random: r.random,
	}
	keys, err := record.open(r.identities)
	switch {
	case errors.Is(err, errNoIdentity):
		c.closed = errLocked()
		return c, nil
	case amber.KindOf(err) == amber.KindTooNew:
		return nil, err
	case err != nil:
		return r.damagedKeys(record.Serial, damaged("open repository", keyRecordName(record.Serial), err)), nil
	}
	c.ordered = keys
	c.current = keys[len(keys)-1]
	for _, k := range keys {
		c.keys[k.id] = k
	}
	return c, nil
}

func errLocked() error {
	return amber.Errorf(amber.KindRefused, "open repository", "", "no identity opens the repository key").WithHint(hintIdentity)
}

func errKeyChanged(op, id string) error {
	return amber.Errorf(amber.KindConflict, op, id, "the repository key was changed by another process").WithHint("try again")
}

// sameKeys lists the key records again, and returns an error of kind conflict
// when the newest is not the one that was read: what is written now would be
// sealed with a key that counts no more, or not at all. It takes nothing from
// another record, which its caller has not looked at.
func (r *Repo) sameKeys(ctx context.Context, op, id string) error {
	serials, err := keySerials(ctx, r.target)
	if err != nil {
		return err
	}
	if slices.Max(append(serials, 0)) == r.keys().serial {
		return nil
	}
	return amber.Errorf(amber.KindConflict, op, id, "the repository key was changed by another process").WithHint("try again")
}

// mayPublish says why a snapshot cannot be one of this repository: what is
// published is sealed with its key, when it has one.
func (r *Repo) mayPublish(ctx context.Context, op string, m *Manifest) error {
	if err := r.sameKeys(ctx, op, string(m.ID)); err != nil {
		return err
	}
	c := r.keys()
	switch {
	case c.damage != nil:
		return damaged(op, string(m.ID), c.closed)
	case m.Key != c.name:
		return errKeyChanged(op, string(m.ID))
	}
	return nil
}

// reloadKeys reads the keys again.
func (r *Repo) reloadKeys(ctx context.Context) (*codec, error) {
	r.mu.RLock()
	sealed := r.index.sealed
	r.mu.RUnlock()
	c, err := r.loadCodec(ctx, sealed)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.setKeys(c)
	return r.codec, nil
}

// setKeys takes what was read of the keys, unless another goroutine has read a newer record meanwhile. The caller holds
// mu.
func (r *Repo) setKeys(c *codec) {
	if r.codec == nil || c.damage != nil || c.serial >= r.codec.serial {
		r.codec = c
	}
}

// Recipients reads who can open the repository: public keys as they were given,
// none when it is not encrypted. It needs no identity. Errors: damaged and
// too_new for a key record that cannot be read; those of the target.
func (r *Repo) Recipients(ctx context.Context) ([]string, error) {
	c, err := r.reloadKeys(ctx)
	switch {
	case err != nil:
		return nil, err
	case c.damage != nil:
		return nil, c.closed
	}
	return slices.Clone(c.recipients), nil
}
