package mcpmemory_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/mcpmemory"
	"github.com/amber-memory/amber/internal/test/must"
)

var at = foreigntest.Modified

func sample(t testing.TB) string {
	t.Helper()
	return string(must.Get(os.ReadFile("testdata/memory.jsonl"))(t))
}

func read(t *testing.T, text string) *foreigntest.Recorder {
	t.Helper()
	return foreigntest.Read(t, mcpmemory.Format, foreigntest.Files(t, map[string]string{"memory.jsonl": text}))
}

func TestEntitiesBecomeMemoriesAndRelationsRelations(t *testing.T) {
	t.Parallel()
	r := read(t, sample(t))
	must.Equal(t, "memories", r.Memories, []foreign.Memory{
		{
			Place: foreign.Place{File: "memory.jsonl", At: "line 1"}, Key: foreign.Key{"mcp-memory", "checkout"}, Kind: amber.ProjectFact,
			Title: "checkout", Content: "Rounds half to even\nTwo lines\nin one", Topic: "checkout", Metadata: map[string]string{"entity_type": "project"},
			Foreign: []string{"Rounds half to even", "Two lines\nin one"}, CreatedAt: at, UpdatedAt: at,
		},
		{
			Place: foreign.Place{File: "memory.jsonl", At: "line 2"}, Key: foreign.Key{"mcp-memory", "Ada"}, Kind: amber.UserFact,
			Title: "Ada", Content: "Prefers tabs", Topic: "ada", Metadata: map[string]string{"entity_type": "person"},
			Foreign: []string{"Prefers tabs"}, CreatedAt: at, UpdatedAt: at,
		},
	}, foreigntest.Times)
	must.Equal(t, "relations", r.Relations, []foreign.Relation{{
		Place: foreign.Place{File: "memory.jsonl", At: "line 3"}, From: foreign.Key{"mcp-memory", "Ada"}, To: foreign.Key{"mcp-memory", "checkout"},
		Type: "maintains", Strength: 1, CreatedAt: at,
	}}, foreigntest.Times)
	must.Equal(t, "skipped", r.Skips, nil)
}

func TestTheCallerNamesProjectAndUser(t *testing.T) {
	t.Parallel()
	o := foreigntest.Options()
	o.Project, o.User = "shop", "ada"
	r := foreigntest.ReadWith(t, mcpmemory.Format, foreigntest.Files(t, map[string]string{"memory.jsonl": sample(t)}), o)
	must.Equal(t, "of a project", r.Memories[0].Identities, amber.Identities{ProjectID: "shop"})
	must.Equal(t, "of a person", r.Memories[1].Identities, amber.Identities{UserID: "ada", ProjectID: "shop"})
}

// Two servers that write one file at once leave lines like these.
func TestTornLinesGiveTheirWholeObjects(t *testing.T) {
	t.Parallel()
	const a, b = `{"type":"entity","name":"a","entityType":"x","observations":["one"]}`, `{"type":"entity","name":"b","entityType":"x","observations":["two"]}`
	for _, c := range []struct{ text, memories, skips string }{
		{a + b, "a: one|b: two", ""},
		{a + "\n" + a, "a: one", ""},
		{a + ", " + b, "a: one|b: two", ""},
		{a[:30] + "\n" + a + b, "a: one|b: two", "line 1"},
		{a[:40] + b, "b: two", "line 1"},
		{a[:len(a)-1] + b + "\n" + a, "b: two|a: one", "line 1"},
		{a + "\n" + b[20:], "a: one", "line 2"},
		{a[20:] + b, "b: two", "line 1"},
		{b + "\n" + a + "\n" + `{"type":"entity","name":"b","entityType":"y","observations":["two","three"]}`, "a: one|b: two\nthree", ""},
		{`[` + a + `,` + b + `]`, "a: one|b: two", "line 1"},
		{a + "\x00\x00\n" + b, "a: one|b: two", "line 1"},
		{a + "\n{}\nnull\n12\n" + `{"type":"entity"}` + "\n" + `{"type":"meta","x":1}`, "a: one", "line 2|line 3|line 4|line 5"},
	} {
		r := read(t, c.text)
		var got, skips []string
		for _, m := range r.Memories {
			got = append(got, m.Title+": "+m.Content)
		}
		for _, s := range r.Skips {
			skips = append(skips, strings.Split(s, ": ")[1])
		}
		must.Equal(t, "memories of "+c.text, strings.Join(got, "|"), c.memories)
		must.Equal(t, "skipped of "+c.text, strings.Join(skips, "|"), c.skips)
	}
}

