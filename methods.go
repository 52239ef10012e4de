package amber

import (
	"context"
	"encoding/json"
)

// This file states every method of every contract of a store once: the layer it belongs to, its names and its effect.
// Metrics, redaction, authorship, bounds, switches and parts that are absent follow from these statements; see [Around].

func lists(l Layer, name, op string) Method   { return Method{l, name, op, Lists} }
func finds(l Layer, name, op string) Method   { return Method{l, name, op, Finds} }
func changes(l Layer, name, op string) Method { return Method{l, name, op, Changes} }

func (a *around) Recall(ctx context.Context, q Query) (RecallResult, error) {
	return call1(ctx, a, lists(LayerLongTerm, "recall", "recall"), a.next.LongTerm, LongTerm.Recall, q)
}

func (a *around) Ask(ctx context.Context, q Query, leave Leave) (RecallResult, error) {
	return call2(ctx, a, lists(LayerLongTerm, "ask", "ask everything"), a.next.Everything, Everything.Ask, q, leave)
}

func (a *around) Write(ctx context.Context, r WriteRequest) (WriteAck, error) {
	return call1(ctx, a, changes(LayerLongTerm, "write", "write memory"), a.next.LongTerm, LongTerm.Write, r)
}

func (a *around) Delete(ctx context.Context, id MemoryID) error {
	return do1(ctx, a, changes(LayerLongTerm, "delete", "delete memory"), a.next.LongTerm, LongTerm.Delete, id)
}

func (a *around) Health(ctx context.Context) (Health, error) {
	return call0(ctx, a, lists(LayerLongTerm, "health", "look at the backend"), a.next.LongTerm, LongTerm.Health)
}

func (a *around) Get(ctx context.Context, id MemoryID) (Memory, error) {
	return call1(ctx, a, finds(LayerLongTerm, "get", "get memory"), a.next.Memories, MemoryReader.Get, id)
}

func (a *around) List(ctx context.Context, q ListQuery) (Page[Memory], error) {
	return call1(ctx, a, lists(LayerLongTerm, "list", "list memories"), a.next.Memories, MemoryReader.List, q)
}

func (a *around) History(ctx context.Context, id MemoryID, p Paging) (Page[Memory], error) {
	return call2(ctx, a, finds(LayerLongTerm, "history", "read history"), a.next.Memories, MemoryReader.History, id, p)
}

func (a *around) Timeline(ctx context.Context, id MemoryID, before, after int) ([]Memory, error) {
	return call3(ctx, a, finds(LayerLongTerm, "timeline", "read timeline"), a.next.Memories, MemoryReader.Timeline, id, before, after)
}

func (a *around) WriteBatch(ctx context.Context, rs []WriteRequest) ([]WriteAck, error) {
	return call1(ctx, a, changes(LayerLongTerm, "write_batch", "write memories"), a.next.Batch, BatchWriter.WriteBatch, rs)
}

func (a *around) Edit(ctx context.Context, r EditRequest) (Memory, error) {
	return call1(ctx, a, changes(LayerLongTerm, "edit", "edit memory"), a.next.Editor, Editor.Edit, r)
}

func (a *around) Erase(ctx context.Context, id MemoryID) (EraseReport, error) {
	return call1(ctx, a, changes(LayerLongTerm, "erase", "erase memory"), a.next.Eraser, Eraser.Erase, id)
}

func (a *around) Relate(ctx context.Context, r Relation) (Relation, error) {
	return call1(ctx, a, changes(LayerLongTerm, "relate", "relate memories"), a.next.Relations, Relations.Relate, r)
}

func (a *around) Relation(ctx context.Context, id string) (Relation, error) {
	return call1(ctx, a, finds(LayerLongTerm, "relation", "read relation"), a.next.Relations, Relations.Relation, id)
}

func (a *around) Unrelate(ctx context.Context, id string) error {
	return do1(ctx, a, changes(LayerLongTerm, "unrelate", "unrelate memories"), a.next.Relations, Relations.Unrelate, id)
}

func (a *around) Related(ctx context.Context, id MemoryID) ([]Relation, error) {
	return call1(ctx, a, finds(LayerLongTerm, "related", "read relations"), a.next.Relations, Relations.Related, id)
}

func (a *around) Neighbours(ctx context.Context, q NeighbourQuery) (Neighbourhood, error) {
	return call1(ctx, a, finds(LayerLongTerm, "neighbours", "read neighbourhood"), a.next.Relations, Relations.Neighbours, q)
}

