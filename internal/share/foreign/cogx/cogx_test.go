package cogx_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/cogx"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/test/must"
)

const (
	sample   = "testdata/sample"
	memoryID = "01890a5d-ac96-774b-bcce-b302099a8057"
	otherID  = "01890a5d-ac96-774b-bcce-b302099a8058"
)

// archive makes a folder with a manifest and files of records.
func archive(t testing.TB, files map[string]string) string {
	t.Helper()
	return foreigntest.Put(t, foreigntest.Files(t, map[string]string{"manifest.json": `{"cogx_version": "0.1"}`}), files)
}

// packed makes a packed archive of a folder.
func packed(t testing.TB, dir, below string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.cogx.tar.gz")
	f := must.Get(os.Create(name))(t)
	z := gzip.NewWriter(f)
	w := tar.NewWriter(z)
	for _, e := range must.Get(os.ReadDir(dir))(t) {
		b := must.Get(os.ReadFile(filepath.Join(dir, e.Name())))(t)
		must.Do(t, w.WriteHeader(&tar.Header{Name: below + e.Name(), Size: int64(len(b)), Mode: 0o600, Typeflag: tar.TypeReg}))
		must.Get(w.Write(b))(t)
	}
	must.Do(t, w.Close())
	must.Do(t, z.Close())
	must.Do(t, f.Close())
	return name
}

func TestTheSample(t *testing.T) {
	t.Parallel()
	for _, name := range []string{sample, packed(t, sample, ""), packed(t, sample, "shop/")} {
		r := foreigntest.Read(t, cogx.Format, name)
		for i := range r.Memories {
			r.Memories[i].Place.File = filepath.Base(r.Memories[i].Place.File)
			if i > 0 { // of a record without a time
				r.Memories[i].CreatedAt, r.Memories[i].UpdatedAt = amber.Time{}, amber.Time{}
			}
		}
		at := foreigntest.At(t, "2026-01-02T03:04:05.678Z")
		line := func(file string, n int) foreign.Place {
			return foreign.Place{File: file, At: fmt.Sprintf("line %d", n)}
		}
		must.Equal(t, "memories", r.Memories, []foreign.Memory{
			{
				Place: line("memories.jsonl", 1), Key: foreign.Key{"amber", memoryID}, Kind: amber.ProjectFact, Identities: amber.Identities{UserID: "ada"},
				Content: "Round half to even", Tags: []string{"billing"}, CreatedAt: at, UpdatedAt: at, AmberID: memoryID,
			},
			{
				Place: line("entities.jsonl", 1), Key: foreign.Key{"amber", "e1"}, Kind: amber.UserFact, Title: "Ada", Content: "Ada",
				Metadata: map[string]string{"entity_type": "person"},
			},
			{Place: line("entities.jsonl", 2), Key: foreign.Key{"amber", "e2"}, Kind: amber.WorkspaceFact, Title: "checkout", Content: "checkout"},
			{
				Place: line("facts.jsonl", 1), Key: foreign.Key{"amber", "f1"}, Kind: amber.WorkspaceFact, Content: "Ada maintains checkout",
				Metadata: map[string]string{"subject": "e1", "predicate": "maintains", "object": "e2", "confidence": "1.0", "valid_at": "2026-01-01T00:00:00.000Z"},
			},
		}, foreigntest.Times)
		must.Equal(t, "relations", relations(r), "e1 maintains e2, f1 related e1, f1 related e2")
		must.Equal(t, "sessions", len(r.Sessions), 1)
		r.Sessions[0].Place.File = filepath.Base(r.Sessions[0].Place.File)
		must.Equal(t, "session", r.Sessions[0], foreign.Session{
			Place: line("episodes.jsonl", 1), ID: "s1", Name: "Coupons", StartedAt: at, EndedAt: at, Turns: 1, State: r.Sessions[0].State,
		}, foreigntest.Times)
		turn := r.Turns["s1"][0]
		must.Equal(t, "turn", fmt.Sprint(turn.Role, " ", turn.Content, " ", turn.At, " ", turn.Key[:2]), "user Why twice? 2026-01-02T03:04:05.678Z [amber s1]")
		must.Equal(t, "skips", r.Skips, nil)
		must.Equal(t, "warnings", r.Warnings, nil)
	}
}

