package colony_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

// edit changes members of an object; a nil takes one away.
func edit(t testing.TB, text string, changes map[string]any) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var object map[string]any
	must.Do(t, d.Decode(&object))
	for name, value := range changes {
		if object[name] = value; value == nil {
			delete(object, name)
		}
	}
	return string(must.Get(json.Marshal(object))(t))
}

// verdict is what the two readers do; "" means that they take it.
type verdict struct{ strict, tolerant amber.Kind }

var (
	tolerantOnly = verdict{amber.KindDamaged, ""}
	refused      = verdict{amber.KindDamaged, amber.KindDamaged}
)

// check reads a snapshot both ways. Both readers get the documents of the
// draft, and what was relaxed is told.
func (v verdict) check(t *testing.T, name string, p colony.Packed) {
	t.Helper()
	if _, _, err := unpack(t, p, colony.ReadOptions{}); amber.KindOf(err) != v.strict {
		t.Errorf("%s, strict: got %v, want kind %q", name, err, v.strict)
	} else if v == tolerantOnly && amber.HintOf(err) != colony.OtherHint {
		t.Errorf("%s: the hint is %q", name, amber.HintOf(err))
	}
	docs, checks, err := unpack(t, p, colony.ReadOptions{Tolerant: true})
	if amber.KindOf(err) != v.tolerant {
		t.Errorf("%s, tolerant: got %v, want kind %q", name, err, v.tolerant)
		return
	}
	if err == nil && (!cmp.Equal(docs, newDraft(t).Documents) || (len(checks.Relaxed) > 0) != (v.strict != "") || checks.Declared != (v.strict == "")) {
		t.Errorf("%s, tolerant: got %v with %+v", name, docs, checks)
	}
}

// TestEveryDeclaredFieldIsChecked changes each one of an unsigned manifest.
func TestEveryDeclaredFieldIsChecked(t *testing.T) {
	t.Parallel()
	good := pack(t, newDraft(t))
	names := make([]string, len(good.Parts))
	for i, p := range good.Parts {
		names[i] = p.Name
	}
	with := func(i int, name string) []string {
		out := append([]string(nil), names...)
		out[i] = name
		return out
	}
	tests := []struct {
		member string
		value  any
		want   verdict
	}{
		{"unknown", []any{1.5, nil}, verdict{}},
		{"label_raw", nil, verdict{}},
		{"parent", nil, verdict{}},
		{"counter", nil, verdict{}},
		{"part_sha256", nil, verdict{}},
		{"format", "colony-memory/2", verdict{amber.KindTooNew, amber.KindTooNew}},
		{"format", "colony-memory/0", refused},
		{"format", "colony-memory/1x", refused},
		{"format", nil, refused},
		{"snapshot_id", string(parentID), tolerantOnly},
		{"snapshot_id", "x", tolerantOnly},
		{"snapshot_id", nil, tolerantOnly},
		{"label", "other", tolerantOnly},
		{"label", 1, tolerantOnly},
		{"label", nil, tolerantOnly},
		{"created_at", "yesterday", tolerantOnly},
		{"created_at", "2026-06-19T05:16:43.5Z", tolerantOnly},
		{"created_at", "2026-06-31T05:16:43Z", tolerantOnly},
		{"created_at", nil, tolerantOnly},
		{"codec", "zstd", tolerantOnly},
		{"codec", nil, tolerantOnly},
		{"doc_names", []string{"MEMORY.md", ""}, tolerantOnly},
		{"doc_names", []string{"", "MEMORY.md"}, tolerantOnly},
		{"doc_names", []string{"", "", "MEMORY.md", "é\u2028\U0001f600"}, tolerantOnly},
		{"doc_names", []any{1}, tolerantOnly},
		{"doc_names", nil, tolerantOnly},
		{"plaintext_sha256", "sha256:" + strings.Repeat("0", 64), refused},
		{"plaintext_sha256", strings.ToUpper(good.Info.PlaintextSHA256), refused},
		{"plaintext_sha256", strings.TrimPrefix(good.Info.PlaintextSHA256, "sha256:"), refused},
		{"plaintext_sha256", nil, refused},
		{"part_count", len(names) + 1, tolerantOnly},
		{"part_count", "3", tolerantOnly},
		{"part_count", 1.5, tolerantOnly},
		{"part_count", nil, tolerantOnly},
		{"part_files", nil, refused},
		{"part_files", []any{}, refused},
		{"part_files", "x", refused},
		{"part_files", names[1:], refused},
		{"part_files", with(0, "notes.md"), refused},
		{"part_files", with(0, "cmem.other."+string(testID)+".p0.json"), refused},
		{"part_files", with(0, colony.PartName(testLabel, parentID, 0)), refused},
		{"part_files", with(0, colony.ManifestName(testLabel, testID)), refused},
		{"part_files", with(0, colony.LatestName(testLabel)), refused},
		{"part_files", with(0, strings.Replace(names[0], ".p0.", ".p00.", 1)), refused},
		{"part_files", with(0, names[1]), refused}, // twice
		{"part_files", with(0, colony.PartName(testLabel, testID, 99)), tolerantOnly},
		{"byte_size", plainBytes - 1, tolerantOnly},
		{"byte_size", plainBytes + 1, tolerantOnly},
		{"byte_size", -1, tolerantOnly},
		{"byte_size", 0, tolerantOnly},
		{"byte_size", 1 << 40, verdict{amber.KindQuota, ""}},
		{"byte_size", nil, tolerantOnly},
		{"blob_chars", good.Info.BlobChars + 4, tolerantOnly},
		{"blob_chars", nil, tolerantOnly},
		{"label_raw", 1, tolerantOnly},
		{"parent", "x", tolerantOnly},
		{"counter", -1, tolerantOnly},
		{"part_sha256", []string{}, tolerantOnly},
		{"part_sha256", "x", tolerantOnly},
		{"signature", map[string]any{}, verdict{}},
		{"signature", []any{}, verdict{amber.KindUntrusted, amber.KindUntrusted}},
		{"signature", false, verdict{amber.KindUntrusted, amber.KindUntrusted}},
		{"signature", "", verdict{amber.KindUntrusted, amber.KindUntrusted}},
	}
	for _, tt := range tests {
		p := good
		changes := map[string]any{"signature": nil}
		changes[tt.member] = tt.value
		p.Manifest.Content = edit(t, p.Manifest.Content, changes)
		name := fmt.Sprintf("%s %.60v", tt.member, tt.value)
		tt.want.check(t, name, p)
	}
}

