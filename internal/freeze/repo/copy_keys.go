package repo

import (
	"bytes"
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"

	"github.com/amber-memory/amber"
)

// keys brings the newest key record. Any person who writes to a target can make up the names of keys in a record, so
// keys removes nothing because of those names.
func (c *copying) keys(ctx context.Context) error {
	ours, err := newestKeys(ctx, c.from)
	if err != nil {
		return err
	}
	theirs, err := newestKeys(ctx, c.to)
	switch {
	case err != nil:
		return err
	case ours == nil && theirs == nil:
		return nil
	case ours == nil:
		return errOtherKey("the destination is encrypted, and the source is not")
	case theirs == nil:
		return c.bringKeys(ctx, ours)
	case ours.Repository != theirs.Repository:
		return errOtherKey("the destination is another repository")
	case ours.Serial > theirs.Serial:
		return c.replaceKeys(ctx, ours, theirs)
	case !theirs.names(ours.keyRecord):
		return errOtherKey("the destination is encrypted with another key")
	case bytes.Equal(ours.object, theirs.object):
		return c.removeOlder(ctx, ours)
	}
	return nil
}

// bringKeys puts the record of the source there, the very bytes that were
// looked at, and reads it back.
func (c *copying) bringKeys(ctx context.Context, ours *storedKeys) error {
	if c.o.Accept != nil {
		if err := c.o.Accept(ours.signature); err != nil {
			return err
		}
	}
	name := keyRecordName(ours.Serial)
	created, err := c.to.Put(ctx, name, int64(len(ours.object)), bytes.NewReader(ours.object))
	if err != nil {
		return err
	}
	there, err := readSmall(ctx, c.to, name)
	if err != nil {
		return err
	}
	if !bytes.Equal(there, ours.object) {
		return amber.Errorf(amber.KindConflict, "copy repository", name, "the destination has a different key record of this name")
	}
	c.sent(created, int64(len(ours.object)))
	return nil
}

// replaceKeys puts the record of the source in the place of an older one.
func (c *copying) replaceKeys(ctx context.Context, ours, theirs *storedKeys) error {
	keys, err := ours.open(c.o.Identities)
	if err != nil {
		return errOtherKey(fmt.Sprintf("the source has a newer key record, and it cannot be told whether it holds the keys of the destination: %v", err))
	}
	if err := c.replaces(keys, theirs.keyRecord); err != nil {
		return errOtherKey(fmt.Sprintf("the newer key record of the source cannot take the place of the one at the destination: %v", err))
	}
	if err := c.bringKeys(ctx, ours); err != nil {
		return err
	}
	return c.removeOlder(ctx, ours)
}

// replaces opens a record and says why keys are not all of its keys: the same
// secrets, not the same names.
func (c *copying) replaces(keys []*key, older *keyRecord) error {
	old, err := older.open(c.o.Identities)
	if err != nil {
		return fmt.Errorf("the key record cannot be read: %w", err)
	}
	for _, k := range old {
		if !slices.ContainsFunc(keys, func(n *key) bool { return subtle.ConstantTimeCompare(n.master[:], k.master[:]) == 1 }) {
			return errors.New("the record does not hold all keys of the older one")
		}
	}
	return nil
}

// removeOlder removes the records before one that both ends have: a removed
// recipient must not find an older record at the destination. Those stay that hold
// what the newer one may not hold, and those that may not be removed.
func (c *copying) removeOlder(ctx context.Context, newest *storedKeys) error {
	serials, err := keySerials(ctx, c.to)
	if err != nil || len(serials) == 0 || serials[0] >= newest.Serial {
		return err
	}
	keys, locked := newest.open(c.o.Identities)
	for _, serial := range serials {
		if serial >= newest.Serial {
			break
		}
		removed, err := c.removeKeys(ctx, serial, keys, locked)
		if err != nil {
			return err
		}
		if !removed {
			c.report.NotRemoved = append(c.report.NotRemoved, keyRecordName(serial))
		}
	}
	return nil
}

// removeKeys removes one record if keys are all that it holds; locked says why
// that is not known.
func (c *copying) removeKeys(ctx context.Context, serial int64, keys []*key, locked error) (removed bool, err error) {
	if locked != nil {
		return false, nil
	}
	old, err := readKeyRecord(ctx, c.to, serial)
	switch {
	case amber.KindOf(err) == amber.KindNotFound:
		return true, nil // another process has removed the record already
	case err != nil && isProblem(err):
		return false, nil
	case err != nil:
		return false, err
	case c.replaces(keys, old.keyRecord) != nil:
		return false, nil
	}
	err = c.to.Delete(ctx, keyRecordName(serial))
	switch {
	case amber.KindOf(err) == amber.KindRefused:
		return false, nil
	case err != nil:
		return false, fmt.Errorf("remove old key record: %w", err)
	}
	return true, nil
}

func errOtherKey(why string) error {
	return amber.Errorf(amber.KindConflict, "copy repository", "", "%s", why)
}
