package memos_test

import (
	"os"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/memos"
	"github.com/amber-memory/amber/internal/test/must"
)

func document(t testing.TB, text string) string {
	return foreigntest.Files(t, map[string]string{"x.json": text})
}

func TestSample(t *testing.T) {
	r := foreigntest.Read(t, memos.Format, "testdata")
	must.Equal(t, "skipped", r.Skips, nil)
	must.Equal(t, "memories", r.Memories, []foreign.Memory{{
		Place: foreign.Place{File: "textual_memory.json", At: "nodes 1"}, Key: foreign.Key{"c1e2bfb3-4dd7-40f9-a347-a25a72223b2c"},
		Kind: amber.UserFact, Identities: amber.Identities{UserID: "ada", SessionID: "memos-s1"}, Title: "Tabs", Content: "Ada prefers tabs.",
		Tags: []string{"style"}, Metadata: map[string]string{"type": "fact", "memory_type": "UserMemory"},
		CreatedAt: foreigntest.At(t, "2026-01-02T03:04:05.678Z"), UpdatedAt: foreigntest.At(t, "2026-01-02T03:04:05.678Z"),
		Foreign: foreign.Object{"metadata": r.Memories[0].Foreign.(foreign.Object)["metadata"]},
	}}, foreigntest.Times)
	must.Equal(t, "foreign", string(foreign.Raw(r.Memories[0].Foreign)),
		`{"metadata":{"sources":["\"{\\\"type\\\": \\\"chat\\\", \\\"role\\\": \\\"user\\\", \\\"content\\\": \\\"tabs please\\\"}\""],"status":"activated","version":1}}`)
}

func TestACubeThatIsAList(t *testing.T) {
	r := foreigntest.ReadWith(t, memos.Format, document(t, `[
 {"id":"1","memory":"a","metadata":{"memory_type":"LongTermMemory","status":"activated","user_id":"ada"},"vector":[1]},
 {"id":"2","memory":"b","metadata":{"status":"archived"}}, {"id":"3","memory":"c","metadata":{"status":"deleted"}},
 {"id":"1","memory":"again","metadata":{}}, {"memory":"d"}, {"id":"4","memory":" "}, 7, {"id":"5","memory":"e","metadata":{"created_at":"late"}},
 {"id":"6","memory":"f","metadata":[]}]`), foreign.Options{User: "me", ProjectOf: func(string) string { return "" }})
	var got []string
	for _, m := range r.Memories {
		got = append(got, m.Content+" of "+m.UserID)
	}
	must.Equal(t, "memories", got, []string{"a of me", "f of me"})
	must.Equal(t, "skipped", r.Skips, []string{
		"x.json: element 2: memory is archived", "x.json: element 3: memory is deleted", "x.json: element 4: id 1 is there before",
		"x.json: element 5: memory has no id", "x.json: element 6: memory is empty", "x.json: element 7: element found JSON that is no object",
		`x.json: element 8: time of creation: time is "late", want a date and time as in 2026-01-02T03:04:05Z`,
	})
}

func TestEdgesAreRelations(t *testing.T) {
	r := foreigntest.Read(t, memos.Format, document(t, `{"nodes":[{"id":"1","memory":"a","metadata":{"memory_type":"x"}}],"edges":[{"source":"1","target":"2","type":"PARENT"},{"source":1}]}`))
	must.Equal(t, "relations", r.Relations, []foreign.Relation{{
		Place: foreign.Place{File: "x.json", At: "edges 1"}, From: foreign.Key{"1"}, To: foreign.Key{"2"}, Type: "parent",
	}}, foreigntest.Times)
	must.Equal(t, "skipped", len(r.Skips), 1)
}

const plugin = `{"version":1,"exportedAt":1767323045678,"traces":[
 {"id":"t2","sessionId":"s1","episodeId":"e","ts":1767323050000,"userText":"two","agentText":"zwei","summary":"x","tags":[]},
 {"id":"u1","sessionId":"s2","ts":1767323045000,"userText":"other","agentText":""},
 {"id":"t1","sessionId":"s1","ts":1767323045000,"userText":"one","agentText":"eins"},
 {"id":"t1","sessionId":"s2","ts":1767323045000,"userText":"again"},
 {"id":"t3","sessionId":"s1","ts":1767323045,"userText":"seconds"},
 {"id":"t4","sessionId":"s1","ts":1e300,"userText":"huge"},
 {"id":"t5","sessionId":"s1","ts":"soon"},
 {"sessionId":"s1","userText":"x"}
],"policies":[{"id":"p"}],"worldModels":[],"skills":[{},{}]}`

func TestTracesOfThePlugin(t *testing.T) {
	r := foreigntest.Read(t, memos.Format, document(t, plugin))
	must.Equal(t, "s1", foreigntest.Texts(r.Turns["memos-s1"]), "user: one\nassistant: eins\nuser: two\nassistant: zwei\n")
	must.Equal(t, "s2", foreigntest.Texts(r.Turns["memos-s2"]), "user: other\n")
	must.Equal(t, "session", r.Sessions[0], foreign.Session{
		Place: foreign.Place{File: "x.json", At: "session s1"}, ID: "memos-s1", Name: "one", StartedAt: foreigntest.At(t, "2026-01-02T03:04:05Z"),
		EndedAt: foreigntest.At(t, "2026-01-02T03:04:10Z"), Turns: 4, State: "t2 14",
	}, foreigntest.Times)
	must.Equal(t, "first turn", r.Turns["memos-s1"][0], foreign.Turn{
		Place: foreign.Place{File: "x.json", At: "traces 3"}, Key: foreign.Key{"t1", "user"}, Role: amber.RoleUser, Content: "one", At: foreigntest.At(t, "2026-01-02T03:04:05Z"),
	}, foreigntest.Times)
	must.Equal(t, "skipped", len(r.Skips), 5)
	must.Equal(t, "warnings", r.Warnings, []string{
		"x.json: 1 policies are not imported: they are for MemOS alone", "x.json: 2 skills are not imported: they are for MemOS alone",
	})
}

func TestDetect(t *testing.T) {
	foreigntest.Detects(t, memos.Format, map[string]foreign.Match{
		"testdata": foreign.Sure, "testdata/textual_memory.json": foreign.Sure, t.TempDir(): foreign.No,
		document(t, `[{"id":"1","memory":"x","hash":"h","metadata":{"type":"x","status":"y"},"created_at":"2026-01-01"}]`): foreign.No,
		document(t, `{"results":[{"id":"1","memory":"x","metadata":{"memory_type":"x"}}]}`):                                foreign.No,
		document(t, `{"nodes":[{"uuid":"n","name":"Ada","labels":[]}],"edges":[]}`):                                        foreign.No,
		document(t, `{"traces":[{"id":"1"}]}`):                                                                             foreign.No,
	})
}

func TestDamage(t *testing.T) {
	foreigntest.Damage(t, memos.Format, "testdata", "textual_memory.json", -1)
	foreigntest.Damage(t, memos.Format, document(t, plugin), "x.json", -1)
}

func FuzzDocument(f *testing.F) {
	foreigntest.Fuzz(f, memos.Format, "x.json", []byte(plugin), must.Get(os.ReadFile("testdata/textual_memory.json"))(f))
}
