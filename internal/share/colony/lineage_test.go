package colony_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestLineageIsChecked: what Amber adds may be missing, and must not be wrong.
func TestLineageIsChecked(t *testing.T) {
	t.Parallel()
	d := newDraft(t)
	d.Signer = nil
	whole := pack(t, d)
	for name, tc := range map[string]struct {
		changes map[string]any
		bad     string
	}{
		"as it is":                  {},
		"none":                      {changes: map[string]any{"label_raw": nil, "parent": nil, "counter": nil}},
		"another spelling":          {changes: map[string]any{"label_raw": "MY.LABEL!"}},
		"another label":             {changes: map[string]any{"label_raw": "my label c"}, bad: "label_raw"},
		"no label":                  {changes: map[string]any{"label_raw": 1}, bad: "label_raw"},
		"its own parent":            {changes: map[string]any{"parent": string(d.ID)}, bad: "parent"},
		"a later parent":            {changes: map[string]any{"parent": "20990101T000000000000Z-aaaaaa"}, bad: "parent"},
		"no id":                     {changes: map[string]any{"parent": "yesterday"}, bad: "parent"},
		"a count that is not valid": {changes: map[string]any{"counter": 0}, bad: "counter"},
		"a count that is later":     {changes: map[string]any{"counter": 1 << 53}, bad: "counter"},
	} {
		p := whole
		p.Manifest.Content = edit(t, p.Manifest.Content, tc.changes)
		_, checks, err := unpack(t, p, colony.ReadOptions{})
		if tc.bad == "" && (err != nil || !checks.Declared) || tc.bad != "" && (amber.KindOf(err) != amber.KindDamaged || !strings.Contains(err.Error(), tc.bad)) {
			t.Errorf("%s: %v", name, err)
		}
		_, checks, err = unpack(t, p, colony.ReadOptions{Tolerant: true})
		if err != nil || checks.Declared != (tc.bad == "") || tc.bad != "" && !strings.Contains(strings.Join(checks.Relaxed, "\n"), tc.bad) {
			t.Errorf("%s, tolerant: %+v, %v", name, checks, err)
		}
		m, err := colony.ParseManifest(p.Manifest.Content)
		if err != nil || tc.bad == "parent" && m.Info.Parent != "" || tc.bad == "counter" && m.Info.Counter != 0 {
			t.Errorf("%s: %+v, %v", name, m.Info, err)
		}
	}
	for name, change := range map[string]func(*colony.Draft){
		"another label":  func(d *colony.Draft) { d.LabelRaw = "b" },
		"its own parent": func(d *colony.Draft) { d.Parent = d.ID },
		"a count":        func(d *colony.Draft) { d.Counter = 1 << 53 },
	} {
		wrong := d
		change(&wrong)
		must.Fail(colony.Pack(t.Context(), wrong))(t, name, amber.KindInvalid)
	}
}

// A manifest that cannot be read has an empty list of documents, not null.
func TestUnreadableManifestsHaveNoDocuments(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", "{}", `{"format":"colony-memory/2"}`, `{"format":"colony-memory/1"}`} {
		if m, err := colony.ParseManifest(text); err == nil || m.Info.DocNames == nil {
			t.Errorf("%q: %+v, %v", text, m.Info, err)
		}
	}
}
