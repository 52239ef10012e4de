package storetest_test

import (
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
)

// The types here are parts with some methods replaced.

type longTerm struct {
	amber.LongTerm
	write  func(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error)
	recall func(ctx context.Context, q amber.Query) (amber.RecallResult, error)
	delete func(ctx context.Context, id amber.MemoryID) error
}

func (l longTerm) Write(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error) {
	if l.write != nil {
		return l.write(ctx, r)
	}
	return l.LongTerm.Write(ctx, r)
}

func (l longTerm) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	if l.recall != nil {
		return l.recall(ctx, q)
	}
	return l.LongTerm.Recall(ctx, q)
}

func (l longTerm) Delete(ctx context.Context, id amber.MemoryID) error {
	if l.delete != nil {
		return l.delete(ctx, id)
	}
	return l.LongTerm.Delete(ctx, id)
}

type reader struct {
	amber.MemoryReader
	get      func(ctx context.Context, id amber.MemoryID) (amber.Memory, error)
	list     func(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error)
	history  func(ctx context.Context, id amber.MemoryID) ([]amber.Memory, error)
	timeline func(ctx context.Context, id amber.MemoryID, before, after int) ([]amber.Memory, error)
}

func (r reader) Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
	if r.get != nil {
		return r.get(ctx, id)
	}
	return r.MemoryReader.Get(ctx, id)
}

func (r reader) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	if r.list != nil {
		return r.list(ctx, q)
	}
	return r.MemoryReader.List(ctx, q)
}

func (r reader) History(ctx context.Context, id amber.MemoryID) ([]amber.Memory, error) {
	if r.history != nil {
		return r.history(ctx, id)
	}
	return r.MemoryReader.History(ctx, id)
}

func (r reader) Timeline(ctx context.Context, id amber.MemoryID, before, after int) ([]amber.Memory, error) {
	if r.timeline != nil {
		return r.timeline(ctx, id, before, after)
	}
	return r.MemoryReader.Timeline(ctx, id, before, after)
}

type batchFunc func(ctx context.Context, rs []amber.WriteRequest) ([]amber.WriteAck, error)

func (f batchFunc) WriteBatch(ctx context.Context, rs []amber.WriteRequest) ([]amber.WriteAck, error) {
	return f(ctx, rs)
}

type editFunc func(ctx context.Context, r amber.EditRequest) (amber.Memory, error)

func (f editFunc) Edit(ctx context.Context, r amber.EditRequest) (amber.Memory, error) {
	return f(ctx, r)
}

type eraseFunc func(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error)

func (f eraseFunc) Erase(ctx context.Context, id amber.MemoryID) (amber.EraseReport, error) {
	return f(ctx, id)
}

type changeFunc struct {
	amber.ChangeLog
	changes func(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error)
}

func (f changeFunc) Changes(ctx context.Context, after amber.Position, limit int) ([]amber.Change, error) {
	return f.changes(ctx, after, limit)
}

type statsFunc func(ctx context.Context) (amber.Stats, error)

func (f statsFunc) Stats(ctx context.Context) (amber.Stats, error) { return f(ctx) }

type turnLog struct {
	amber.Turns
	append func(ctx context.Context, t amber.Turn) (amber.Turn, error)
	load   func(ctx context.Context, id amber.SessionID, limit int) ([]amber.Turn, error)
}

func (l turnLog) AppendTurn(ctx context.Context, t amber.Turn) (amber.Turn, error) {
	if l.append != nil {
		return l.append(ctx, t)
	}
	return l.Turns.AppendTurn(ctx, t)
}

func (l turnLog) LoadTurns(ctx context.Context, id amber.SessionID, limit int) ([]amber.Turn, error) {
	if l.load != nil {
		return l.load(ctx, id, limit)
	}
	return l.Turns.LoadTurns(ctx, id, limit)
}

type catalogue struct {
	amber.Sessions
	start  func(ctx context.Context, s amber.SessionStart) (amber.Session, error)
	delete func(ctx context.Context, id amber.SessionID) error
}

func (c catalogue) StartSession(ctx context.Context, s amber.SessionStart) (amber.Session, error) {
	if c.start != nil {
		return c.start(ctx, s)
	}
	return c.Sessions.StartSession(ctx, s)
}

func (c catalogue) DeleteSession(ctx context.Context, id amber.SessionID) error {
	if c.delete != nil {
		return c.delete(ctx, id)
	}
	return c.Sessions.DeleteSession(ctx, id)
}

// everywhere does not look at the project it is asked for.
type everywhere struct{ amber.Sessions }

func (e everywhere) ListSessions(ctx context.Context, q amber.SessionQuery) (amber.Page[amber.Session], error) {
	q.Project = ""
	return e.Sessions.ListSessions(ctx, q)
}

type endFunc struct {
	amber.SessionEditor
	end func(ctx context.Context, e amber.SessionEnd) (amber.Session, error)
}

func (f endFunc) EndSession(ctx context.Context, e amber.SessionEnd) (amber.Session, error) {
	return f.end(ctx, e)
}

type stateFunc struct {
	amber.SessionStates
	save func(ctx context.Context, id amber.SessionID, doc json.RawMessage, ifVersion int64) (amber.SessionState, error)
}

func (f stateFunc) SaveState(ctx context.Context, id amber.SessionID, doc json.RawMessage, ifVersion int64) (amber.SessionState, error) {
	return f.save(ctx, id, doc, ifVersion)
}