func (a *around) SetConcepts(ctx context.Context, id MemoryID, words []string) error {
	return do2(ctx, a, changes(LayerLongTerm, "set_concepts", "set concepts"), a.next.Concepts, Concepts.SetConcepts, id, words)
}

func (a *around) Concepts(ctx context.Context, id MemoryID) ([]string, error) {
	return call1(ctx, a, finds(LayerLongTerm, "concepts", "read concepts"), a.next.Concepts, Concepts.Concepts, id)
}

func (a *around) CountConcepts(ctx context.Context) ([]ConceptCount, error) {
	return call0(ctx, a, lists(LayerLongTerm, "count_concepts", "count concepts"), a.next.Concepts, Concepts.CountConcepts)
}

func (a *around) Stats(ctx context.Context) (Stats, error) {
	return call0(ctx, a, lists(LayerLongTerm, "stats", "count"), a.next.Stats, StatsReader.Stats)
}

func (a *around) AppendTurn(ctx context.Context, t Turn) (Turn, error) {
	return call1(ctx, a, changes(LayerTurns, "append_turn", "append turn"), a.next.Turns, Turns.AppendTurn, t)
}

func (a *around) ListTurns(ctx context.Context, q TurnQuery) (Page[ListedTurn], error) {
	return call1(ctx, a, lists(LayerTurns, "list_turns", "list turns"), a.next.Turns, Turns.ListTurns, q)
}

func (a *around) Turn(ctx context.Context, id TurnID) (Turn, error) {
	return call1(ctx, a, finds(LayerTurns, "turn", "read turn"), a.next.Turns, Turns.Turn, id)
}

func (a *around) DeleteTurns(ctx context.Context, id SessionID) (int, error) {
	return call1(ctx, a, changes(LayerTurns, "delete_turns", "delete turns"), a.next.Turns, Turns.DeleteTurns, id)
}

func (a *around) AddCompaction(ctx context.Context, c Compaction) (Compaction, error) {
	return call1(ctx, a, changes(LayerTurns, "add_compaction", "add compaction"), a.next.Compactions, Compactions.AddCompaction, c)
}

func (a *around) Compactions(ctx context.Context, id SessionID, p Paging) (Page[Compaction], error) {
	return call2(ctx, a, lists(LayerTurns, "compactions", "read compactions"), a.next.Compactions, Compactions.Compactions, id, p)
}

func (a *around) SaveLoop(ctx context.Context, l LoopSave) (PendingLoop, error) {
	return call1(ctx, a, changes(LayerLoops, "save_loop", "save loop"), a.next.Loops, Loops.SaveLoop, l)
}

func (a *around) LoadLoop(ctx context.Context, id SessionID) (PendingLoop, error) {
	return call1(ctx, a, finds(LayerLoops, "load_loop", "load loop"), a.next.Loops, Loops.LoadLoop, id)
}

func (a *around) ClearLoop(ctx context.Context, id SessionID, runID string) error {
	return do2(ctx, a, changes(LayerLoops, "clear_loop", "clear loop"), a.next.Loops, Loops.ClearLoop, id, runID)
}

func (a *around) StartSession(ctx context.Context, s SessionStart) (Session, error) {
	return call1(ctx, a, changes(LayerSessions, "start_session", "start session"), a.next.Sessions, Sessions.StartSession, s)
}

func (a *around) Session(ctx context.Context, id SessionID) (Session, error) {
	return call1(ctx, a, finds(LayerSessions, "session", "read session"), a.next.Sessions, Sessions.Session, id)
}

func (a *around) ListSessions(ctx context.Context, q SessionQuery) (Page[Session], error) {
	return call1(ctx, a, lists(LayerSessions, "list_sessions", "list sessions"), a.next.Sessions, Sessions.ListSessions, q)
}

func (a *around) DeleteSession(ctx context.Context, id SessionID) error {
	return do1(ctx, a, changes(LayerSessions, "delete_session", "delete session"), a.next.Sessions, Sessions.DeleteSession, id)
}

func (a *around) EndSession(ctx context.Context, e SessionEnd) (Session, error) {
	return call1(ctx, a, changes(LayerSessions, "end_session", "end session"), a.next.Names, SessionEditor.EndSession, e)
}

func (a *around) RenameSession(ctx context.Context, id SessionID, name string) (Session, error) {
	return call2(ctx, a, changes(LayerSessions, "rename_session", "rename session"), a.next.Names, SessionEditor.RenameSession, id, name)
}

