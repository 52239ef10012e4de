package nexus

import (
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/capture/journal"
)

// Import appends the events of a buffer file to a journal; see [Read]. It
// returns when all of them are on disk.
func Import(ctx context.Context, j *journal.Journal, in io.Reader, o Options) (Report, error) {
	to := importer{ctx: ctx, journal: j}
	report, err := Read(in, o, to.take)
	return report, errors.Join(err, to.flush())
}

// importer appends events, those of one session that follow one another
// together.
type importer struct {
	ctx     context.Context // of the one call that the importer lives in
	journal *journal.Journal
	session journal.Session
	entries []journal.Entry
	bytes   int
}

// Bounds of what waits to be appended.
const (
	importEntries = 256
	importBytes   = 4 << 20
)

func (i *importer) take(ev journal.HostEvent) error {
	payload, err := json.Marshal(ev)
	if err != nil {
		return &amber.Error{Op: "import", Kind: amber.KindInternal, Err: err}
	}
	s := journal.Session{Host: ev.Host, ID: ev.SessionID}
	if s != i.session || len(i.entries) == importEntries || i.bytes > importBytes {
		if err := i.flush(); err != nil {
			return err
		}
		i.session = s
	}
	i.entries = append(i.entries, journal.Entry{Payload: payload})
	i.bytes += len(payload)
	return nil
}

// flush returns when everything that was taken is on disk.
func (i *importer) flush() error {
	if len(i.entries) == 0 {
		return nil
	}
	_, err := i.journal.AppendAll(i.ctx, i.session, i.entries)
	i.entries, i.bytes = i.entries[:0], 0
	return err
}
