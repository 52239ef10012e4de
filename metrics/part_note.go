package metrics

import (
	"context"

	"github.com/amber-memory/amber"
)

type notes struct {
	watched
	next amber.Notes
}

var _ amber.Notes = notes{}

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

type noteLog struct {
	watched
	next amber.NoteLog
}

var _ amber.NoteLog = noteLog{}

func (p noteLog) LogNote(ctx context.Context, name string, limit int) (l []amber.NoteCommit, err error) {
	ctx, end, err := p.begin(ctx, "log_note")
	defer func() { end(err, size{items: len(l)}) }()
	return p.next.LogNote(ctx, name, limit)
}