func (a *around) ActiveSession(ctx context.Context, binding string) (Session, error) {
	return call1(ctx, a, finds(LayerSessions, "active_session", "read active session"), a.next.Active, ActiveSessions.ActiveSession, binding)
}

func (a *around) SelectSession(ctx context.Context, id SessionID) (Session, error) {
	return call1(ctx, a, changes(LayerSessions, "select_session", "select session"), a.next.Active, ActiveSessions.SelectSession, id)
}

func (a *around) SaveState(ctx context.Context, id SessionID, doc json.RawMessage, ifVersion int64) (SessionState, error) {
	return call3(ctx, a, changes(LayerSessions, "save_state", "save session state"), a.next.States, SessionStates.SaveState, id, doc, ifVersion)
}

func (a *around) LoadState(ctx context.Context, id SessionID) (SessionState, error) {
	return call1(ctx, a, finds(LayerSessions, "load_state", "load session state"), a.next.States, SessionStates.LoadState, id)
}

func (a *around) DeleteState(ctx context.Context, id SessionID) error {
	return do1(ctx, a, changes(LayerSessions, "delete_state", "delete session state"), a.next.States, SessionStates.DeleteState, id)
}

func (a *around) ListActivity(ctx context.Context, id SessionID, kind ActivityKind) ([]Activity, error) {
	return call2(ctx, a, lists(LayerSessions, "list_activity", "list activity"), a.next.Activities, Activities.ListActivity, id, kind)
}

func (a *around) ActivityNamed(ctx context.Context, kind ActivityKind, name string) ([]Activity, error) {
	return call2(ctx, a, lists(LayerSessions, "activity_named", "list activity"), a.next.Activities, Activities.ActivityNamed, kind, name)
}

func (a *around) Ingest(ctx context.Context, in Ingestion) (IngestResult, error) {
	return call1(ctx, a, changes(LayerJournal, "ingest", "ingest"), a.next.Ingest, Ingester.Ingest, in)
}

func (a *around) JournalCursor(ctx context.Context, journal string) (JournalCursor, error) {
	return call1(ctx, a, lists(LayerJournal, "journal_cursor", "read cursor"), a.next.Ingest, Ingester.JournalCursor, journal)
}

func (a *around) OpenJournals(ctx context.Context) ([]JournalCursor, error) {
	return call0(ctx, a, lists(LayerJournal, "open_journals", "list cursors"), a.next.Ingest, Ingester.OpenJournals)
}

func (a *around) Outgoing(ctx context.Context, r OutgoingRequest) (Outgoing, error) {
	return call1(ctx, a, lists(LayerSync, "outgoing", "read changes to sync"), a.next.Sync, Replica.Outgoing, r)
}

func (a *around) SyncPlace(ctx context.Context, place, project string) (SyncPlace, error) {
	return call2(ctx, a, lists(LayerSync, "sync_place", "read state of sync"), a.next.Sync, Replica.SyncPlace, place, project)
}

func (a *around) Exported(ctx context.Context, n ExportNote) error {
	return do1(ctx, a, changes(LayerSync, "exported", "note export"), a.next.Sync, Replica.Exported, n)
}

func (a *around) AppliedChunks(ctx context.Context, place string, chunks []string) (map[string]bool, error) {
	return call2(ctx, a, lists(LayerSync, "applied_chunks", "read state of sync"), a.next.Sync, Replica.AppliedChunks, place, chunks)
}

func (a *around) Apply(ctx context.Context, c Incoming) (Applied, error) {
	return call1(ctx, a, changes(LayerSync, "apply", "apply chunk"), a.next.Sync, Replica.Apply, c)
}

func (a *around) SetQuarantine(ctx context.Context, place string, chunks []QuarantinedChunk) error {
	return do2(ctx, a, changes(LayerSync, "set_quarantine", "note quarantine"), a.next.Sync, Replica.SetQuarantine, place, chunks)
}

func (a *around) SyncReport(ctx context.Context, place string) (SyncReport, error) {
	return call1(ctx, a, lists(LayerSync, "sync_report", "read state of sync"), a.next.Sync, Replica.SyncReport, place)
}

func (a *around) Links(ctx context.Context, q LinkQuery) ([]SyncLink, error) {
	return call1(ctx, a, lists(LayerSync, "links", "read links"), a.next.Sync, Replica.Links, q)
}

