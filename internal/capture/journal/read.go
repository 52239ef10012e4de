package journal

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
)

// Damage counts what a reader could not read.
type Damage struct {
	Places int64 `json:"places"` // runs of bytes that should be frames and are not
	Bytes  int64 `json:"bytes"`  // in those places
	Torn   int64 `json:"torn"`   // bytes of torn tails; no damage
	// Missing are sequences below the last one that no segment holds.
	Missing int64 `json:"missing"`
	// Headers are segments whose header is damaged, whose frames are
	// still read, and things named like a segment that are no file, which are not.
	Headers int64 `json:"headers"`
}

// String says what is damaged.
func (d Damage) String() string {
	return fmt.Sprintf("%d places with %d bytes, %d entries missing, %d segments without a good header", d.Places, d.Bytes, d.Missing, d.Headers)
}

// Any reports whether bytes are not what was written. A torn tail is what a
// crash leaves of an entry that was never acknowledged, and no damage.
func (d Damage) Any() bool { return d.Places > 0 || d.Missing > 0 || d.Headers > 0 }

// Count returns how many things are damaged. An entry that is missing because
// of damage in its place counts once.
func (d Damage) Count() int64 { return max(d.Places, d.Missing) + d.Headers }

// Read calls fn for every intact frame of a session with a sequence above
// after, in order, each once. These frames are durable. Read takes after as a
// promise that those sequences are used, so later entries get higher ones.
// Read takes the session's lock to make sure of both and lets go before the
// first call of fn. The payload is valid until fn returns. A session that is
// not there has no frames. Errors: those of fn; busy, unreachable, refused,
// too_new; internal when the disk does not answer.
func (j *Journal) Read(ctx context.Context, key Key, after int64, fn func(Frame) error) (Damage, error) {
	if err := checkKey(key); err != nil {
		return Damage{}, err
	}
	if err := checkCursor(after); err != nil {
		return Damage{}, err
	}
	var files []segmentFile
	err := j.locked(ctx, key, func() (err error) {
		files, err = j.settle(key, after)
		return err
	})
	if amber.KindOf(err) == amber.KindNotFound {
		return Damage{}, nil
	}
	if err != nil {
		return Damage{}, err
	}
	r := reader{j: j, key: key, fn: fn, after: after, taken: after, last: after}
	if after == 0 {
		if m, err := j.readMeta(key); err == nil {
			r.began = m.StartedAt
		}
	}
	err = r.read(ctx, files)
	return r.damage, err
}

// checkCursor checks a position in a session.
func checkCursor(n int64) error {
	if n < 0 || n > math.MaxInt64/2 {
		return amber.Errorf(amber.KindInvalid, "check cursor", "", "the sequence number is negative")
	}
	return nil
}

// settle makes durable what is in the segments and makes sure that the next
// entry comes behind the sequence floor. It returns the segments as they are
// now.
func (j *Journal) settle(key Key, floor int64) ([]segmentFile, error) {
	a, err := j.newest(key)
	if err != nil {
		return nil, err
	}
	defer a.close()
	switch {
	case a.number == 0 && floor == 0:
		return j.segments(key)
	case a.sealed || a.last < floor:
		fresh, err := j.next(key, a, floor)
		if err != nil {
			return nil, err
		}
		fresh.close()
	case !a.empty:
		if err := a.file.Sync(); err != nil {
			j.poison(key, a, a.last+1)
			return nil, diskerr.Own("sync session", string(key), err)
		}
	}
	return j.segments(key)
}

// reader reads a session segment by segment.
type reader struct {
	j      *Journal
	key    Key
	fn     func(Frame) error
	after  int64 // frames up to it are not handed out
	taken  int64 // sequences up to it are not missed: the store has them
	last   int64 // the highest sequence so far
	loose  bool  // the next sequence may be any: what is before it was cleared
	number int64 // the highest of all segments
	// began is when the folder got its origin. A process that knew an earlier origin
	// may have cleared entries that are older than that.
	began  amber.Time
	damage Damage
}

// read reads segments as large as they are listed. It takes no lock: segments
// are only appended to and removed.
func (r *reader) read(ctx context.Context, files []segmentFile) error {
	segments, err := r.survey(files)
	if err != nil {
		return err
	}
	if len(segments) > 0 && segments[0].header.at.Before(r.began) {
		r.loose = true
	}
	for i, s := range segments {
		if ctx.Err() != nil {
			return ended("read session", string(r.key), ctx)
		}
		if err := r.segment(s, baseAfter(segments, i)); err != nil {
			return err
		}
	}
	return nil
}

// segment reads the frames of one segment below the sequence limit.
func (r *reader) segment(seg surveyed, limit int64) error {
	f, err := r.j.o.FS.OpenFile(r.j.path(r.key, segmentName(seg.number)), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) { // cleared meanwhile: it was drained
		r.loose = true
		return nil
	}
	if err != nil {
		return diskerr.Own("open segment", string(r.key), err)
	}
	defer f.Close()
	if seg.header.base > 0 {
		r.expect(seg.header.base)
	}
	s := scan(f, r.key.seed(), seg.size, seg.header.base)
	for {
		ok, err := s.next()
		if err != nil {
			return diskerr.Own("read segment", string(r.key), err)
		}
		if !ok {
			break
		}
		if err := r.frame(s.frame, limit); err != nil {
			return err
		}
	}
	r.count(s)
	if end := s.last + s.lost; s.lost > 0 && seg.header.base > 0 && end < limit {
		r.expect(end + 1)
	}
	return nil
}

// frame hands out a frame that was not read before and counts.
func (r *reader) frame(f Frame, limit int64) error {
	if f.Seq >= limit || f.Seq <= r.last {
		return nil
	}
	r.expect(f.Seq)
	r.last = f.Seq
	if f.Seq <= r.after {
		return nil
	}
	return r.fn(f)
}

// expect is told that seq comes next: whatever should have come before it is
// missing.
func (r *reader) expect(seq int64) {
	if r.last < seq-1 {
		if !r.loose {
			r.damage.Missing += max(0, seq-1-max(r.last, r.taken))
		}
		r.last = seq - 1
	}
	r.loose = false
}

// count adds what a finished scanner could not read.
func (r *reader) count(s *scanner) {
	r.damage.Places += s.damage
	r.damage.Bytes += s.skipped
	if s.lost == 0 {
		r.damage.Torn += s.tail
		return
	}
	r.damage.Places++
	r.damage.Bytes += s.tail
}
