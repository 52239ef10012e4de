package drain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// Mark is where a session of the journal stood at one instant.
type Mark struct {
	Key       string          `json:"key"`
	Host      string          `json:"host"`
	SessionID amber.SessionID `json:"session_id"`
	Cursor    string          `json:"cursor"`  // names the store's cursor
	Drained   int64           `json:"drained"` // sequence the store had
	Last      int64           `json:"last"`    // last sequence there was
	Frames    int64           `json:"frames"`  // entries between them that can be read
}

// Spool is a journal beside the store it is drained into, for a snapshot that captures
// both at one instant.
type Spool struct {
	journal *journal.Journal
	store   amber.Ingester
}

// NewSpool returns the journal j of what is drained into store. Nil is a store
// that cannot be asked: then what the journal has cleared counts as drained, and
// nothing else does.
func NewSpool(j *journal.Journal, store amber.Ingester) *Spool {
	return &Spool{journal: j, store: store}
}

// Hold waits until no process drains and keeps it so until the view is closed;
// hooks go on appending. A caller that needs the exclusive lock of the agent, too,
// takes the hold first: a process that drains may wait for that lock. Hold makes a
// journal that was never written to: its first entries must not be drained either.
// Errors: busy, unreachable when ctx ends, those of the store and the disk.
func (s *Spool) Hold(ctx context.Context) (*View, error) {
	if err := s.journal.Make(); err != nil {
		return nil, err
	}
	end, err := s.journal.BeginDrain(ctx)
	if err != nil {
		return nil, err
	}
	v := &View{journal: s.journal, held: map[journal.Key]holding{}, unread: map[journal.Key]string{}, end: end}
	if err := v.find(ctx, s.store); err != nil {
		return nil, errors.Join(err, v.Close())
	}
	return v, nil
}

// View is a journal that no process drains. One goroutine uses it at a time;
// its owner closes it.
type View struct {
	journal *journal.Journal
	held    map[journal.Key]holding
	marks   []Mark
	unread  map[journal.Key]string
	end     func() error
}

// holding is what the store knows of a session.
type holding struct {
	origin  journal.Origin
	drained int64
}

// find asks the store how far each session is drained. As long as no process
// drains, that stays so.
func (v *View) find(ctx context.Context, store amber.Ingester) error {
	keys, err := v.journal.Keys()
	if err != nil {
		return err
	}
	// Finding asks for cursors and for nothing else.
	known := store != nil
	if !known {
		store = unknown{}
	}
	w := &Worker{o: Options{Journal: v.journal, Store: cursors{Ingester: store}}, keys: map[string]journal.Key{}}
	report := newReport()
	for _, key := range keys {
		s := &session{Worker: w, key: key, report: &report}
		err := s.find(ctx) // a folder whose meta file is lost gets a new one
		if err == nil && !known {
			s.cursor.Seq, err = v.journal.Cleared(key)
		}
		if ctx.Err() != nil {
			return &amber.Error{Op: "hold journal", Kind: amber.KindUnreachable, Err: context.Cause(ctx)}
		}
		if err == nil {
			v.held[key] = holding{origin: s.origin, drained: s.cursor.Seq}
		} else if s.origin.Cursor != "" { // the store did not answer
			return err
		} else if !errors.Is(err, errNothing) { // it stays in the journal
			v.unread[key] = err.Error()
		}
	}
	return nil
}

// unknown is a store that cannot be asked.
type unknown struct{ amber.Ingester }

func (unknown) JournalCursor(context.Context, string) (amber.JournalCursor, error) {
	return amber.JournalCursor{}, nil
}

// cursors is the part of a store that knows them.
type cursors struct {
	amber.Ingester
	amber.Turns
	amber.Activities
}