func (a *around) LastLocalID(ctx context.Context, tool string, scope ChangeScope) (int64, error) {
	return call2(ctx, a, lists(LayerSync, "last_local_id", "read links"), a.next.Sync, Replica.LastLocalID, tool, scope)
}

func (a *around) SyncRecords(ctx context.Context, refs []SyncRef) ([]SyncRecord, error) {
	return call1(ctx, a, lists(LayerSync, "sync_records", "read records"), a.next.Sync, Replica.SyncRecords, refs)
}

func (a *around) Held(ctx context.Context, place string, marks []SyncMark) ([]bool, error) {
	return call2(ctx, a, lists(LayerSync, "held", "read state of sync"), a.next.Sync, Replica.Held, place, marks)
}

func (a *around) RemovedAt(ctx context.Context, place string, refs []SyncRef) ([]bool, error) {
	return call2(ctx, a, lists(LayerSync, "removed_at", "read state of sync"), a.next.Sync, Replica.RemovedAt, place, refs)
}

func (a *around) WriteNote(ctx context.Context, w NoteWrite) (Note, error) {
	return call1(ctx, a, changes(LayerNotes, "write_note", "write note"), a.next.Notes, Notes.WriteNote, w)
}

func (a *around) ReadNote(ctx context.Context, name string) (Note, error) {
	return call1(ctx, a, finds(LayerNotes, "read_note", "read note"), a.next.Notes, Notes.ReadNote, name)
}

func (a *around) ListNotes(ctx context.Context) ([]Note, error) {
	return call0(ctx, a, lists(LayerNotes, "list_notes", "list notes"), a.next.Notes, Notes.ListNotes)
}

func (a *around) DeleteNote(ctx context.Context, name string, by NoteBy) error {
	return do2(ctx, a, changes(LayerNotes, "delete_note", "delete note"), a.next.Notes, Notes.DeleteNote, name, by)
}

func (a *around) LogNote(ctx context.Context, name string, limit int) ([]NoteCommit, error) {
	return call2(ctx, a, finds(LayerNotes, "log_note", "read note log"), a.next.NoteLog, NoteLog.LogNote, name, limit)
}

func (a *around) NoteAt(ctx context.Context, name, commit string) (Note, error) {
	return call2(ctx, a, finds(LayerNotes, "note_at", "read note"), a.next.NoteLog, NoteLog.NoteAt, name, commit)
}

func (a *around) SaveTask(ctx context.Context, t Task, ifVersion int64) (Task, error) {
	return call2(ctx, a, changes(LayerControl, "save_task", "save task"), a.next.Tasks, Tasks.SaveTask, t, ifVersion)
}

func (a *around) Task(ctx context.Context, id string) (Task, error) {
	return call1(ctx, a, finds(LayerControl, "task", "read task"), a.next.Tasks, Tasks.Task, id)
}

func (a *around) ListTasks(ctx context.Context, q TaskQuery) (Page[Task], error) {
	return call1(ctx, a, lists(LayerControl, "list_tasks", "list tasks"), a.next.Tasks, Tasks.ListTasks, q)
}

func (a *around) AppendEvent(ctx context.Context, e TaskEvent) (TaskEvent, error) {
	return call1(ctx, a, changes(LayerControl, "append_event", "append event"), a.next.Events, TaskEvents.AppendEvent, e)
}

func (a *around) ListEvents(ctx context.Context, taskID string, p Paging) (Page[TaskEvent], error) {
	return call2(ctx, a, lists(LayerControl, "list_events", "list events"), a.next.Events, TaskEvents.ListEvents, taskID, p)
}

func (a *around) CompactEvents(ctx context.Context, taskID string, keep int) (ReplaySnapshot, error) {
	return call2(ctx, a, changes(LayerControl, "compact_events", "compact events"), a.next.Events, TaskEvents.CompactEvents, taskID, keep)
}

func (a *around) Replay(ctx context.Context, taskID string) (ReplayReport, error) {
	return call1(ctx, a, finds(LayerControl, "replay", "replay task"), a.next.Events, TaskEvents.Replay, taskID)
}

func (a *around) RequestApproval(ctx context.Context, r ApprovalRequest) (Approval, error) {
	return call1(ctx, a, changes(LayerControl, "request_approval", "request approval"), a.next.Approvals, Approvals.RequestApproval, r)
}

func (a *around) DecideApproval(ctx context.Context, d ApprovalDecision) (Approval, error) {
	return call1(ctx, a, changes(LayerControl, "decide_approval", "decide approval"), a.next.Approvals, Approvals.DecideApproval, d)
}

