package jsonl_test

import (
	"bytes"
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
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/jsonl"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
	"github.com/amber-memory/amber/internal/store/notes/notestest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/store/home"
	"github.com/amber-memory/amber/store/sqlite"
	"github.com/amber-memory/amber/wire"
)

func clock() amber.Clock {
	now := time.Date(2026, 11, 17, 12, 0, 0, 0, time.UTC)
	return func() time.Time { now = now.Add(time.Millisecond); return now }
}

func openStore(t *testing.T) amber.Store {
	t.Helper()
	tick := clock()
	h, _, err := home.Open(filepath.Join(t.TempDir(), "home"), home.Options{Clock: tick, Random: rand.Reader})
	must.Do(t, err)
	s := must.Get(sqlite.Open(t.Context(), must.Get(h.Agent(amber.DefaultTenant, amber.DefaultAgent))(t), sqlite.Options{Clock: tick, Random: rand.Reader}))(t)
	t.Cleanup(func() { s.Close() })
	parts := s.Parts()
	notes, _ := notestest.New(t)
	parts.Notes, parts.NoteLog = notes, notes
	return amber.NewStore(parts)
}

// furnish fills a store with one of everything.
func furnish(t *testing.T, s amber.Store) (first amber.MemoryID) {
	t.Helper()
	ctx := t.Context()
	write := func(r amber.WriteRequest) amber.MemoryID { return must.Get(s.LongTerm.Write(ctx, r))(t).ID }
	first = write(amber.WriteRequest{Content: "Round half to even", Title: "Rounding", Tags: []string{"billing"}, Metadata: map[string]string{"a": "b"}})
	second := write(amber.WriteRequest{Content: "one", Topic: "deploy/window", Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "shop"}})
	write(amber.WriteRequest{Content: "two", Topic: "deploy/window", Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "shop"}})
	write(amber.WriteRequest{Content: "likes tea", Scope: amber.ScopeUser, Identities: amber.Identities{UserID: "ada"}})
	text := "Round half up ü \u2028 <&>"
	must.Get(s.Editor.Edit(ctx, amber.EditRequest{ID: first, Content: &text}))(t)
	must.Get(s.Relations.Relate(ctx, amber.Relation{From: first, To: second, Type: "related", Strength: 0.5}))(t)
	must.Get(s.Sessions.StartSession(ctx, amber.SessionStart{ID: "s1", Name: "Coupons", Project: "shop"}))(t)
	for i := range 3 {
		must.Get(s.Turns.AppendTurn(ctx, amber.Turn{SessionID: "s1", Role: amber.RoleUser, Content: fmt.Sprint("turn ", i)}))(t)
	}
	must.Get(s.Names.EndSession(ctx, amber.SessionEnd{ID: "s1", Summary: "short"}))(t)
	must.Get(s.Notes.WriteNote(ctx, amber.NoteWrite{Name: "rules/money", Content: "# Money\n"}))(t)
	return first
}

func export(t *testing.T, s amber.Store, o transfer.ExportOptions) string {
	t.Helper()
	var out bytes.Buffer
	o.Clock = clock()
	must.Get(transfer.Export(t.Context(), s, jsonl.Format, o, transfer.Stream(&out)))(t)
	return out.String()
}

func take(t *testing.T, s amber.Store, text string, own bool) (news, known, conflicts int64) {
	t.Helper()
	r := importAs(t, s, text, own)
	if r.Skipped > 0 {
		t.Errorf("skipped: %v", r.Skips)
	}
	return r.New, r.Known, r.Conflicts
}

func importAs(t *testing.T, s amber.Store, text string, own bool) wire.ForeignImport {
	t.Helper()
	file := filepath.Join(t.TempDir(), "export.jsonl")
	must.Do(t, os.WriteFile(file, []byte(text), 0o600))
	tree := must.Get(foreign.Open(file))(t)
	defer tree.Close()
	f := must.Get(transfer.Detect(tree, []foreign.Format{jsonl.Format}))(t)
	tick := clock()
	return must.Get(transfer.Import(t.Context(), s, f, tree, transfer.Options{
		AsOwn: own, Clock: tick, NewID: func() (string, error) { return amber.NewUUID(tick(), rand.Reader) },
	}))(t)
}

// lines are the lines of an export that hold records, those of turns without the ids that an import gives them.
func lines(t *testing.T, text string) string {
	t.Helper()
	var out []string
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		var v map[string]map[string]any
		if json.Unmarshal([]byte(line), &v) != nil {
			continue // the first
		}
		if turn := v["turn"]; turn != nil {
			delete(turn, "id")
			delete(turn, "project_id") // that of the session
		}
		if s := v["session"]; s != nil {
			delete(s, "created_at")
			delete(s, "updated_at")
		}
		if n := v["note"]; n != nil {
			delete(n, "updated_at")
		}
		out = append(out, string(must.Get(json.Marshal(v))(t)))
	}
	return strings.Join(out, "\n")
}

