package supermemory_test

import (
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/supermemory"
	"github.com/amber-memory/amber/internal/test/must"
)

func document(t testing.TB, text string) string {
	return foreigntest.Files(t, map[string]string{"x.json": text})
}

const list = `{"memories":[
 {"id":"m1","customId":null,"title":"Tabs","summary":"Likes tabs","metadata":{"a":1},"containerTags":["ada"],"createdAt":"2026-01-02T03:04:05.678Z","updatedAt":"2026-01-02T03:04:06.678Z","content":"Ada likes tabs."},
 {"id":"m2","customId":"x","title":"No text","containerTags":[],"createdAt":"2026-01-02T03:04:05.678Z"},
 {"id":"m1","content":"again"}, {"content":"no id"}, 7, {"id":"m3","content":"c","updatedAt":"12"}
],"pagination":{"currentPage":1}}`

func TestListWithContent(t *testing.T) {
	r := foreigntest.Read(t, supermemory.Format, document(t, list))
	must.Equal(t, "memories", r.Memories, []foreign.Memory{{
		Place: foreign.Place{File: "x.json", At: "memory 1"}, Key: foreign.Key{"m1"}, Title: "Tabs", Summary: "Likes tabs", Content: "Ada likes tabs.",
		Tags: []string{"ada"}, CreatedAt: must.Get(foreign.Text("2026-01-02T03:04:05.678Z"))(t), UpdatedAt: must.Get(foreign.Text("2026-01-02T03:04:06.678Z"))(t),
		Foreign: r.Memories[0].Foreign,
	}}, foreigntest.Times)
	must.Equal(t, "foreign", string(foreign.Raw(r.Memories[0].Foreign)), `{"metadata":{"a":1}}`)
	must.Equal(t, "skipped", r.Skips, []string{
		"x.json: memory 2: memory has no content", "x.json: memory 3: id m1 is there before", "x.json: memory 4: memory has no id",
		"x.json: memory 5: memory found JSON that is no object", `x.json: memory 6: time of change: time is "12", want a date and time as in 2026-01-02T03:04:05Z`,
	})
	must.Equal(t, "warnings", r.Warnings, nil)
}

func TestListWithoutContent(t *testing.T) {
	r := foreigntest.Read(t, supermemory.Format, document(t, `{"memories":[{"id":"m2","containerTags":[],"createdAt":"2026-01-02T03:04:05.678Z"}],"pagination":{}}`))
	must.Equal(t, "items", r.Count(), 0)
	must.Equal(t, "warnings", r.Warnings, []string{
		"x.json: there is nothing to import: its 1 memories have no content, as in all lists; fetch each memory with its content",
	})
}

func TestDetect(t *testing.T) {
	foreigntest.Detects(t, supermemory.Format, map[string]foreign.Match{
		document(t, list): foreign.Sure, t.TempDir(): foreign.No,
		document(t, `{"memories":[{"id":"1","memory":"x","createdAt":"y","containerTags":[]}]}`): foreign.No,
		document(t, `{"export_metadata":{},"memories":[{"content":"x","content_hash":"y"}]}`):    foreign.No,
	})
}

func TestDamage(t *testing.T) {
	foreigntest.Damage(t, supermemory.Format, document(t, list), "x.json", -1)
}

func FuzzList(f *testing.F) { foreigntest.Fuzz(f, supermemory.Format, "x.json", []byte(list)) }
