package journal

import (
	"errors"
	"fmt"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/diskerr"
)

// Entry is something to keep.
type Entry struct {
	Payload []byte // at most MaxPayload bytes; not kept after Append has returned
	// Droppable entries, tool output say, are the first to go when space runs
	// out: a gap frame takes their place. Any other entry is refused instead.
	Droppable bool
	// About is what a gap says was dropped, a few words without content.
	About string
	// Blocked, where it is set, is called with true when the entry has to wait
	// because another process holds the session, and with false when that is
	// over. It must return at once.
	Blocked func(bool)
}

func (e Entry) check() error {
	if len(e.Payload) > MaxPayload {
		return amber.Errorf(amber.KindInvalid, "append", "", "the entry has %d bytes, the limit is %d", len(e.Payload), MaxPayload)
	}
	return nil
}

// appendLocked writes the entries of a batch behind one another with one sync
// and tells each its sequence or its error. The session's lock is held.
func (j *Journal) appendLocked(s Session, batch []*pending) {
	if err := j.store(s, batch); err != nil {
		for _, p := range batch {
			if p.err == nil {
				p.seq, p.err = 0, diskerr.Own("append", string(s.Key()), err)
			}
		}
	}
}

// store is appendLocked with an error for everybody who has none of their own.
func (j *Journal) store(s Session, batch []*pending) error {
	a, total, err := j.place(s)
	if err != nil {
		return err
	}
	defer a.close()
	frames := j.admit(batch, a.last+1, a.used, total)
	if len(frames) == 0 {
		return nil
	}
	err = j.write(s.Key(), a, frames)
	if !errors.Is(err, errPoisoned) {
		return err
	}
	// The same frames under the same sequences, in a new segment that readers
	// believe instead.
	again, _, err := j.place(s)
	if err != nil {
		return err
	}
	defer again.close()
	return j.write(s.Key(), again, frames)
}

// place returns the segment that the session's next entries go to. Everything
// above them is durable.
func (j *Journal) place(s Session) (a *active, total pressure, err error) {
	key := s.Key()
	if err := j.ensureMeta(s); err != nil {
		return nil, 0, err
	}
	if a, err = j.newest(key); err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			a.close()
		}
	}()
	if !a.sealed && a.size < j.o.SegmentBytes {
		return a, ample, j.settleNames(key, a)
	}
	if total, err = j.pressure(); err != nil {
		return a, total, err
	}
	if total == full {
		if a.number == 0 {
			return a, total, j.quotaError()
		}
		if !a.sealed { // there is a place to say what was dropped
			return a, total, nil
		}
	}
	if err := j.settleNames(key, a); err != nil {
		return a, total, err
	}
	fresh, err := j.next(key, a, 0)
	if err != nil {
		return a, total, err
	}
	return fresh, total, nil
}

// settleNames makes sure that the names above the first frame of a segment
// cannot get lost: their maker may have died before the sync.
func (j *Journal) settleNames(key Key, a *active) error {
	if a.number > 0 && !a.empty {
		return nil
	}
	if err := j.syncFolder(key); err != nil {
		return err
	}
	if a.empty {
		if err := j.o.FS.SyncDir(j.path(key)); err != nil {
			return diskerr.Own("sync session", string(key), err)
		}
	}
	return nil
}

// errPoisoned is a failed sync.
var errPoisoned = errors.New("sync failed")

// write appends frames to the active segment and makes them durable. A write
// that fails is cut off again; if even that fails the next append cuts it.
func (j *Journal) write(key Key, a *active, frames []Frame) error {
	var b []byte
	seed := key.seed()
	for _, f := range frames {
		b = appendFrame(b, seed, a.size+int64(len(b)), f)
	}
	n, err := a.file.Write(b)
	if err == nil && n < len(b) {
		err = io.ErrShortWrite
	}
	if err != nil {
		_ = a.file.Truncate(a.size)
		return err
	}
	if err := a.file.Sync(); err != nil {
		j.poison(key, a, frames[0].Seq)
		_ = a.file.Truncate(a.size) // no reader may take these frames for kept
		return fmt.Errorf("%w: %w", errPoisoned, err)
	}
	return nil
}
