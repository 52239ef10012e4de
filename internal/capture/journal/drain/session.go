package drain

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
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

	origin  journal.Origin
	cursor  amber.JournalCursor
	batch   []item // behind the cursor, in order
	bytes   int
	drained int64  // bytes, in this round
	failed  string // how the store failed when an event was given up
	ended   bool   // the session is over
	goal    string // the last prompt that was read
}

// item is one frame on its way into the store.
type item struct {
	seq     int64
	payload []byte
	event   journal.HostEvent
	step    amber.IngestStep
	gap     *journal.Gap // set for a gap: there is no event then
}

// errOvertaken says that another process moved the cursor.
var errOvertaken = errors.New("another process moved the cursor")

// run drains everything behind the cursor.
func (s *session) run(ctx context.Context) error {
	err := s.find(ctx)
	if errors.Is(err, errNothing) {
		// A process died while making the session's folder, or is about to go on: then
		// that process makes it again.
		_, err := s.o.Journal.Remove(ctx, s.key, 0)
		return err
	}
	if err != nil {
		return err
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

// errNothing says that there is nothing to drain yet.
var errNothing = errors.New("the session has no entries")

// find finds out whose session it is and how far it is drained. As long as
// no other process drains, its findings stay true.
func (s *session) find(ctx context.Context) error {
	var err error
	s.origin, err = s.o.Journal.Origin(s.key)
	switch amber.KindOf(err) {
	case amber.KindNotFound, amber.KindDamaged:
		if err = s.repair(ctx); err == nil {
			s.origin, err = s.o.Journal.Origin(s.key)
		}
	}
	if err != nil {
		return err
	}
	s.keys[s.origin.Cursor] = s.key
	if s.cursor, err = s.o.Store.JournalCursor(ctx, s.origin.Cursor); err != nil {
		return err
	}
	s.cursor.Host, s.cursor.Session = s.origin.Host, s.origin.ID
	s.ended = s.cursor.Ended
	return nil
}

// repair has the journal write down whose session a folder is whose meta file
// is lost: the events in it tell. Without one there is no cursor to rely on. A
// folder without entries is just being made.
func (s *session) repair(ctx context.Context) error {
	err := errNothing
	var owner journal.Session
	_, rerr := s.o.Journal.Read(ctx, s.key, 0, func(f journal.Frame) error {
		err = amber.Errorf(amber.KindDamaged, "drain", string(s.key), "the session has no owner: its meta file is missing")
		var ev journal.HostEvent
		if json.Unmarshal(f.Payload, &ev) != nil {
			return nil
		}
		if owner = (journal.Session{Host: ev.Host, ID: ev.SessionID}); owner.Key() == s.key {
			err = nil
			return errFound
		}
		return nil
	})
	if rerr != nil && !errors.Is(rerr, errFound) {
		return rerr
	}
	if err != nil {
		return err
	}
	return s.o.Journal.Start(ctx, owner)
}

var errFound = errors.New("found")

// take adds one frame to the batch.
func (s *session) take(ctx context.Context, f journal.Frame) error {
	s.report.Events++
	it, err := understand(f, s.place(ctx))
	if amber.KindOf(err) == amber.KindTooNew {
		return errors.Join(s.flush(ctx), err)
	}
	if err != nil {
		if err := s.flush(ctx); err != nil {
			return err
		}
		return s.giveUp(ctx, f.Seq, f.Payload, err)
	}
	if it.gap == nil {
		if err := s.decide(ctx, &it); err != nil {
			return err
		}
	}
	s.ended = over(it.event.Kind, s.ended)
	if err := s.amounts(ctx, &it); err != nil {
		return err
	}
	s.batch = append(s.batch, it)
	s.bytes += len(it.payload)
	s.drained += int64(len(it.payload))
	if it.event.Kind == journal.HostSessionEnd || len(s.batch) >= maxSteps || s.bytes >= maxBytes {
		return s.flush(ctx)
	}
	return nil
}

// amounts adds the digest of the session to an event that ends it or is about a
// compaction.
func (s *session) amounts(ctx context.Context, it *item) error {
	ends := it.event.Kind == journal.HostSessionEnd
	if it.gap != nil || !ends && !compacts(it.event) {
		return nil
	}
	// The digest is made of what the store holds, so all of it must be there.
	if err := s.flush(ctx); err != nil {
		return err
	}
	// The host drops what was said from its context at a compaction, too.
	summary, err := s.digested(ctx, subject{it.event.SessionID, it.event.Host, it.event.Project, it.event.Directory, it.event.EventID}, &it.step, s.report)
	if ends {
		it.step.End.Summary = summary
	}
	return err
}

// over says whether a session has ended after an event of a kind.
func over(kind journal.EventKind, before bool) bool {
	switch kind {
	case journal.HostSessionEnd:
		return true
	case journal.HostSessionStart, journal.HostPrompt:
		return false
	}
	return before
}

// place returns what finds the project of an event.
func (s *session) place(ctx context.Context) func(journal.HostEvent) string {
	return func(ev journal.HostEvent) string {
		if s.o.Place == nil {
			return ev.Project
		}
		return s.o.Place(ctx, ev)
	}
}

// understand says what a frame means. It keeps nothing of the frame. A bug in
// a rule costs that one event, not the drain.
func understand(f journal.Frame, place func(journal.HostEvent) string) (it item, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = amber.Errorf(amber.KindInternal, "understand event", "", "panic: %v", r)
		}
	}()
	it = item{seq: f.Seq, payload: append([]byte(nil), f.Payload...)}
	if f.Type == journal.TypeGap {
		it.gap, it.event.ObservedAt = &journal.Gap{}, f.At
		return it, json.Unmarshal(it.payload, it.gap)
	}
	// A newer schema may have other shapes.
	var version struct {
		Schema int `json:"schema"`
	}
	if json.Unmarshal(it.payload, &version) == nil && version.Schema > journal.HostEventSchema {
		return it, amber.Errorf(amber.KindTooNew, "understand event", "", "the event has schema %d, this Amber knows %d", version.Schema, journal.HostEventSchema)
	}
	if err := json.Unmarshal(it.payload, &it.event); err != nil {
		return it, amber.Errorf(amber.KindDamaged, "understand event", "", "the event is not the JSON of a host event: %s", err.Error())
	}
	if it.event.ObservedAt.IsZero() {
		it.event.ObservedAt = f.At
	}
	it.event.Project = place(it.event)
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
	s.failed = ""
	s.report.Applied += int64(res.Applied)
	s.report.Duplicates += int64(res.Duplicates)
	s.report.Memories += int64(res.Memories)
	return nil
}

