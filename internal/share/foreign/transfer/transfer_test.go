package transfer_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

// toy is a format of lines, one item each.
var toy = foreign.Format{
	Name: "toy", Title: "Toy",
	Detect: func(t *foreign.Tree) foreign.Match {
		if _, ok := t.File("toy.jsonl"); ok {
			return foreign.Sure
		}
		return foreign.No
	},
	Read: readToy,
}

// toyLine is a line of it.
type toyLine struct {
	Key, Text, Title, Session, Role, Note, From, To string
	User, Project, Amber                            string
	Scope                                           amber.Scope
	Deleted                                         int64
	Earlier                                         []string
	At                                              int64
	Turns                                           int64
}

func readToy(ctx context.Context, t *foreign.Tree, o foreign.Options, to foreign.Sink) error {
	f, ok := t.File("toy.jsonl")
	if !ok {
		return nil
	}
	return f.EachLine(ctx, to.Skip, func(n int64, b []byte) error {
		at := f.Line(n)
		var l toyLine
		if err := json.Unmarshal(b, &l); err != nil {
			to.Skip(at, "line is not JSON")
			return nil
		}
		when := amber.UnixMilli(cmpOr(l.At, 1_767_323_045_678))
		switch {
		case l.Session != "":
			_, err := to.Session(foreign.Session{Place: at, ID: amber.SessionID(l.Session), Name: l.Title, StartedAt: when, EndedAt: when, Turns: l.Turns})
			return err
		case l.Role != "":
			return to.Turn(foreign.Turn{Place: at, Key: foreign.Key{l.Key}, Role: amber.Role(l.Role), Content: l.Text, At: when})
		case l.Note != "":
			return to.Note(foreign.Note{Place: at, Name: l.Note, Content: l.Text, UpdatedAt: when})
		case l.From != "":
			return to.Relation(foreign.Relation{Place: at, From: foreign.Key{l.From}, To: foreign.Key{l.To}, Type: "depends on"})
		}
		m := foreign.Memory{Place: at, Key: foreign.Key{l.Key}, Title: l.Title, Content: l.Text, Scope: l.Scope, CreatedAt: when, AmberID: l.Amber}
		m.UserID, m.ProjectID = l.User, l.Project
		if l.Deleted != 0 {
			m.DeletedAt = amber.UnixMilli(l.Deleted)
		}
		for i, text := range l.Earlier {
			m.Earlier = append(m.Earlier, foreign.Earlier{Content: text, At: when.Add(-time.Duration(len(l.Earlier)-i) * time.Hour)})
		}
		return to.Memory(m)
	})
}

func cmpOr(a, b int64) int64 {
	if a != 0 {
		return a
	}
	return b
}

// bench is a store with a folder beside it that is imported.
type bench struct {
	t     *testing.T
	store amber.Store
	dir   string
	o     transfer.Options
	now   time.Time
}

// rules take secrets out on every bench: a redactor compiles its expressions when they are first used.
var rules = redact.New()

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), now: time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)}
	clock := func() time.Time { b.now = b.now.Add(time.Millisecond); return b.now }
	h, _, err := home.Open(filepath.Join(t.TempDir(), "home"), home.Options{Clock: clock, Random: rand.Reader})
	must.Do(t, err)
	agent := must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t)
	s := must.Get(sqlite.Open(t.Context(), agent, sqlite.Options{Clock: clock, Random: rand.Reader}))(t)
	t.Cleanup(func() { s.Close() })
	parts := s.Parts()
	notes, _ := notestest.New(t)
	parts.Notes, parts.NoteLog = notes, notes
	b.store = amber.NewStore(parts)
	b.o = transfer.Options{Clock: clock, NewID: func() (string, error) { return amber.NewUUID(clock(), rand.Reader) }, Redact: rules}
	return b
}

func (b *bench) put(lines ...toyLine) {
	b.t.Helper()
	var text strings.Builder
	for _, l := range lines {
		text.Write(must.Get(json.Marshal(l))(b.t))
		text.WriteByte('\n')
	}
	must.Do(b.t, os.WriteFile(filepath.Join(b.dir, "toy.jsonl"), []byte(text.String()), 0o600))
}