func relations(r *foreigntest.Recorder) string {
	var out []string
	for _, rel := range r.Relations {
		out = append(out, rel.From[1]+" "+rel.Type+" "+rel.To[1])
	}
	return strings.Join(out, ", ")
}

func TestKindsOfRecords(t *testing.T) {
	t.Parallel()
	dir := archive(t, map[string]string{
		"memories.jsonl": `{"external_system":"mem0","external_id":"m1","content":"likes tea","categories":["preference"],"scope":{"user_id":"ada","run_id":"r"},"created_at":1767323045.678,"metadata":{"hash":"x"},"unknown":1}
{"external_id":"m2","content":"a fact","scope":{"user_id":"ada"}}
{"external_id":"m2","content":"again"}
{"external_id":"m3","content":" "}
{"content":"no id"}
{"external_id":"m4","content":"late","created_at":"2200-01-01T00:00:00Z"}
{"external_id":{"odd":1},"content":"odd"}
{"external_id":"m5","content":["odd"]}
broken
`,
		"memory_blocks.jsonl": `{"kind":"memory_block","external_system":"letta","external_id":"b1","label":"human","value":"Ada","limit":5000}` + "\n",
		"entities.jsonl":      `{"external_id":"m2","name":"shop","entity_type":"Project","description":"The shop","aliases":["store"],"attributes":{"a":1}}` + "\n",
		"documents.jsonl": `{"external_system":"cognee","external_id":"d1","content":"text","title":"a/b","mime_type":"text/plain"}
{"external_system":"cognee","external_id":"d3","content":"untitled"}
{"external_system":"cognee","external_id":"d4","content":""}
`,
		"permissions.json": "{",
	})
	r := foreigntest.Read(t, cogx.Format, dir)
	var got []string
	for _, m := range r.Memories {
		b := must.Get(json.Marshal(m.Foreign))(t)
		got = append(got, fmt.Sprintf("%v %s %q %q user=%s tags=%v meta=%v %s", m.Key, m.Kind, m.Title, m.Content, m.UserID, m.Tags, m.Metadata, b))
	}
	must.Equal(t, "memories", strings.Join(got, "\n"), strings.Join([]string{
		`[mem0 m1] user_preference "" "likes tea" user=ada tags=[preference] meta=map[] {"metadata":{"hash":"x"},"scope":{"run_id":"r"},"unknown":1}`,
		`[unknown m2] user_fact "" "a fact" user=ada tags=[] meta=map[] null`,
		`[letta b1] user_fact "human" "Ada" user= tags=[] meta=map[] {"limit":5000}`,
		`[unknown m2 entity] project_fact "shop" "The shop" user= tags=[] meta=map[entity_type:Project] {"aliases":["store"],"attributes":{"a":1}}`,
	}, "\n"))
	must.Equal(t, "times", r.Memories[0].CreatedAt.String()+" "+r.Memories[1].UpdatedAt.String(), "2026-01-02T03:04:05.678Z 2026-01-02T03:04:05.000Z")
	must.Equal(t, "notes", fmt.Sprint(r.Notes[0].Name, " ", r.Notes[0].Content, " ", r.Notes[1].Name, " ", len(r.Notes)), "cogx/cognee/a-b text cogx/cognee/d3 2")
	must.Equal(t, "skips", strings.Join(r.Skips, "\n"), strings.Join([]string{
		`memories.jsonl: line 3: memory "m2" is there twice`,
		`memories.jsonl: line 4: memory "m3" is empty`,
		`memories.jsonl: line 5: record has no external_id`,
		`memories.jsonl: line 6: time is 2200-01-01T00:00:00Z, want one from 1990 to 2099`,
		`memories.jsonl: line 7: record has no external_id`,
		`memories.jsonl: line 8: memory "m5" is empty`,
		"memories.jsonl: line 9: record is not valid JSON: invalid character 'b' looking for beginning of value",
		`documents.jsonl: line 3: document "d4" is empty`,
	}, "\n"))
}

