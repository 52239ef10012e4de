package colony_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
)

func newPointer() colony.NamedText {
	return colony.Latest(testLabel, testID, time.Date(2026, 6, 19, 7, 16, 43, 999, time.FixedZone("", 2*3600)))
}

func TestAPointerNamesASnapshot(t *testing.T) {
	t.Parallel()
	f := newPointer()
	p, err := colony.ParsePointer(f.Content)
	if err != nil || f.Name != "cmem.my-label.latest.json" {
		t.Fatal(f.Name, err)
	}
	want := colony.Pointer{Label: testLabel, ID: testID, ManifestFile: colony.ManifestName(testLabel, testID), UpdatedAt: "2026-06-19T05:16:43Z"}
	must.Equal(t, "pointer", p, want, cmpopts.IgnoreUnexported(colony.Pointer{}))
	must.Equal(t, "objections", len(p.Objections(testLabel)), 0)
}

func TestAPointerThatNamesNothingIsDamaged(t *testing.T) {
	t.Parallel()
	good := newPointer().Content
	for name, tt := range map[string]struct {
		content string
		want    amber.Kind
	}{
		"empty":        {"", amber.KindDamaged},
		"not JSON":     {"not json!", amber.KindDamaged},
		"an array":     {"[]", amber.KindDamaged},
		"nothing":      {"{}", amber.KindDamaged},
		"no id":        {edit(t, good, map[string]any{"snapshot_id": nil}), amber.KindDamaged},
		"a number":     {edit(t, good, map[string]any{"snapshot_id": 1}), amber.KindDamaged},
		"not an id":    {edit(t, good, map[string]any{"snapshot_id": "../" + string(testID)}), amber.KindDamaged},
		"a later form": {edit(t, good, map[string]any{"format": "colony-memory/latest/2"}), amber.KindTooNew},
	} {
		must.Fail(colony.ParsePointer(tt.content))(t, name, tt.want)
	}
}

func TestWhatElseAPointerSaysIsChecked(t *testing.T) {
	t.Parallel()
	good := newPointer().Content
	for name, changes := range map[string]map[string]any{
		"another format":   {"format": "colony-memory/1"},
		"no format":        {"format": nil},
		"another label":    {"label": "other"},
		"no label":         {"label": nil},
		"another manifest": {"manifest_file": colony.ManifestName(testLabel, parentID)},
		"a foreign file":   {"manifest_file": "notes.md"},
		"no manifest":      {"manifest_file": nil},
		"no time":          {"updated_at": nil},
		"another time":     {"updated_at": "2026-06-19 05:16:43"},
	} {
		p, err := colony.ParsePointer(edit(t, good, changes))
		if err != nil || p.ID != testID || len(p.Objections(testLabel)) != 1 {
			t.Errorf("%s: got %+v, %v, %v", name, p, err, p.Objections(testLabel))
		}
	}
	p := must.Get(colony.ParsePointer(`{"label": "x", ` + good[1:]))(t)
	must.Equal(t, "objections to a member twice", len(p.Objections(testLabel)), 1)
}
