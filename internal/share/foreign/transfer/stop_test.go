package transfer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/jsonl"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/internal/test/must"
)

// fuse fails the write that its number reaches, before it is made or after. With meet it does that instead, before the write.
type fuse struct {
	left  int
	after bool
	meet  func()
}

var errBlown = errors.New("the power is gone")

// run makes a write unless the fuse blows before it.
func (f *fuse) run(write func() error) error {
	f.left--
	if f.meet != nil {
		if f.left == 0 {
			f.meet()
		}
		return write()
	}
	if f.left == 0 && !f.after {
		return errBlown
	}
	err := write()
	if err == nil && f.left == 0 {
		return errBlown
	}
	return err
}

type fusedSync struct {
	amber.Replica
	f *fuse
}

func (s fusedSync) Apply(ctx context.Context, in amber.Incoming) (out amber.Applied, err error) {
	err = s.f.run(func() (err error) { out, err = s.Replica.Apply(ctx, in); return err })
	return out, err
}

type fusedIngest struct {
	amber.Ingester
	f *fuse
}

func (s fusedIngest) Ingest(ctx context.Context, in amber.Ingestion) (out amber.IngestResult, err error) {
	err = s.f.run(func() (err error) { out, err = s.Ingester.Ingest(ctx, in); return err })
	return out, err
}

type fusedNotes struct {
	amber.Notes
	f *fuse
}

func (s fusedNotes) WriteNote(ctx context.Context, w amber.NoteWrite) (out amber.Note, err error) {
	err = s.f.run(func() (err error) {
		out, err = s.Notes.WriteNote(ctx, w)
		return err
	})
	return out, err
}

func (s fusedNotes) DeleteNote(ctx context.Context, name string, by amber.NoteBy) error {
	return s.f.run(func() error { return s.Notes.DeleteNote(ctx, name, by) })
}

type fusedSessions struct {
	amber.Sessions
	f *fuse
}

func (s fusedSessions) DeleteSession(ctx context.Context, id amber.SessionID) error {
	return s.f.run(func() error { return s.Sessions.DeleteSession(ctx, id) })
}

// fused is the store with a fuse in every write of an import.
func (b *bench) fused(f *fuse) amber.Store {
	s := b.store
	s.Sync, s.Ingest = fusedSync{s.Sync, f}, fusedIngest{s.Ingest, f}
	s.Notes, s.Sessions = fusedNotes{s.Notes, f}, fusedSessions{s.Sessions, f}
	return s
}

// told returns the whole export of a store, without the first line, which differs by the number of tries.
func (b *bench) told() string {
	b.t.Helper()
	var out bytes.Buffer
	must.Get(transfer.Export(b.t.Context(), b.store, jsonl.Format, transfer.ExportOptions{Clock: b.o.Clock, AllUsers: true}, transfer.Stream(&out)))(b.t)
	_, rest, _ := strings.Cut(out.String(), "\n")
	return rest
}

// An import that stops anywhere, before a write or right after it, goes on when it is made again, and the outcome is that
// of an import which was never stopped. The same holds for an undo.
func TestAnImportThatStopsAnywhereGoesOn(t *testing.T) {
	t.Parallel()
	whole := newBench(t)
	whole.imported(sample...)
	want := notesAside(whole.told())
	for n := 1; ; n++ {
		stopped := 0
		for _, after := range []bool{false, true} {
			b := newBench(t)
			b.put(sample...)
			if b.attempt(&fuse{left: n, after: after}) {
				stopped++
			}
			must.Equal(t, fmt.Sprint("imported again after write ", n), b.run(b.o).Skipped, 0)
			must.Equal(t, fmt.Sprint("after write ", n), notesAside(b.told()), want)
			must.Equal(t, "known", b.run(b.o).Known, int64(len(sample)))
			b.undoAll(n, after)
		}
		if stopped == 0 {
			if n < 5 {
				t.Errorf("an import makes %d writes, want more", n)
			}
			return
		}
	}
}

// attempt imports with a fuse and reports whether that blew.
func (b *bench) attempt(f *fuse) bool {
	b.t.Helper()
	tree := must.Get(foreign.Open(b.dir))(b.t)
	defer tree.Close()
	_, err := transfer.Import(b.t.Context(), b.fused(f), toy, tree, b.o)
	if err != nil && !errors.Is(err, errBlown) {
		b.t.Error(err)
	}
	return err != nil
}

// undoAll takes every import back, with a fuse first.
func (b *bench) undoAll(n int, after bool) {
	b.t.Helper()
	o := transfer.UndoOptions{Clock: b.o.Clock, NewID: b.o.NewID}
	made := must.Get(transfer.List(b.t.Context(), b.store))(b.t)
	for i := len(made) - 1; i >= 0; i-- {
		_, err := transfer.Undo(b.t.Context(), b.fused(&fuse{left: n, after: after}), made[i].ID, o)
		if err != nil && !errors.Is(err, errBlown) {
			b.t.Error(err)
		}
		must.Get(transfer.Undo(b.t.Context(), b.store, made[i].ID, o))(b.t)
	}
	must.Equal(b.t, fmt.Sprint("left after undo, write ", n, after), b.told(), "")
}

// notesAside cuts the times of notes off, which are those of their commits.
func notesAside(s string) string {
	at := strings.Index(s, `{"note":`)
	if at < 0 {
		return s
	}
	head, _, _ := strings.Cut(s[at:], `"updated_at"`)
	return s[:at] + head
}
