package colony_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

const (
	testID    = colony.SnapshotID("20260619T051643001000Z-abc001")
	parentID  = colony.SnapshotID("20260618T051643001000Z-abc000")
	testSeed  = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"
	testLabel = "my-label"
	// plainBytes is how long the documents of newDraft are.
	plainBytes = 54
)

// newDraft is a signed snapshot in a few parts with everything that Amber adds.
func newDraft(t testing.TB) colony.Draft {
	t.Helper()
	return colony.Draft{
		ID: testID, Label: testLabel, LabelRaw: "My Label ✓", CreatedAt: time.Date(2026, 6, 19, 5, 16, 43, 0, time.UTC),
		Documents: colony.Documents{"MEMORY.md": "what was\n", "é\u2028\U0001f600": "\x00\x7f", "": ""},
		Parent:    parentID, Counter: 7, Signer: signerOf(t, testSeed), PartChars: 40,
	}
}

func pack(t testing.TB, d colony.Draft) colony.Packed {
	t.Helper()
	return must.Get(colony.Pack(t.Context(), d))(t)
}

// unpack reads what was packed, whose files may have been changed.
func unpack(t testing.TB, p colony.Packed, o colony.ReadOptions) (colony.Documents, colony.Checks, error) {
	t.Helper()
	m, err := colony.ParseManifest(p.Manifest.Content)
	if err != nil {
		return nil, colony.Checks{}, err
	}
	o.Label, o.ID = testLabel, testID
	var parts []string
	for _, f := range p.Parts {
		parts = append(parts, f.Content)
	}
	return colony.Unpack(t.Context(), m, parts, o)
}

// TestWhatIsPackedIsRead also by a reader that demands everything.
func TestWhatIsPackedIsRead(t *testing.T) {
	t.Parallel()
	d := newDraft(t)
	p := pack(t, d)
	if len(p.Parts) < 3 {
		t.Fatalf("only %d parts", len(p.Parts))
	}
	docs, checks, err := unpack(t, p, colony.ReadOptions{RequireSigned: true, Trust: trusting(sign.StandingOwn)})
	must.Do(t, err)
	must.Equal(t, "documents", docs, d.Documents)
	must.Equal(t, "checks", checks, colony.Checks{Digest: true, Declared: true, Signature: colony.SignatureVerified})
	sum, err := d.Documents.Digest()
	want := colony.Info{
		ID: testID, Label: testLabel, LabelRaw: d.LabelRaw, CreatedAt: "2026-06-19T05:16:43Z", DocNames: []string{"", "MEMORY.md", "é\u2028\U0001f600"},
		PartCount: len(p.Parts), ByteSize: plainBytes, BlobChars: p.Info.BlobChars, PlaintextSHA256: sum,
		Signed: true, Issuer: d.Signer.KeyID(), Parent: parentID, Counter: 7,
	}
	must.Do(t, err)
	must.Equal(t, "info", p.Info, want)
	must.Equal(t, "files of the same draft", pack(t, d), p)
	for seq, f := range p.Parts {
		must.Equal(t, fmt.Sprint("part ", seq), f.Name, colony.PartName(testLabel, testID, seq))
	}
}

// TestMembersComeInTheOrderOfTheFormat is the manifest as it is documented.
func TestMembersComeInTheOrderOfTheFormat(t *testing.T) {
	t.Parallel()
	d := newDraft(t)
	d.Recipients = []age.Recipient{newIdentity(t).Recipient()}
	d.Random = rand.Reader
	full := []string{
		"format", "snapshot_id", "label", "created_at", "codec", "doc_names", "plaintext_sha256", "part_count", "part_files", "byte_size", "blob_chars",
		"label_raw", "parent", "counter", "part_sha256", "encryption", "signature",
	}
	must.Equal(t, "everything", memberNames(t, pack(t, d).Manifest.Content), full)
	d = colony.Draft{ID: testID, Label: testLabel, CreatedAt: d.CreatedAt, Documents: d.Documents}
	must.Equal(t, "what is always there", memberNames(t, pack(t, d).Manifest.Content), append(full[:11:11], "part_sha256"))
}

// memberNames returns the names of an object in the order of the text.
func memberNames(t testing.TB, text string) []string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	var names []string
	for depth, name := 0, false; ; {
		token, err := d.Token()
		if err != nil {
			break
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
			name = depth == 1
		case json.Delim('}'), json.Delim(']'):
			depth--
			name = depth == 1
		default:
			if depth == 1 && name {
				names = append(names, token.(string))
			}
			name = depth == 1 && !name
		}
	}
	return names
}

