package openviking

import (
	"context"
	"errors"
	"slices"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/openviking/api"
)

// Bounds of one batch, below those of the server.
const (
	batchFiles = 200
	batchBytes = 8 << 20
)

// outgoing is what a step sends.
type outgoing struct {
	files []file
	bytes int
	// present are the names that stay, by memory; "" where none does.
	present map[amber.MemoryID]string
}

// full reports whether there is enough for a batch.
func (o *outgoing) full(most int) bool { return len(o.files) >= most || o.bytes >= batchBytes }

// file is a file on its way to the server.
type file struct {
	api.File
	id amber.MemoryID
}

// apply makes the server equal for some memories: first the present versions are written, then
// the others are deleted. A crash in between leaves both, and the older one is known by its name.
// It returns the memories that are left to a later feed, or to one with more time: those with files
// that are busy, and those whose other files are not known.
func (r *round) apply(ctx context.Context, c changed) (later []amber.MemoryID, err error) {
	out := outgoing{present: map[amber.MemoryID]string{}}
	for _, id := range c.ids {
		if err := r.take(ctx, id, &out); err != nil {
			return nil, err
		}
		if out.full(batchFiles) {
			if err := r.flush(ctx, &out); err != nil {
				return nil, err
			}
		}
	}
	if err := r.flush(ctx, &out); err != nil {
		return nil, err
	}
	later = r.takeStuck()
	for _, id := range c.ids {
		keep, known := out.present[id]
		if slices.Contains(later, id) || !known || keep != "" && c.created[id] {
			continue // not to be touched, or there is no older version
		}
		err := r.clear(ctx, id, keep, c.counts[id], c.also[id]...)
		switch {
		case errors.Is(err, errSpent), errors.Is(err, errBusy):
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
	out.files = append(out.files, f)
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

// flush writes what is on its way, files of all folders together: a batch costs the server as much
// as many files do.
func (r *round) flush(ctx context.Context, out *outgoing) error {
	if len(out.files) == 0 {
		return nil
	}
	if err := r.makeRoot(ctx); err != nil {
		return err
	}
	for batch := range slices.Chunk(out.files, batchFiles) {
		if err := r.write(ctx, batch); err != nil {
			return err
		}
	}
	out.files, out.bytes = nil, 0
	return nil
}

// makeRoot makes the folder of the agent, and the one above it where that is missing. A batch makes
// those below.
func (r *round) makeRoot(ctx context.Context) error {
	if r.s.files.made {
		return nil
	}
	mkdir := func(uri string) error {
		err := r.patient(ctx, func() error { return r.s.o.Server.Mkdir(ctx, uri) })
		if amber.KindOf(err) == amber.KindConflict {
			return nil // it is there
		}
		return err
	}
	err := mkdir(r.root())
	if amber.KindOf(err) == amber.KindNotFound {
		if err = mkdir(folderOf(r.root())); err == nil {
			err = mkdir(r.root())
		}
	}
	r.s.files.made = err == nil
	return r.server(err)
}

// write writes a batch. Where the server refuses one of them as invalid, or is busy with
// it, halves are tried until it is known which. An invalid one is put into quarantine.
func (r *round) write(ctx context.Context, batch []file) error {
	var out []refusal
	if err := r.try(ctx, spread(batch), &out); err != nil {
		return err
	}
	for _, f := range out {
		r.quarantine(f.id, f.err)
	}
	return nil
}

// refusal is a file that the server does not take.
type refusal struct {
	id    amber.MemoryID
	err   error
	known bool // it was in quarantine before
}

// suspicious is how many files the server may refuse for the same reason before it takes any:
// then it is not the files that are invalid but the request, and none is put into quarantine.
const suspicious = 3

// spread moves files from the middle and the end to the front: those that are tried first are not
// neighbours.
func spread(batch []file) []file {
	n := len(batch)
	if n <= suspicious {
		return batch
	}
	batch = slices.Clone(batch)
	batch[1], batch[n-1] = batch[n-1], batch[1]
	batch[2], batch[n/2] = batch[n/2], batch[2]
	return batch
}

// refuse notes a file that the server does not take. It returns the error if the server takes
// none, unless the feed is forced: then they are put into quarantine, and others get their turn.
func (r *round) refuse(f file, err error, out *[]refusal) error {
	known := slices.ContainsFunc(r.notes.Quarantine, func(q Quarantined) bool { return q.ID == f.id })
	*out = append(*out, refusal{f.id, err, known})
	other := func(o refusal) bool { return o.known || reason(o.err) != reason(err) }
	if r.budget.Force || r.report.Written > 0 || len(*out) != suspicious || slices.ContainsFunc(*out, other) {
		return nil
	}
	return r.server(err)
}

// try writes files and notes those that the server does not take.
func (r *round) try(ctx context.Context, batch []file, out *[]refusal) error {
	files := make([]api.File, len(batch))
	for i, f := range batch {
		files[i] = f.File
	}
	err := r.patient(ctx, func() error { return r.s.o.Server.WriteBatch(ctx, r.root(), files) })
	switch {
	case err == nil:
		r.wrote(batch)
		return nil
	case errors.Is(err, api.ErrNoVector):
		r.wrote(batch)
		for _, f := range batch {
			r.notes.unindexed(f.URI)
		}
		return nil
	case amber.KindOf(err) == amber.KindNotFound && r.s.files.made:
		r.s.files.made = false // another program deleted the folder
		if err := r.makeRoot(ctx); err != nil {
			return err
		}
		r.s.files.made = false // once
		return r.try(ctx, batch, out)
	case amber.KindOf(err) != amber.KindInvalid && amber.KindOf(err) != amber.KindBusy:
		return r.server(err)
	case len(batch) == 1 && amber.KindOf(err) == amber.KindBusy:
		r.stuck = append(r.stuck, batch[0].id)
		return nil
	case len(batch) == 1:
		return r.refuse(batch[0], err, out)
	}
	half := len(batch) / 2
	if err := r.try(ctx, batch[:half], out); err != nil {
		return err
	}
	return r.try(ctx, batch[half:], out)
}

// takeStuck returns the memories whose files were found busy since the last time.
func (r *round) takeStuck() (ids []amber.MemoryID) {
	ids, r.stuck = r.stuck, nil
	return ids
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
	r.notes.quarantine(id, reason(err))
	r.report.Quarantined++
	r.dirty = true
}

// reason is what an error says, without the name of the file.
func reason(err error) string {
	if e, ok := errors.AsType[*amber.Error](err); ok && e.Err != nil {
		return e.Err.Error()
	}
	return err.Error()
}

func (r *round) released(id amber.MemoryID) {
	if r.notes.release(id) {
		r.dirty = true
	}
}
