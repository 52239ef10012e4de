package transfer_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/jsonl"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

const token = "ghp_" + "x1Y2z3A4b5C6d7E8f9G0h1J2k3L4m5N6o7P8"

func (b *bench) undo(id string) wire.ImportUndo {
	b.t.Helper()
	return must.Get(transfer.Undo(b.t.Context(), b.store, id, transfer.UndoOptions{Clock: b.o.Clock, NewID: b.o.NewID}))(b.t)
}

func (b *bench) own() transfer.Options {
	o := b.o
	o.AsOwn = true
	return o
}

func (b *bench) note(name string) string {
	b.t.Helper()
	return must.Get(b.store.Notes.ReadNote(b.t.Context(), name))(b.t).Content
}

// An undo leaves an imported session in which an agent spoke or kept something here.
func TestUndoLeavesASessionThatWasSpokenIn(t *testing.T) {
	t.Parallel()
	for name, speak := range map[string]func(b *bench) error{
		"turn": func(b *bench) error {
			_, err := b.store.Turns.AppendTurn(t.Context(), amber.Turn{SessionID: "s1", Role: amber.RoleUser, Content: "here"})
			return err
		},
		"compaction": func(b *bench) error {
			_, err := b.store.Compactions.AddCompaction(t.Context(), amber.Compaction{SessionID: "s1", Summary: "here"})
			return err
		},
		"state": func(b *bench) error {
			_, err := b.store.States.SaveState(t.Context(), "s1", []byte(`{}`), 0)
			return err
		},
	} {
		b := newBench(t)
		id := b.imported(sample...).ID
		must.Do(t, speak(b))
		u := b.undo(id)
		must.Equal(t, name, fmt.Sprint(len(u.Kept), u.Kept[0].Kind), "1session")
		must.Get(b.store.Sessions.Session(t.Context(), "s1"))(t)
	}
}

// A note is replaced by the files it came from, not by a stranger's, not by another folder's, and never one that a person
// wrote.
func TestNotesAreOutOfReachOfOthers(t *testing.T) {
	t.Parallel()
	mine, theirs := toyLine{Note: "x", Text: "mine"}, toyLine{Note: "x", Text: "theirs"}
	b := newBench(t)
	b.put(mine)
	b.run(b.own())
	must.Equal(t, "conflicts with a stranger's", b.imported(theirs).Conflicts, 1)
	must.Equal(t, "note", b.note("x"), "mine")

	b = newBench(t)
	must.Get(b.store.Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "x", Content: "mine"}))(t)
	must.Equal(t, "known", b.imported(mine).Notes.Known, 1)
	must.Equal(t, "conflicts with what a person wrote", b.imported(theirs).Conflicts, 1)
	must.Equal(t, "note", b.note("x"), "mine")
	for _, r := range must.Get(transfer.List(t.Context(), b.store))(t) {
		b.undo(r.ID)
	}
	must.Equal(t, "note after undo", b.note("x"), "mine")

	b = newBench(t)
	b.imported(mine)
	b.dir = t.TempDir()
	must.Equal(t, "conflicts with another folder's", b.imported(theirs).Conflicts, 1)
	must.Equal(t, "note", b.note("x"), "mine")
}

// The same name in files of two projects is two memories.
func TestNamedProjectsKeepRowsApart(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, project := range []string{"work", "home"} {
		o := b.own()
		o.Project = project
		b.put(toyLine{Key: "default_user", Text: "likes " + project}, toyLine{Key: "other", Text: project}, toyLine{From: "default_user", To: "other"})
		r := b.run(o)
		must.Equal(t, project, fmt.Sprint(r.Memories.New, r.Relations.New, r.Conflicts), "2 1 0")
		must.Equal(t, "again", b.run(o).Known, 3)
	}
	must.Equal(t, "memories", len(must.Get(b.store.Memories.List(t.Context(), amber.ListQuery{All: true}))(t).Items), 4)
}