func (b *bench) run(o transfer.Options) wire.ForeignImport {
	b.t.Helper()
	tree := must.Get(foreign.Open(b.dir))(b.t)
	defer tree.Close()
	f := must.Get(transfer.Detect(tree, []foreign.Format{toy}))(b.t)
	return must.Get(transfer.Import(b.t.Context(), b.store, f, tree, o))(b.t)
}

func (b *bench) imported(lines ...toyLine) wire.ForeignImport {
	b.t.Helper()
	b.put(lines...)
	return b.run(b.o)
}

func (b *bench) head() string {
	b.t.Helper()
	return fmt.Sprint(must.Get(b.store.Changes.Head(b.t.Context()))(b.t))
}

func (b *bench) memory(key string) amber.Memory {
	b.t.Helper()
	return must.Get(b.store.Memories.Get(b.t.Context(), foreign.MemoryID("toy", foreign.Key{key})))(b.t)
}

func counts(read, fresh, changed, known int64) wire.ImportCounts {
	return wire.ImportCounts{Read: read, New: fresh, Changed: changed, Known: known}
}

var sample = []toyLine{
	{Key: "a", Text: "Round half to even", Title: "Rounding", Project: "shop"},
	{Key: "b", Text: "Deploy on Mondays"},
	{From: "a", To: "b"},
	{Session: "s1", Title: "Coupons", Turns: 2},
	{Key: "t1", Role: "user", Text: "Why twice?"},
	{Key: "t2", Role: "assistant", Text: "Each coupon rounds."},
	{Note: "toy/rules", Text: "# Rules\n"},
}

func TestImportingTwiceWritesNothing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.imported(sample...)
	must.Equal(t, "memories", r.Memories, counts(2, 2, 0, 0))
	must.Equal(t, "relations", r.Relations, counts(1, 1, 0, 0))
	must.Equal(t, "sessions", r.Sessions, counts(1, 1, 0, 0))
	must.Equal(t, "turns", r.Turns, counts(2, 2, 0, 0))
	must.Equal(t, "notes", r.Notes, counts(1, 1, 0, 0))
	must.Equal(t, "skips", r.Skips, []wire.ImportSkip{})
	m := b.memory("a")
	must.Equal(t, "trust", m.Trust, amber.TrustImported)
	must.Equal(t, "created", m.CreatedAt.String(), "2026-01-02T03:04:05.678Z")
	must.Equal(t, "updated", m.UpdatedAt.String(), "2026-01-02T03:04:05.678Z")
	must.Equal(t, "scope", m.Scope, amber.ScopeProject)
	s := must.Get(b.store.Sessions.Session(t.Context(), "s1"))(t)
	must.Equal(t, "session", fmt.Sprint(s.Trust, s.StartedAt, s.EndedAt, s.UpdatedAt, s.Name), "imported2026-01-02T03:04:05.678Z 2026-01-02T03:04:05.678Z 2026-01-02T03:04:05.678ZCoupons")
	turns := must.Get(amber.LastTurns(t.Context(), b.store.Turns, "s1", 10))(t)
	must.Equal(t, "turns", len(turns), 2)
	must.Equal(t, "turn", fmt.Sprint(turns[1].Role, turns[1].Content, turns[1].Trust, turns[1].CreatedAt), "assistantEach coupon rounds.imported2026-01-02T03:04:05.678Z")

	head := b.head()
	again := b.run(b.o)
	must.Equal(t, "known", again.ImportCounts, counts(7, 0, 0, 7))
	must.Equal(t, "id", again.ID, "")
	must.Equal(t, "head of the change log", b.head(), head)
	must.Equal(t, "imports", len(must.Get(transfer.List(t.Context(), b.store))(t)), 1)
}