// TestEveryFieldOfAPartIsChecked changes each one.
func TestEveryFieldOfAPartIsChecked(t *testing.T) {
	t.Parallel()
	d := newDraft(t)
	d.Signer = nil
	good := pack(t, d)
	chunk := func(text string) string {
		var part struct {
			B64 string `json:"b64"`
		}
		must.Do(t, json.Unmarshal([]byte(text), &part))
		return part.B64
	}(good.Parts[1].Content)
	tests := []struct {
		member string
		value  any
		want   verdict
	}{
		{"unknown", 1, verdict{}},
		{"format", "colony-memory/2", tolerantOnly},
		{"format", nil, tolerantOnly},
		{"snapshot_id", string(parentID), tolerantOnly},
		{"snapshot_id", nil, tolerantOnly},
		{"seq", 0, tolerantOnly},
		{"seq", "1", tolerantOnly},
		{"seq", nil, tolerantOnly},
		{"b64", nil, refused},
		{"b64", 1, refused},
		{"b64", "", refused},
		{"b64", chunk[1:], refused},
		{"b64", chunk[:39], refused},
	}
	for _, tt := range tests {
		p := good
		p.Parts = append([]colony.NamedText(nil), p.Parts...)
		p.Parts[1].Content = edit(t, p.Parts[1].Content, map[string]any{tt.member: tt.value})
		tt.want.check(t, fmt.Sprintf("%s %.60v", tt.member, tt.value), p)
	}
	for name, content := range map[string]string{"empty": "", "not JSON": "{", "an array": "[]", "a text": `"b64"`} {
		p := good
		p.Parts = append([]colony.NamedText(nil), p.Parts...)
		p.Parts[1].Content = content
		refused.check(t, name, p)
	}
	p := good
	p.Parts = p.Parts[1:]
	refused.check(t, "one is missing", p)
}

// TestPartsMayBeNumberedOtherwise for a tolerant reader, when all else is right.
func TestPartsMayBeNumberedOtherwise(t *testing.T) {
	t.Parallel()
	d := newDraft(t)
	d.Signer = nil
	p := pack(t, d)
	var names []string
	for seq := range p.Parts {
		names = append(names, colony.PartName(testLabel, testID, seq+1))
		p.Parts[seq].Content = edit(t, p.Parts[seq].Content, map[string]any{"seq": seq + 1})
	}
	p.Manifest.Content = edit(t, p.Manifest.Content, map[string]any{"part_files": names})
	tolerantOnly.check(t, "from 1", p)
}

