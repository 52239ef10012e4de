package openviking

import (
	"context"
	"errors"
	"slices"

	"github.com/amber-memory/amber"
)

// files is what a feeder knows of the server's files. It holds as long as no other feeder moves
// the cursor.
type files struct {
	fence int64                       // of the cursor at the time
	made  bool                        // the folder of the agent
	names map[amber.MemoryID][]string // nil: not listed
	// comparing says that the names are needed for a comparison that is not at its end.
	comparing bool
}

func (f *files) add(id amber.MemoryID, uri string) {
	if f.names != nil && !slices.Contains(f.names[id], uri) {
		f.names[id] = append(f.names[id], uri)
	}
}

func (f *files) drop(id amber.MemoryID, uri string) {
	if f.names == nil {
		return
	}
	f.names[id] = slices.DeleteFunc(f.names[id], func(u string) bool { return u == uri })
	if len(f.names[id]) == 0 {
		delete(f.names, id)
	}
}

// keptNames is how many memories' names are kept from round to round.
const keptNames = 20_000

// forgetMany lets go of names that take much memory. They can be listed again, but for a
// comparison that would take longer each time.
func (f *files) forgetMany() {
	if len(f.names) > keptNames && !f.comparing {
		f.names = nil
	}
}

// list reads the names of all files, unless they are known. With a short budget a tree that is
// too large for it is left to a longer one.
func (r *round) list(ctx context.Context) error {
	if r.s.files.names != nil {
		return nil
	}
	if r.notes.Large && r.budget.short() {
		return errSpent
	}
	names := map[amber.MemoryID][]string{}
	err := r.patient(ctx, func() error {
		clear(names)
		return r.s.o.Server.List(ctx, r.root(), func(uri string) error {
			if n, ok := r.parse(uri); ok && !slices.Contains(names[n.id], uri) {
				names[n.id] = append(names[n.id], uri)
			}
			if r.budget.short() && r.spent() {
				r.notes.Large, r.dirty = true, true
				return errSpent
			}
			return nil
		})
	})
	if r.notes.Large && r.budget.short() {
		return errSpent
	}
	if err != nil && amber.KindOf(err) != amber.KindNotFound {
		return r.server(err)
	}
	r.s.files.names = names
	if r.notes.Large {
		r.notes.Large, r.dirty = false, true
	}
	return nil
}

// errBusy says that a file is busy: the server makes its vector, for which it needs its embedder.
var errBusy = errors.New("the file is busy")

// clear deletes the files of a memory but the one to keep. Changes is how often it changed since
// the cursor; also are names that were seen. It returns errBusy if one of them stays.
func (r *round) clear(ctx context.Context, id amber.MemoryID, keep string, changes int, also ...string) error {
	old, err := r.older(ctx, id, changes)
	if err != nil {
		return err
	}
	busy := false
	for _, uri := range union(old, also) {
		if uri == keep {
			continue
		}
		err := r.patient(ctx, func() error { return r.s.o.Server.Delete(ctx, uri, false) })
		switch amber.KindOf(err) {
		case "", amber.KindNotFound:
			r.s.files.drop(id, uri)
			r.report.Deleted++
		case amber.KindBusy:
			busy = true
		default:
			return r.server(err)
		}
	}
	if busy {
		return errBusy
	}
	return nil
}

// moreRevisions is how many revisions older looks at beyond those in the change log.
const moreRevisions = 3

// older returns the names that a memory can have on the server: those that were listed, or else
// those of the revisions since the cursor and some before. A memory that was erased has no
// revisions, so its files are found by listing.
func (r *round) older(ctx context.Context, id amber.MemoryID, changes int) ([]string, error) {
	if r.s.files.names == nil {
		names, err := r.s.namesOf(ctx, r.layout, id, changes+moreRevisions)
		if err != nil || len(names) > 0 {
			return names, err
		}
		if err := r.list(ctx); err != nil {
			return nil, err
		}
	}
	return slices.Clone(r.s.files.names[id]), nil
}

// namesOf returns the names of the last revisions of a memory; none where it has none with text.
func (s *Store) namesOf(ctx context.Context, l layout, id amber.MemoryID, limit int) (names []string, err error) {
	history, err := amber.All(ctx, s.o.Primary.Memories.History, id)
	if kind := amber.KindOf(err); kind == amber.KindNotFound || kind == amber.KindDamaged {
		return nil, nil
	}
	for _, m := range slices.Backward(history) {
		if m.Content == "" || !m.DeletedAt.IsZero() && len(history) == 1 {
			continue
		}
		if uri := l.uri(&m, bodyOf(&m, s.o.Redact)); !slices.Contains(names, uri) {
			names = append(names, uri)
		}
		if len(names) >= limit {
			break
		}
	}
	return names, err
}
