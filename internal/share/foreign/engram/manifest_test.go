package engram_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign/engram"
	"github.com/amber-memory/amber/internal/test/must"
)

func ids(m engram.Manifest) []string {
	out := []string{}
	for _, e := range m.Chunks {
		out = append(out, e.ID)
	}
	return out
}

// Engram 1.7.0 is not strict: an id that leads out of the folder is read, any version is accepted.
func TestManifestIsCheckedBeforeItIsUsed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text  string
		kind  amber.Kind
		ids   []string
		notes int
	}{
		"version 1":                  {text: `{"version":1,"chunks":null}`, ids: []string{}},
		"version 2":                  {text: `{"version":2,"chunks":[]}`, ids: []string{}},
		"version 99":                 {text: `{"version":99,"chunks":[]}`, kind: amber.KindTooNew},
		"no version":                 {text: `{"chunks":[]}`, kind: amber.KindDamaged},
		"version 0":                  {text: `{"version":0,"chunks":[]}`, kind: amber.KindDamaged},
		"version of text":            {text: `{"version":"1"}`, kind: amber.KindDamaged},
		"empty":                      {text: "", kind: amber.KindDamaged},
		"cut off":                    {text: `{"version":1,"chunks":[{"id":"aaaaaaaa"`, kind: amber.KindDamaged},
		"something behind":           {text: `{"version":1,"chunks":[]}}`, kind: amber.KindDamaged},
		"a name twice":               {text: `{"version":1,"version":2,"chunks":[]}`, kind: amber.KindDamaged},
		"not UTF-8":                  {text: "{\"version\":1,\"x\":\"\xff\"}", kind: amber.KindDamaged},
		"chunks that are no list":    {text: `{"version":1,"chunks":{}}`, kind: amber.KindDamaged},
		"path out of the folder":     {text: `{"version":1,"chunks":[{"id":"../../../../outside"},{"id":"8e3713a4"}]}`, ids: []string{"8e3713a4"}, notes: 1},
		"upper case":                 {text: `{"version":1,"chunks":[{"id":"8E3713A4"}]}`, ids: []string{}, notes: 1},
		"entries that are not valid": {text: `{"version":1,"chunks":[1,null,{},{"id":7},{"id":"8e3713a4","memories":"x"}]}`, ids: []string{}, notes: 5},
		"an id twice":                {text: `{"version":1,"chunks":[{"id":"8e3713a4"},{"id":"8e3713a4"}]}`, ids: []string{"8e3713a4"}, notes: 1},
		"too large":                  {text: strings.Repeat(" ", engram.MaxManifestBytes+1), kind: amber.KindQuota},
		"too many": {
			text: `{"version":1,"chunks":[` + strings.Repeat("1,", engram.MaxEntries) + `1]}`, kind: amber.KindQuota,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := engram.ParseManifest([]byte(c.text))
			must.Kind(t, "", err, c.kind)
			if err == nil && (cmp.Diff(c.ids, ids(m)) != "" || len(m.Notes) != c.notes) {
				t.Errorf("ids are %q with notes %q, want %q with %d", ids(m), m.Notes, c.ids, c.notes)
			}
		})
	}
}

func TestManifestKeepsWhatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	const text = `{
  "version": 2,
  "chunks": [
    {
      "id": "8e3713a4",
      "created_by": "dev \u003ca\u003e",
      "created_at": "2026-11-15T02:40:45.123456789Z",
      "sessions": 1,
      "memories": 2,
      "prompts": 1,
      "target": {
        "a": [
          1
        ]
      }
    }
  ],
  "owner": "x"
}`
	m := must.Get(engram.ParseManifest([]byte(text)))(t)
	must.Equal(t, "manifest", string(m.Encode()), text)
	must.Equal(t, "empty manifest", string(engram.Manifest{}.Encode()), "{\n  \"version\": 1,\n  \"chunks\": null\n}")
}

