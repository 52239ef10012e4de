package journal

import (
	"bytes"
	"context"
	"errors"
	"os"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
	"github.com/amber-memory/amber/internal/base/fsx"
)

// active is the newest segment of a session, which entries are appended to.
// The session's lock is held as long as there is one.
type active struct {
	file   fsx.File // nil: there is no segment
	number int64    // of this one, 0: there is none
	free   int64    // the number the next one gets
	size   int64    // of the intact part
	last   int64    // sequence of the last entry, in this segment or before it
	sure   int64    // entries up to this sequence are durable; those behind may be
	empty  bool     // no frame yet: its name may not be durable
	sealed bool     // nothing may be appended to it
	used   int64    // bytes of all segments
}

func (a *active) close() {
	if a.file != nil {
		a.file.Close() // what counts was synced
		a.file = nil
	}
}

// poison remembers a segment whose sync failed. Nothing is appended to it or
// synced again, and its frames from the sequence next on do not count: the
// kernel may have dropped them and would not say so a second time. The same
// goes for frames behind the sequence sure, which a writer may have left that
// was killed before its sync; they count, so the next segment repeats them.
type poison struct {
	number, sure, next int64
	epoch              string // of the folder: in another one the numbers begin again
}

// poison notes that the sync of a segment failed, and that its frames from the
// sequence next on do not count.
func (j *Journal) poison(key Key, a *active, next int64) {
	m, _ := j.readMeta(key) // where it cannot be read, no folder is another
	j.mu.Lock()
	defer j.mu.Unlock()
	j.poisoned[key] = poison{number: a.number, sure: a.sure, next: next, epoch: m.Epoch}
}

// isPoisoned reports whether the sync of a segment has failed. The session's
// lock is held.
func (j *Journal) isPoisoned(key Key, number int64) (poison, bool) {
	j.mu.Lock()
	p, ok := j.poisoned[key]
	j.mu.Unlock()
	if !ok || p.number != number {
		return p, false
	}
	if m, err := j.readMeta(key); err == nil && m.Epoch != p.epoch {
		return p, false // the folder was removed and made again
	}
	return p, true
}

// newest opens the newest segment and cuts its torn tail. Where none can be
// appended to, it says from which sequence on the next has to begin.
func (j *Journal) newest(key Key) (*active, error) {
	files, err := j.segments(key)
	if err != nil {
		return nil, err
	}
	a := &active{sealed: true, free: 1}
	for _, f := range files {
		a.free = f.number + 1
		a.used += f.size
		if f.regular {
			a.number, a.size = f.number, f.size
		}
	}
	if a.number == 0 {
		return a, nil
	}
	if a.file, err = j.o.FS.OpenFile(j.path(key, segmentName(a.number)), os.O_RDWR|os.O_APPEND, 0); err != nil {
		return nil, diskerr.Own("open segment", string(key), err)
	}
	if err := j.inspect(key, a); err != nil {
		a.close()
		return nil, err
	}
	return a, nil
}

// inspect finds out where the opened segment ends. Usually its last frame is
// found from its footer and nothing else is read.
func (j *Journal) inspect(key Key, a *active) error {
	if p, ok := j.isPoisoned(key, a.number); ok {
		a.sure, a.last = p.sure, p.next-1
		return nil
	}
	h, err := readHeader(a.file, a.size)
	if err == nil && (h.key != key || h.number != a.number) {
		err = errHeader
	}
	switch {
	case errors.Is(err, errHeader): // its frames are salvaged by readers
		return j.surveyEnd(key, a)
	case err != nil:
		return diskerr.Own("read segment", string(key), err)
	}
	a.sealed, a.sure, a.last = false, h.base-1, h.base-1
	if a.size == segmentHeader {
		a.empty = true
		return nil
	}
	last, ok := lastFrame(a.file, a.size, key.seed())
	if ok && last.Seq >= h.base {
		a.last = last.Seq
		return nil
	}
	return j.findEnd(key, a)
}

// surveyEnd finds out where a session ends whose newest segment does not say
// which one it is.
func (j *Journal) surveyEnd(key Key, a *active) error {
	r := reader{j: j, key: key, loose: true, fn: func(Frame) error { return nil }}
	files, err := j.segments(key)
	if err == nil {
		err = r.read(context.Background(), files)
	}
	a.sure, a.last, a.free = r.last, r.last, max(a.free, r.number+1)
	return err
}

// lastFrame reads the frame that ends at size.
func lastFrame(f fsx.File, size int64, seed uint32) (Frame, bool) {
	var footer [frameFooter]byte
	if size < segmentHeader+minFrame {
		return Frame{}, false
	}
	if _, err := f.ReadAt(footer[:], size-frameFooter); err != nil {
		return Frame{}, false
	}
	length, ok := footerLength(footer[:])
	start := size - frameSize(length)
	if !ok || start < segmentHeader {
		return Frame{}, false
	}
	b := make([]byte, size-start)
	if _, err := f.ReadAt(b, start); err != nil {
		return Frame{}, false
	}
	last, err := parseFrame(b, seed, start)
	return last, err == nil
}

