package metrics

import (
	"context"

	"github.com/amber-memory/amber"
)

type replica part[amber.Replica]

func (p replica) Outgoing(ctx context.Context, r amber.OutgoingRequest) (out amber.Outgoing, err error) {
	defer p.watch(&ctx, &err, "outgoing")(func() size { return size{items: len(out.Records)} })
	return p.next.Outgoing(ctx, r)
}

func (p replica) SyncPlace(ctx context.Context, place, project string) (s amber.SyncPlace, err error) {
	defer p.watch(&ctx, &err, "sync_place")(one)
	return p.next.SyncPlace(ctx, place, project)
}

func (p replica) Exported(ctx context.Context, n amber.ExportNote) (err error) {
	defer p.watch(&ctx, &err, "exported")(one)
	return p.next.Exported(ctx, n)
}

func (p replica) AppliedChunks(ctx context.Context, place string, chunks []string) (m map[string]bool, err error) {
	defer p.watch(&ctx, &err, "applied_chunks")(func() size { return size{items: len(m)} })
	return p.next.AppliedChunks(ctx, place, chunks)
}

func (p replica) Apply(ctx context.Context, c amber.Incoming) (a amber.Applied, err error) {
	defer p.watch(&ctx, &err, "apply")(func() size { return size{items: a.Sessions + a.Memories + a.Prompts + a.Relations} })
	return p.next.Apply(ctx, c)
}

func (p replica) SetQuarantine(ctx context.Context, place string, chunks []amber.QuarantinedChunk) (err error) {
	defer p.watch(&ctx, &err, "set_quarantine")(func() size { return size{items: len(chunks)} })
	return p.next.SetQuarantine(ctx, place, chunks)
}

func (p replica) SyncReport(ctx context.Context, place string) (r amber.SyncReport, err error) {
	defer p.watch(&ctx, &err, "sync_report")(one)
	return p.next.SyncReport(ctx, place)
}

func (p replica) Links(ctx context.Context, q amber.LinkQuery) (l []amber.SyncLink, err error) {
	defer p.watch(&ctx, &err, "links")(func() size { return size{items: len(l)} })
	return p.next.Links(ctx, q)
}

func (p replica) LastLocalID(ctx context.Context, tool string, scope amber.ChangeScope) (n int64, err error) {
	defer p.watch(&ctx, &err, "last_local_id")(none)
	return p.next.LastLocalID(ctx, tool, scope)
}

func (p replica) SyncRecords(ctx context.Context, refs []amber.SyncRef) (l []amber.SyncRecord, err error) {
	defer p.watch(&ctx, &err, "sync_records")(func() size { return size{items: len(l)} })
	return p.next.SyncRecords(ctx, refs)
}

func (p replica) Held(ctx context.Context, place string, marks []amber.SyncMark) (l []bool, err error) {
	defer p.watch(&ctx, &err, "held")(func() size { return size{items: len(l)} })
	return p.next.Held(ctx, place, marks)
}

func (p replica) RemovedAt(ctx context.Context, place string, refs []amber.SyncRef) (l []bool, err error) {
	defer p.watch(&ctx, &err, "removed_at")(func() size { return size{items: len(l)} })
	return p.next.RemovedAt(ctx, place, refs)
}

type notes part[amber.Notes]

func (p notes) WriteNote(ctx context.Context, w amber.NoteWrite) (n amber.Note, err error) {
	defer p.watch(&ctx, &err, "write_note")(func() size { return size{in: len(w.Content), items: 1} })
	return p.next.WriteNote(ctx, w)
}

func (p notes) ReadNote(ctx context.Context, name string) (n amber.Note, err error) {
	defer p.watch(&ctx, &err, "read_note")(func() size { return size{out: len(n.Content), items: 1} })
	return p.next.ReadNote(ctx, name)
}

func (p notes) ListNotes(ctx context.Context) (l []amber.Note, err error) {
	defer p.watch(&ctx, &err, "list_notes")(func() size { return size{items: len(l)} })
	return p.next.ListNotes(ctx)
}

func (p notes) DeleteNote(ctx context.Context, name string, by amber.NoteBy) (err error) {
	defer p.watch(&ctx, &err, "delete_note")(one)
	return p.next.DeleteNote(ctx, name, by)
}

type noteLog part[amber.NoteLog]

func (p noteLog) LogNote(ctx context.Context, name string, limit int) (l []amber.NoteCommit, err error) {
	defer p.watch(&ctx, &err, "log_note")(func() size { return size{items: len(l)} })
	return p.next.LogNote(ctx, name, limit)
}

func (p noteLog) NoteAt(ctx context.Context, name, commit string) (n amber.Note, err error) {
	defer p.watch(&ctx, &err, "note_at")(one)
	return p.next.NoteAt(ctx, name, commit)
}