func TestADryRunWritesNothingAndCountsTheSame(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.put(sample...)
	head, o := b.head(), b.o
	o.DryRun = true
	r := b.run(o)
	must.Equal(t, "head of the change log", b.head(), head)
	must.Equal(t, "imports", len(must.Get(transfer.List(t.Context(), b.store))(t)), 0)
	real := b.run(b.o)
	must.Equal(t, "counts", r.ImportCounts, real.ImportCounts)
	must.Equal(t, "samples", r.Samples, real.Samples)
}

// One edit in the source is one revision; an edit on both sides is one conflict, and what was written here stays.
func TestEditsBecomeRevisionsOrConflicts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.imported(sample...)
	edited := append([]toyLine{}, sample...)
	edited[0].Text, edited[0].At = "Round half up", 1_777_777_777_777
	r := b.imported(edited...)
	must.Equal(t, "created", fmt.Sprint(b.memory("a").CreatedAt, b.memory("a").UpdatedAt), "2026-01-02T03:04:05.678Z 2026-05-03T03:09:37.777Z")
	must.Equal(t, "memories", r.Memories, counts(2, 0, 1, 1))
	must.Equal(t, "conflicts", r.Conflicts, 0)
	m := b.memory("a")
	must.Equal(t, "content", fmt.Sprint(m.Revision, m.Content), "2Round half up")

	mine := "Round down, said here"
	must.Get(b.store.Editor.Edit(t.Context(), amber.EditRequest{ID: m.ID, Content: &mine}))(t)
	edited[0].Text = "Round to zero"
	r = b.imported(edited...)
	must.Equal(t, "conflicts", r.Conflicts, 1)
	must.Equal(t, "conflict", r.ConflictList[0].ID, string(m.ID))
	must.Equal(t, "content", b.memory("a").Content, mine)
	report := must.Get(b.store.Sync.SyncReport(t.Context(), "import/toy"))(t)
	must.Equal(t, "conflicts that the store shows", report.ConflictCount, 1)
	head := b.head()
	again := b.run(b.o)
	must.Equal(t, "conflicts told again", again.Conflicts, 0)
	must.Equal(t, "head of the change log", b.head(), head)

	note := append([]toyLine{}, edited...)
	must.Get(b.store.Notes.WriteNote(t.Context(), amber.NoteWrite{Name: "toy/rules", Content: "mine\n"}))(t)
	note[6].Text = "# Other rules\n"
	r = b.imported(note...)
	must.Equal(t, "conflict about the note", fmt.Sprint(r.Conflicts, r.ConflictList[0].Kind), "1note")
	must.Equal(t, "note", must.Get(b.store.Notes.ReadNote(t.Context(), "toy/rules"))(t).Content, "mine\n")
}

func TestASessionThatHasGrownGoesOn(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.imported(sample...)
	grown := append(append([]toyLine{}, sample[:6]...), toyLine{Key: "t3", Role: "user", Text: "And now?", At: 1_767_323_100_000})
	grown[3].Turns, grown[3].At = 3, 1_767_323_100_000
	r := b.imported(grown...)
	must.Equal(t, "turns", r.Turns, counts(3, 1, 0, 2))
	must.Equal(t, "stored turns", len(must.Get(amber.LastTurns(t.Context(), b.store.Turns, "s1", 10))(t)), 3)
}

// The import stores nothing twice that hooks have recorded here, and a file changes nothing in a session of one's own.
func TestASessionOfOnesOwnStaysAsItIs(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	must.Get(b.store.Sessions.StartSession(t.Context(), amber.SessionStart{ID: "s1", Name: "mine"}))(t)
	r := b.imported(sample...)
	must.Equal(t, "sessions", r.Sessions, counts(1, 0, 0, 1))
	must.Equal(t, "turns", len(must.Get(amber.LastTurns(t.Context(), b.store.Turns, "s1", 10))(t)), 0)
	must.Equal(t, "name", must.Get(b.store.Sessions.Session(t.Context(), "s1"))(t).Name, "mine")
	must.Equal(t, "warnings", len(r.Warnings), 1)
}