func TestAnExportReadsBackToAnEqualStore(t *testing.T) {
	t.Parallel()
	from, to := openStore(t), openStore(t)
	first := furnish(t, from)
	text := export(t, from, transfer.ExportOptions{AllUsers: true})
	news, known, conflicts := take(t, to, text, true)
	must.Equal(t, "new, known and conflicts", fmt.Sprint(news, known, conflicts), "9 0 0")
	must.Equal(t, "records", lines(t, export(t, to, transfer.ExportOptions{AllUsers: true})), lines(t, text))
	all := func(s amber.Store) string {
		list := must.Get(s.Memories.List(t.Context(), amber.ListQuery{All: true}))(t).Items
		history := must.Get(amber.All(t.Context(), s.Memories.History, first))(t)
		return string(must.Get(json.MarshalIndent([][]amber.Memory{list, history}, "", " "))(t))
	}
	must.Equal(t, "memories and history", all(to), all(from))

	head := must.Get(to.Changes.Head(t.Context()))(t)
	news, known, _ = take(t, to, text, true)
	must.Equal(t, "again", fmt.Sprint(news, known), "0 9")
	must.Equal(t, "head of the change log", must.Get(to.Changes.Head(t.Context()))(t), head)
	news, _, conflicts = take(t, from, text, false)
	must.Equal(t, "into the store it came from", fmt.Sprint(news, conflicts), "0 0")
}

// The memory of a topic that was erased and written again has another id than the first. It keeps that id in a store that knows
// nothing of the erasure, and what is written about the topic there goes to it.
func TestATopicThatWasErasedReadsBack(t *testing.T) {
	t.Parallel()
	for name, doors := range map[string]func(t *testing.T, to amber.Store, text string){
		"import": func(t *testing.T, to amber.Store, text string) { take(t, to, text, true) },
		"remember": func(t *testing.T, to amber.Store, text string) {
			for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
				var l struct{ Memory *amber.WriteRequest }
				must.Do(t, json.Unmarshal([]byte(line), &l))
				if l.Memory != nil {
					must.Get(to.LongTerm.Write(t.Context(), *l.Memory))(t)
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			from, to := openStore(t), openStore(t)
			about := func(content string) amber.WriteRequest {
				return amber.WriteRequest{Content: content, Topic: "deploy/window", Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "shop"}}
			}
			for _, content := range []string{"the password is xyzzy", "so is this"} {
				must.Get(from.Eraser.Erase(t.Context(), must.Get(from.LongTerm.Write(t.Context(), about(content)))(t).ID))(t)
			}
			id := must.Get(from.LongTerm.Write(t.Context(), about("Mondays only")))(t).ID
			text := export(t, from, transfer.ExportOptions{})
			doors(t, to, text)
			must.Equal(t, "records", lines(t, export(t, to, transfer.ExportOptions{})), lines(t, text))
			again := must.Get(to.LongTerm.Write(t.Context(), about("Fridays only")))(t)
			must.Equal(t, "memory that the topic goes on in", fmt.Sprint(again.ID, " ", again.Revision), fmt.Sprint(id, " ", 2))
			must.Equal(t, "memories", len(must.Get(to.Memories.List(t.Context(), amber.ListQuery{All: true}))(t).Items), 1)
			news, _, conflicts := take(t, from, export(t, to, transfer.ExportOptions{}), true)
			must.Equal(t, "new and conflicts back home", fmt.Sprint(news, conflicts), "0 1")
		})
	}
}

// A relation whose other memory is in another file is named and left out. When that memory has come, the same file brings it.
func TestARelationComesWhenItsMemoryHasCome(t *testing.T) {
	t.Parallel()
	from, to := openStore(t), openStore(t)
	furnish(t, from)
	text := export(t, from, transfer.ExportOptions{AllUsers: true})
	var with, without []string
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if strings.Contains(line, `"topic":"deploy/window"`) {
			with = append(with, line)
			continue
		}
		without = append(without, line)
	}
	first := importAs(t, to, strings.Join(without, "\n"), true)
	must.Equal(t, "relations and skipped", fmt.Sprint(first.Relations.New, first.Skipped), "0 1")
	must.Equal(t, "memories of the other file", importAs(t, to, `{"amber":"export","version":1}`+"\n"+strings.Join(with, "\n"), true).Memories.New, 1)
	again := importAs(t, to, strings.Join(without, "\n"), true)
	must.Equal(t, "relations, skipped and memories", fmt.Sprint(again.Relations.New, again.Skipped, again.Memories.New), "1 0 0")
}

// The vector of docs/format/jsonl.md.
func TestTheVectorIsRead(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	text := string(must.Get(os.ReadFile("testdata/export.jsonl"))(t))
	news, known, conflicts := take(t, s, text, true)
	must.Equal(t, "new, known and conflicts", fmt.Sprint(news, known, conflicts), "6 0 0")
	must.Equal(t, "records", lines(t, export(t, s, transfer.ExportOptions{})), lines(t, text))
	turns := must.Get(amber.LastTurns(t.Context(), s.Turns, "s1", 5))(t)
	must.Equal(t, "id of the turn", string(turns[0].ID), "amber-"+foreign.Hex(foreign.Digest("amber import 1", "amber", "turn", "s1", "t1")))
}

