package openviking

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/store/openviking/api"
)

// Bounds of one batch, below those of the server.
const (
	batchFiles = 200
	batchBytes = 8 << 20
)

// outgoing is what a step sends.
type outgoing struct {
	folders map[string][]file
	files   int
	bytes   int
	// present are the names that stay, by memory; "" where none does.
	present map[amber.MemoryID]string
}

// file is a file on its way to the server.
type file struct {
	api.File
	id amber.MemoryID
}

// apply makes the server equal for some memories: first the present versions are written, then
// the others are deleted. A crash in between leaves both, and the older one is known by its name.
// It returns the memories whose other files are left to a feed with more time.
func (r *round) apply(ctx context.Context, c changed) (later []amber.MemoryID, err error) {
	out := outgoing{folders: map[string][]file{}, present: map[amber.MemoryID]string{}}
	for _, id := range c.ids {
		if err := r.take(ctx, id, &out); err != nil {
			return nil, err
		}
		if out.files >= batchFiles || out.bytes >= batchBytes {
			if err := r.flush(ctx, &out); err != nil {
				return nil, err
			}
		}
	}
	if err := r.flush(ctx, &out); err != nil {
		return nil, err
	}
	for _, id := range c.ids {
		keep, known := out.present[id]
		if !known || keep != "" && c.created[id] {
			continue // not to be touched, or there is no older version
		}
		err := r.clear(ctx, id, keep, c.counts[id], c.also[id]...)
		switch {
		case errors.Is(err, errSpent):
			later = append(later, id)
		case err != nil:
			return nil, err
		}
	}
	return later, nil
}

// take puts the file of a memory on its way.
func (r *round) take(ctx context.Context, id amber.MemoryID, out *outgoing) error {
	m, err := r.s.o.Primary.Memories.Get(ctx, id)
	switch amber.KindOf(err) {
	case "":
	case amber.KindNotFound:
		r.released(id)
		out.present[id] = ""
		return nil
	case amber.KindDamaged:
		r.quarantine(id, err)
		return nil
	default:
		return err
	}
	if !r.s.o.leaves(m.Scope) {
		r.report.Withheld++ // nor was it ever sent from this place
		return nil
	}
	r.add(out, r.file(&m))
	return nil
}

func (r *round) file(m *amber.Memory) file {
	body := bodyOf(m, r.s.o.Redact)
	return file{api.File{URI: r.uri(m, body), Content: body}, m.ID}
}

func (r *round) add(out *outgoing, f file) {
	folder := folderOf(f.URI)
	out.folders[folder] = append(out.folders[folder], f)
	out.files++
	out.bytes += weight(f.Content)
	out.present[f.id] = f.URI
}

// weight is the most that a text has as JSON.
func weight(s string) (n int) {
	for i := range len(s) {
		switch c := s[i]; {
		case c < 0x20, c == '<', c == '>', c == '&', c == 0x7f:
			n += 6
		case c == '"', c == '\\':
			n += 2
		default:
			n++
		}
	}
	return n
}

// flush writes what is on its way, folder by folder.
func (r *round) flush(ctx context.Context, out *outgoing) error {
	for _, folder := range slices.Sorted(maps.Keys(out.folders)) {
		if err := r.makeFolder(ctx, folder); err != nil {
			return err
		}
		for batch := range slices.Chunk(out.folders[folder], batchFiles) {
			if err := r.write(ctx, folder, batch); err != nil {
				return err
			}
		}
	}
	out.folders, out.files, out.bytes = map[string][]file{}, 0, 0
	return nil
}

// makeFolder makes a folder, and those above it where they are missing.
func (r *round) makeFolder(ctx context.Context, folder string) error {
	if r.s.files.made[folder] {
		return nil
	}
	mkdir := func(uri string) error {
		err := r.patient(ctx, func() error { return r.s.o.Server.Mkdir(ctx, uri) })
		if amber.KindOf(err) == amber.KindConflict {
			return nil // it is there
		}
		return err
	}
	err := mkdir(folder)
	if amber.KindOf(err) == amber.KindNotFound {
		root := r.root()
		for _, above := range []string{folderOf(root), root, folderOf(folder), folder} {
			if err = mkdir(above); err != nil {
				break
			}
		}
	}
	if r.server(err) != nil {
		return err
	}
	r.s.files.make(folder)
	return nil
}

// write writes files of one folder. Where the server refuses one of them as invalid, halves are
// tried until it is known which, and that one is put into quarantine.
func (r *round) write(ctx context.Context, folder string, batch []file) error {
	files := make([]api.File, len(batch))
	for i, f := range batch {
		files[i] = f.File
	}
	err := r.patient(ctx, func() error {
		_, err := r.s.o.Server.WriteBatch(ctx, folder, files, false)
		return err
	})
	switch {
	case err == nil:
		r.wrote(batch)
		return nil
	case r.s.o.NoVector(err):
		r.wrote(batch)
		for _, f := range batch {
			r.notes.unindexed(f.URI)
		}
		return nil
	case amber.KindOf(err) == amber.KindNotFound && r.s.files.made[folder]:
		delete(r.s.files.made, folder) // somebody deleted it
		if err := r.makeFolder(ctx, folder); err != nil {
			return err
		}
		delete(r.s.files.made, folder) // once
		return r.write(ctx, folder, batch)
	case amber.KindOf(err) != amber.KindInvalid:
		return r.server(err)
	case len(batch) == 1:
		r.quarantine(batch[0].id, err)
		return nil
	}
	half := len(batch) / 2
	if err := r.write(ctx, folder, batch[:half]); err != nil {
		return err
	}
	return r.write(ctx, folder, batch[half:])
}

// wrote notes files that were written.
func (r *round) wrote(batch []file) {
	r.report.Written += len(batch)
	for _, f := range batch {
		r.s.files.add(f.id, f.URI)
		r.released(f.id)
	}
	r.notes.uncheckedSince(r.now())
	r.dirty = true
}

func (r *round) quarantine(id amber.MemoryID, err error) {
	reason := err
	if e, ok := errors.AsType[*amber.Error](err); ok && e.Err != nil {
		reason = e.Err // without the name of the file
	}
	r.notes.quarantine(id, reason.Error())
	r.report.Quarantined++
	r.dirty = true
}

func (r *round) released(id amber.MemoryID) {
	if r.notes.release(id) {
		r.dirty = true
	}
}