// Mark notes the last entry of every session. It is quick and takes no lock:
// it is meant for a moment in which all else stands still. A session that
// cannot be read is one of [View.Unread]. Errors: unreachable when ctx ends,
// those of the disk.
func (v *View) Mark(ctx context.Context) error {
	v.marks = nil
	keys, err := v.journal.Keys()
	if err != nil {
		return err
	}
	for _, key := range keys {
		last, err := v.journal.Last(ctx, key)
		if ctx.Err() != nil {
			return &amber.Error{Op: "mark journal", Kind: amber.KindUnreachable, Err: context.Cause(ctx)}
		}
		h, herr := v.holding(key)
		if amber.KindOf(herr) == amber.KindNotFound && err == nil && last == 0 {
			continue // it is just being made
		}
		if err := cmp.Or(herr, err); err != nil {
			v.unread[key] = err.Error()
			continue
		}
		v.marks = append(v.marks, Mark{
			Key: string(key), Host: h.origin.Host, SessionID: h.origin.ID, Cursor: h.origin.Cursor,
			Drained: h.drained, Last: max(last, h.drained),
		})
	}
	return nil
}

// holding returns what is known of a session; nothing was drained of one that
// was begun after the hold.
func (v *View) holding(key journal.Key) (holding, error) {
	if h, ok := v.held[key]; ok {
		return h, nil
	}
	origin, err := v.journal.Origin(key)
	if err != nil {
		return holding{}, err
	}
	h := holding{origin: origin}
	v.held[key] = h
	return h, nil
}

// Frames calls fn for every marked session, by key, with the entries up to the
// mark that the store does not have, in the form [journal.ReadExtract] and
// [Replay] read. Without such entries r is empty. The reader is valid until fn
// returns, which need not read it to its end. [View.Unread] lists the sessions
// that cannot be read. Errors: those of fn; busy; unreachable when ctx ends.
func (v *View) Frames(ctx context.Context, fn func(m Mark, r io.Reader) error) error {
	for _, m := range v.marks {
		if err := v.frames(ctx, m, fn); err != nil {
			return err
		}
	}
	return nil
}

func (v *View) frames(ctx context.Context, m Mark, fn func(Mark, io.Reader) error) error {
	if m.Last <= m.Drained {
		return fn(m, strings.NewReader(""))
	}
	key := journal.Key(m.Key)
	frames, damage, err := v.journal.Extract(ctx, key, m.Drained, m.Last, io.Discard)
	switch {
	case ctx.Err() != nil:
		return &amber.Error{Op: "read journal", Kind: amber.KindUnreachable, Err: context.Cause(ctx)}
	case amber.KindOf(err) == amber.KindBusy: // it can be read, and not now
		return err
	case err != nil:
		v.unread[key], frames = err.Error(), 0
	case damage.Count() > 0:
		v.unread[key] = fmt.Sprintf("damaged in %d places; %d entries could be read", damage.Count(), frames)
	}
	m.Frames = frames
	if frames == 0 {
		return fn(m, strings.NewReader(""))
	}
	r, w := io.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _, err := v.journal.Extract(ctx, key, m.Drained, m.Last, w)
		w.CloseWithError(err)
	}()
	err = fn(m, r)
	r.Close() // the other side ends, too
	<-done
	return err
}

// Unread says, by session, why entries of it are not among the frames. It is
// complete after Frames. The caller owns the map.
func (v *View) Unread() map[journal.Key]string { return maps.Clone(v.unread) }

// Park copies every entry that the store does not have to the journal at dir,
// but for those that covered says are in the store's successor, by cursor; see
// [journal.Journal.Park].
func (v *View) Park(ctx context.Context, dir string, covered map[string]int64) (journal.ParkReport, error) {
	known := maps.Clone(covered)
	if known == nil {
		known = map[string]int64{}
	}
	for h := range maps.Values(v.held) {
		known[h.origin.Cursor] = max(known[h.origin.Cursor], h.drained)
	}
	return v.journal.Park(ctx, dir, func(o journal.Origin) (int64, error) { return known[o.Cursor], nil })
}

// Close lets others drain again. It may be called twice.
func (v *View) Close() error {
	end := v.end
	v.end = func() error { return nil }
	return end()
}

// Marks returns what Mark has noted; the caller owns the slice.
func (v *View) Marks() []Mark { return slices.Clone(v.marks) }
