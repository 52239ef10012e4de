package sqlite

import (
	"bytes"
	"context"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/store/image"
	"github.com/amber-memory/amber/internal/store/sqlfile"
	"github.com/amber-memory/amber/internal/store/sqlrows"
	"github.com/amber-memory/amber/wire"
)

// DBSource is a database to compare: a file that no process writes, one that is
// open, or the live one of a store, of the same kind as the other.
type DBSource struct {
	Path string
	Open *ReadOnly // used when it is set; stays open
	Live *Store    // used when it is set; stays open
}

// Compare returns what changed from a to b, two databases of one kind; see
// [image.Diff]. Errors: those of [OpenReadOnly]; invalid for databases of two kinds.
func Compare(ctx context.Context, a, b DBSource, rows bool) (d wire.StoreDiff, err error) {
	var open [2]*ReadOnly
	for i, s := range []DBSource{a, b} {
		if open[i] = s.Open; s.Open != nil || s.Live != nil {
			continue
		}
		// Clock and random source are for writers.
		v, err := OpenReadOnlyFile(ctx, s.Path, Options{Clock: noClock, Random: bytes.NewReader(nil)})
		if err != nil {
			return d, err
		}
		defer v.Close()
		open[i] = v
	}
	for i, s := range []DBSource{a, b} {
		if s.Live == nil {
			continue
		}
		other := open[1-i]
		if other == nil {
			return d, amber.Errorf(amber.KindInvalid, "compare databases", "", "both are live, want one at rest")
		}
		v, release, err := s.Live.beside(ctx, other)
		if err != nil {
			return d, err
		}
		defer release()
		open[i] = v
	}
	// A restore does not bring back memories that were erased since, so they do not count as added.
	var erased map[string]bool
	if a.Live != nil && open[0].header.Schema.File == sqlfile.MemorySchema.File {
		if erased, err = a.Live.erasedIDs(ctx); err != nil {
			return d, err
		}
	}
	return image.Diff(ctx, open[0].side(), open[1].side(), rows, erased)
}

func (v *ReadOnly) side() image.Side {
	return image.Side{File: v.header.Schema.File, Readers: v.db.live.readers, Explain: v.answer}
}

// erasedIDs returns the memories that were erased.
func (s *Store) erasedIDs(ctx context.Context) (map[string]bool, error) {
	ids := map[string]bool{}
	err := s.memory.View(ctx, "read erased memories", "", func(t *tx) error {
		return t.Each("SELECT id FROM erased", nil, func(row sqlrows.Row) error {
			var id string
			err := row.Scan(&id)
			ids[id] = true
			return err
		})
	})
	return ids, err
}

// beside returns the live database of the kind other is, to read from. Others
// write meanwhile: every table is of one instant, and not all of the same.
func (s *Store) beside(ctx context.Context, other *ReadOnly) (*ReadOnly, func(), error) {
	d := s.memory
	if other.header.Schema.File == sqlfile.ControlSchema.File {
		d = s.control
	}
	c, err := d.ground.Current()
	if err != nil {
		return nil, nil, err
	}
	h, err := d.acquire(ctx, c)
	if err != nil {
		return nil, nil, err
	}
	v := &ReadOnly{db: &database{live: h}, header: image.Header{Schema: d.schema, Version: d.schema.Version()}}
	return v, func() { d.release(h) }, nil
}

// noClock is for what never asks for the time.
func noClock() time.Time { return time.Time{} }
