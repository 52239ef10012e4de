package repo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/internal/freeze/target"
)

// Names of lists of condemned packs:
//
//	condemned/<digest of the body>.json
const (
	condemnedPrefix  = "condemned/"
	condemnedFormat  = "amber-condemned"
	condemnedVersion = 1
	// maxCondemned is how many packs a list has, so that it stays a record.
	maxCondemned = 8000
)

// condemnedList is a list of packs that no new snapshot may rely on.
type condemnedList struct {
	Format  string          `json:"format"`
	Version int             `json:"version"`
	Packs   []condemnedPack `json:"packs"` // in the order of their ids
}

type condemnedPack struct {
	Pack ID         `json:"pack"`
	At   amber.Time `json:"at"`
}

func (l *condemnedList) check() error {
	if len(l.Packs) < 1 || len(l.Packs) > maxCondemned {
		return fmt.Errorf("the list has %d packs, too many", len(l.Packs))
	}
	for i, p := range l.Packs {
		if i > 0 && l.Packs[i-1].Pack.Compare(p.Pack) >= 0 {
			return errors.New("the packs are not sorted")
		}
		if err := envelope.CheckTime("at", p.At); err != nil {
			return err
		}
	}
	return nil
}

func condemnedName(digest string) string { return condemnedPrefix + digest + recordSuffix }

// condemnation is what all lists on a target say together.
type condemnation struct {
	packs   map[ID]amber.Time // the latest time any list tells
	objects []string          // the lists
	damaged []error           // those of them that cannot be read
}

// Condemned returns the packs that gc is about to delete, or has just deleted.
// No new snapshot may rely on a blob in them, and no writer may store one of
// them again: see [Writer.Avoid]. A list that is damaged counts as absent: it
// can always be made again. Errors: too_new; those of the target.
func (r *Repo) Condemned(ctx context.Context) (map[ID]bool, error) {
	c, err := readCondemned(ctx, r.target)
	if err != nil {
		return nil, err
	}
	packs := make(map[ID]bool, len(c.packs))
	for id := range c.packs {
		packs[id] = true
	}
	return packs, nil
}

// readCondemned reads all lists. A list that goes meanwhile was replaced by another one, and then readCondemned begins
// again.
func readCondemned(ctx context.Context, t target.Target) (condemnation, error) {
	for range maxTries {
		c, err := tryCondemned(ctx, t)
		if amber.KindOf(err) != amber.KindNotFound {
			return c, err
		}
	}
	return condemnation{}, amber.Errorf(amber.KindBusy, "read condemned packs", "", "other processes keep changing the lists of condemned packs")
}

// maxTries is how often something is read that is replaced meanwhile.
const maxTries = 10

func tryCondemned(ctx context.Context, t target.Target) (condemnation, error) {
	c := condemnation{packs: map[ID]amber.Time{}}
	err := t.List(ctx, condemnedPrefix, func(o target.Object) error {
		if _, err := condemnedDigest(o.Name); err == nil {
			c.objects = append(c.objects, o.Name)
		}
		return nil
	})
	if err != nil {
		return c, fmt.Errorf("list condemned packs: %w", err)
	}
	for _, name := range c.objects {
		l, err := readCondemnedList(ctx, t, name)
		if amber.KindOf(err) == amber.KindDamaged {
			c.damaged = append(c.damaged, err)
			continue
		}
		if err != nil {
			return c, err
		}
		for _, p := range l.Packs {
			if c.packs[p.Pack].Before(p.At) {
				c.packs[p.Pack] = p.At
			}
		}
	}
	return c, nil
}

// condemnedDigest reads the name of a list.
func condemnedDigest(name string) (string, error) {
	digest := strings.TrimSuffix(strings.TrimPrefix(name, condemnedPrefix), recordSuffix)
	if _, err := ParseID(digest); err != nil || condemnedName(digest) != name {
		return "", errors.New("the name is not that of a list of condemned packs")
	}
	return digest, nil
}

func readCondemnedList(ctx context.Context, t target.Target, name string) (condemnedList, error) {
	var l condemnedList
	digest, err := readRecord(ctx, t, name, condemnedFormat, condemnedVersion, &l)
	if err == nil && condemnedName(digest) != name {
		err = damaged("read object", name, errors.New("the body does not match the name"))
	}
	return l, err
}

// replace writes what the lists are to say, and removes those that were read.
func (c *condemnation) replace(ctx context.Context, t target.Target, packs map[ID]amber.Time) error {
	ids := slices.SortedFunc(maps.Keys(packs), ID.Compare)
	fresh := map[string]bool{}
	for chunk := range slices.Chunk(ids, maxCondemned) {
		l := &condemnedList{Format: condemnedFormat, Version: condemnedVersion}
		for _, id := range chunk {
			l.Packs = append(l.Packs, condemnedPack{id, packs[id]})
		}
		name, err := putCondemned(ctx, t, l)
		if err != nil {
			return err
		}
		fresh[name] = true
	}
	for _, name := range c.objects {
		if fresh[name] {
			continue
		}
		if err := t.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// putCondemned stores a list. In place of one whose bytes do not match its name
// it puts the right one.
func putCondemned(ctx context.Context, t target.Target, l *condemnedList) (name string, err error) {
	object, digest, err := seal("condemn packs", "", l)
	if err != nil {
		return "", err
	}
	name = condemnedName(digest)
	return name, putRecord(ctx, t, name, object, func() (bool, error) {
		_, err := readCondemnedList(ctx, t, name)
		return err == nil, err
	})
}
