package colony

import (
	"cmp"
	"context"
	"fmt"

	"github.com/amber-memory/amber"
)

// seen returns what was seen of the label before.
func (v *Vault) seen(ctx context.Context) (Sighting, error) {
	if v.o.Witness == nil {
		return Sighting{}, nil
	}
	s, err := v.o.Witness.Seen(ctx)
	s.Counter = counted(s.Counter)
	return s, err
}

// see remembers a snapshot unless a later one was seen by now, and never makes
// the count go back. It returns a warning: what was done is done.
func (v *Vault) see(ctx context.Context, s Sighting) (warning string) {
	return v.remember(ctx, func(before Sighting) Sighting { return raised(before, s) })
}

// raised is what was seen, given what was seen before and what is now.
func raised(before, s Sighting) Sighting {
	before.Counter = counted(before.Counter)
	if s.ID < before.ID {
		return before
	}
	// A client that does not count does not make the count begin anew.
	s.Counter = max(counted(s.Counter), before.Counter)
	if before.Writing > s.ID {
		s.Writing = before.Writing
	}
	if s.ID != before.ID {
		return s
	}
	s.Documents = cmp.Or(s.Documents, before.Documents)
	s.Recipients = cmp.Or(s.Recipients, before.Recipients)
	return s
}

// lowered returns what was seen when from, which was as new as that, is removed
// and to is the newest then.
func lowered(from SnapshotID, to Sighting) func(Sighting) Sighting {
	return func(before Sighting) Sighting {
		if before.ID == "" || before.ID > from || to.ID >= before.ID {
			return before
		}
		after := to
		after.Counter = counted(to.Counter)
		if before.Writing != from {
			after.Writing = before.Writing
		}
		return after
	}
}

func (v *Vault) remember(ctx context.Context, change func(Sighting) Sighting) (warning string) {
	if v.o.Witness == nil {
		return ""
	}
	if err := v.o.Witness.Update(ctx, change); err != nil {
		return fmt.Sprintf("the snapshot could not be noted as seen: %v", err)
	}
	return ""
}

// sighting is of a snapshot whose documents are not known otherwise.
func sighting(i Info) Sighting {
	s := Sighting{ID: i.ID, Counter: i.Counter}
	if !i.Encrypted {
		s.Documents = i.PlaintextSHA256
	}
	return s
}

// rolledBack says why a snapshot cannot be the newest, given what was seen; ""
// when it may be. A client that does not count is not held to the count.
func rolledBack(i Info, documents string, seen Sighting) string {
	switch {
	case seen.ID == "":
		return ""
	case i.ID < seen.ID:
		return fmt.Sprintf("the snapshot is older than %s, which was seen before", seen.ID)
	case i.ID == seen.ID && seen.Documents != "" && documents != seen.Documents:
		return "other documents were seen under the same id"
	case i.ID > seen.ID && i.Counter > 0 && i.Counter < seen.Counter && i.Parent < seen.ID:
		return fmt.Sprintf("the snapshot has number %d after %s, but %s, which was seen before, has number %d", i.Counter, i.Parent, seen.ID, seen.Counter)
	}
	return ""
}

// absent is the error for a label of which there is nothing.
func (v *Vault) absent(seen Sighting) error {
	if seen.ID == "" {
		return amber.Errorf(amber.KindNotFound, "find snapshot", "", "the label has no snapshot")
	}
	return amber.Errorf(amber.KindUntrusted, "find snapshot", "",
		"the label has no files, and %s was seen before", seen.ID).WithHint("amber vault backup, if the vault was emptied on purpose")
}