type loopStore struct {
	amber.Loops
	save  func(ctx context.Context, l amber.LoopSave) (amber.PendingLoop, error)
	clear func(ctx context.Context, id amber.SessionID, runID string) error
}

func (s loopStore) SaveLoop(ctx context.Context, l amber.LoopSave) (amber.PendingLoop, error) {
	if s.save != nil {
		return s.save(ctx, l)
	}
	return s.Loops.SaveLoop(ctx, l)
}

func (s loopStore) ClearLoop(ctx context.Context, id amber.SessionID, runID string) error {
	if s.clear != nil {
		return s.clear(ctx, id, runID)
	}
	return s.Loops.ClearLoop(ctx, id, runID)
}

type intake struct {
	amber.Ingester
	ingest func(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error)
	cursor func(ctx context.Context, journal string) (amber.JournalCursor, error)
	open   func(ctx context.Context) ([]amber.JournalCursor, error)
}

func (i intake) Ingest(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error) {
	if i.ingest != nil {
		return i.ingest(ctx, in)
	}
	return i.Ingester.Ingest(ctx, in)
}

func (i intake) JournalCursor(ctx context.Context, journal string) (amber.JournalCursor, error) {
	if i.cursor != nil {
		return i.cursor(ctx, journal)
	}
	return i.Ingester.JournalCursor(ctx, journal)
}

func (i intake) OpenJournals(ctx context.Context) ([]amber.JournalCursor, error) {
	if i.open != nil {
		return i.open(ctx)
	}
	return i.Ingester.OpenJournals(ctx)
}

type activityFunc func(ctx context.Context, id amber.SessionID, kind amber.ActivityKind) ([]amber.Activity, error)

func (f activityFunc) ListActivity(ctx context.Context, id amber.SessionID, kind amber.ActivityKind) ([]amber.Activity, error) {
	return f(ctx, id, kind)
}

type taskFunc struct {
	amber.Tasks
	save func(ctx context.Context, t amber.Task, ifVersion int64) (amber.Task, error)
}

func (f taskFunc) SaveTask(ctx context.Context, t amber.Task, ifVersion int64) (amber.Task, error) {
	return f.save(ctx, t, ifVersion)
}

type eventLog struct {
	amber.TaskEvents
	append  func(ctx context.Context, e amber.TaskEvent) (amber.TaskEvent, error)
	compact func(ctx context.Context, taskID string, keep int) (amber.ReplaySnapshot, error)
}

func (l eventLog) AppendEvent(ctx context.Context, e amber.TaskEvent) (amber.TaskEvent, error) {
	if l.append != nil {
		return l.append(ctx, e)
	}
	return l.TaskEvents.AppendEvent(ctx, e)
}

func (l eventLog) CompactEvents(ctx context.Context, taskID string, keep int) (amber.ReplaySnapshot, error) {
	if l.compact != nil {
		return l.compact(ctx, taskID, keep)
	}
	return l.TaskEvents.CompactEvents(ctx, taskID, keep)
}

type decideFunc struct {
	amber.Approvals
	decide func(ctx context.Context, d amber.ApprovalDecision) (amber.Approval, error)
}

func (f decideFunc) DecideApproval(ctx context.Context, d amber.ApprovalDecision) (amber.Approval, error) {
	return f.decide(ctx, d)
}

type resultFunc struct {
	amber.Results
	save func(ctx context.Context, r amber.Result) (amber.Result, error)
}

func (f resultFunc) SaveResult(ctx context.Context, r amber.Result) (amber.Result, error) {
	return f.save(ctx, r)
}

type dispatch struct {
	amber.Queue
	publish func(ctx context.Context, e amber.Envelope) error
	claim   func(ctx context.Context, consumerID string) (amber.Claim, error)
	ack     func(ctx context.Context, l amber.Lease) error
	nack    func(ctx context.Context, n amber.Nack) error
}

func (d dispatch) Publish(ctx context.Context, e amber.Envelope) error {
	if d.publish != nil {
		return d.publish(ctx, e)
	}
	return d.Queue.Publish(ctx, e)
}

func (d dispatch) Claim(ctx context.Context, consumerID string) (amber.Claim, error) {
	if d.claim != nil {
		return d.claim(ctx, consumerID)
	}
	return d.Queue.Claim(ctx, consumerID)
}

func (d dispatch) Ack(ctx context.Context, l amber.Lease) error {
	if d.ack != nil {
		return d.ack(ctx, l)
	}
	return d.Queue.Ack(ctx, l)
}

func (d dispatch) Nack(ctx context.Context, n amber.Nack) error {
	if d.nack != nil {
		return d.nack(ctx, n)
	}
	return d.Queue.Nack(ctx, n)
}

type keeper struct {
	amber.QueueKeeper
	renew    func(ctx context.Context, l amber.Lease) (amber.Lease, error)
	pressure func(ctx context.Context) (amber.Backpressure, error)
}

func (k keeper) Renew(ctx context.Context, l amber.Lease) (amber.Lease, error) {
	if k.renew != nil {
		return k.renew(ctx, l)
	}
	return k.QueueKeeper.Renew(ctx, l)
}

func (k keeper) Backpressure(ctx context.Context) (amber.Backpressure, error) {
	if k.pressure != nil {
		return k.pressure(ctx)
	}
	return k.QueueKeeper.Backpressure(ctx)
}
