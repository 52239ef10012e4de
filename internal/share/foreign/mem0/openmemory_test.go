package mem0_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/mem0"
	"github.com/amber-memory/amber/internal/test/must"
)

const openID = "77777777-7777-4777-8777-777777777777"

func wantLine(t testing.TB) foreign.Memory {
	created := foreigntest.At(t, "2026-01-02T03:04:05.678Z")
	return foreign.Memory{
		Place: foreign.Place{File: "line.json", At: "line 1"}, Key: foreign.Key{"mem0", openID}, Kind: amber.UserPreference, Scope: amber.ScopeGlobal,
		Content: "Prefers tabs", Tags: []string{"preferences"}, Metadata: map[string]string{"app": "openmemory"}, CreatedAt: created, UpdatedAt: created,
		Foreign: foreign.Fields{
			"id": raw(`"` + openID + `"`), "state": raw(`"active"`), "app": raw(`"openmemory"`),
			"created_at": raw(`"2026-01-02T03:04:05.678901+00:00"`), "updated_at": raw(`"2026-01-02T03:04:05.678901+00:00"`),
		},
	}
}

func TestLinesOfOpenMemory(t *testing.T) {
	t.Parallel()
	r := foreigntest.Read(t, mem0.OpenMemory, "testdata/line.json")
	must.Equal(t, "memories", r.Memories, []foreign.Memory{wantLine(t)}, foreigntest.Times)
	must.Equal(t, "skipped", r.Skips, nil)
	folder := foreigntest.Read(t, mem0.OpenMemory, foreigntest.Files(t, map[string]string{"line.json": text(t, "line.json"), "package.json": `{"name":"x"}`}))
	must.Equal(t, "in a folder", len(folder.Memories)+10*len(folder.Skips), 1)
}

const backup = `{
  "user": {"id": "u-1", "user_id": "ada", "name": "Ada", "created_at": "2026-01-01T00:00:00+00:00"},
  "apps": [{"id": "app-1", "name": "cursor"}],
  "categories": [{"id": "c-1", "name": "preferences"}],
  "memories": [
    {"id": "` + openID + `", "user_id": "u-1", "content": "Prefers tabs", "state": "active", "category_ids": ["c-1"]},
    {"id": "d", "user_id": "u-1", "app_id": "app-1", "content": "Gone", "state": "deleted", "created_at": "2026-01-02T00:00:00+00:00", "updated_at": "2026-01-03T00:00:00+00:00", "deleted_at": "2026-01-04T00:00:00+00:00"},
    {"id": "only-here", "user_id": "u-1", "app_id": "app-1", "content": "Likes tea", "state": "archived", "created_at": "2026-01-02T00:00:00+00:00", "category_ids": ["c-1", "c-9"]}
  ],
  "memory_categories": [{"memory_id": "d", "category_id": "c-1"}],
  "status_history": [], "access_controls": [], "export_meta": {"version": "1"}
}`

func lines(t testing.TB) string {
	return text(t, "line.json") + `
{"id":"d","content":"Gone","metadata":{},"created_at":"2026-01-02T00:00:00+00:00","updated_at":"2026-01-03T00:00:00+00:00","state":"deleted","app":"cursor","categories":[]}
{"id":"p","content":"Paused","metadata":{"k":1},"created_at":null,"updated_at":null,"state":"paused","app":null,"categories":null}
`
}

func packed(t testing.TB, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	must.Get(w.Write([]byte(text)))(t)
	must.Do(t, w.Close())
	return b.Bytes()
}

func TestABackupOfOpenMemory(t *testing.T) {
	t.Parallel()
	r := foreigntest.Read(t, mem0.OpenMemory, foreigntest.Zipped(t, "memories_export_ada.zip", foreigntest.Files(t, map[string]string{
		"memories.json": backup, "memories.jsonl.gz": string(packed(t, lines(t))),
	})))
	var got []string
	for _, m := range r.Memories {
		got = append(got, fmt.Sprint(m.Key[1], "|", m.Content, "|", m.Scope, " ", m.UserID, "|", m.Kind, "|", m.Metadata, "|", m.DeletedAt, "|", m.Tags))
	}
	must.Equal(t, "memories", got, []string{
		openID + "|Prefers tabs|user ada|user_preference|map[app:openmemory]||[preferences]",
		"d|Gone|user ada|user_fact|map[app:cursor]|2026-01-04T00:00:00.000Z|[]",
		"p|Paused|user ada|user_fact|map[k:1 state:paused]||[]",
		"only-here|Likes tea|user ada|user_preference|map[app:cursor state:archived]||[preferences]",
	})
	must.Equal(t, "skipped", r.Skips, nil)
	alone := foreigntest.Read(t, mem0.OpenMemory, filepath.Join(foreigntest.Files(t, map[string]string{"memories.json": backup}), "memories.json"))
	must.Equal(t, "the document alone", len(alone.Memories), 3)
	must.Equal(t, "lines alone", len(foreigntest.Read(t, mem0.OpenMemory, foreigntest.Files(t, map[string]string{"memories.jsonl.gz": string(packed(t, lines(t)))})).Memories), 3)
	o := foreigntest.Options()
	o.User = "bob"
	must.Equal(t, "the caller's user", foreigntest.ReadWith(t, mem0.OpenMemory, foreigntest.Files(t, map[string]string{"memories.json": backup}), o).Memories[0].UserID, "bob")
}

// A gzip file that ends early gives what comes before.
func TestABackupThatIsCut(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `{"id":"%d-%x","content":"text %d","state":"active","app":null,"categories":[],"created_at":"2026-01-02T00:00:00Z"}`+"\n", i, foreign.Digest(fmt.Sprint(i)), i)
	}
	whole := packed(t, b.String())
	r := foreigntest.Read(t, mem0.OpenMemory, foreigntest.Files(t, map[string]string{"memories.jsonl.gz": string(whole[:len(whole)/2])}))
	must.Hold(t, len(r.Memories) > 1000 && len(r.Memories) < 4000, "%d memories", len(r.Memories))
	must.Equal(t, "skipped", len(r.Skips), 1)
	foreigntest.DetectsNone(t, mem0.OpenMemory, "memories.jsonl.gz", "no gzip")
}

func TestLinesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	one := strings.TrimSpace(text(t, "line.json"))
	r := foreigntest.Read(t, mem0.OpenMemory, foreigntest.Files(t, map[string]string{"memories.jsonl": one + "\n{}\nnull\n{\"id\":\"1\",\"state\":\"active\"}\n" +
		`{"id":"` + openID + `","content":"other","state":"active"}` + "\n" + one + "\n" + `{"id":"2","content":"x","state":"active","created_at":"0001-01-01T00:00:00Z"}`}))
	must.Equal(t, "memories", len(r.Memories), 1)
	must.Equal(t, "skipped", len(r.Skips), 5)
	must.Says(t, "skipped", strings.Join(r.Skips, "\n"), "line 2: object has neither", "line 3: line is", "line 4: item has no text", "line 5: memory", "line 7: created_at")
}

func TestDetectOpenMemory(t *testing.T) {
	t.Parallel()
	foreigntest.DetectsNone(t, mem0.OpenMemory, "memories.json",
		`{"memories":[{"id":"1","memory":"x","user_id":"a"}]}`, `{"export_metadata":{},"memories":[]}`, "", "[]", `{"user":"x","memories":[]}`)
	foreigntest.DetectsNone(t, mem0.OpenMemory, "memories.jsonl", `{"kind":"memory","external_id":"1","content":"x","categories":[]}`) // COGX
}