func (a *around) Approval(ctx context.Context, id string) (Approval, error) {
	return call1(ctx, a, finds(LayerControl, "approval", "read approval"), a.next.Approvals, Approvals.Approval, id)
}

func (a *around) ListApprovals(ctx context.Context, taskID string, p Paging) (Page[Approval], error) {
	return call2(ctx, a, lists(LayerControl, "list_approvals", "list approvals"), a.next.Approvals, Approvals.ListApprovals, taskID, p)
}

func (a *around) SaveResult(ctx context.Context, r Result) (Result, error) {
	return call1(ctx, a, changes(LayerControl, "save_result", "save result"), a.next.Results, Results.SaveResult, r)
}

func (a *around) Result(ctx context.Context, taskID, nodeID string) (Result, error) {
	return call2(ctx, a, finds(LayerControl, "result", "read result"), a.next.Results, Results.Result, taskID, nodeID)
}

func (a *around) ListResults(ctx context.Context, taskID string, p Paging) (Page[Result], error) {
	return call2(ctx, a, lists(LayerControl, "list_results", "list results"), a.next.Results, Results.ListResults, taskID, p)
}

func (a *around) Publish(ctx context.Context, e Envelope) error {
	return do1(ctx, a, changes(LayerControl, "publish", "publish entry"), a.next.Queue, Queue.Publish, e)
}

func (a *around) Claim(ctx context.Context, consumerID string) (Claim, error) {
	return call1(ctx, a, changes(LayerControl, "claim", "claim entry"), a.next.Queue, Queue.Claim, consumerID)
}

func (a *around) Ack(ctx context.Context, l Lease) error {
	return do1(ctx, a, changes(LayerControl, "ack", "ack entry"), a.next.Queue, Queue.Ack, l)
}

func (a *around) Nack(ctx context.Context, n Nack) error {
	return do1(ctx, a, changes(LayerControl, "nack", "nack entry"), a.next.Queue, Queue.Nack, n)
}

func (a *around) Renew(ctx context.Context, l Lease) (Lease, error) {
	return call1(ctx, a, changes(LayerControl, "renew", "renew lease"), a.next.QueueKeeper, QueueKeeper.Renew, l)
}

func (a *around) Backpressure(ctx context.Context) (Backpressure, error) {
	return call0(ctx, a, lists(LayerControl, "backpressure", "count queue"), a.next.QueueKeeper, QueueKeeper.Backpressure)
}

func (a *around) DeadEntries(ctx context.Context, p Paging) (Page[DeadEntry], error) {
	return call1(ctx, a, lists(LayerControl, "dead_entries", "list dead entries"), a.next.QueueKeeper, QueueKeeper.DeadEntries, p)
}

func (a *around) PutDocument(ctx context.Context, w DocumentWrite) (Document, error) {
	return call1(ctx, a, changes(LayerControl, "put_document", "write document"), a.next.Documents, Documents.PutDocument, w)
}

func (a *around) ReadDocument(ctx context.Context, name string) (Document, error) {
	return call1(ctx, a, finds(LayerControl, "read_document", "read document"), a.next.Documents, Documents.ReadDocument, name)
}

func (a *around) ListDocuments(ctx context.Context) ([]Document, error) {
	return call0(ctx, a, lists(LayerControl, "list_documents", "list documents"), a.next.Documents, Documents.ListDocuments)
}

func (a *around) DeleteDocument(ctx context.Context, name, ifRevision string) error {
	return do2(ctx, a, changes(LayerControl, "delete_document", "delete document"), a.next.Documents, Documents.DeleteDocument, name, ifRevision)
}

// changeLog is one of the two logs of changes, with a layer around it.
type changeLog struct {
	a     *around
	log   ChangeLog
	layer Layer
}

func (c changeLog) isEmpty() bool { return c.a.empty }

func (c changeLog) Changes(ctx context.Context, after Position, limit int) ([]Change, error) {
	return call2(ctx, c.a, lists(c.layer, "changes", "read changes"), c.log, ChangeLog.Changes, after, limit)
}

func (c changeLog) ChangesBefore(ctx context.Context, q ChangeQuery) ([]Change, error) {
	return call1(ctx, c.a, lists(c.layer, "changes_before", "read changes"), c.log, ChangeLog.ChangesBefore, q)
}

func (c changeLog) Head(ctx context.Context) (Position, error) {
	return call0(ctx, c.a, lists(c.layer, "head", "read changes"), c.log, ChangeLog.Head)
}
