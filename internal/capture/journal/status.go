package journal

import (
	"context"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/wire"
)

// Status reports what is on disk of one session; it changes nothing and takes
// no lock. Drained is the store's cursor. LastError has the first error of
// reading. Errors: invalid, unreachable when ctx ends; not_found when there is
// neither a segment nor a meta file.
func (j *Journal) Status(ctx context.Context, key Key, drained int64) (wire.JournalStatus, error) {
	st := wire.JournalStatus{Key: string(key)}
	if err := checkKey(key); err != nil {
		return st, err
	}
	note := func(err error) {
		if err != nil && st.LastError == "" {
			st.LastError = err.Error()
		}
	}
	m, metaErr := j.readMeta(key)
	st.Host, st.SessionID, st.StartedAt = m.Host, m.SessionID, m.StartedAt
	files, err := j.segments(key)
	note(err)
	if err == nil && len(files) == 0 && amber.KindOf(metaErr) == amber.KindNotFound {
		return st, metaErr
	}
	for _, f := range files {
		st.Bytes += f.size
	}
	r := reader{j: j, key: key, taken: drained, loose: true, fn: func(f Frame) error {
		tally(&st, f, drained)
		return nil
	}}
	note(r.read(ctx, files))
	if ctx.Err() != nil {
		return st, ended("read session", string(key), ctx)
	}
	note(metaErr)
	st.Damaged = r.damage.Count()
	held, err := j.held(key)
	note(err)
	st.Quarantined = int64(len(held))
	return st, nil
}

// tally adds one frame to a status.
func tally(st *wire.JournalStatus, f Frame, drained int64) {
	if f.Type == TypeGap {
		st.Gaps++
	} else {
		st.Entries++
	}
	if f.Seq > drained {
		if st.Undrained == 0 {
			st.Oldest = f.At
		}
		st.Undrained++
	}
	st.LastSync = f.At
}

// List reports what is on disk of every session, by key. Cursor returns the
// store's cursor of a session; where it fails nothing counts as drained and
// LastError says why. A session that cannot be read never hides another.
// Errors: unreachable when ctx ends, and those of reading the spool itself.
func (j *Journal) List(ctx context.Context, cursor func(Key) (int64, error)) ([]wire.JournalStatus, error) {
	keys, err := j.Keys()
	if err != nil {
		return nil, err
	}
	out := make([]wire.JournalStatus, 0, len(keys))
	for _, k := range keys {
		drained, cursorErr := cursor(k)
		if cursorErr != nil {
			drained = 0
		}
		st, err := j.Status(ctx, k, drained)
		if amber.KindOf(err) == amber.KindNotFound { // a folder and no session yet
			continue
		}
		if err != nil {
			return nil, err
		}
		if cursorErr != nil && st.LastError == "" {
			st.LastError = cursorErr.Error()
		}
		out = append(out, st)
	}
	return out, nil
}
