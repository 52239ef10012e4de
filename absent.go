package amber

import (
	"context"
	"encoding/json"
)

// absent stands in for every contract a store does not have. A quiet one
// answers reads as an empty store would; any other answers every call with
// its error. Mutations always fail.
type absent struct {
	err   error
	kind  Kind
	quiet bool
}

func (a absent) fail(op string) error { return &Error{Op: op, Kind: a.kind, Err: a.err} }

// read is the answer to a read that an empty store would answer with nothing.
func (a absent) read(op string) error {
	if a.quiet {
		return nil
	}
	return a.fail(op)
}

// find is the answer to a read of one record.
func (a absent) find(op string) error {
	if a.quiet {
		return &Error{Op: op, Kind: KindNotFound, Err: a.err}
	}
	return a.fail(op)
}

// Health tells why memory is not there; it is the one call that always
// answers.
func (a absent) Health(context.Context) (Health, error) {
	return Health{Backend: "none", Status: Unavailable, Detail: a.err.Error()}, nil
}

func (a absent) Recall(context.Context, Query) (RecallResult, error) {
	return RecallResult{Hits: []Hit{}}, a.read("recall")
}

func (a absent) Write(context.Context, WriteRequest) (WriteAck, error) {
	return WriteAck{}, a.fail("write memory")
}

func (a absent) Delete(context.Context, MemoryID) error { return a.fail("delete memory") }

func (a absent) WriteBatch(context.Context, []WriteRequest) ([]WriteAck, error) {
	return nil, a.fail("write memories")
}

func (a absent) Edit(context.Context, EditRequest) (Memory, error) {
	return Memory{}, a.fail("edit memory")
}

func (a absent) Erase(context.Context, MemoryID) (EraseReport, error) {
	return EraseReport{}, a.fail("erase memory")
}

func (a absent) Get(context.Context, MemoryID) (Memory, error) { return Memory{}, a.find("get memory") }

func (a absent) List(context.Context, ListQuery) (Page[Memory], error) {
	return Page[Memory]{Items: []Memory{}}, a.read("list memories")
}

func (a absent) History(context.Context, MemoryID, Paging) (Page[Memory], error) {
	return Page[Memory]{Items: []Memory{}}, a.find("read history")
}

func (a absent) Timeline(context.Context, MemoryID, int, int) ([]Memory, error) {
	return nil, a.find("read timeline")
}

func (a absent) Relate(context.Context, Relation) (Relation, error) {
	return Relation{}, a.fail("relate memories")
}

func (a absent) Relation(context.Context, string) (Relation, error) {
	return Relation{}, a.find("read relation")
}

func (a absent) Unrelate(context.Context, string) error { return a.fail("unrelate memories") }

func (a absent) Related(context.Context, MemoryID) ([]Relation, error) {
	return nil, a.find("read relations")
}

func (a absent) Neighbours(context.Context, NeighbourQuery) (Neighbourhood, error) {
	return Neighbourhood{}, a.find("read neighbourhood")
}

func (a absent) SetConcepts(context.Context, MemoryID, []string) error { return a.fail("set concepts") }

func (a absent) Concepts(context.Context, MemoryID) ([]string, error) {
	return nil, a.find("read concepts")
}

func (a absent) CountConcepts(context.Context) ([]ConceptCount, error) {
	return []ConceptCount{}, a.read("count concepts")
}

func (a absent) AddCompaction(context.Context, Compaction) (Compaction, error) {
	return Compaction{}, a.fail("add compaction")
}

func (a absent) Compactions(context.Context, SessionID, Paging) (Page[Compaction], error) {
	return Page[Compaction]{Items: []Compaction{}}, a.read("read compactions")
}

func (a absent) Stats(context.Context) (Stats, error) {
	return Stats{ByKind: map[MemoryKind]int64{}, ByScope: map[Scope]int64{}, ByTrust: map[Trust]int64{}}, a.read("count")
}

func (a absent) Changes(context.Context, Position, int) ([]Change, error) {
	return []Change{}, a.read("read changes")
}

func (a absent) ChangesBefore(context.Context, ChangeQuery) ([]Change, error) {
	return []Change{}, a.read("read changes")
}

func (a absent) Head(context.Context) (Position, error) { return "", a.read("read changes") }

func (a absent) AppendTurn(context.Context, Turn) (Turn, error) { return Turn{}, a.fail("append turn") }

func (a absent) ListTurns(context.Context, TurnQuery) (Page[ListedTurn], error) {
	return Page[ListedTurn]{Items: []ListedTurn{}}, a.read("list turns")
}

func (a absent) Turn(context.Context, TurnID) (Turn, error) { return Turn{}, a.find("read turn") }

func (a absent) DeleteTurns(context.Context, SessionID) (int, error) {
	return 0, a.fail("delete turns")
}

func (a absent) SaveLoop(context.Context, LoopSave) (PendingLoop, error) {
	return PendingLoop{}, a.fail("save loop")
}

func (a absent) LoadLoop(context.Context, SessionID) (PendingLoop, error) {
	return PendingLoop{}, a.find("load loop")
}

func (a absent) ClearLoop(context.Context, SessionID, string) error { return a.fail("clear loop") }

func (a absent) StartSession(context.Context, SessionStart) (Session, error) {
	return Session{}, a.fail("start session")
}

func (a absent) Session(context.Context, SessionID) (Session, error) {
	return Session{}, a.find("read session")
}

func (a absent) ListSessions(context.Context, SessionQuery) (Page[Session], error) {
	return Page[Session]{Items: []Session{}}, a.read("list sessions")
}