// In Engram every merge of two exports is a conflict, after which nothing works. The files are what git made of
// real merges.
func TestRepairFindsTheEntriesOfEverySide(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][]string{
		"appended.json": {"11111111", "cccccccc", "bbbbbbbb"},
		"both-new.json": {"cccccccc", "bbbbbbbb"},
		"diff3.json":    {"11111111", "cccccccc", "bbbbbbbb"},
		"nested.json":   {"11111111", "cccccccc", "dddddddd", "bbbbbbbb"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := read(t, "conflict", name)
			must.Fail(engram.ParseManifest(text))(t, "", amber.KindDamaged)
			m, notes, ok := engram.RepairManifest(text)
			if diff := cmp.Diff(want, ids(m)); diff != "" || !ok || len(notes) == 0 {
				t.Errorf("repair gives ok %v, notes %q, entries (-want +got):\n%s", ok, notes, diff)
			}
			for _, e := range m.Chunks {
				if e.CreatedBy == "" || e.CreatedAt == "" || e.Memories == 0 {
					t.Errorf("entry is not whole: %+v", e)
				}
			}
			must.Equal(t, "chunks of the repaired manifest", len(must.Get(engram.ParseManifest(m.Encode()))(t).Chunks), len(want))
			// With the ends of line of Windows.
			m, _, _ = engram.RepairManifest([]byte(strings.ReplaceAll(string(text), "\n", "\r\n")))
			must.Equal(t, "with CRLF entries", ids(m), want)
		})
	}
}

// A manifest that a crash emptied or cut.
func TestRepairOfEveryPrefixKeepsTheWholeEntries(t *testing.T) {
	t.Parallel()
	whole := string(read(t, "multi", "manifest.json"))
	for n := range len(whole) {
		m, notes, ok := engram.RepairManifest([]byte(whole[:n]))
		if want := strings.Count(whole[:n], "}"); len(m.Chunks) != want || !ok || len(notes) == 0 {
			t.Fatalf("the first %d bytes give %d entries, ok %v, notes %q; want %d", n, len(m.Chunks), ok, notes, want)
		}
	}
	m, notes, ok := engram.RepairManifest([]byte(whole))
	if !ok || len(notes) != 0 || string(m.Encode()) != whole {
		t.Errorf("a whole manifest is changed: %q", notes)
	}
}

func TestRepairLeavesAloneWhatItMustNotRewrite(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{
		"later version":              `{"version":3,"chunks":[]}`,
		"later version, in conflict": "{\n<<<<<<< a\n\"version\": 1,\n=======\n\"version\": 3,\n>>>>>>> b\n\"chunks\": []}",
		"too large":                  strings.Repeat("{", engram.MaxManifestBytes+1),
	} {
		if _, notes, ok := engram.RepairManifest([]byte(text)); ok || len(notes) != 1 {
			t.Errorf("%s: ok is %v, notes %q", name, ok, notes)
		}
	}
}

func TestRepairIsNotMisled(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"comma missing between the sides": {`{"version":1,"chunks":[{"id":"aaaaaaaa"}{"id":"bbbbbbbb"}]}`, []string{"aaaaaaaa", "bbbbbbbb"}},
		"braces in a string":              {`{"chunks":[{"id":"aaaaaaaa","created_by":"{\"id\":\"bbbbbbbb\"}"}`, []string{"aaaaaaaa"}},
		"a quote too many":                {"{\"x\n{\"id\":\"aaaaaaaa\"}", []string{"aaaaaaaa"}},
		"paths":                           {`{"chunks":[{"id":"../../x"},{"id":"bbbbbbbb"}`, []string{"bbbbbbbb"}},
		"markers that are not valid":      {"=======\n>>>>>>> x\n{\"id\":\"aaaaaaaa\"}\n<<<<<<<x\n", []string{"aaaaaaaa"}},
		"a conflict that never ends":      {"<<<<<<< a\n{\"id\":\"aaaaaaaa\"}\n=======\n{\"id\":\"bbbbbbbb\"}\n", []string{"aaaaaaaa", "bbbbbbbb"}},
		"rubbish":                         {"\xff\xfe\x00", []string{}},
	} {
		m, _, ok := engram.RepairManifest([]byte(c.text))
		if diff := cmp.Diff(c.want, ids(m)); diff != "" || !ok {
			t.Errorf("%s: ok %v, entries (-want +got):\n%s", name, ok, diff)
		}
	}
}

func TestNotesAreBounded(t *testing.T) {
	t.Parallel()
	text := `{"version":1,"chunks":[` + strings.Repeat(`{"id":"`+strings.Repeat("x", 50)+`"},`, 1000) + `{}]}`
	m := must.Get(engram.ParseManifest([]byte(text)))(t)
	if got := len(fmt.Sprint(m.Notes)); len(m.Notes) > 101 || got > 20000 {
		t.Errorf("%d notes of %d bytes", len(m.Notes), got)
	}
}
