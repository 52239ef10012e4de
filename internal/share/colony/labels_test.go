package colony_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
)

// A vault tells which labels it holds anything of, and each can be listed from
// another, with what was seen of it.
func TestLabelsOfAVault(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(func(o *colony.Options) { o.Label = "nothing here" })
	must.Equal(t, "labels", len(must.Get(v.Labels(t.Context()))(t)), 0)
	for _, label := range []string{"Team Room", "laptop"} {
		b.backup(b.open(func(o *colony.Options) { o.Label = label }), doc(label), colony.BackupOptions{})
	}
	b.fake.Fill(map[string]string{"notes.md": "mine", "cmem.UPPER.latest.json": "{}", "cmem.x.y.z.json": "{}", "cmem.half.latest.json": "broken"})
	must.Equal(t, "labels", must.Get(v.Labels(t.Context()))(t), []string{"half", "laptop", "team-room"})
	list, err := v.Of("team-room", nil).List(t.Context())
	if err != nil || len(list) != 1 || list[0].Label != "team-room" || list[0].LabelRaw != "Team Room" {
		t.Errorf("list is %+v, %v", list, err)
	}
	seen := &memo{seen: colony.Sighting{ID: "20260701T120000000000Z-abcdef"}}
	must.Fail(v.Of("gone", seen).List(t.Context()))(t, "", amber.KindUntrusted)
	must.Equal(t, "list", len(must.Get(v.List(t.Context()))(t)), 0)
	must.Equal(t, "label", v.Label(), "nothing-here")
}

func TestDocumentsAreReadFromJSON(t *testing.T) {
	t.Parallel()
	got := must.Get(colony.ParseDocuments([]byte(" {\"a\": \"x\\n\", \"\": \"\", \"\\u65e5/..\": \"\\ud83d\\udc1d\"}\n")))(t)
	must.Equal(t, "documents", got, colony.Documents{"a": "x\n", "": "", "日/..": "\U0001f41d"})
	for name, text := range map[string]string{
		"nothing": "", "a list": `["a"]`, "a number": `{"a":1}`, "an object": `{"a":{}}`, "null": `{"a":null}`, "a name twice": `{"a":"x","\u0061":"y"}`,
		"more behind": `{"a":"x"} {}`, "cut off": `{"a":"x"`, "not UTF-8": "{\"a\":\"\xff\"}", "half a pair": `{"a":"\ud83d"}`,
	} {
		if docs, err := colony.ParseDocuments([]byte(text)); amber.KindOf(err) != amber.KindInvalid || docs != nil {
			t.Errorf("%s: got %v, %v, want invalid", name, docs, err)
		} else if strings.Contains(err.Error(), `"x"`) {
			t.Errorf("%s: the error holds text: %v", name, err)
		}
	}
}
