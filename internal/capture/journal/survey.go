package journal

import (
	"cmp"
	"errors"
	"io/fs"
	"math"
	"os"
	"slices"

	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// surveyed is a segment with its header.
type surveyed struct {
	segmentFile
	header header // zero when it is damaged
	place  int64  // its number, as the header says where it can be believed
}

// stray is 1 when the header names another segment than the file, else 0.
func (s surveyed) stray() int {
	if s.place != s.number {
		return 1
	}
	return 0
}

// survey reads the headers of segments and puts them into the order they were
// written in, whatever they are named. Errors: too_new and those of the disk.
func (r *reader) survey(files []segmentFile) ([]surveyed, error) {
	var out []surveyed
	for _, f := range files {
		if !f.regular {
			r.damage.Headers++
			continue
		}
		h, err := r.j.header(r.key, f.number)
		s := surveyed{segmentFile: f, header: h, place: f.number}
		switch {
		case errors.Is(err, fs.ErrNotExist): // cleared meanwhile: it was drained
			r.loose = true
			continue
		case errors.Is(err, errHeader):
			r.damage.Headers++
		case err != nil:
			return nil, err
		case h.number != f.number:
			r.damage.Headers++
			s.place = h.number
		}
		r.number = max(r.number, s.place)
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b surveyed) int {
		// When two segments claim one number, the one with the right name comes first.
		return cmp.Or(cmp.Compare(a.place, b.place), a.stray()-b.stray(), cmp.Compare(a.number, b.number))
	})
	return out, nil
}

// header reads the header of a segment of the session.
func (j *Journal) header(key Key, number int64) (header, error) {
	f, err := j.o.FS.OpenFile(j.path(key, segmentName(number)), os.O_RDONLY, 0)
	if err != nil {
		return header{}, diskerr.Own("open segment", string(key), err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return header{}, diskerr.Own("open segment", string(key), err)
	}
	h, err := readHeader(f, info.Size())
	switch {
	case errors.Is(err, errHeader), err == nil && h.key != key:
		return header{}, errHeader
	case err != nil:
		return header{}, diskerr.Own("read segment", string(key), err)
	}
	return h, nil
}

func readHeader(f fsx.File, size int64) (header, error) {
	b := make([]byte, min(size, segmentHeader))
	if _, err := f.ReadAt(b, 0); err != nil {
		return header{}, err
	}
	return parseHeader(b)
}

// baseAfter returns the base of the first segment behind number i with a
// header to trust: frames from there on do not count before it.
func baseAfter(segments []surveyed, i int) int64 {
	for _, s := range segments[i+1:] {
		if s.header.base > 0 && s.place > segments[i].place {
			return s.header.base
		}
	}
	return math.MaxInt64
}
