package colony_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
)

// FuzzManifest checks that a manifest of anybody is refused with a kind, and that
// a strict reader takes nothing that a tolerant one does not.
func FuzzManifest(f *testing.F) {
	for _, v := range okVectors(f) {
		f.Add(v.files(f)[colony.ManifestName(v.Label, v.ID)])
	}
	f.Add(pack(f, newDraft(f)).Manifest.Content)
	f.Fuzz(func(t *testing.T, content string) {
		m, err := colony.ParseManifest(content)
		if err != nil {
			if k := amber.KindOf(err); k != amber.KindDamaged && k != amber.KindTooNew {
				t.Fatalf("got %v", err)
			}
			return
		}
		checks, err := m.Check(t.Context(), colony.ReadOptions{})
		lenient, lerr := m.Check(t.Context(), colony.ReadOptions{Tolerant: true})
		if err == nil && (lerr != nil || !checks.Declared || !cmp.Equal(checks, lenient)) {
			t.Fatalf("strict: %+v; tolerant: %+v, %v", checks, lenient, lerr)
		}
		if err == nil {
			checkDeclared(t, m)
		}
		if lerr == nil {
			checkOwnParts(t, m)
		}
	})
}

// checkDeclared checks what a strict reader promises of a manifest.
func checkDeclared(t *testing.T, m colony.Manifest) {
	t.Helper()
	for seq, name := range m.PartFiles {
		if name != colony.PartName(m.Info.Label, m.Info.ID, seq) {
			t.Fatalf("part %d is %q", seq, name)
		}
	}
	if m.Info.PartCount != len(m.PartFiles) || m.Info.ByteSize > colony.DefaultMaxBytes || m.Info.ID.Time().IsZero() {
		t.Fatalf("got %+v", m.Info)
	}
}

func checkOwnParts(t *testing.T, m colony.Manifest) {
	t.Helper()
	for _, name := range m.PartFiles {
		n, ok := colony.ParseName(name)
		if !ok || n.Kind != colony.PartFile || n.Label != m.Info.Label || n.ID != m.Info.ID {
			t.Fatalf("%q is foreign", name)
		}
	}
}

// FuzzUnpack reads a part with any content, and any payload whose digests are right. Everything that it accepts,
// another decoder reads in the same way.
func FuzzUnpack(f *testing.F) {
	good := pack(f, newDraft(f))
	whole := must.Get(newDraft(f).Documents.Canonical())(f)
	f.Add(good.Parts[1].Content, whole, gzipped(f, whole))
	f.Add("{}", []byte(`{"a":"\ud83d\ude00","a":" "}`), bytes.Repeat(gzipped(f, []byte("{}")), 2))
	f.Add(`{"b64":"","b64":""}`, []byte("\ufeff{ }"), []byte{0x1f, 0x8b})
	f.Fuzz(func(t *testing.T, part string, plaintext, payload []byte) {
		if len(plaintext) > math.MaxUint16 {
			return
		}
		p := good
		p.Parts = append([]colony.NamedText(nil), p.Parts...)
		p.Parts[1].Content = part
		for _, tolerant := range []bool{false, true} {
			o := colony.ReadOptions{Tolerant: tolerant, MaxBytes: 1 << 20}
			docs, _, err := unpack(t, p, o)
			if err == nil && !cmp.Equal(docs, newDraft(t).Documents) {
				t.Fatalf("the part is another, and the documents are %v", docs)
			}
			checkRefusal(t, err)
			docs, _, err = unpack(t, handmade(t, plaintext, base64.StdEncoding.EncodeToString(gzipped(t, plaintext)), namesOf(plaintext)), o)
			checkRefusal(t, err)
			if err == nil {
				checkDocuments(t, docs, plaintext, tolerant)
			}
			_, _, err = unpack(t, handmade(t, plaintext, base64.StdEncoding.EncodeToString(payload), namesOf(plaintext)), o)
			checkRefusal(t, err)
		}
	})
}

func checkRefusal(t *testing.T, err error) {
	t.Helper()
	if k := amber.KindOf(err); k != "" && k != amber.KindDamaged && k != amber.KindQuota {
		t.Fatalf("got %v", err)
	}
}

// namesOf returns the names of documents, empty for text that holds no
// documents.
func namesOf(plaintext []byte) []string {
	var docs colony.Documents
	if json.Unmarshal(plaintext, &docs) != nil {
		return []string{}
	}
	return append([]string{}, docs.Names()...)
}

// checkDocuments compares with another decoder.
func checkDocuments(t *testing.T, got colony.Documents, plaintext []byte, tolerant bool) {
	t.Helper()
	want := colony.Documents{}
	if err := json.Unmarshal(bytes.TrimPrefix(plaintext, []byte("\ufeff")), &want); err != nil {
		t.Fatalf("%q was accepted: %v", plaintext, err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got):\n%s", diff)
	}
	canonical, err := got.Canonical()
	if !tolerant && (err != nil || !bytes.Equal(canonical, plaintext)) {
		t.Fatalf("%q was accepted, and is spelled %q: %v", plaintext, canonical, err)
	}
}

// FuzzPointer checks that what is accepted names a snapshot, and that one without
// objections is what is written.
func FuzzPointer(f *testing.F) {
	f.Add(newPointer().Content)
	for _, v := range okVectors(f) {
		f.Add(v.files(f)[colony.LatestName(v.Label)])
	}
	f.Add(`{"snapshot_id":"20260619T051643001000Z-abc001"}`)
	f.Fuzz(func(t *testing.T, content string) {
		p, err := colony.ParsePointer(content)
		if err != nil {
			if k := amber.KindOf(err); k != amber.KindDamaged && k != amber.KindTooNew {
				t.Fatalf("got %v", err)
			}
			return
		}
		must.Get(colony.ParseSnapshotID(string(p.ID)))(t)
		if len(p.Objections(p.Label)) == 0 && p.ManifestFile != colony.ManifestName(p.Label, p.ID) {
			t.Fatalf("%+v was accepted", p)
		}
	})
}