func TestFacts(t *testing.T) {
	t.Parallel()
	dir := archive(t, map[string]string{
		"entities.jsonl": `{"external_id":"e1","name":"Ada"}` + "\n" + `{"external_id":"e2","name":"shop","aliases":["store"]}` + "\n",
		"nodes.jsonl":    `{"id":"n1","type":"DocumentChunk","text":"x"}` + "\n",
		"facts.jsonl": `{"external_id":"f1","subject_ref":"Ada","predicate":"runs","object_ref":"store","confidence":0.5}
{"external_id":"f2","subject_ref":"e1","predicate":"left","object_ref":"e2","fact_text":"Ada left","invalid_at":"2026-02-01T00:00:00Z","provenance":["d1"]}
{"external_id":"f3","subject_ref":"n1","predicate":"contains","object_ref":"e1"}
{"external_id":"f4","subject_ref":"e1","predicate":"likes","object_ref":"tea"}
{"external_id":"f5","subject_ref":"e1","predicate":"is","object_ref":"e1"}
{"external_id":"f6"}
{"external_id":"f7","subject_ref":"e1","object_ref":"e2","fact_text":"x","valid_at":"never"}
`,
	})
	r := foreigntest.Read(t, cogx.Format, dir)
	must.Equal(t, "relations", relations(r), "e1 runs e2, e1 left e2, f2 related e1, f2 related e2, f4 related e1, e1  e2")
	must.Equal(t, "strength", r.Relations[0].Strength, 0.5)
	var got []string
	for _, m := range r.Memories[2:] {
		got = append(got, fmt.Sprint(m.Content, m.Tags, m.Metadata["invalid_at"], m.Foreign))
	}
	must.Equal(t, "memories", strings.Join(got, "|"), "Ada left[invalid]2026-02-01T00:00:00.000Zmap[provenance:[d1]]|e1 likes tea[]<nil>")
	must.Equal(t, "warnings", r.Warnings, []string{"1 raw nodes of the graph and 1 facts about them are not imported"})
	must.Equal(t, "skips", r.Skips, []string{
		`facts.jsonl: line 6: fact "f6" is empty`, `facts.jsonl: line 7: valid_at: time is "never", want a date and time as in 2026-01-02T03:04:05Z`,
	})
}

func TestEpisodes(t *testing.T) {
	t.Parallel()
	dir := archive(t, map[string]string{
		"episodes.jsonl": `{"external_system":"zep","external_id":"s1","created_at":"2026-01-01T00:00:00","turns":[{"role":"human","content":"a"},{"role":"ai","content":"b","occurred_at":"2026-01-01T00:00:05Z"},` +
			`{"role":"Ada","content":"c"},{"role":"tool","content":"d"},{"role":"user","content":" "},5,{"role":"user","content":"x","occurred_at":1},{"role":"human","content":"a"},{"content":["odd"]}]}` + "\n" +
			`{"external_system":"zep","external_id":"s2","turns":{}}` + "\n",
	})
	r := foreigntest.Read(t, cogx.Format, dir)
	must.Equal(t, "turns", foreigntest.Texts(r.Turns["cogx-zep-s1"]), "user: a\nassistant: b\nuser: Ada: c\ntool: d\nuser: a\n")
	s := r.Sessions[0]
	must.Equal(t, "session", fmt.Sprint(s.Turns, " ", s.StartedAt, " ", s.EndedAt), "5 2026-01-01T00:00:00.000Z 2026-01-01T00:00:05.000Z")
	must.Equal(t, "skips", strings.Join(r.Skips, "\n"), "episodes.jsonl: line 1, turn 6: turn is no object\n"+
		"episodes.jsonl: line 1, turn 7: time is 1970-01-01T00:00:01Z, want one from 1990 to 2099\nepisodes.jsonl: line 2: episode \"s2\" has no turns")
}

func TestDetect(t *testing.T) {
	t.Parallel()
	other := t.TempDir()
	must.Do(t, os.WriteFile(filepath.Join(other, "manifest.json"), []byte(`{"version": 1}`), 0o600))
	must.Do(t, os.WriteFile(filepath.Join(other, "memory.jsonl"), []byte(`{"type":"entity","name":"a"}`), 0o600))
	foreigntest.Detects(t, cogx.Format, map[string]foreign.Match{
		sample: foreign.Sure, filepath.Join(sample, "memories.jsonl"): foreign.Sure, filepath.Join(sample, "facts.jsonl"): foreign.Sure,
		filepath.Join(sample, "manifest.json"): foreign.No, other: foreign.No, filepath.Join(other, "memory.jsonl"): foreign.No,
	})
	alone := foreigntest.Read(t, cogx.Format, filepath.Join(sample, "memories.jsonl"))
	must.Equal(t, "memories of a file alone", len(alone.Memories), 1)
}