func (a absent) DeleteSession(context.Context, SessionID) error { return a.fail("delete session") }

func (a absent) EndSession(context.Context, SessionEnd) (Session, error) {
	return Session{}, a.fail("end session")
}

func (a absent) RenameSession(context.Context, SessionID, string) (Session, error) {
	return Session{}, a.fail("rename session")
}

func (a absent) ActiveSession(context.Context, string) (Session, error) {
	return Session{}, a.find("read active session")
}

func (a absent) SelectSession(context.Context, SessionID) (Session, error) {
	return Session{}, a.fail("select session")
}

func (a absent) SaveState(context.Context, SessionID, json.RawMessage, int64) (SessionState, error) {
	return SessionState{}, a.fail("save session state")
}

func (a absent) LoadState(context.Context, SessionID) (SessionState, error) {
	return SessionState{}, a.find("load session state")
}

func (a absent) DeleteState(context.Context, SessionID) error { return a.fail("delete session state") }

func (a absent) WriteNote(context.Context, NoteWrite) (Note, error) {
	return Note{}, a.fail("write note")
}

func (a absent) ReadNote(context.Context, string) (Note, error) { return Note{}, a.find("read note") }

func (a absent) ListNotes(context.Context) ([]Note, error) { return []Note{}, a.read("list notes") }

func (a absent) DeleteNote(context.Context, string, NoteBy) error { return a.fail("delete note") }

func (a absent) LogNote(context.Context, string, int) ([]NoteCommit, error) {
	return nil, a.find("read note log")
}

func (a absent) NoteAt(context.Context, string, string) (Note, error) {
	return Note{}, a.find("read note")
}

func (a absent) PutDocument(context.Context, DocumentWrite) (Document, error) {
	return Document{}, a.fail("write document")
}

func (a absent) ReadDocument(context.Context, string) (Document, error) {
	return Document{}, a.find("read document")
}

func (a absent) ListDocuments(context.Context) ([]Document, error) {
	return []Document{}, a.read("list documents")
}

func (a absent) DeleteDocument(context.Context, string, string) error {
	return a.fail("delete document")
}

func (a absent) SaveTask(context.Context, Task, int64) (Task, error) {
	return Task{}, a.fail("save task")
}

func (a absent) Task(context.Context, string) (Task, error) { return Task{}, a.find("read task") }

func (a absent) ListTasks(context.Context, TaskQuery) (Page[Task], error) {
	return Page[Task]{Items: []Task{}}, a.read("list tasks")
}

func (a absent) AppendEvent(context.Context, TaskEvent) (TaskEvent, error) {
	return TaskEvent{}, a.fail("append event")
}

func (a absent) ListEvents(context.Context, string, Paging) (Page[TaskEvent], error) {
	return Page[TaskEvent]{Items: []TaskEvent{}}, a.read("list events")
}

func (a absent) CompactEvents(context.Context, string, int) (ReplaySnapshot, error) {
	return ReplaySnapshot{}, a.fail("compact events")
}

func (a absent) Replay(context.Context, string) (ReplayReport, error) {
	return ReplayReport{}, a.find("replay task")
}

func (a absent) RequestApproval(context.Context, ApprovalRequest) (Approval, error) {
	return Approval{}, a.fail("request approval")
}

func (a absent) DecideApproval(context.Context, ApprovalDecision) (Approval, error) {
	return Approval{}, a.fail("decide approval")
}

func (a absent) Approval(context.Context, string) (Approval, error) {
	return Approval{}, a.find("read approval")
}

func (a absent) ListApprovals(context.Context, string, Paging) (Page[Approval], error) {
	return Page[Approval]{Items: []Approval{}}, a.read("list approvals")
}

func (a absent) SaveResult(context.Context, Result) (Result, error) {
	return Result{}, a.fail("save result")
}

func (a absent) Result(context.Context, string, string) (Result, error) {
	return Result{}, a.find("read result")
}

func (a absent) ListResults(context.Context, string, Paging) (Page[Result], error) {
	return Page[Result]{Items: []Result{}}, a.read("list results")
}

func (a absent) Publish(context.Context, Envelope) error { return a.fail("publish entry") }

func (a absent) Claim(context.Context, string) (Claim, error) { return Claim{}, a.fail("claim entry") }

func (a absent) Ack(context.Context, Lease) error { return a.fail("ack entry") }

func (a absent) Nack(context.Context, Nack) error { return a.fail("nack entry") }

func (a absent) Renew(context.Context, Lease) (Lease, error) { return Lease{}, a.fail("renew lease") }

func (a absent) Backpressure(context.Context) (Backpressure, error) {
	return Backpressure{}, a.read("count queue")
}

func (a absent) DeadEntries(context.Context, Paging) (Page[DeadEntry], error) {
	return Page[DeadEntry]{Items: []DeadEntry{}}, a.read("list dead entries")
}

func (a absent) Ingest(context.Context, Ingestion) (IngestResult, error) {
	return IngestResult{}, a.fail("ingest")
}

func (a absent) JournalCursor(_ context.Context, journal string) (JournalCursor, error) {
	return JournalCursor{Journal: journal}, a.read("read cursor")
}

func (a absent) OpenJournals(context.Context) ([]JournalCursor, error) {
	return []JournalCursor{}, a.read("list cursors")
}

func (a absent) ActivityNamed(context.Context, ActivityKind, string) ([]Activity, error) {
	return []Activity{}, a.read("list activity")
}

func (a absent) ListActivity(context.Context, SessionID, ActivityKind) ([]Activity, error) {
	return []Activity{}, a.read("list activity")
}
