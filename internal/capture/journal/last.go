package journal

import (
	"context"
	"os"
)

// Last returns the highest sequence of a session that can be seen, 0 where
// there is none. It takes no lock and changes nothing, so that a process that makes
// everything else stand still need not wait for a process that appends; an entry
// that was acknowledged before is covered. Usually it reads one frame. Errors:
// invalid, too_new, unreachable when ctx ends, and those of the disk.
func (j *Journal) Last(ctx context.Context, key Key) (int64, error) {
	if err := checkKey(key); err != nil {
		return 0, err
	}
	files, err := j.segments(key)
	if err != nil || len(files) == 0 {
		return 0, err
	}
	if seq, ok := j.lastOf(key, files[len(files)-1]); ok {
		return seq, nil
	}
	r := reader{j: j, key: key, loose: true, fn: func(Frame) error { return nil }}
	if err := r.read(ctx, files); err != nil {
		return 0, err
	}
	return r.last, nil
}

// lastOf returns the sequence of the last frame of the newest segment, where
// the segment is intact at both ends.
func (j *Journal) lastOf(key Key, s segmentFile) (seq int64, ok bool) {
	if !s.regular {
		return 0, false
	}
	f, err := j.o.FS.OpenFile(j.path(key, segmentName(s.number)), os.O_RDONLY, 0)
	if err != nil {
		return 0, false
	}
	defer f.Close()
	h, err := readHeader(f, s.size)
	if err != nil || h.key != key || h.number != s.number {
		return 0, false
	}
	if s.size == segmentHeader {
		return h.base - 1, true
	}
	last, ok := lastFrame(f, s.size, key.seed())
	return last.Seq, ok && last.Seq >= h.base
}

// Cleared returns the sequence before the first entry that a session may still
// hold: what is not behind it was drained and cleared. It is for callers that cannot
// ask the store. Where a damaged header hides the first sequence it is 0. It
// takes no lock. Errors: those of [Journal.Last].
func (j *Journal) Cleared(key Key) (int64, error) {
	if err := checkKey(key); err != nil {
		return 0, err
	}
	files, err := j.segments(key)
	if err != nil {
		return 0, err
	}
	r := reader{j: j, key: key}
	segments, err := r.survey(files)
	if err != nil || len(segments) == 0 || r.damage.Headers > 0 {
		return 0, err
	}
	return max(segments[0].header.base-1, 0), nil
}