// A file cannot name a memory of this store: neither by an id nor by a key.
func TestAForeignRowReachesNoLocalMemory(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	mine := must.Get(b.store.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "my own"}))(t)
	r := b.imported(toyLine{Key: string(mine.ID), Text: "theirs", Amber: string(mine.ID)})
	must.Equal(t, "memories", r.Memories, counts(1, 1, 0, 0))
	must.Equal(t, "content", must.Get(b.store.Memories.Get(t.Context(), mine.ID))(t).Content, "my own")
	r = b.imported(toyLine{Key: "x", Text: "my own", Amber: string(mine.ID)})
	must.Equal(t, "what was exported from here is known", r.Memories, counts(1, 0, 0, 1))
}

// An export names memories by their ids and relations by their ends: a relation that was made here is known again.
func TestARelationOfMemoriesThatWereExportedIsKnown(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	remember := func(text string) amber.MemoryID {
		return must.Get(b.store.LongTerm.Write(ctx, amber.WriteRequest{Content: text}))(t).ID
	}
	one, two := remember("one"), remember("two")
	must.Get(b.store.Relations.Relate(ctx, amber.Relation{From: one, To: two, Type: "depends_on", Strength: 0.5}))(t)
	lines := []toyLine{{Key: "a", Text: "one", Amber: string(one)}, {Key: "b", Text: "two", Amber: string(two)}, {From: "a", To: "b"}}
	head := b.head()
	r := b.imported(lines...)
	must.Equal(t, "relations", r.Relations, counts(1, 0, 0, 1))
	must.Equal(t, "nothing was written", b.head(), head)

	// Another one is not taken, whatever file it comes from, and the report says so each time.
	lines = append(lines, toyLine{From: "b", To: "a"}, toyLine{Key: "c", Text: "three"}, toyLine{From: "c", To: "a"})
	for range 2 {
		r = b.imported(lines...)
		must.Equal(t, "relations, with others", r.Relations, counts(3, 0, 0, 1))
		must.Equal(t, "skipped", r.Skipped, 2)
		must.Says(t, "reason", r.Skips[0].Reason, "depends_on", "did not come from files of this format")
	}
	must.Equal(t, "relations here", len(must.Get(b.store.Relations.Related(ctx, one))(t)), 1)
}

// A stranger's file has no say in what was imported as one's own.
func TestOwnImportsAreOutOfReachOfOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	own := b.o
	own.AsOwn = true
	b.put(sample[0])
	b.run(own)
	must.Equal(t, "trust", b.memory("a").Trust, amber.TrustOwn)
	changed := sample[0]
	changed.Text = "a stranger's text"
	r := b.imported(changed)
	must.Equal(t, "conflicts", r.Conflicts, 1)
	must.Equal(t, "content", b.memory("a").Content, sample[0].Text)
	changed.Text = "my newer text"
	b.put(changed)
	r = b.run(own)
	must.Equal(t, "content", b.memory("a").Content+fmt.Sprint(r.Memories), "my newer text"+fmt.Sprint(counts(1, 0, 1, 0)))
}

func TestSecretsAreTakenOut(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	token := "ghp_" + "x1Y2z3A4b5C6d7E8f9G0h1J2k3L4m5N6o7P8"
	secret := func(s string) string { return s + " " + token }
	r := b.imported(
		toyLine{Key: "a", Text: secret("text"), Title: secret("title")}, toyLine{Session: "s1", Title: secret("name"), Turns: 1},
		toyLine{Key: "t", Role: "user", Text: secret("said")}, toyLine{Note: "n", Text: secret("note")},
	)
	must.Equal(t, "new", r.ImportCounts, counts(4, 4, 0, 0))
	if len(r.Redacted) == 0 {
		t.Error("the report counts no secrets")
	}
	m, s := b.memory("a"), must.Get(b.store.Sessions.Session(t.Context(), "s1"))(t)
	said := must.Get(amber.LastTurns(t.Context(), b.store.Turns, "s1", 10))(t)[0].Content
	note := must.Get(b.store.Notes.ReadNote(t.Context(), "n"))(t).Content
	for _, text := range []string{m.Content, m.Title, s.Name, said, note, fmt.Sprint(r)} {
		if strings.Contains(text, token) {
			t.Errorf("%q holds the secret", text)
		}
	}
	must.Equal(t, "known again", b.run(b.o).Known, 4)
}

