package drain

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/journal"
)

// Bounds of one transaction.
const (
	maxSteps = 256
	maxBytes = 1 << 20 // of payloads, beside the last
)

// session drains one session of the journal.
type session struct {
	*Worker
	key    journal.Key
	report *Report

	cursor amber.JournalCursor
	batch  []item // behind the cursor, in order
	bytes  int
	ended  bool // its last event was the end
}

// item is one frame on its way into the store.
type item struct {
	seq     int64
	payload []byte
	event   amber.HostEvent
	step    amber.IngestStep
	gap     *journal.Gap // set for a gap: there is no event then
}

// errOvertaken says that somebody else moved the cursor.
var errOvertaken = errors.New("the cursor was moved by somebody else")

// run drains everything behind the cursor.
func (s *session) run(ctx context.Context) error {
	var err error
	if s.cursor, err = s.o.Store.JournalCursor(ctx, string(s.key)); err != nil {
		return err
	}
	if s.cursor.Session == "" {
		if err := s.name(); err != nil {
			return err
		}
	}
	from, events := s.cursor.Seq, s.report.Events
	damage, err := s.o.Journal.Read(ctx, s.key, s.cursor.Seq, func(f journal.Frame) error { return s.take(ctx, f) })
	s.report.Damaged += damage.Count()
	if err == nil {
		err = s.flush(ctx)
	}
	if s.report.Events > events {
		s.report.Sessions++
	}
	if err != nil {
		return err
	}
	return s.clear(ctx, from)
}

// name finds out whose session it is before its first event says so. Where
// the journal cannot tell, the events do.
func (s *session) name() error {
	named, err := s.o.Journal.Session(s.key)
	switch amber.KindOf(err) {
	case amber.KindNotFound, amber.KindDamaged:
		return nil
	}
	s.cursor.Host, s.cursor.Session = named.Host, named.ID
	return err
}

// take adds one frame to the batch.
func (s *session) take(ctx context.Context, f journal.Frame) error {
	s.report.Events++
	it, err := understand(f)
	if amber.KindOf(err) == amber.KindTooNew {
		return errors.Join(s.flush(ctx), err)
	}
	if err != nil {
		if err := s.flush(ctx); err != nil {
			return err
		}
		return s.giveUp(ctx, f.Seq, f.Payload, err)
	}
	s.ended = it.event.Kind == amber.HostSessionEnd
	if s.ended {
		// The digest is made of what the store holds, so all of it must be there.
		if err := s.flush(ctx); err != nil {
			return err
		}
		if err := s.close(ctx, &it); err != nil {
			return err
		}
	}
	s.batch = append(s.batch, it)
	s.bytes += len(it.payload)
	if s.ended || len(s.batch) >= maxSteps || s.bytes >= maxBytes {
		return s.flush(ctx)
	}
	return nil
}

// understand says what a frame means. It keeps nothing of the frame. A bug in
// a rule costs that one event, not the drain.
func understand(f journal.Frame) (it item, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = amber.Errorf(amber.KindInternal, "understand event", "", fmt.Sprintf("panic: %v", r))
		}
	}()
	it = item{seq: f.Seq, payload: append([]byte(nil), f.Payload...)}
	if f.Type == journal.TypeGap {
		it.gap, it.event.ObservedAt = &journal.Gap{}, f.At
		return it, json.Unmarshal(it.payload, it.gap)
	}
	if err := json.Unmarshal(it.payload, &it.event); err != nil {
		return it, amber.Errorf(amber.KindDamaged, "understand event", "", "it is no JSON of the right shape: "+err.Error())
	}
	if it.event.Schema > amber.HostEventSchema {
		return it, amber.Errorf(amber.KindTooNew, "understand event", "", fmt.Sprintf("it has schema %d, this Amber knows %d", it.event.Schema, amber.HostEventSchema))
	}
	if it.event.ObservedAt.IsZero() {
		it.event.ObservedAt = f.At
	}
	it.step = meaning(it.event)
	return it, nil
}

// flush stores the batch. If that fails for a reason that may lie in an event,
// they go one by one, so that none keeps the others back.
func (s *session) flush(ctx context.Context) error {
	if len(s.batch) == 0 {
		return nil
	}
	batch := s.batch
	s.batch, s.bytes = nil, 0
	err := s.ingest(ctx, batch)
	if err == nil || !mayBePoison(err) {
		return err
	}
	for _, it := range batch {
		if err := s.insist(ctx, it); err != nil {
			return err
		}
	}
	return nil
}

// ingest stores items and moves the cursor behind them.
func (s *session) ingest(ctx context.Context, items []item) error {
	in := s.ingestion(items)
	res, err := s.o.Store.Ingest(ctx, in)
	if err != nil {
		return s.overtaken(ctx, err)
	}
	s.cursor.Seq, s.cursor.Host, s.cursor.Session = in.Through, in.Host, in.Session
	s.report.Applied += int64(res.Applied)
	s.report.Duplicates += int64(res.Duplicates)
	s.report.Memories += int64(res.Memories)
	return nil
}

func (s *session) ingestion(items []item) amber.Ingestion {
	in := amber.Ingestion{
		Journal: string(s.key), Host: s.cursor.Host, Session: s.cursor.Session,
		After: s.cursor.Seq, Through: s.cursor.Seq,
	}
	for _, it := range items {
		in.Through = it.seq
		if it.gap != nil { // it belongs to the session it is in
			it.step = gapStep(*it.gap, it.event.ObservedAt, in.Host, in.Session)
		} else {
			in.Host, in.Session = it.event.Host, it.event.SessionID
			in.LastAt = it.event.ObservedAt
			if it.event.Process != (amber.HostProcess{}) {
				in.Process = it.event.Process
			}
		}
		in.Steps = append(in.Steps, it.step)
	}
	return in
}

// overtaken turns a conflict into errOvertaken where the cursor moved.
func (s *session) overtaken(ctx context.Context, err error) error {
	if amber.KindOf(err) != amber.KindConflict {
		return err
	}
	now, cerr := s.o.Store.JournalCursor(ctx, string(s.key))
	if cerr == nil && now.Seq != s.cursor.Seq {
		return errOvertaken
	}
	return err
}

// clear removes drained segments once the session has ended or enough entries
// have piled up since the sequence from.
func (s *session) clear(ctx context.Context, from int64) error {
	every := max(s.o.ClearEvery, 1)
	if s.cursor.Seq == 0 || !s.ended && s.cursor.Seq/every == from/every {
		return nil
	}
	removed, err := s.o.Journal.Clear(ctx, s.key, s.cursor.Seq)
	s.report.Cleared += removed
	return err
}
