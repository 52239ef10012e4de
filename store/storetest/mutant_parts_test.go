package storetest_test

import (
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
)

// The types here are parts with some methods replaced: those for which there is
// a function.

// either returns one of two functions.
func either[F any](first bool, a, b F) F {
	if first {
		return a
	}
	return b
}

type longTerm struct {
	amber.LongTerm
	write  func(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error)
	recall func(ctx context.Context, q amber.Query) (amber.RecallResult, error)
	delete func(ctx context.Context, id amber.MemoryID) error
}

func (l longTerm) Write(ctx context.Context, r amber.WriteRequest) (amber.WriteAck, error) {
	return either(l.write != nil, l.write, l.LongTerm.Write)(ctx, r)
}

func (l longTerm) Recall(ctx context.Context, q amber.Query) (amber.RecallResult, error) {
	return either(l.recall != nil, l.recall, l.LongTerm.Recall)(ctx, q)
}

func (l longTerm) Delete(ctx context.Context, id amber.MemoryID) error {
	return either(l.delete != nil, l.delete, l.LongTerm.Delete)(ctx, id)
}

type reader struct {
	amber.MemoryReader
	get      func(ctx context.Context, id amber.MemoryID) (amber.Memory, error)
	list     func(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error)
	history  func(ctx context.Context, id amber.MemoryID, p amber.Paging) (amber.Page[amber.Memory], error)
	timeline func(ctx context.Context, id amber.MemoryID, before, after int) ([]amber.Memory, error)
}

func (r reader) Get(ctx context.Context, id amber.MemoryID) (amber.Memory, error) {
	return either(r.get != nil, r.get, r.MemoryReader.Get)(ctx, id)
}

func (r reader) List(ctx context.Context, q amber.ListQuery) (amber.Page[amber.Memory], error) {
	return either(r.list != nil, r.list, r.MemoryReader.List)(ctx, q)
}

func (r reader) History(ctx context.Context, id amber.MemoryID, p amber.Paging) (amber.Page[amber.Memory], error) {
	return either(r.history != nil, r.history, r.MemoryReader.History)(ctx, id, p)
}

func (r reader) Timeline(ctx context.Context, id amber.MemoryID, before, after int) ([]amber.Memory, error) {
	return either(r.timeline != nil, r.timeline, r.MemoryReader.Timeline)(ctx, id, before, after)
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
}

func (l turnLog) AppendTurn(ctx context.Context, t amber.Turn) (amber.Turn, error) {
	return either(l.append != nil, l.append, l.Turns.AppendTurn)(ctx, t)
}

type catalogue struct {
	amber.Sessions
	start  func(ctx context.Context, s amber.SessionStart) (amber.Session, error)
	delete func(ctx context.Context, id amber.SessionID) error
}

func (c catalogue) StartSession(ctx context.Context, s amber.SessionStart) (amber.Session, error) {
	return either(c.start != nil, c.start, c.Sessions.StartSession)(ctx, s)
}

func (c catalogue) DeleteSession(ctx context.Context, id amber.SessionID) error {
	return either(c.delete != nil, c.delete, c.Sessions.DeleteSession)(ctx, id)
}

// everywhere ignores the project of the query.
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
	return either(s.save != nil, s.save, s.Loops.SaveLoop)(ctx, l)
}

func (s loopStore) ClearLoop(ctx context.Context, id amber.SessionID, runID string) error {
	return either(s.clear != nil, s.clear, s.Loops.ClearLoop)(ctx, id, runID)
}

type intake struct {
	amber.Ingester
	ingest func(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error)
	cursor func(ctx context.Context, journal string) (amber.JournalCursor, error)
	open   func(ctx context.Context) ([]amber.JournalCursor, error)
}

func (i intake) Ingest(ctx context.Context, in amber.Ingestion) (amber.IngestResult, error) {
	return either(i.ingest != nil, i.ingest, i.Ingester.Ingest)(ctx, in)
}

func (i intake) JournalCursor(ctx context.Context, journal string) (amber.JournalCursor, error) {
	return either(i.cursor != nil, i.cursor, i.Ingester.JournalCursor)(ctx, journal)
}

func (i intake) OpenJournals(ctx context.Context) ([]amber.JournalCursor, error) {
	return either(i.open != nil, i.open, i.Ingester.OpenJournals)(ctx)
}

type activityFunc struct {
	amber.Activities
	list  func(ctx context.Context, id amber.SessionID, kind amber.ActivityKind) ([]amber.Activity, error)
	named func(ctx context.Context, kind amber.ActivityKind, name string) ([]amber.Activity, error)
}

func (f activityFunc) ListActivity(ctx context.Context, id amber.SessionID, kind amber.ActivityKind) ([]amber.Activity, error) {
	return either(f.list != nil, f.list, f.Activities.ListActivity)(ctx, id, kind)
}

func (f activityFunc) ActivityNamed(ctx context.Context, kind amber.ActivityKind, name string) ([]amber.Activity, error) {
	return either(f.named != nil, f.named, f.Activities.ActivityNamed)(ctx, kind, name)
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
	return either(l.append != nil, l.append, l.TaskEvents.AppendEvent)(ctx, e)
}

func (l eventLog) CompactEvents(ctx context.Context, taskID string, keep int) (amber.ReplaySnapshot, error) {
	return either(l.compact != nil, l.compact, l.TaskEvents.CompactEvents)(ctx, taskID, keep)
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
	return either(d.publish != nil, d.publish, d.Queue.Publish)(ctx, e)
}

func (d dispatch) Claim(ctx context.Context, consumerID string) (amber.Claim, error) {
	return either(d.claim != nil, d.claim, d.Queue.Claim)(ctx, consumerID)
}

func (d dispatch) Ack(ctx context.Context, l amber.Lease) error {
	return either(d.ack != nil, d.ack, d.Queue.Ack)(ctx, l)
}

func (d dispatch) Nack(ctx context.Context, n amber.Nack) error {
	return either(d.nack != nil, d.nack, d.Queue.Nack)(ctx, n)
}

type keeper struct {
	amber.QueueKeeper
	renew    func(ctx context.Context, l amber.Lease) (amber.Lease, error)
	pressure func(ctx context.Context) (amber.Backpressure, error)
}

func (k keeper) Renew(ctx context.Context, l amber.Lease) (amber.Lease, error) {
	return either(k.renew != nil, k.renew, k.QueueKeeper.Renew)(ctx, l)
}

func (k keeper) Backpressure(ctx context.Context) (amber.Backpressure, error) {
	return either(k.pressure != nil, k.pressure, k.QueueKeeper.Backpressure)(ctx)
}
