package metrics

import (
	"context"
	"encoding/json"

	"github.com/amber-memory/amber"
)

type turns part[amber.Turns]

func (p turns) AppendTurn(ctx context.Context, t amber.Turn) (out amber.Turn, err error) {
	defer p.watch(&ctx, &err, "append_turn")(func() size { return size{in: len(t.Content), items: 1} })
	return p.next.AppendTurn(ctx, t)
}

func (p turns) ListTurns(ctx context.Context, q amber.TurnQuery) (l amber.Page[amber.ListedTurn], err error) {
	defer p.watch(&ctx, &err, "list_turns")(func() size { return size{items: len(l.Items)} })
	return p.next.ListTurns(ctx, q)
}

func (p turns) Turn(ctx context.Context, id amber.TurnID) (t amber.Turn, err error) {
	defer p.watch(&ctx, &err, "turn")(func() size { return size{out: len(t.Content), items: 1} })
	return p.next.Turn(ctx, id)
}

func (p turns) DeleteTurns(ctx context.Context, id amber.SessionID) (n int, err error) {
	defer p.watch(&ctx, &err, "delete_turns")(func() size { return size{items: n} })
	return p.next.DeleteTurns(ctx, id)
}

type compactions part[amber.Compactions]

func (p compactions) AddCompaction(ctx context.Context, c amber.Compaction) (out amber.Compaction, err error) {
	defer p.watch(&ctx, &err, "add_compaction")(func() size { return size{in: len(c.Summary), items: 1} })
	return p.next.AddCompaction(ctx, c)
}

func (m compactions) Compactions(ctx context.Context, id amber.SessionID, p amber.Paging) (l amber.Page[amber.Compaction], err error) {
	defer m.watch(&ctx, &err, "compactions")(func() size { return size{items: len(l.Items)} })
	return m.next.Compactions(ctx, id, p)
}

type loops part[amber.Loops]

func (p loops) SaveLoop(ctx context.Context, l amber.LoopSave) (out amber.PendingLoop, err error) {
	defer p.watch(&ctx, &err, "save_loop")(func() size { return size{in: len(l.State), items: 1} })
	return p.next.SaveLoop(ctx, l)
}

func (p loops) LoadLoop(ctx context.Context, id amber.SessionID) (l amber.PendingLoop, err error) {
	defer p.watch(&ctx, &err, "load_loop")(func() size { return size{out: len(l.State), items: 1} })
	return p.next.LoadLoop(ctx, id)
}

func (p loops) ClearLoop(ctx context.Context, id amber.SessionID, runID string) (err error) {
	defer p.watch(&ctx, &err, "clear_loop")(one)
	return p.next.ClearLoop(ctx, id, runID)
}

type sessions part[amber.Sessions]

func (p sessions) StartSession(ctx context.Context, s amber.SessionStart) (out amber.Session, err error) {
	defer p.watch(&ctx, &err, "start_session")(one)
	return p.next.StartSession(ctx, s)
}

func (p sessions) Session(ctx context.Context, id amber.SessionID) (s amber.Session, err error) {
	defer p.watch(&ctx, &err, "session")(one)
	return p.next.Session(ctx, id)
}

func (p sessions) ListSessions(ctx context.Context, q amber.SessionQuery) (l amber.Page[amber.Session], err error) {
	defer p.watch(&ctx, &err, "list_sessions")(func() size { return size{items: len(l.Items)} })
	return p.next.ListSessions(ctx, q)
}

func (p sessions) DeleteSession(ctx context.Context, id amber.SessionID) (err error) {
	defer p.watch(&ctx, &err, "delete_session")(one)
	return p.next.DeleteSession(ctx, id)
}

type names part[amber.SessionEditor]

func (p names) EndSession(ctx context.Context, e amber.SessionEnd) (s amber.Session, err error) {
	defer p.watch(&ctx, &err, "end_session")(one)
	return p.next.EndSession(ctx, e)
}

func (p names) RenameSession(ctx context.Context, id amber.SessionID, name string) (s amber.Session, err error) {
	defer p.watch(&ctx, &err, "rename_session")(one)
	return p.next.RenameSession(ctx, id, name)
}

type active part[amber.ActiveSessions]

func (p active) ActiveSession(ctx context.Context, binding string) (s amber.Session, err error) {
	defer p.watch(&ctx, &err, "active_session")(one)
	return p.next.ActiveSession(ctx, binding)
}

func (p active) SelectSession(ctx context.Context, id amber.SessionID) (s amber.Session, err error) {
	defer p.watch(&ctx, &err, "select_session")(one)
	return p.next.SelectSession(ctx, id)
}

type states part[amber.SessionStates]

func (p states) SaveState(ctx context.Context, id amber.SessionID, doc json.RawMessage, ifVersion int64) (s amber.SessionState, err error) {
	defer p.watch(&ctx, &err, "save_state")(func() size { return size{in: len(doc), items: 1} })
	return p.next.SaveState(ctx, id, doc, ifVersion)
}

func (p states) LoadState(ctx context.Context, id amber.SessionID) (s amber.SessionState, err error) {
	defer p.watch(&ctx, &err, "load_state")(func() size { return size{out: len(s.Document), items: 1} })
	return p.next.LoadState(ctx, id)
}

func (p states) DeleteState(ctx context.Context, id amber.SessionID) (err error) {
	defer p.watch(&ctx, &err, "delete_state")(one)
	return p.next.DeleteState(ctx, id)
}

type ingester part[amber.Ingester]

func (p ingester) Ingest(ctx context.Context, in amber.Ingestion) (r amber.IngestResult, err error) {
	defer p.watch(&ctx, &err, "ingest")(func() size { return size{in: ingestBytes(in), items: r.Applied} })
	return p.next.Ingest(ctx, in)
}

func (p ingester) JournalCursor(ctx context.Context, journal string) (c amber.JournalCursor, err error) {
	defer p.watch(&ctx, &err, "journal_cursor")(one)
	return p.next.JournalCursor(ctx, journal)
}

func (p ingester) OpenJournals(ctx context.Context) (l []amber.JournalCursor, err error) {
	defer p.watch(&ctx, &err, "open_journals")(func() size { return size{items: len(l)} })
	return p.next.OpenJournals(ctx)
}

type activities part[amber.Activities]

func (p activities) ActivityNamed(ctx context.Context, kind amber.ActivityKind, name string) (l []amber.Activity, err error) {
	defer p.watch(&ctx, &err, "activity_named")(func() size { return size{items: len(l)} })
	return p.next.ActivityNamed(ctx, kind, name)
}

func (p activities) ListActivity(ctx context.Context, id amber.SessionID, kind amber.ActivityKind) (l []amber.Activity, err error) {
	defer p.watch(&ctx, &err, "list_activity")(func() size { return size{items: len(l)} })
	return p.next.ListActivity(ctx, id, kind)
}
