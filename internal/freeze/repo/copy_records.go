package repo

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// comparers is how many manifests are read at a time.
const comparers = 8

// compare reads the manifests of the source before anything is sent: those that
// the destination has too must be the same, and those that it has not must be
// such as may be sent.
func (c *copying) compare(ctx context.Context, records []target.Object) error {
	var names []string
	for _, o := range records {
		if agent, id, ok := placeOf(manifestPrefix, o.Name); ok && !c.deletedThere(agent, id) {
			names = append(names, o.Name)
		}
	}
	refused := 0
	err := forEach(ctx, comparers, names, func(ctx context.Context, name string) error {
		ours, err := readSmall(ctx, c.from, name)
		if amber.KindOf(err) == amber.KindNotFound {
			return nil // deleted meanwhile
		}
		if err != nil {
			return err
		}
		there, err := c.sameThere(ctx, name, ours)
		if err != nil {
			return err
		}
		sealed, err := sealedManifest(name, ours)
		if err != nil && c.o.RefusePlain && !there {
			return err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if err == nil && !sealed {
			c.report.Plain++
			if !there {
				refused++
			}
		}
		return nil
	})
	if err == nil && refused > 0 && c.o.RefusePlain {
		err = errPlain(fmt.Sprintf("%d snapshots are not encrypted", refused))
	}
	return err
}

// sameThere reports whether the destination has a manifest, which then must be
// the same.
func (c *copying) sameThere(ctx context.Context, name string, ours []byte) (bool, error) {
	c.mu.Lock()
	_, ok := c.there[name]
	c.mu.Unlock()
	if !ok {
		return false, nil
	}
	theirs, err := readSmall(ctx, c.to, name)
	switch {
	case amber.KindOf(err) == amber.KindNotFound: // deleted meanwhile
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.there, name)
		return false, nil
	case amber.KindOf(err) != amber.KindDamaged && err != nil:
		return false, err
	case !bytes.Equal(theirs, ours):
		return false, errOtherObject(name)
	}
	return true, nil
}

// sealedManifest reports whether a manifest is that of an encrypted snapshot. Errors:
// damaged; too_new.
func sealedManifest(name string, object []byte) (bool, error) {
	var m Manifest
	if _, err := unseal(object, manifestFormat, manifestVersion, &m); err != nil {
		return false, damaged("copy repository", name, err)
	}
	return m.Encrypted, nil
}

func errOtherObject(name string) error {
	return amber.Errorf(amber.KindConflict, "copy repository", name, "the destination has a different object of this name")
}

// deletedThere reports whether the destination has the stub of a snapshot.
func (c *copying) deletedThere(agent amber.AgentID, id amber.SnapshotID) bool {
	_, ok := c.there[recordName(stubPrefix, agent, id)]
	return ok
}

// records brings manifests, then the stubs of links that the destination does
// not have, then pins. Manifests that are there have been compared. Records
// never change: another one that is there and as long is not read again.
func (c *copying) records(ctx context.Context, list []target.Object) error {
	for _, o := range list {
		name := o.Name
		prefix := name[:strings.IndexByte(name, '/')+1]
		agent, id, ok := placeOf(prefix, name)
		if !ok {
			continue
		}
		switch prefix {
		case manifestPrefix:
			if c.deletedThere(agent, id) {
				continue // on purpose, over there
			}
		case stubPrefix:
			if _, kept := c.there[recordName(manifestPrefix, agent, id)]; kept {
				continue
			}
		}
		before := c.report.Objects
		if size, ok := c.there[name]; ok && size == o.Size {
			c.report.ObjectsPresent++
		} else if err := c.small(ctx, name); err != nil {
			return err
		}
		if prefix == manifestPrefix {
			c.report.Snapshots += c.report.Objects - before
			c.report.SnapshotsPresent += 1 - (c.report.Objects - before)
		}
	}
	return nil
}

// small brings a record. A record that is there already must be the same.
func (c *copying) small(ctx context.Context, name string) error {
	b, err := readSmall(ctx, c.from, name)
	if amber.KindOf(err) == amber.KindNotFound {
		return nil // deleted meanwhile
	}
	if err != nil {
		return err
	}
	if err := c.mayBring(name, b); err != nil {
		return err
	}
	created, err := c.to.Put(ctx, name, int64(len(b)), bytes.NewReader(b))
	if err != nil {
		return err
	}
	if !created {
		there, err := readSmall(ctx, c.to, name)
		if err != nil {
			return err
		}
		if !bytes.Equal(there, b) && !strings.HasPrefix(name, pinPrefix) {
			return errOtherObject(name)
		}
	}
	c.sent(created, int64(len(b)))
	return nil
}

// mayBring looks once more at what is sent: the source may have shown something
// else before.
func (c *copying) mayBring(name string, object []byte) error {
	if !c.o.RefusePlain || !strings.HasPrefix(name, manifestPrefix) {
		return nil
	}
	sealed, err := sealedManifest(name, object)
	if err == nil && !sealed {
		err = errPlain("a snapshot is not encrypted")
	}
	return err
}