// A secret is in no earlier text, and where it is in a name the row is skipped and the rest goes on.
func TestSecretsOfNamesAndEarlierTexts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.imported(
		toyLine{Key: "a", Text: "now", Earlier: []string{"before " + token}}, toyLine{Key: "b", Text: "x", Project: token}, toyLine{Session: token, Title: "x"},
		toyLine{Note: "n/" + token, Text: "x"}, toyLine{Key: "c", Text: "last"},
	)
	must.Equal(t, "new and skipped", fmt.Sprint(r.New, r.Skipped), "2 3")
	for _, m := range must.Get(amber.All(t.Context(), b.store.Memories.History, b.memory("a").ID))(t) {
		if strings.Contains(m.Content, token) {
			t.Errorf("revision %d holds the secret", m.Revision)
		}
	}
	if strings.Contains(fmt.Sprint(r.Samples, r.Skips), token) {
		t.Errorf("the report holds the secret: %v %v", r.Samples, r.Skips)
	}
}

// The import refuses a text that is far too long before it looks for secrets in it: that search takes seconds in a
// text of the largest size of a value.
func TestTextsThatAreFarTooLongAreNotCleaned(t *testing.T) {
	t.Parallel()
	r := newBench(t).imported(toyLine{Key: "a", Text: token + strings.Repeat(" x", 2*amber.MaxContentBytes)}, toyLine{Key: "b", Text: "x"})
	must.Equal(t, "new, skipped and redacted", fmt.Sprint(r.New, r.Skipped, len(r.Redacted)), "1 1 0")
}

// Imports can be undone in any order, and nothing of them is left.
func TestUndoInAnyOrder(t *testing.T) {
	t.Parallel()
	grown := append([]toyLine{}, sample...)
	grown[0].Text, grown[3].Turns = "Round half up", 3
	grown = append(grown[:6:6], toyLine{Key: "t3", Role: "user", Text: "more"})
	for _, order := range [][]int{{0, 1}, {1, 0}} {
		b := newBench(t)
		ids := []string{b.imported(sample[:6]...).ID, b.imported(grown...).ID}
		for _, i := range order {
			b.undo(ids[i])
		}
		must.Equal(t, fmt.Sprint("left after ", order), b.told(), "")
	}
}

// An import does not take back what it met.
func TestUndoLeavesWhatWasHereBefore(t *testing.T) {
	t.Parallel()
	from, to := newBench(t), newBench(t)
	from.imported(sample[0])
	rows := must.Get(from.store.Sync.SyncRecords(t.Context(), []amber.SyncRef{{Scope: amber.ChangeMemory, ID: string(from.memory("a").ID)}}))(t)
	must.Get(to.store.Sync.Apply(t.Context(), amber.Incoming{Place: "folder", Chunk: "c", Device: "d", CreatedBy: "x", Trust: amber.TrustImported, Records: rows}))(t)
	r := to.imported(sample[0])
	must.Equal(t, "known", r.Known, 1)
	must.Equal(t, "deleted", to.undo(r.ID).Deleted, 0)
	must.Equal(t, "memory", to.memory("a").Content, sample[0].Text)
}

// A stranger's file adds nothing to a conversation that was imported as one's own.
func TestAStrangerAddsNoTurns(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(sample...)
	b.run(b.own())
	more := append(append([]toyLine{}, sample[:6]...), toyLine{Key: "t3", Role: "user", Text: "evil"})
	more[3].Turns = 3
	r := b.imported(more...)
	must.Equal(t, "turns", fmt.Sprint(r.Turns.New, len(must.Get(amber.LastTurns(t.Context(), b.store.Turns, "s1", 10))(t))), "0 2")
	// A turn that hooks recorded after the import is not imported a second time from the file.
	must.Get(b.store.Names.RenameSession(t.Context(), "s1", "mine"))(t)
	must.Get(b.store.Turns.AppendTurn(t.Context(), amber.Turn{SessionID: "s1", Role: amber.RoleUser, Content: "evil"}))(t)
	must.Equal(t, "turns of a session that went on here", b.run(b.own()).Turns.New, 0)
}

