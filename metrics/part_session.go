package metrics

import (
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
)

type turns part[amber.Turns]

func (p turns) AppendTurn(ctx context.Context, t amber.Turn) (out amber.Turn, err error) {
	ctx, end, err := p.begin(ctx, "append_turn")
	defer func() { end(err, size{in: len(t.Content), items: 1}) }()
	return p.next.AppendTurn(ctx, t)
}

func (p turns) LoadTurns(ctx context.Context, id amber.SessionID, limit int) (l []amber.Turn, err error) {
	ctx, end, err := p.begin(ctx, "load_turns")
	defer func() { end(err, size{out: turnBytes(l), items: len(l)}) }()
	return p.next.LoadTurns(ctx, id, limit)
}

func (p turns) DeleteTurns(ctx context.Context, id amber.SessionID) (n int, err error) {
	ctx, end, err := p.begin(ctx, "delete_turns")
	defer func() { end(err, size{items: n}) }()
	return p.next.DeleteTurns(ctx, id)
}

type compactions part[amber.Compactions]

func (p compactions) AddCompaction(ctx context.Context, c amber.Compaction) (out amber.Compaction, err error) {
	ctx, end, err := p.begin(ctx, "add_compaction")
	defer func() { end(err, size{in: len(c.Summary), items: 1}) }()
	return p.next.AddCompaction(ctx, c)
}

func (p compactions) Compactions(ctx context.Context, id amber.SessionID) (l []amber.Compaction, err error) {
	ctx, end, err := p.begin(ctx, "compactions")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.Compactions(ctx, id)
}

type loops part[amber.Loops]

func (p loops) SaveLoop(ctx context.Context, l amber.LoopSave) (out amber.PendingLoop, err error) {
	ctx, end, err := p.begin(ctx, "save_loop")
	defer func() { end(err, size{in: len(l.State), items: 1}) }()
	return p.next.SaveLoop(ctx, l)
}

func (p loops) LoadLoop(ctx context.Context, id amber.SessionID) (l amber.PendingLoop, err error) {
	ctx, end, err := p.begin(ctx, "load_loop")
	defer func() { end(err, size{out: len(l.State), items: 1}) }()
	return p.next.LoadLoop(ctx, id)
}

func (p loops) ClearLoop(ctx context.Context, id amber.SessionID, runID string) (err error) {
	ctx, end, err := p.begin(ctx, "clear_loop")
	defer func() { end(err, size{items: 1}) }()
	return p.next.ClearLoop(ctx, id, runID)
}

type sessions part[amber.Sessions]

func (p sessions) StartSession(ctx context.Context, s amber.SessionStart) (out amber.Session, err error) {
	ctx, end, err := p.begin(ctx, "start_session")
	defer func() { end(err, size{items: 1}) }()
	return p.next.StartSession(ctx, s)
}

func (p sessions) Session(ctx context.Context, id amber.SessionID) (s amber.Session, err error) {
	ctx, end, err := p.begin(ctx, "session")
	defer func() { end(err, size{items: 1}) }()
	return p.next.Session(ctx, id)
}

func (p sessions) ListSessions(ctx context.Context, q amber.SessionQuery) (l amber.Page[amber.Session], err error) {
	ctx, end, err := p.begin(ctx, "list_sessions")
	defer func() { end(err, size{items: len(l.Items)}) }()
	return p.next.ListSessions(ctx, q)
}

func (p sessions) DeleteSession(ctx context.Context, id amber.SessionID) (err error) {
	ctx, end, err := p.begin(ctx, "delete_session")
	defer func() { end(err, size{items: 1}) }()
	return p.next.DeleteSession(ctx, id)
}

type names part[amber.SessionEditor]

func (p names) EndSession(ctx context.Context, e amber.SessionEnd) (s amber.Session, err error) {
	ctx, end, err := p.begin(ctx, "end_session")
	defer func() { end(err, size{items: 1}) }()
	return p.next.EndSession(ctx, e)
}

func (p names) RenameSession(ctx context.Context, id amber.SessionID, name string) (s amber.Session, err error) {
	ctx, end, err := p.begin(ctx, "rename_session")
	defer func() { end(err, size{items: 1}) }()
	return p.next.RenameSession(ctx, id, name)
}

type active part[amber.ActiveSessions]

func (p active) ActiveSession(ctx context.Context, binding string) (s amber.Session, err error) {
	ctx, end, err := p.begin(ctx, "active_session")
	defer func() { end(err, size{items: 1}) }()
	return p.next.ActiveSession(ctx, binding)
}

func (p active) SelectSession(ctx context.Context, id amber.SessionID) (s amber.Session, err error) {
	ctx, end, err := p.begin(ctx, "select_session")
	defer func() { end(err, size{items: 1}) }()
	return p.next.SelectSession(ctx, id)
}

type states part[amber.SessionStates]

func (p states) SaveState(ctx context.Context, id amber.SessionID, doc json.RawMessage, ifVersion int64) (s amber.SessionState, err error) {
	ctx, end, err := p.begin(ctx, "save_state")
	defer func() { end(err, size{in: len(doc), items: 1}) }()
	return p.next.SaveState(ctx, id, doc, ifVersion)
}

func (p states) LoadState(ctx context.Context, id amber.SessionID) (s amber.SessionState, err error) {
	ctx, end, err := p.begin(ctx, "load_state")
	defer func() { end(err, size{out: len(s.Document), items: 1}) }()
	return p.next.LoadState(ctx, id)
}

func (p states) DeleteState(ctx context.Context, id amber.SessionID) (err error) {
	ctx, end, err := p.begin(ctx, "delete_state")
	defer func() { end(err, size{items: 1}) }()
	return p.next.DeleteState(ctx, id)
}

type ingester part[amber.Ingester]

func (p ingester) Ingest(ctx context.Context, in amber.Ingestion) (r amber.IngestResult, err error) {
	ctx, end, err := p.begin(ctx, "ingest")
	defer func() { end(err, size{in: ingestBytes(in), items: r.Applied}) }()
	return p.next.Ingest(ctx, in)
}

func (p ingester) JournalCursor(ctx context.Context, journal string) (c amber.JournalCursor, err error) {
	ctx, end, err := p.begin(ctx, "journal_cursor")
	defer func() { end(err, size{items: 1}) }()
	return p.next.JournalCursor(ctx, journal)
}

func (p ingester) OpenJournals(ctx context.Context) (l []amber.JournalCursor, err error) {
	ctx, end, err := p.begin(ctx, "open_journals")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.OpenJournals(ctx)
}

type activities part[amber.Activities]

func (p activities) ListActivity(ctx context.Context, id amber.SessionID, kind amber.ActivityKind) (l []amber.Activity, err error) {
	ctx, end, err := p.begin(ctx, "list_activity")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.ListActivity(ctx, id, kind)
}
