package events_test

import (
	"context"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/events"
	"github.com/amber-memory/amber/internal/test/must"
)

// A write is done when it is done, whatever becomes of its event.
func TestAWriteOfANoteSucceedsWhenItsEventDoesNot(t *testing.T) {
	t.Parallel()
	for name, store := range stores(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &recorder{fail: 2}
			to := sink(p)
			var warned []error
			to.Warn = func(err error) { warned = append(warned, err) }
			notes := must.Get(events.NewNotes(store.Notes, store.NoteLog, to))(t)
			must.Get(notes.WriteNote(t.Context(), amber.NoteWrite{Name: "a", Content: "text"}))(t)
			must.Equal(t, "the note", must.Get(store.Notes.ReadNote(t.Context(), "a"))(t).Content, "text")
			if len(warned) != 2 || amber.KindOf(warned[0]) != amber.KindUnreachable {
				t.Errorf("warned of %v, want two events", warned)
			}
			must.Equal(t, "events", tell(t, p.take()), []told(nil))
		})
	}
}

func TestARefusedWriteOfANotePublishesNothing(t *testing.T) {
	t.Parallel()
	for name, store := range stores(t) {
		p := &recorder{}
		notes := must.Get(events.NewNotes(store.Notes, store.NoteLog, sink(p)))(t)
		must.Kind(t, name, must.Err(notes.WriteNote(t.Context(), amber.NoteWrite{Name: "../a", Content: "text"})), amber.KindInvalid)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		must.Error(t, name, must.Err(notes.WriteNote(ended, amber.NoteWrite{Name: "a", Content: "text"})))
		must.Equal(t, name, tell(t, p.take()), []told(nil))
	}
}

func TestNotesCarryDigests(t *testing.T) {
	t.Parallel()
	for name, store := range stores(t) {
		p := &recorder{}
		notes := must.Get(events.NewNotes(store.Notes, store.NoteLog, sink(p)))(t)
		must.Get(notes.WriteNote(t.Context(), amber.NoteWrite{Name: "a", Content: "one"}))(t)
		must.Get(notes.WriteNote(t.Context(), amber.NoteWrite{Name: "a", Content: "two"}))(t)
		must.Do(t, notes.DeleteNote(t.Context(), "a", amber.NoteBy{}))
		var got [][2]string
		for _, e := range p.take() {
			if m := e.Payload.(events.Mutation); m.Scope == amber.ChangeNote {
				got = append(got, [2]string{m.OldDigest, m.NewDigest})
			}
		}
		one, two := amber.ContentDigest("one"), amber.ContentDigest("two")
		must.Equal(t, name, got, [][2]string{{"", one}, {one, two}, {two, ""}})
	}
}

// A document that cannot be read can still be written over and deleted.
func TestADocumentThatCannotBeReadIsWrittenAndTold(t *testing.T) {
	t.Parallel()
	p, docs := &recorder{}, stores(t)["inmem"].Documents
	must.Get(docs.PutDocument(t.Context(), amber.DocumentWrite{Name: "k", Document: []byte("1")}))(t)
	d := must.Get(events.NewDocuments(unreadable{docs}, sink(p)))(t)
	must.Get(d.PutDocument(t.Context(), amber.DocumentWrite{Name: "k", Document: []byte("2")}))(t)
	must.Do(t, d.DeleteDocument(t.Context(), "k", ""))
	must.Equal(t, "events", tell(t, p.take()), []told{{amber.OpUpdate, amber.ChangeState, "k"}, {amber.OpDelete, amber.ChangeState, "k"}})
}

// unreadable are documents of which none can be read.
type unreadable struct{ amber.Documents }

func (unreadable) ReadDocument(context.Context, string) (amber.Document, error) {
	return amber.Document{}, errDown
}

func TestDecoratorsNeedTheirParts(t *testing.T) {
	t.Parallel()
	store := stores(t)["inmem"]
	_, noNotes := events.NewNotes(nil, store.NoteLog, sink(&recorder{}))
	_, noSink := events.NewNotes(store.Notes, store.NoteLog, events.Sink{})
	_, noState := events.NewDocuments(nil, sink(&recorder{}))
	for _, err := range []error{noNotes, noSink, noState} {
		must.Kind(t, "", err, amber.KindInvalid)
	}
}

// blindLog cannot tell which commit did something.
type blindLog struct{ amber.NoteLog }

func (blindLog) LogNote(context.Context, string, int) ([]amber.NoteCommit, error) {
	return nil, errDown
}

// Two deletions are two events, also when their commits cannot be told apart:
// a broker drops what has an id it knows.
func TestDeletionsHaveIDsOfTheirOwn(t *testing.T) {
	t.Parallel()
	for name, store := range stores(t) {
		p := &recorder{}
		notes := must.Get(events.NewNotes(store.Notes, blindLog{store.NoteLog}, sink(p)))(t)
		ids := map[string]int{}
		for range 2 {
			must.Get(notes.WriteNote(t.Context(), amber.NoteWrite{Name: "a", Content: "text"}))(t)
			p.take()
			must.Do(t, notes.DeleteNote(t.Context(), "a", amber.NoteBy{}))
			for _, e := range p.take() {
				ids[e.ID]++
			}
		}
		must.Equal(t, name+": ids", len(ids), 2)
	}
}
