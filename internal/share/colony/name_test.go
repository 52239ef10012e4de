package colony_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestLabelsAreThoseOfColony has the pairs of the original client.
func TestLabelsAreThoseOfColony(t *testing.T) {
	t.Parallel()
	var pairs [][2]*string
	readJSON(t, "testdata/labels.json", &pairs)
	if len(pairs) != 24 {
		t.Fatalf("%d pairs", len(pairs))
	}
	for _, p := range pairs {
		raw := ""
		if p[0] != nil {
			raw = *p[0]
		}
		must.Equal(t, fmt.Sprintf("%q", raw), colony.Label(raw), *p[1])
	}
	for raw, want := range map[string]string{
		"İ": "i", "İİ": "i-i", "-İ-": "i", "a -b": "a--b", "a- -b": "a---b", "\xff\xfe": "default", "a\xffb": "a-b", "\u2003x\u2003": "x",
		"\x1fx": "x", "ſ": "default", "K K": "k-k",
	} {
		must.Equal(t, fmt.Sprintf("%q", raw), colony.Label(raw), want)
	}
}

// pythonLabel is the rule as it is written down, for what Go and Python agree on.
func pythonLabel(raw string) string {
	low := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(raw), "\u0130", "i\u0307"))
	label := strings.Trim(regexp.MustCompile(`[^a-z0-9_-]+`).ReplaceAllString(low, "-"), "-")
	if label == "" {
		return "default"
	}
	return label
}

func FuzzLabel(f *testing.F) {
	for _, s := range []string{"", "My Label!", "İstanbul", "a.b", "-- x --", "\u212a", "日本語", "a\xffb"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got := colony.Label(raw)
		must.Equal(t, raw, got, pythonLabel(raw))
		must.Equal(t, got, colony.Label(got), got)
		n, ok := colony.ParseName(colony.LatestName(got))
		if !ok || n.Label != got {
			t.Errorf("%q: got %+v, %v", got, n, ok)
		}
	})
}

func TestIDsAreTimes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 19, 7, 16, 43, 1_000_999, time.FixedZone("", 2*3600))
	id := must.Get(colony.NewSnapshotID(at, bytes.NewReader([]byte{0xab, 0xc0, 0x01})))(t)
	must.Equal(t, "id", id, "20260619T051643001000Z-abc001")
	if got, want := id.Time(), at.UTC().Truncate(time.Microsecond); !got.Equal(want) || got.Location() != time.UTC {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, bad := range []time.Time{time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC)} {
		must.Fail(colony.NewSnapshotID(bad, rand.Reader))(t, bad.String(), amber.KindInvalid)
	}
	must.Fail(colony.NewSnapshotID(at, iotest.ErrReader(errors.New("dry"))))(t, "without randomness", amber.KindInternal)
}

// TestTheNextIDIsLater also when the clock is not.
func TestTheNextIDIsLater(t *testing.T) {
	t.Parallel()
	last := colony.SnapshotID("20260619T051643999999Z-ffffff")
	tests := []struct {
		at   time.Time
		want string // without what is random
	}{
		{last.Time().Add(-time.Hour), "20260619T051644000000Z-"},
		{last.Time(), "20260619T051644000000Z-"},
		{last.Time().Add(999), "20260619T051644000000Z-"},
		{last.Time().Add(time.Microsecond), "20260619T051644000000Z-"},
		{last.Time().Add(time.Hour), "20260619T061643999999Z-"},
	}
	for _, tt := range tests {
		id, err := colony.NextSnapshotID(tt.at, last, rand.Reader)
		if err != nil || !strings.HasPrefix(string(id), tt.want) || id <= last {
			t.Errorf("%v: got %s, %v, want %s", tt.at, id, err, tt.want)
		}
	}
	if id, err := colony.NextSnapshotID(last.Time(), "", bytes.NewReader([]byte{1, 2, 3})); id != "20260619T051643999999Z-010203" {
		t.Errorf("after nothing: got %s, %v", id, err)
	}
	must.Fail(colony.NextSnapshotID(last.Time(), "99991231T235959999999Z-000000", rand.Reader))(t, "after the last", amber.KindDamaged)
}