func TestANewerVersionIsTold(t *testing.T) {
	t.Parallel()
	dir := archive(t, map[string]string{"manifest.json": `{"cogx_version": "1.0"}`, "memories.jsonl": `{"external_id":"a","content":"b"}`})
	r := foreigntest.Read(t, cogx.Format, dir)
	must.Equal(t, "memories", len(r.Memories), 1)
	must.Says(t, "warnings", strings.Join(r.Warnings, ""), "COGX version 1.0")
}

// The file of permissions has passwords: it is never opened, not even where it is all there is.
func TestPermissionsAreNotOpened(t *testing.T) {
	t.Parallel()
	dir := archive(t, map[string]string{"permissions.json": `{"hashed_password":"secret"}`})
	must.Do(t, os.Chmod(filepath.Join(dir, "permissions.json"), 0))
	r := foreigntest.Read(t, cogx.Format, dir)
	must.Equal(t, "items and skips", r.Count()+len(r.Skips), 0)
}

func TestDamage(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"memories.jsonl", "episodes.jsonl", "entities.jsonl", "facts.jsonl"} {
		foreigntest.Damage(t, cogx.Format, sample, file, 4) // an entity, and the fact that leads to it
	}
	foreigntest.Damage(t, cogx.Format, sample, "manifest.json", -1)
}

func TestHostileRecords(t *testing.T) {
	t.Parallel()
	texts := []string{
		"", "null\n", "[]\n", "\x00\xff\n", strings.Repeat("[", 100_000), strings.Repeat(`{"metadata":`, 20_000) + "1" + strings.Repeat("}", 20_000) + "\n",
		`{"external_id":1e400,"content":"x","turns":1,"metadata":[],"scope":"x","created_at":1e308}` + "\n",
		`{"external_id":"a","metadata":{"amber":{"memory":5,"kind":[],"note":{},"source_refs":[1,{}],"metadata":{"a":[]}}},"content":"x","name":"x"}` + "\n",
		`{"external_system":"amber","external_id":"\u0000","turns":[{"content":"x"}],"name":"x","subject_ref":"a","object_ref":"a"}` + "\n",
	}
	for _, k := range []string{"memories", "memory_blocks", "entities", "documents", "episodes", "facts", "nodes"} {
		for _, text := range texts {
			foreigntest.Read(t, cogx.Format, archive(t, map[string]string{k + ".jsonl": text}))
		}
	}
}

