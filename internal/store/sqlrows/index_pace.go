package sqlrows

import (
	"encoding/binary"

	"github.com/amber-memory/amber/internal/recall/search"
)

// Documents come fast where transactions of so many bring, within so many milliseconds, as
// many as make a segment. The count is kept in the file: what one process brings in, another
// leaves alone.
const (
	manyAtOnce = 16
	paceTime   = 2000
)

// pace is how many documents came many at a time, lately and in the time before.
type pace struct {
	since       int64
	now, before uint64
}

func (t *Tx) readPace() (p pace, err error) {
	since, data, err := t.state(statePace)
	if err != nil {
		return p, err
	}
	p.since = since
	var n int
	if p.now, n = binary.Uvarint(data); n > 0 {
		p.before, _ = binary.Uvarint(data[n:])
	}
	return p.at(t.Now.UnixMilli()), nil
}

// at is the pace at a time.
func (p pace) at(now int64) pace {
	switch passed := now - p.since; {
	case passed < 0 || passed >= 2*paceTime: // a clock may have been set back
		return pace{since: now}
	case passed >= paceTime:
		return pace{since: now, before: p.now}
	}
	return p
}

func (p pace) isFast() bool { return max(p.now, p.before) >= search.FewWait }

// mayWait counts documents that a transaction has added, and returns how many may be in no
// segment yet.
func (t *Tx) mayWait(added int) (int, error) {
	p, err := t.readPace()
	if err != nil {
		return 0, err
	}
	if added >= manyAtOnce {
		p.now += uint64(added)
		data := binary.AppendUvarint(binary.AppendUvarint(nil, p.now), p.before)
		if err := t.putState(statePace, p.since, data); err != nil {
			return 0, err
		}
	}
	if p.isFast() {
		return search.ManyWait, nil
	}
	return search.FewWait, nil
}

// IsUntidy reports whether there are more segments than merging would leave, or documents
// that wait for one although no more come.
func (t *Tx) IsUntidy() (bool, error) {
	x := IndexRows{t}
	if crowded, err := search.IsCrowded(x); err != nil || crowded {
		return crowded, err
	}
	if many, err := x.HasTail(search.FewWait); err != nil || !many {
		return false, err
	}
	p, err := t.readPace()
	return !p.isFast(), err
}

// Tidy merges a little.
func (t *Tx) Tidy(work int) (left bool, err error) {
	wait, err := t.mayWait(0)
	if err != nil {
		return false, err
	}
	return search.Tidy(IndexRows{t}, &search.Cache{}, work, wait)
}

// EndTail makes segments of the documents that are in none, as long as there are enough, and
// says that no more come.
func (t *Tx) EndTail() error {
	if err := t.exec(deleteState, statePace); err != nil {
		return err
	}
	for {
		many, err := IndexRows{t}.HasTail(search.FewWait)
		if err != nil || !many {
			return err
		}
		if _, err := search.Tidy(IndexRows{t}, &search.Cache{}, 0, search.FewWait); err != nil {
			return err
		}
	}
}