// TestAMemberTwiceIsNotOne has a wrong member before the right one, which counts.
func TestAMemberTwiceIsNotOne(t *testing.T) {
	t.Parallel()
	p := pack(t, newDraft(t))
	good := p.Manifest.Content
	p.Manifest.Content = `{"label": "other", ` + good[1:]
	tolerantOnly.check(t, "manifest", p)
	p.Manifest.Content = good[:len(good)-len("}")] + `, "unknown": {"a": 1, "a": 1}}`
	p.Manifest.Content = strings.Replace(p.Manifest.Content, `"signature"`, `"signature_"`, 1)
	tolerantOnly.check(t, "deep in the manifest", p)
	p.Manifest.Content = good
	p.Parts[0].Content = `{"b64": "", ` + p.Parts[0].Content[1:]
	tolerantOnly.check(t, "part", p)
}

// TestALongBlobIsNotDecoded when it could not be of documents that may be read.
func TestALongBlobIsNotDecoded(t *testing.T) {
	t.Parallel()
	p := handmade(t, []byte("{}"), strings.Repeat("A", 1<<20+4), []string{})
	for most, want := range map[int64]amber.Kind{1: amber.KindQuota, 1 << 20: amber.KindDamaged} {
		if _, _, err := unpack(t, p, colony.ReadOptions{Tolerant: true, MaxBytes: most}); amber.KindOf(err) != want {
			t.Errorf("where %d bytes may be read: got %v, want kind %s", most, err, want)
		}
	}
}

// TestTheBadPartIsNamed by either reader, where parts have digests.
func TestTheBadPartIsNamed(t *testing.T) {
	t.Parallel()
	p := pack(t, newDraft(t))
	p.Parts = append([]colony.NamedText(nil), p.Parts...)
	bad := &p.Parts[2]
	bad.Content = edit(t, bad.Content, map[string]any{"b64": strings.Repeat("A", 40)})
	for _, tolerant := range []bool{false, true} {
		_, _, err := unpack(t, p, colony.ReadOptions{Tolerant: tolerant})
		must.Kind(t, fmt.Sprint("tolerant ", tolerant), err, amber.KindDamaged, bad.Name)
	}
}

// TestNothingThatIsChangedIsTakenForTheSame flips a bit of each byte of a signed
// manifest and a part: every reader that accepts it has the same documents.
func TestNothingThatIsChangedIsTakenForTheSame(t *testing.T) {
	t.Parallel()
	d := newDraft(t)
	good := pack(t, d)
	o := colony.ReadOptions{RequireSigned: true, Trust: trusting(sign.StandingTrusted)}
	accepted := 0
	try := func(p colony.Packed, what string, i int) {
		docs, _, err := unpack(t, p, o)
		if err != nil {
			if k := amber.KindOf(err); k != amber.KindDamaged && k != amber.KindUntrusted && k != amber.KindTooNew {
				t.Errorf("%s, byte %d: got %v", what, i, err)
			}
			return
		}
		if accepted++; !cmp.Equal(docs, d.Documents) {
			t.Errorf("%s, byte %d: got %v", what, i, docs)
		}
	}
	for i := range len(good.Manifest.Content) {
		p := good
		p.Manifest.Content = flip(p.Manifest.Content, i)
		try(p, "manifest", i)
	}
	for i := range len(good.Parts[1].Content) {
		p := good
		p.Parts = append([]colony.NamedText(nil), p.Parts...)
		p.Parts[1].Content = flip(p.Parts[1].Content, i)
		try(p, "part", i)
	}
	if accepted > 40 { // the case of letters in escapes
		t.Errorf("%d were accepted", accepted)
	}
}

// flip changes a digit into another, and the case of letters.
func flip(s string, i int) string {
	bit := byte(1)
	if s[i] >= 'A' {
		bit = 0x20
	}
	return s[:i] + string([]byte{s[i] ^ bit}) + s[i+1:]
}

func TestReadingEndsWithTheContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := pack(t, newDraft(t))
	m := must.Get(colony.ParseManifest(p.Manifest.Content))(t)
	parts := make([]string, len(p.Parts))
	if _, _, err := colony.Unpack(ctx, m, parts, colony.ReadOptions{}); amber.KindOf(err) != amber.KindUnreachable {
		t.Errorf("got %v, want unreachable", err)
	}
}
