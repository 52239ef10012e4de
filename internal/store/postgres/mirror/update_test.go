package mirror_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/gitobj"
	"github.com/amber-memory/amber/internal/base/pgdb"
	"github.com/amber-memory/amber/internal/store/postgres"
	"github.com/amber-memory/amber/internal/store/postgres/mirror"
	"github.com/amber-memory/amber/internal/store/rowfile"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/storetest"
)

// Files that are brought up to date are those that a new export makes, and few of their pages differ from before.
func TestExportUpdates(t *testing.T) {
	t.Parallel()
	clock := newClock()
	a := agent(database(t), "updated")
	s := use(t, a, clock)
	must.Do(t, storetest.Populate(t.Context(), s.Store(), clock))
	dir, first, _ := exported(t, a)
	for range 3 {
		again := must.Get(mirror.Export(t.Context(), a, dir, mirror.ExportOptions{Update: true}))(t)
		tables(t, "nothing was written", again.Tables, first.Tables)
		must.Equal(t, "rows that were written", again.Changed, 0)
		must.Equal(t, "version", again.Version, first.Version)
	}
	m := must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "the heron stands at the harbour"}))(t)
	must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "and the egret beside it"}))(t)
	must.Do(t, s.Delete(t.Context(), m.ID))
	must.Get(s.Parts().Documents.PutDocument(t.Context(), amber.DocumentWrite{Name: "d", Document: []byte(`{}`)}))(t)
	second := must.Get(mirror.Export(t.Context(), a, dir, mirror.ExportOptions{Update: true}))(t)
	must.Hold(t, second.Changed > 0 && second.Version != first.Version, "%d rows were written, version %s", second.Changed, second.Version)
	_, fresh, _ := exported(t, a)
	tables(t, "updated and new", second.Tables, fresh.Tables)
	must.Equal(t, "version", second.Version, fresh.Version)

	// A file that is none is seen, and stays.
	must.Do(t, os.WriteFile(filepath.Join(dir, "control.db"), []byte("something else"), 0o600))
	_, err := mirror.Export(t.Context(), a, dir, mirror.ExportOptions{Update: true})
	must.Hold(t, errors.Is(err, rowfile.ErrOutdated), "a file that is none: %v", err)
	must.Equal(t, "the file", string(must.Get(os.ReadFile(filepath.Join(dir, "control.db")))(t)), "something else")
}

// The switch notices a write between the export and the switch: it switches nothing, or fills the generation again
// while no process writes.
func TestSwitchNoticesWriters(t *testing.T) {
	t.Parallel()
	clock := newClock()
	a := agent(database(t), "written")
	s := use(t, a, clock)
	notes := s.Notes()
	must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "before"}))(t)
	must.Get(notes.WriteNote(t.Context(), amber.NoteWrite{Name: "plan", Content: "# Plan"}))(t)
	for i, write := range []func(){
		func() { must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "meanwhile"}))(t) },
		func() {
			must.Get(notes.WriteNote(t.Context(), amber.NoteWrite{Name: "plan", Content: "# Plan, changed"}))(t)
		},
		func() {
			must.Get(s.Parts().Documents.PutDocument(t.Context(), amber.DocumentWrite{Name: "state", Document: []byte(`{"a":1}`)}))(t)
		},
	} {
		dir, e, documents := exported(t, a)
		b := must.Get(mirror.Import(t.Context(), a, files(dir), mirror.ImportOptions{Documents: all(documents)}))(t)
		write()
		_, err := b.Switch(t.Context(), mirror.SwitchOptions{Expect: e.Version})
		must.Hold(t, errors.Is(err, mirror.ErrMoved), "write %d: %v", i, err)
		must.Do(t, b.Discard(t.Context()))
	}
	dir, e, documents := exported(t, a)
	b := must.Get(mirror.Import(t.Context(), a, files(dir), mirror.ImportOptions{Documents: all(documents)}))(t)
	must.Get(s.Write(t.Context(), amber.WriteRequest{Content: "at the last moment"}))(t)
	switched := must.Get(b.Switch(t.Context(), mirror.SwitchOptions{Expect: e.Version, Moved: func(ctx context.Context, refill func(mirror.Files, mirror.ImportOptions) error) error {
		var refs gitobj.Refs
		var objects []gitobj.Object
		var documents []mirror.Document
		now := t.TempDir()
		_, err := mirror.Export(ctx, a, now, mirror.ExportOptions{
			Document: func(d mirror.Document) error {
				documents = append(documents, d)
				return nil
			},
			Within: func(ctx context.Context, c *pgdb.Conn) (err error) {
				rows := postgres.NotesIn(ctx, c)
				if refs, err = rows.Refs(); err != nil {
					return err
				}
				return rows.Objects(func(oid string, raw []byte) error {
					objects = append(objects, gitobj.Object{OID: oid, Raw: append([]byte{}, raw...)})
					return nil
				})
			},
		})
		if err != nil {
			return err
		}
		return refill(files(now), mirror.ImportOptions{Documents: all(documents), Notes: &mirror.Notes{Refs: refs, Objects: func(yield func(string, []byte) error) error {
			for _, o := range objects {
				if err := yield(o.OID, o.Raw); err != nil {
					return err
				}
			}
			return nil
		}}})
	}}))(t)
	must.Hold(t, switched.Gen == b.Gen && switched.Old != 0, "switched to %d from %d", switched.Gen, switched.Old)
	again := use(t, a, clock)
	list := must.Get(again.List(t.Context(), amber.ListQuery{}))(t).Items
	must.Equal(t, "memories", fmt.Sprint(len(list)), "3")
	must.Equal(t, "note", must.Get(again.Notes().ReadNote(t.Context(), "plan"))(t).Content, "# Plan, changed")
	must.NoError(t, again.Notes().Check(t.Context()))
	must.Equal(t, "document", string(must.Get(again.Parts().Documents.ReadDocument(t.Context(), "state"))(t).Document), `{"a":1}`)
	must.Get(again.Write(t.Context(), amber.WriteRequest{Content: "afterwards"}))(t)
}