// Files that are first imported as anybody's may become one's own, and go on from there.
func TestOwnAfterStranger(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.imported(sample[0])
	r := b.run(b.own())
	must.Equal(t, "conflicts", r.Conflicts, 0)
	must.Equal(t, "trust", b.memory("a").Trust, amber.TrustOwn)
	changed := sample[0]
	changed.Text = "newer"
	b.put(changed)
	r = b.run(b.own())
	must.Equal(t, "changed", fmt.Sprint(r.Changed, r.Conflicts, b.memory("a").Content), "1 0newer")
	for range 3 { // a stranger's file is one conflict, and then known
		b.imported(sample[0])
		b.put(changed)
		b.run(b.own())
	}
	if n := b.memory("a").Revision; n > 5 {
		t.Errorf("files that take turns made %d revisions", n)
	}
	must.Equal(t, "content", b.memory("a").Content, "newer")
}

// An export of one's own does not bring back what was forgotten or erased since.
func TestAnExportBringsNothingBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for name, remove := range map[string]func(id amber.MemoryID) error{
		"forgotten": func(id amber.MemoryID) error { return b.store.LongTerm.Delete(t.Context(), id) },
		"erased":    func(id amber.MemoryID) error { _, err := b.store.Eraser.Erase(t.Context(), id); return err },
	} {
		m := must.Get(b.store.LongTerm.Write(t.Context(), amber.WriteRequest{Content: name}))(t)
		must.Do(t, remove(m.ID))
		r := b.imported(toyLine{Key: name, Text: name, Amber: string(m.ID)})
		must.Equal(t, name, fmt.Sprint(r.New, r.Skipped), "0 1")
	}
}

// Nothing private leaves in any field, nor what a memory said while it belonged to a user.
func TestNothingPrivateLeaves(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	private := func(n string) string { return "open <private>HIDDEN" + n + "</private>" }
	w := must.Get(b.store.LongTerm.Write(t.Context(), amber.WriteRequest{
		Title: private("1"), Content: private("2"), Summary: private("3"), Tags: []string{private("4")}, Metadata: map[string]string{"k": private("5"), private("6"): "v"},
		SourceRefs: []amber.SourceRef{{Kind: "file", Value: private("7")}},
	}))(t)
	must.Get(b.store.Sessions.StartSession(t.Context(), amber.SessionStart{ID: "s", Name: "<private>HIDDEN8</private>"}))(t)
	must.Get(b.store.Turns.AppendTurn(t.Context(), amber.Turn{SessionID: "s", Role: amber.RoleUser, Content: private("9")}))(t)
	must.Get(b.store.Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "n", Content: private("A")}))(t)
	line := toyLine{Key: "u", Text: "HIDDENB", User: "ada"}
	b.imported(line)
	line.User, line.Text = "", "moved"
	b.imported(line)
	file := filepath.Join(t.TempDir(), "lines.jsonl")
	m := w.Memory
	m.ID, m.Foreign = foreign.MemoryID("x", foreign.Key{"y"}), map[string]jsonRaw{"tool": jsonRaw(`{"raw":"` + private("C") + `"}`)}
	m.Origin = amber.Origin{Device: "d", Counter: 1, Clock: m.Origin.Clock}
	must.Do(t, os.WriteFile(file, marshal(t, m), 0o600))
	tree := must.Get(foreign.Open(file))(t)
	defer tree.Close()
	must.Get(transfer.Import(t.Context(), b.store, jsonl.Format, tree, b.own()))(t)

	var out bytes.Buffer
	o := transfer.ExportOptions{Clock: b.o.Clock, Redact: redact.New()}
	must.Get(transfer.Export(t.Context(), b.store, jsonl.Format, o, transfer.Stream(&out)))(t)
	for _, line := range strings.Split(out.String(), "\n") {
		if strings.Contains(line, "HIDDEN") {
			t.Errorf("a private passage left: %.300s", line)
		}
	}
	if !strings.Contains(out.String(), `"moved"`) || !strings.Contains(out.String(), "open ") {
		t.Error("what is not private stayed")
	}
}

type jsonRaw = json.RawMessage

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	return append(must.Get(json.Marshal(v))(t), '\n')
}