func (s *session) ingestion(items []item) amber.Ingestion {
	in := amber.Ingestion{
		Journal: s.origin.Cursor, Host: s.cursor.Host, Session: s.cursor.Session,
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
	now, cerr := s.o.Store.JournalCursor(ctx, s.origin.Cursor)
	if cerr == nil && now.Seq != s.cursor.Seq {
		return errOvertaken
	}
	return err
}

// clear removes drained segments once the session has ended or enough entries
// have piled up since the sequence from; it removes everything of a session that
// has ended. It asks the store anew how far the session is drained: a restore may
// have taken the cursor back since.
func (s *session) clear(ctx context.Context, from int64) error {
	if every := s.o.ClearEvery; every > 1 && !s.ended && !s.o.Final && s.cursor.Seq > 0 && s.cursor.Seq/every == from/every && s.drained < clearBytes {
		return nil
	}
	now, err := s.o.Store.JournalCursor(ctx, s.origin.Cursor)
	if err != nil {
		return err
	}
	return s.tidy(ctx, s.key, now.Seq, s.ended || s.o.Final || now.Seq == 0, s.report)
}

// clearBytes is how much may be drained in one round without being cleared.
const clearBytes = 4 << 20

// tidy clears a session up to its cursor and, when it is over, removes it.
func (w *Worker) tidy(ctx context.Context, key journal.Key, drained int64, over bool, report *Report) error {
	if drained > 0 {
		removed, err := w.o.Journal.Clear(ctx, key, drained)
		report.Cleared += removed
		if err != nil {
			return err
		}
	}
	if !over {
		return nil
	}
	_, err := w.o.Journal.Remove(ctx, key, drained)
	return err
}