func TestOtherSpellingsAndOddTypes(t *testing.T) {
	t.Parallel()
	r := read(t, `{"type":"entity","entityName":"a","entity_type":"preference","observations":"one text"}
{"type":"entity","name":"b","entityType":7,"observations":[1,null,true,{"content":"c"},{"x":1},["y"],"\u0000nul"]}
{"type":"entity","name":"c","observations":null}
{"name":"d","observations":[]}
{"type":"relation","from_id":"a","to_id":"b","relation_type":"likes"}
{"type":"relation","from_id":"a","to_id":"b","relation_type":"likes"}
{"from":"c","to":"d"}
{"type":"relation","from":"a","to":"nobody","relationType":"x"}
{"type":"relation","from":"a","relationType":"x"}
{"type":"entity","name":"日本","entityType":"Constraint","observations":["\ud800"]}
`)
	var got []string
	for _, m := range r.Memories {
		got = append(got, fmt.Sprintf("%s %s %q", m.Title, m.Kind, m.Content))
	}
	must.Equal(t, "memories", got, []string{
		`a user_preference "one text"`, `b workspace_fact "1\ntrue\nc\n{\"x\":1}\n[\"y\"]\n\x00nul"`, `c workspace_fact "c"`, `d workspace_fact "d"`,
		`日本 constraint "` + "\ufffd" + `"`,
	})
	got = nil
	for _, x := range r.Relations {
		got = append(got, x.From[1]+" "+x.Type+" "+x.To[1])
	}
	must.Equal(t, "relations", got, []string{"a likes b", "c related d"})
	must.Equal(t, "skipped", len(r.Skips), 2)
	must.Says(t, "a missing end", r.Skips[0], "line 8", `no entity "nobody"`)
}

func TestEntitiesOfOneNameAreJoinedAcrossFiles(t *testing.T) {
	t.Parallel()
	dir := foreigntest.Files(t, map[string]string{"memory.jsonl": sample(t), "memory.json": sample(t), "old/memory.json": `{"type":"entity","name":"Ada","entityType":"person","observations":["Likes tea"]}`, "package.json": `{"name":"x"}`})
	r := foreigntest.Read(t, mcpmemory.Format, dir)
	must.Equal(t, "memories", len(r.Memories), 2)
	must.Equal(t, "joined", r.Memories[1].Content, "Prefers tabs\nLikes tea")
	must.Equal(t, "relations", len(r.Relations), 1)
	must.Equal(t, "skipped", r.Skips, nil)
}

func TestDetect(t *testing.T) {
	t.Parallel()
	long := `{"type":"entity","name":"a","entityType":"b","observations":["` + strings.Repeat("x", 100_000) + `"]}`
	for _, c := range []struct {
		name, text string
		want       foreign.Match
	}{
		{"memory.jsonl", sample(t), foreign.Sure},
		{"memory.json", sample(t), foreign.Sure},
		{"my-project.jsonl", sample(t), foreign.Sure},
		{"node/dist/memory.jsonl", sample(t), foreign.Sure},
		{"memory.jsonl", "half a line\n" + sample(t), foreign.Sure},
		{"memory.jsonl", long, foreign.Sure},
		{"memory.jsonl", "", foreign.No},
		{"memory.jsonl", `{"type":"user","message":{"role":"user","content":"entity"}}`, foreign.No},
		{"entities.jsonl", `{"kind":"entity","external_id":"e","name":"a","entity_type":"b"}`, foreign.No},
		{"memory.json", `{"memories":[{"content":"a","content_hash":"b"}]}`, foreign.No},
		{"memory.json", "[1,2]", foreign.No},
	} {
		dir := foreigntest.Files(t, map[string]string{c.name: c.text})
		for _, name := range []string{dir, filepath.Join(dir, c.name)} {
			foreigntest.Detects(t, mcpmemory.Format, map[string]foreign.Match{name: c.want})
		}
	}
}