// Records that were erased or deleted here stay away.
func TestWhatIsGoneStaysGone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.imported(sample...)
	must.Get(b.store.Eraser.Erase(t.Context(), b.memory("a").ID))(t)
	must.Do(t, b.store.LongTerm.Delete(t.Context(), b.memory("b").ID))
	must.Do(t, b.store.Sessions.DeleteSession(t.Context(), "s1"))
	must.Do(t, b.store.Notes.DeleteNote(t.Context(), "toy/rules", amber.NoteBy{}))
	edited := append([]toyLine{}, sample...)
	edited[3].Title, edited[6].Text = "Renamed", "# New\n"
	head := b.head()
	r := b.imported(edited...)
	must.Equal(t, "new", r.New, 0)
	must.Equal(t, "head of the change log", b.head(), head)
	must.Equal(t, "skipped: the memory, the relation, the session, the note", r.Skipped, 4)
}

func TestTheProgramsDeletionsAndEarlierTextsCome(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	r := b.imported(toyLine{Key: "a", Text: "tabs", Earlier: []string{"spaces", "two spaces"}}, toyLine{Key: "gone", Text: "x", Deleted: 1_767_323_045_678})
	must.Equal(t, "memories", r.Memories, counts(2, 1, 0, 0))
	history := must.Get(amber.All(t.Context(), b.store.Memories.History, b.memory("a").ID))(t)
	var texts []string
	for _, h := range history {
		texts = append(texts, fmt.Sprint(h.Revision, h.Content))
	}
	must.Equal(t, "history", strings.Join(texts, "|"), "1spaces|2two spaces|3tabs")
	r = b.imported(toyLine{Key: "a", Text: "tabs", Deleted: 1_767_323_099_000})
	must.Equal(t, "changed", r.Memories, counts(1, 0, 1, 0))
	_, err := b.store.Memories.Get(t.Context(), foreign.MemoryID("toy", foreign.Key{"a"}))
	must.Kind(t, "get", err, amber.KindNotFound)
}

func TestUndoTakesAnImportBackAndLetsItComeAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	undo := func(id string) wire.ImportUndo {
		return must.Get(transfer.Undo(t.Context(), b.store, id, transfer.UndoOptions{Clock: b.o.Clock, NewID: b.o.NewID}))(t)
	}
	first := b.imported(sample...)
	edited := append([]toyLine{}, sample...)
	edited[0].Text = "Round half up"
	second := b.imported(edited...)
	u := undo(second.ID)
	must.Equal(t, "restored", fmt.Sprint(u.Restored, u.Deleted, len(u.Kept)), "1 0 0")
	must.Equal(t, "content", b.memory("a").Content, sample[0].Text)
	must.Equal(t, "what was restored is known", b.imported(sample...).Known, 7)

	mine := "Deploy never"
	must.Get(b.store.Editor.Edit(t.Context(), amber.EditRequest{ID: b.memory("b").ID, Content: &mine}))(t)
	u = undo(first.ID)
	must.Equal(t, "kept", fmt.Sprint(len(u.Kept), u.Kept[0].ID), "1"+string(b.memory("b").ID))
	must.Equal(t, "already", undo(first.ID).Already, true)
	_, err := b.store.Sessions.Session(t.Context(), "s1")
	must.Kind(t, "session", err, amber.KindNotFound)
	_, err = b.store.Notes.ReadNote(t.Context(), "toy/rules")
	must.Kind(t, "note", err, amber.KindNotFound)

	again := b.imported(sample...)
	must.Equal(t, "sessions again", again.Sessions, counts(1, 1, 0, 0))
	must.Equal(t, "turns again", again.Turns, counts(2, 2, 0, 0))
	must.Equal(t, "notes again", again.Notes, counts(1, 1, 0, 0))
	must.Equal(t, "stored turns", len(must.Get(amber.LastTurns(t.Context(), b.store.Turns, "s1", 10))(t)), 2)
	must.Equal(t, "relations again", fmt.Sprint(again.Relations.New+again.Relations.Known, len(must.Get(b.store.Relations.Related(t.Context(), b.memory("a").ID))(t))), "1 1")
	_, err = transfer.Undo(t.Context(), b.store, "none", transfer.UndoOptions{Clock: b.o.Clock, NewID: b.o.NewID})
	must.Kind(t, "unknown import", err, amber.KindNotFound)
}