func TestWhatIsNoIDIsInvalid(t *testing.T) {
	t.Parallel()
	good := "20240229T235959999999Z-0a9f00"
	if id, err := colony.ParseSnapshotID(good); string(id) != good || err != nil {
		t.Fatalf("%s: got %s, %v", good, id, err)
	}
	for _, s := range []string{
		"", good[1:], good + "0", " " + good, good[:28], strings.ToUpper(good), strings.Replace(good, "T", " ", 1), strings.Replace(good, "Z", "z", 1),
		"20230229T235959999999Z-0a9f00", "20241301T000000000000Z-000000", "20240100T000000000000Z-000000", "20240101T240000000000Z-000000",
		"20240101T006000000000Z-000000", "20240101T000060000000Z-000000", "00000101T000000000000Z-000000", "2024010-T000000000000Z-000000",
		"20240101T00000000000.Z-000000", "20240101T000000-00000Z-000000", "20240101T000000000000Z-00000g", "20240101T000000000000Z_000000",
		"20240101T000000,00000Z-000000", "../../../../../../etc/passwd.", "20240101T000000000000Z-\u00e90000", strings.Repeat("9", 29),
	} {
		must.Fail(colony.ParseSnapshotID(s))(t, fmt.Sprintf("%q", s), amber.KindInvalid)
		must.Equal(t, s+" has no time", colony.SnapshotID(s).Time().IsZero(), true)
	}
}

func TestNamesAreTakenApart(t *testing.T) {
	t.Parallel()
	const id = "20260619T051643001000Z-abc001"
	good := map[string]colony.Name{
		"cmem.default.latest.json":              {Label: "default", Kind: colony.LatestFile},
		"cmem.a_b-c.latest.json":                {Label: "a_b-c", Kind: colony.LatestFile},
		"cmem.latest.latest.json":               {Label: "latest", Kind: colony.LatestFile},
		"cmem.x." + id + ".manifest.json":       {Label: "x", Kind: colony.ManifestFile, ID: id},
		"cmem.x." + id + ".p0.json":             {Label: "x", Kind: colony.PartFile, ID: id},
		"cmem.x." + id + ".p10.json":            {Label: "x", Kind: colony.PartFile, ID: id, Seq: 10},
		"cmem.manifest." + id + ".p999999.json": {Label: "manifest", Kind: colony.PartFile, ID: id, Seq: 999999},
	}
	for name, want := range good {
		got, ok := colony.ParseName(name)
		if diff := cmp.Diff(want, got); diff != "" || !ok {
			t.Errorf("%s: %v (-want +got):\n%s", name, ok, diff)
		}
	}
	for _, name := range []string{
		"", "cmem.", "cmem.json", "cmem..json", "cmem..latest.json", "cmem.latest.json", "cmem.x.latest", "cmem.x.latest.json ", "CMEM.x.latest.json",
		"cmem.X.latest.json", "cmem.-x.latest.json", "cmem.x-.latest.json", "cmem.a.b.latest.json", "cmem.x.LATEST.json", "dir/cmem.x.latest.json",
		"cmem.a/b.latest.json", "cmem.é.latest.json", "notes.md", "cmem.x.json", "cmem.x." + id + ".json", "cmem.x." + id + ".manifest", "cmem.x.p0.json",
		"cmem.x." + id + ".p.json", "cmem.x." + id + ".p00.json", "cmem.x." + id + ".p01.json", "cmem.x." + id + ".p-1.json", "cmem.x." + id + ".p+1.json",
		"cmem.x." + id + ".p1000000.json", "cmem.x." + id + ".p99999999999999999999.json", "cmem.x." + id + ".0.json", "cmem.x." + id + ".pp0.json",
		"cmem.x." + id + ".p0.p1.json", "cmem.x." + id + ".P0.json", "cmem.x." + id + ".p0.json.json", "cmem.x." + id[1:] + ".p0.json",
		"cmem.x." + strings.Replace(id, "0619", "0631", 1) + ".p0.json", "cmem.x." + id + ".p１.json",
	} {
		if got, ok := colony.ParseName(name); ok {
			t.Errorf("%q: got %+v, want none", name, got)
		}
	}
}