// Users' memories and private passages leave when they are named.
func TestWhatDoesNotLeave(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	furnish(t, s)
	text := export(t, s, transfer.ExportOptions{})
	if strings.Contains(text, "likes tea") {
		t.Error("a memory of a user left without being named")
	}
	if !strings.Contains(export(t, s, transfer.ExportOptions{Users: []string{"ada"}}), "likes tea") {
		t.Error("a memory of a named user stayed")
	}
	shop := export(t, s, transfer.ExportOptions{Project: "shop"})
	must.Equal(t, "of a project", fmt.Sprint(strings.Contains(shop, `"two"`), strings.Contains(shop, "half up"), strings.Contains(shop, "Money")), "true false false")
}

// A stranger's file that names a memory of this store does not replace it.
func TestALineWithALocalIDBecomesAConflict(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	mine := must.Get(s.LongTerm.Write(t.Context(), amber.WriteRequest{Content: "mine"}))(t)
	theirs := mine.Memory
	theirs.Content, theirs.ContentDigest = "theirs", amber.ContentDigest("theirs")
	theirs.Origin = amber.Origin{Device: "stranger", Counter: 99, Clock: theirs.Origin.Clock + 1}
	for _, own := range []bool{false, true} {
		theirs.Origin.Counter++
		_, _, conflicts := take(t, s, string(must.Get(json.Marshal(theirs))(t))+"\n", own)
		must.Equal(t, "conflicts", conflicts, 1)
		must.Equal(t, "content", must.Get(s.Memories.Get(t.Context(), mine.ID))(t).Content, "mine")
	}
}

func sampleFile(t testing.TB) string {
	m := amber.Memory{
		ID: "01890a5d-ac96-774b-bcce-b302099a8057", Kind: amber.ProjectFact, Scope: amber.ScopeGlobal, Content: "Round once", Tags: []string{},
		Metadata: map[string]string{}, SourceRefs: []amber.SourceRef{}, Trust: amber.TrustOwn, Revision: 1, ContentDigest: amber.ContentDigest("Round once"),
		Origin: amber.Origin{Device: "d", Counter: 1, Clock: 1 << 40}, CreatedAt: amber.UnixMilli(1_767_323_045_678), UpdatedAt: amber.UnixMilli(1_767_323_045_678),
	}
	c := &foreigntest.Contents{
		MemoryList: []amber.Memory{m}, SessionList: []amber.Session{{ID: "s1", Name: "one"}},
		TurnList: map[amber.SessionID][]amber.Turn{"s1": {{ID: "t1", SessionID: "s1", Role: amber.RoleUser, Content: "Why?"}, {ID: "t2", SessionID: "s1", Role: amber.RoleAssistant, Content: "So."}}},
		NoteList: []amber.Note{{Name: "n", Content: "note"}},
	}
	dir := t.TempDir()
	must.Do(t, jsonl.Format.Write(context.Background(), c, foreign.WriteOptions{}, foreigntest.Folder(dir)))
	return filepath.Join(dir, "out")
}

func TestDamagedLinesCostThemselves(t *testing.T) {
	t.Parallel()
	file := sampleFile(t)
	r := foreigntest.Read(t, jsonl.Format, file)
	must.Equal(t, "items", r.Count(), 5)
	must.Equal(t, "id", r.Memories[0].AmberID, "01890a5d-ac96-774b-bcce-b302099a8057")
	foreigntest.Damage(t, jsonl.Format, filepath.Dir(file), "out", 3) // a session costs its turns
}

// A turn belongs to the session before it, and to no other: a line cannot put words into a conversation it does not follow.
func TestTurnsFollowTheirSession(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "x.jsonl")
	must.Do(t, os.WriteFile(file, []byte(`{"amber":"export","version":1}
{"session":{"id":"s1","name":"one","turns":2}}
{"turn":{"id":"t1","session_id":"s1","role":"user","content":"Why?"}}
{"turn":{"id":"t2","session_id":"s2","role":"user","content":"Elsewhere"}}
{"session":{"name":"nameless","turns":1}}
{"turn":{"id":"t3","session_id":"","role":"user","content":"Nobody"}}
`), 0o600))
	r := foreigntest.Read(t, jsonl.Format, file)
	must.Equal(t, "items", r.Count(), 2)
	must.Equal(t, "skips", len(r.Skips), 2)
}

func FuzzRead(f *testing.F) {
	b := must.Get(os.ReadFile(sampleFile(f)))(f)
	foreigntest.Fuzz(f, jsonl.Format, "x.jsonl", b, []byte(`{"memory":null}`), []byte(`{"id":"01890a5d-ac96-774b-bcce-b302099a8057","kind":"`))
}