func TestHomes(t *testing.T) {
	t.Parallel()
	got := mcpmemory.Format.Homes(func(k string) string { return map[string]string{"MEMORY_FILE_PATH": "/m.jsonl"}[k] }, "/home/ada")
	must.Equal(t, "home", got[0], "/m.jsonl")
}

func memories() *foreigntest.Contents {
	const a, b, c, d = "01890a5d-ac96-774b-bcce-b302099a8057", "01890a5d-ac96-774b-bcce-b302099a8058", "11890a5d-ac96-774b-bcce-b302099a8059", "21890a5d-ac96-774b-bcce-b302099a8059"
	return &foreigntest.Contents{
		MemoryList: []amber.Memory{
			{ID: a, Kind: amber.ProjectFact, Title: "Same", Content: "One <line>\n\nand \"another\""},
			{ID: b, Kind: amber.Constraint, Title: " Same ", Content: "x"},
			{ID: c, Kind: amber.UserFact, Topic: "topic", Content: "one\ntwo", Metadata: map[string]string{"entity_type": "human"}, Foreign: map[string]json.RawMessage{"mcp-memory": json.RawMessage(`["one","two","amber:` + d + `"]`)}},
			{ID: d, Kind: amber.WorkspaceFact, Content: "changed", Foreign: map[string]json.RawMessage{"mcp-memory": json.RawMessage(`["as it was"]`)}},
		},
		RelationList: []amber.Relation{{From: a, To: b, Type: "related"}, {From: a, To: "gone", Type: "related"}},
	}
}

func TestAnExportIsReadBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must.Do(t, mcpmemory.Format.Write(context.Background(), memories(), foreign.WriteOptions{}, foreigntest.Folder(dir)))
	text := string(must.Get(os.ReadFile(filepath.Join(dir, "out")))(t))
	must.Equal(t, "text", text, `{"type":"entity","name":"Same","entityType":"project","observations":["One <line>\n\nand \"another\"","amber:01890a5d-ac96-774b-bcce-b302099a8057"]}
{"type":"entity","name":"Same (01890a5d)","entityType":"constraint","observations":["x","amber:01890a5d-ac96-774b-bcce-b302099a8058"]}
{"type":"entity","name":"topic","entityType":"human","observations":["one","two","amber:11890a5d-ac96-774b-bcce-b302099a8059"]}
{"type":"entity","name":"21890a5d","entityType":"workspace_fact","observations":["changed","amber:21890a5d-ac96-774b-bcce-b302099a8059"]}
{"type":"relation","from":"Same","to":"Same (01890a5d)","relationType":"related"}`)
	r := foreigntest.Read(t, mcpmemory.Format, filepath.Join(dir, "out"))
	for i, m := range memories().MemoryList {
		must.Equal(t, "content", r.Memories[i].Content, m.Content)
		must.Equal(t, "id", r.Memories[i].AmberID, string(m.ID))
	}
	must.Equal(t, "kind", r.Memories[1].Kind, amber.Constraint)
	must.Equal(t, "relations", len(r.Relations), 1)
}

func TestADamagedFileGivesTheRest(t *testing.T) {
	t.Parallel()
	foreigntest.Damage(t, mcpmemory.Format, "testdata", "memory.jsonl", 2)
}

// Hostile lines are bounded in time, also where each of their parts could begin an object.
func TestAHostileLineEnds(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		strings.Repeat(`{"type":`, 1<<17), strings.Repeat(`{"type":"`, 1<<17), strings.Repeat("[", 1<<20), strings.Repeat(`{"a`, 1<<18),
		strings.Repeat(`{"type":"entity","name":"a","observations":["`, 1<<14),
	} {
		must.Equal(t, "skipped", len(foreigntest.ReadAny(t, mcpmemory.Format, foreigntest.Files(t, map[string]string{"memory.jsonl": text})).Skips), 1)
	}
}

func FuzzRead(f *testing.F) {
	foreigntest.Fuzz(f, mcpmemory.Format, "memory.jsonl", []byte(sample(f)), []byte(`{"type":"entity","name":"a"}{"type":"entity","na`),
		[]byte(`{"type":"relation","from":"a","to":"a","relationType":"b"}`))
}