// findEnd reads a segment that does not end with an intact frame. A torn tail
// is cut; where a tail is damaged or too long to be kept, the segment is
// sealed as it is.
func (j *Journal) findEnd(key Key, a *active) error {
	s := scan(a.file, key.seed(), a.size, a.last+1)
	a.empty = true
	for {
		ok, err := s.next()
		if err != nil {
			return diskerr.Own("read segment", string(key), err)
		}
		if !ok {
			break
		}
		a.empty = false
	}
	a.last = s.last + s.lost
	if s.lost > 0 || s.tail > maxTail {
		a.sealed = true
		return nil
	}
	if s.tail == 0 {
		return nil
	}
	return j.cutTail(key, a, s)
}

// cutTail keeps the bytes of a torn tail in quarantine and cuts them off.
func (j *Journal) cutTail(key Key, a *active, s *scanner) error {
	torn, err := s.readTail()
	if err != nil {
		return diskerr.Own("read torn tail", string(key), err)
	}
	if err := j.keep(key, cutName(segmentName(a.number), s.at, torn), torn); err != nil && amber.KindOf(err) != amber.KindQuota {
		return err
	}
	synced, err := j.truncate(j.path(key, segmentName(a.number)), s.at)
	if err != nil {
		return diskerr.Own("cut torn tail", string(key), err)
	}
	if !synced {
		j.poison(key, a, a.last+1)
		a.sealed = true
	}
	a.size, a.used = s.at, a.used-s.tail
	return nil
}

// truncate cuts a segment, through a file of its own: one that is opened to
// append cannot do it everywhere. It reports whether the cut is durable.
func (j *Journal) truncate(path string, size int64) (synced bool, err error) {
	f, err := j.o.FS.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		return false, err
	}
	return f.Sync() == nil, nil
}

// next seals the newest segment and begins another behind its last entry, or
// behind the sequence floor where that is higher: the store has everything up
// to there. Where the segment cannot be synced, the new one begins with a copy
// of the entries that may not be durable.
func (j *Journal) next(key Key, a *active, floor int64) (*active, error) {
	_, bad := j.isPoisoned(key, a.number)
	if !bad && a.file != nil {
		bad = a.file.Sync() != nil // for frames of a writer that was killed before its sync
	}
	var carried []Frame
	if bad && floor < a.last {
		var err error
		if carried, err = j.doubtful(key, a); err != nil {
			return nil, err
		}
	}
	a.close()
	fresh, err := j.newSegment(key, a.free, max(a.last, floor), carried)
	if err != nil {
		return nil, err
	}
	fresh.used += a.used
	return fresh, nil
}

// doubtful returns the entries of a segment that may not be durable, and none
// at all where the segment is damaged: that has to stay visible where it is.
func (j *Journal) doubtful(key Key, a *active) ([]Frame, error) {
	if a.file == nil || a.sure >= a.last {
		return nil, nil
	}
	var frames []Frame
	s := scan(a.file, key.seed(), a.size, 0)
	for {
		ok, err := s.next()
		if err != nil {
			return nil, diskerr.Own("read segment", string(key), err)
		}
		if !ok || s.frame.Seq > a.last {
			break
		}
		if f := s.frame; f.Seq > a.sure {
			f.Payload = bytes.Clone(f.Payload)
			frames = append(frames, f)
		}
	}
	if s.damage > 0 || s.lost > 0 || int64(len(frames)) != a.last-a.sure {
		return nil, nil
	}
	return frames, nil
}

// newSegment makes a segment behind the sequence last, with the frames that end
// there, and its name; all of it is durable.
func (j *Journal) newSegment(key Key, number, last int64, frames []Frame) (*active, error) {
	base := last + 1 - int64(len(frames))
	if base < 1 {
		return nil, amber.Errorf(amber.KindInvalid, "make segment", string(key), "a segment cannot begin with sequence %d", base)
	}
	h := header{number: number, key: key, base: base, at: amber.At(j.o.Clock())}
	b := h.marshal()
	for _, f := range frames {
		b = appendFrame(b, key.seed(), int64(len(b)), f)
	}
	path := j.path(key, segmentName(number))
	if err := fsx.CreateNew(j.o.FS, path, 0o600, b); err != nil {
		return nil, diskerr.Own("make segment", string(key), err)
	}
	f, err := j.o.FS.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, diskerr.Own("open segment", string(key), err)
	}
	size := int64(len(b))
	return &active{file: f, number: number, free: number + 1, size: size, last: last, sure: last, used: size}, nil
}