// TestThePartsAreCutWhereTheBlobIs has blobs around the length of a part.
func TestThePartsAreCutWhereTheBlobIs(t *testing.T) {
	t.Parallel()
	d := newDraft(t)
	d.PartChars = 0
	chars := int(pack(t, d).Info.BlobChars)
	for size, want := range map[int]int{0: 1, chars: 1, chars + 1: 1, chars - 1: 2, chars / 2: 2, chars/2 - 1: 3, 1: chars} {
		d.PartChars = size
		p := pack(t, d)
		must.Equal(t, "parts", len(p.Parts), want)
		must.Equal(t, "part count", p.Info.PartCount, want)
		if _, _, err := unpack(t, p, colony.ReadOptions{}); err != nil {
			t.Errorf("parts of %d: %v", size, err)
		}
	}
}

func TestADraftThatCannotBeWrittenIsInvalid(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		spoil func(d *colony.Draft)
		want  amber.Kind
	}{
		{"no id", func(d *colony.Draft) { d.ID = "" }, amber.KindInvalid},
		{"parent", func(d *colony.Draft) { d.Parent = "x" }, amber.KindInvalid},
		{"raw label as label", func(d *colony.Draft) { d.Label = "My Label" }, amber.KindInvalid},
		{"no label", func(d *colony.Draft) { d.Label = "" }, amber.KindInvalid},
		{"raw label not UTF-8", func(d *colony.Draft) { d.LabelRaw = "\xff" }, amber.KindInvalid},
		{"counter", func(d *colony.Draft) { d.Counter = -1 }, amber.KindInvalid},
		{"size of parts", func(d *colony.Draft) { d.PartChars = -1 }, amber.KindInvalid},
		{"no documents", func(d *colony.Draft) { d.Documents = nil }, amber.KindInvalid},
		{"a text not UTF-8", func(d *colony.Draft) { d.Documents = colony.Documents{"a": "\xff"} }, amber.KindInvalid},
		{"a name not UTF-8", func(d *colony.Draft) { d.Documents = colony.Documents{"\xed\xa0\x80": ""} }, amber.KindInvalid},
		{"no randomness", func(d *colony.Draft) { d.Recipients = []age.Recipient{newIdentity(t).Recipient()} }, amber.KindInvalid},
		{"randomness fails", func(d *colony.Draft) {
			d.Recipients, d.Random = []age.Recipient{newIdentity(t).Recipient()}, iotest.ErrReader(errors.New("dry"))
		}, amber.KindInternal},
		{"too long", func(d *colony.Draft) { d.MaxBytes = plainBytes - 1 }, amber.KindQuota},
	}
	for _, tt := range tests {
		d := newDraft(t)
		tt.spoil(&d)
		must.Fail(colony.Pack(t.Context(), d))(t, tt.name, tt.want)
	}
	d := newDraft(t)
	if d.MaxBytes = plainBytes; len(pack(t, d).Parts) == 0 {
		t.Error("as long as it may be")
	}
}

func TestDocumentsOfBadTextsHaveNoDigest(t *testing.T) {
	t.Parallel()
	for _, d := range []colony.Documents{nil, {}, {"a": "\xff"}, {"\xff": "a"}} {
		if got, err := d.Digest(); amber.KindOf(err) != amber.KindInvalid || got != "" {
			t.Errorf("%q: got %s, %v, want invalid", d, got, err)
		}
	}
	must.Equal(t, "names", colony.Documents{"\U00010000": "", "\uffff": "", "a": ""}.Names(), []string{"a", "\uffff", "\U00010000"})
}

// TestWhatIsCompressedTellsNoTime looks at the header of gzip.
func TestWhatIsCompressedTellsNoTime(t *testing.T) {
	t.Parallel()
	d := newDraft(t)
	d.PartChars = 0
	p := pack(t, d)
	v := vector{Label: testLabel, ID: testID, PartCount: 1}
	payload := payloadOf(t, map[string]string{p.Parts[0].Name: p.Parts[0].Content}, v)
	if want := []byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2}; !bytes.HasPrefix(payload, want) {
		t.Errorf("got % x, want % x", payload[:10], want)
	}
}