// Rows that were imported as one's own and undone may come back as a stranger's, and the other way round.
func TestAfterAnUndoAnybodysFileMayBringItBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.o
	b.put(sample[0])
	for i, own := range []bool{true, false, true} {
		o.AsOwn = own
		r := b.run(o)
		must.Equal(t, fmt.Sprint("import ", i), fmt.Sprint(r.New, r.Conflicts), "1 0")
		must.Equal(t, "content", b.memory("a").Content, sample[0].Text)
		must.Equal(t, "own", b.memory("a").Trust == amber.TrustOwn, own)
		must.Get(transfer.Undo(t.Context(), b.store, r.ID, transfer.UndoOptions{Clock: b.o.Clock, NewID: b.o.NewID}))(t)
	}
}

func TestLimitsOfAnImport(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	long := strings.Repeat("x", amber.MaxContentBytes+1)
	r := b.imported(toyLine{Key: "long", Text: long}, toyLine{Key: "ok", Text: "fits"}, toyLine{Key: "ok", Text: "twice"}, toyLine{Key: "empty"},
		toyLine{From: "ok", To: "nobody"}, toyLine{Note: "a:b", Text: "x"}, toyLine{Note: "a?b", Text: "y"},
		toyLine{Session: "s", Title: strings.Repeat("long name ", 20), Turns: 1}, toyLine{Key: "t", Role: "user", Text: long}, toyLine{Key: "t2", Role: "user", Text: "nul \x00 here"})
	must.Equal(t, "memories", r.Memories.New, 1)
	must.Equal(t, "skipped", r.Skipped, 6)
	must.Equal(t, "notes", r.Notes.New, 1)
	must.Equal(t, "turn", must.Get(amber.LastTurns(t.Context(), b.store.Turns, "s", 10))(t)[0].Content, "nul  here")
	for _, s := range r.Skips {
		if s.Place == "" || s.Reason == "" {
			t.Errorf("skip %+v lacks a place or a reason", s)
		}
	}
}

// Memories of a user belong to the user that is named, and on a server to no other user.
func TestMemoriesOfAUser(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	line := toyLine{Key: "u", Text: "likes tea", Scope: amber.ScopeUser}
	strict := b.o
	strict.NeedUser = true
	b.put(line)
	must.Equal(t, "refused", b.run(strict).Skipped, 1)
	strict.User = "ada"
	must.Equal(t, "stored", b.run(strict).New, 1)
	m := b.userMemory("u", "ada")
	must.Equal(t, "scope", string(m.Scope)+m.UserID, "userada")
	b = newBench(t)
	r := b.imported(line)
	must.Equal(t, "scope without a user", b.memory("u").Scope, amber.ScopeGlobal)
	must.Equal(t, "warnings", len(r.Warnings), 1)
}

func TestOnlyAndSince(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	o := b.o
	o.Only = must.Get(transfer.ParseParts("notes"))(t)
	b.put(sample...)
	r := b.run(o)
	must.Equal(t, "new", fmt.Sprint(r.New, r.Notes.New), "1 1")
	o.Only, o.Since = nil, amber.UnixMilli(1_800_000_000_000)
	r = b.run(o)
	must.Equal(t, "older", fmt.Sprint(r.Older, r.Memories.New), "4 0")
	_, err := transfer.ParseParts("memories,cats")
	must.Kind(t, "parts", err, amber.KindInvalid)
}