func TestExport(t *testing.T) {
	t.Parallel()
	at := foreigntest.At(t, "2026-01-02T03:04:05.678Z")
	m := amber.Memory{
		ID: memoryID, Kind: amber.ProjectFact, Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: "shop", UserID: "ada", SessionID: "s-1"},
		Title: "Rounding", Content: "Round <once>\n", Summary: "s", Topic: "rounding", Tags: []string{"billing"}, Metadata: map[string]string{"a": "b"},
		SourceRefs: []amber.SourceRef{{Kind: "file", Value: "x.md"}}, Trust: amber.TrustOwn, Origin: amber.Origin{Device: "d", Counter: 3}, Revision: 3,
		ContentDigest: "x", CreatedAt: at, UpdatedAt: at, Foreign: map[string]json.RawMessage{"mem0": json.RawMessage(`{"hash":"x"}`)},
	}
	c := &foreigntest.Contents{
		MemoryList:   []amber.Memory{m, {ID: otherID, Kind: amber.UserFact, Scope: amber.ScopeGlobal, Content: "Uses tabs"}},
		RelationList: []amber.Relation{{ID: "r-1", From: memoryID, To: otherID, Type: "supersedes", Strength: 0.25, CreatedAt: at}, {From: memoryID, To: "gone", Type: "related"}},
		SessionList: []amber.Session{
			{ID: "s-1", Name: "Coupons", Binding: "claude-code", Project: "shop", Directory: "/src", StartedAt: at, EndedAt: at.Add(1e9), Summary: "sum", Parent: "s-0", CreatedAt: at, UpdatedAt: at},
			{ID: "s-2", Name: "Empty"},
		},
		TurnList: map[amber.SessionID][]amber.Turn{"s-1": {{Role: amber.RoleUser, Content: "Why?", CreatedAt: at}, {Role: amber.RoleSystem, Content: "So.", CreatedAt: at}}},
		NoteList: []amber.Note{{Name: "folder/a note", Content: "text\n", UpdatedAt: at}},
	}
	dir := t.TempDir()
	must.Do(t, cogx.Format.Write(context.Background(), c, foreign.WriteOptions{At: at, Agent: "main"}, foreigntest.Folder(dir)))
	must.Equal(t, "manifest", string(must.Get(os.ReadFile(filepath.Join(dir, "manifest.json")))(t)), `{
  "cogx_version": "0.1",
  "source_system": "amber",
  "exported_at": "2026-01-02T03:04:05.678Z",
  "counts": {
    "document": 1,
    "entity": 2,
    "episode": 2,
    "fact": 1,
    "memory": 2
  }
}
`)
	r := foreigntest.Read(t, cogx.Format, dir)
	got := r.Memories[0]
	must.Equal(t, "foreign", string(must.Get(json.Marshal(got.Foreign))(t)), `{"mem0":{"hash":"x"}}`)
	got.Foreign = nil
	must.Equal(t, "memory", got, foreign.Memory{
		Place: got.Place, Key: foreign.Key{"amber", memoryID}, Kind: m.Kind, Scope: m.Scope, Identities: m.Identities, Title: m.Title, Content: m.Content,
		Summary: m.Summary, Topic: m.Topic, Tags: m.Tags, Metadata: m.Metadata, SourceRefs: m.SourceRefs, CreatedAt: at, UpdatedAt: at, AmberID: memoryID,
	}, foreigntest.Times)
	must.Equal(t, "memories", len(r.Memories), 2)
	must.Equal(t, "relations", r.Relations, []foreign.Relation{{
		Place: r.Relations[0].Place, From: foreign.Key{"amber", memoryID}, To: foreign.Key{"amber", otherID}, Type: "supersedes", Strength: 0.25, CreatedAt: at,
	}}, foreigntest.Times)
	must.Equal(t, "session", r.Sessions[0], foreign.Session{
		Place: r.Sessions[0].Place, ID: "s-1", Name: "Coupons", Binding: "claude-code", Project: "shop", Directory: "/src", Summary: "sum", Parent: "s-0",
		StartedAt: at, EndedAt: at.Add(1e9), Turns: 2, State: r.Sessions[0].State,
	}, foreigntest.Times)
	must.Equal(t, "turns", foreigntest.Texts(r.Turns["s-1"]), "user: Why?\nsystem: So.\n")
	must.Equal(t, "note", r.Notes, []foreign.Note{{Place: r.Notes[0].Place, Name: "folder/a note", Content: "text\n", UpdatedAt: at}}, foreigntest.Times)
	must.Equal(t, "skips", r.Skips, []string{`episodes.jsonl: line 2: episode "s-2" has no turns`})
}

func TestWritingFails(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	must.Do(t, os.WriteFile(file, nil, 0o600))
	c := &foreigntest.Contents{MemoryList: []amber.Memory{{ID: memoryID, Content: "x"}}}
	must.Error(t, "a folder that is a file", cogx.Format.Write(context.Background(), c, foreign.WriteOptions{}, foreigntest.Folder(file)))
	must.Error(t, "and for the manifest", cogx.Format.Write(context.Background(), &foreigntest.Contents{}, foreign.WriteOptions{}, foreigntest.Folder(file)))
}

// fuzzFile reads arbitrary bytes as a file beside a manifest.
func fuzzFile(f *testing.F, file string) {
	f.Add(must.Get(os.ReadFile(filepath.Join(sample, file)))(f))
	f.Add([]byte(`{"external_system":"amber","external_id":"a","metadata":{"amber":{"memory":"b","note":"c"}},"turns":[{"role":"user","content":"x"}],"name":"n","content":"c","subject_ref":"a","object_ref":"b"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		foreigntest.ReadAny(t, cogx.Format, archive(t, map[string]string{file: string(b)}))
	})
}

func FuzzMemories(f *testing.F) { fuzzFile(f, "memories.jsonl") }
func FuzzEpisodes(f *testing.F) { fuzzFile(f, "episodes.jsonl") }
func FuzzEntities(f *testing.F) { fuzzFile(f, "entities.jsonl") }
func FuzzFacts(f *testing.F)    { fuzzFile(f, "facts.jsonl") }

func FuzzManifest(f *testing.F) {
	foreigntest.Fuzz(f, cogx.Format, "manifest.json", must.Get(os.ReadFile(filepath.Join(sample, "manifest.json")))(f))
}
