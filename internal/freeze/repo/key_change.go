package repo

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// InitKey makes a repository encrypted: from now on everything that is put is sealed with a key made from random, which
// the recipients can open. Blobs that are there already stay as they are. Errors: invalid for recipients that cannot
// stand together; conflict when there is a key; damaged when there was one; those of random and of the target.
func (r *Repo) InitKey(ctx context.Context, recipients []agekey.Recipient, random io.Reader, now amber.Time) error {
	const op = "encrypt repository"
	c, err := r.reloadKeys(ctx)
	switch {
	case err != nil:
		return err
	case c.damage != nil:
		return c.closed
	case c.serial != 0:
		return amber.Errorf(amber.KindConflict, op, "", "the repository is encrypted already")
	}
	k, err := randomKey(random, now)
	if err != nil {
		return err
	}
	id := make([]byte, repositoryIDBytes)
	if _, err := io.ReadFull(random, id); err != nil {
		return fmt.Errorf("make repository id: %w", err)
	}
	record := &keyRecord{Repository: hex.EncodeToString(id), Serial: 1, CreatedAt: now}
	return r.putKeys(ctx, op, record, recipients, []*key{k})
}

// SetRecipients says who can open the repository from now on; only they can. With rotate there is a new key, made from
// random, for everything that is put after this. Without rotate, a recipient that is left out and has kept the key can
// read that too, if it gets at the target. In both cases it can read what was put before. SetRecipients changes what
// Open, Reload or Recipients has read last: when another process has changed that meanwhile, the error is conflict.
// Other errors: invalid; not_found when the repository is not encrypted; refused when it is locked; quota for too many
// keys; those of random and of the target. When an older record could not be removed the change is made nevertheless,
// and the next one removes it.
func (r *Repo) SetRecipients(ctx context.Context, recipients []agekey.Recipient, rotate bool, random io.Reader, now amber.Time) error {
	const op = "change recipients"
	c := r.keys()
	switch {
	case c.closed != nil:
		return damaged(op, "", c.closed)
	case c.serial == 0:
		return amber.Errorf(amber.KindNotFound, op, "", "the repository is not encrypted")
	case c.serial == maxKeySerial || rotate && len(c.ordered) == maxKeys:
		return amber.Errorf(amber.KindQuota, op, "", "the recipients were changed too often")
	}
	keys := slices.Clone(c.ordered)
	if rotate {
		k, err := randomKey(random, now)
		if err != nil {
			return err
		}
		keys = append(keys, k)
	}
	return r.putKeys(ctx, op, &keyRecord{Repository: c.repository, Serial: c.serial + 1, CreatedAt: now}, recipients, keys)
}

func randomKey(random io.Reader, now amber.Time) (*key, error) {
	var s secret
	if _, err := io.ReadFull(random, s[:]); err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	return newKey(s, now), nil
}

// putKeys fills in a key record and writes it, removes those before it and
// reads the keys again.
func (r *Repo) putKeys(ctx context.Context, op string, record *keyRecord, recipients []agekey.Recipient, keys []*key) error {
	object, err := r.sealKeys(ctx, op, record, recipients, keys)
	if err != nil {
		return err
	}
	serial := record.Serial
	name := keyRecordName(serial)
	created, err := r.target.Put(ctx, name, int64(len(object)), bytes.NewReader(object))
	if err == nil && !created || amber.KindOf(err) == amber.KindDamaged {
		return errRecipientsChanged(op)
	}
	if err != nil {
		return err
	}
	if err := r.confirmKeys(ctx, op, serial, object); err != nil {
		return err
	}
	if _, err := r.reloadKeys(ctx); err != nil {
		return err
	}
	return removeKeysBefore(ctx, r.target, serial)
}

// sealKeys fills in a key record, of which repository, serial and time are
// given, and returns it as an object.
func (r *Repo) sealKeys(ctx context.Context, op string, record *keyRecord, recipients []agekey.Recipient, keys []*key) ([]byte, error) {
	record.Format, record.Version, record.Current = keyFormat, keyVersion, keys[len(keys)-1].name()
	for _, k := range keys {
		record.Keys = append(record.Keys, k.name())
	}
	for _, p := range recipients {
		record.Recipients = append(record.Recipients, p.Text)
	}
	if r.signer != nil {
		record.Signer = r.signer.KeyID()
	}
	err := checkRecipients(record.Recipients)
	if err == nil {
		record.Box, err = boxOf(record, keys).encrypt(agekey.Ages(recipients))
	}
	if err != nil {
		return nil, amber.Errorf(amber.KindInvalid, op, "", "%w", err)
	}
	object, _, err := sealWith(ctx, op, keyRecordName(record.Serial), record, r.signer)
	return object, err
}

// confirmKeys reads a record that was just written, before those go that it
// replaces, and takes it away again when there is a newer one: then others have
// made two changes meanwhile, and removed the record that would have been in the
// way.
func (r *Repo) confirmKeys(ctx context.Context, op string, serial int64, object []byte) error {
	name := keyRecordName(serial)
	there, err := readSmall(ctx, r.target, name)
	if err == nil && !bytes.Equal(there, object) {
		err = damaged(op, name, errors.New("the record read back is not the one written"))
	}
	if amber.KindOf(err) != amber.KindNotFound && err != nil {
		return err
	}
	serials, lerr := keySerials(ctx, r.target)
	switch {
	case lerr != nil:
		return lerr
	case err == nil && slices.Max(append(serials, 0)) == serial:
		return nil
	}
	if err := r.target.Delete(ctx, name); err != nil {
		return err
	}
	return errRecipientsChanged(op)
}

func errRecipientsChanged(op string) error {
	return amber.Errorf(amber.KindConflict, op, "", "another process has changed the recipients").WithHint("try again")
}

// removeKeysBefore removes older key records, also those that another process has left.
func removeKeysBefore(ctx context.Context, t target.Target, serial int64) error {
	serials, err := keySerials(ctx, t)
	if err != nil {
		return err
	}
	for _, old := range serials {
		if old >= serial {
			break
		}
		if err := t.Delete(ctx, keyRecordName(old)); err != nil {
			return fmt.Errorf("remove old key record: %w", err)
		}
	}
	return nil
}
