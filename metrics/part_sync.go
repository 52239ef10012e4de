package metrics

import (
	"context"

	"github.com/amber-memory/amber"
)

type replica part[amber.Replica]

func (p replica) Outgoing(ctx context.Context, r amber.OutgoingRequest) (out amber.Outgoing, err error) {
	ctx, end, err := p.begin(ctx, "outgoing")
	defer func() { end(err, size{items: len(out.Records)}) }()
	return p.next.Outgoing(ctx, r)
}

func (p replica) SyncPlace(ctx context.Context, place, project string) (s amber.SyncPlace, err error) {
	ctx, end, err := p.begin(ctx, "sync_place")
	defer func() { end(err, size{items: 1}) }()
	return p.next.SyncPlace(ctx, place, project)
}

func (p replica) Exported(ctx context.Context, n amber.ExportNote) (err error) {
	ctx, end, err := p.begin(ctx, "exported")
	defer func() { end(err, size{items: 1}) }()
	return p.next.Exported(ctx, n)
}

func (p replica) AppliedChunks(ctx context.Context, place string, chunks []string) (m map[string]bool, err error) {
	ctx, end, err := p.begin(ctx, "applied_chunks")
	defer func() { end(err, size{items: len(m)}) }()
	return p.next.AppliedChunks(ctx, place, chunks)
}

func (p replica) Apply(ctx context.Context, c amber.Incoming) (a amber.Applied, err error) {
	ctx, end, err := p.begin(ctx, "apply")
	defer func() { end(err, size{items: a.Sessions + a.Memories + a.Prompts + a.Relations}) }()
	return p.next.Apply(ctx, c)
}

func (p replica) SetQuarantine(ctx context.Context, place string, chunks []amber.QuarantinedChunk) (err error) {
	ctx, end, err := p.begin(ctx, "set_quarantine")
	defer func() { end(err, size{items: len(chunks)}) }()
	return p.next.SetQuarantine(ctx, place, chunks)
}

func (p replica) SyncReport(ctx context.Context, place string) (r amber.SyncReport, err error) {
	ctx, end, err := p.begin(ctx, "sync_report")
	defer func() { end(err, size{items: 1}) }()
	return p.next.SyncReport(ctx, place)
}

func (p replica) Links(ctx context.Context, q amber.LinkQuery) (l []amber.SyncLink, err error) {
	ctx, end, err := p.begin(ctx, "links")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.Links(ctx, q)
}

func (p replica) LastLocalID(ctx context.Context, tool string, scope amber.ChangeScope) (n int64, err error) {
	ctx, end, err := p.begin(ctx, "last_local_id")
	defer func() { end(err, size{}) }()
	return p.next.LastLocalID(ctx, tool, scope)
}

func (p replica) SyncRecords(ctx context.Context, refs []amber.SyncRef) (l []amber.SyncRecord, err error) {
	ctx, end, err := p.begin(ctx, "sync_records")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.SyncRecords(ctx, refs)
}

func (p replica) Held(ctx context.Context, place string, marks []amber.SyncMark) (l []bool, err error) {
	ctx, end, err := p.begin(ctx, "held")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.Held(ctx, place, marks)
}

func (p replica) RemovedAt(ctx context.Context, place string, refs []amber.SyncRef) (l []bool, err error) {
	ctx, end, err := p.begin(ctx, "removed_at")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.RemovedAt(ctx, place, refs)
}

type notes part[amber.Notes]

func (p notes) WriteNote(ctx context.Context, name, content string) (n amber.Note, err error) {
	ctx, end, err := p.begin(ctx, "write_note")
	defer func() { end(err, size{in: len(content), items: 1}) }()
	return p.next.WriteNote(ctx, name, content)
}

func (p notes) ReadNote(ctx context.Context, name string) (n amber.Note, err error) {
	ctx, end, err := p.begin(ctx, "read_note")
	defer func() { end(err, size{out: len(n.Content), items: 1}) }()
	return p.next.ReadNote(ctx, name)
}

func (p notes) ListNotes(ctx context.Context) (l []amber.Note, err error) {
	ctx, end, err := p.begin(ctx, "list_notes")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.ListNotes(ctx)
}

func (p notes) DeleteNote(ctx context.Context, name string) (err error) {
	ctx, end, err := p.begin(ctx, "delete_note")
	defer func() { end(err, size{items: 1}) }()
	return p.next.DeleteNote(ctx, name)
}

type noteLog part[amber.NoteLog]

func (p noteLog) LogNote(ctx context.Context, name string, limit int) (l []amber.NoteCommit, err error) {
	ctx, end, err := p.begin(ctx, "log_note")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.LogNote(ctx, name, limit)
}
