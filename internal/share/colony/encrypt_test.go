package colony_test

import (
	"crypto/rand"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
)

func newIdentity(t testing.TB) *age.X25519Identity {
	t.Helper()
	return must.Get(age.GenerateX25519Identity())(t)
}

func encrypted(t testing.TB, to ...*age.X25519Identity) colony.Packed {
	t.Helper()
	d := newDraft(t)
	d.Random, d.PartChars = rand.Reader, 0
	for _, id := range to {
		d.Recipients = append(d.Recipients, id.Recipient())
	}
	return pack(t, d)
}

func TestWhatIsEncryptedIsReadByItsRecipients(t *testing.T) {
	t.Parallel()
	a, b, other := newIdentity(t), newIdentity(t), newIdentity(t)
	p := encrypted(t, a, b)
	for _, with := range [][]age.Identity{{a}, {b}, {other, b}} {
		docs, checks, err := unpack(t, p, colony.ReadOptions{Identities: with})
		must.Do(t, err)
		must.Equal(t, "documents", docs, newDraft(t).Documents)
		must.Equal(t, "checks", checks, colony.Checks{Digest: true, Declared: true, Signature: colony.SignatureUnknown})
	}
	for _, with := range [][]age.Identity{nil, {other}} {
		for _, tolerant := range []bool{false, true} {
			docs, _, err := unpack(t, p, colony.ReadOptions{Identities: with, Tolerant: tolerant})
			if amber.KindOf(err) != amber.KindRefused || amber.HintOf(err) == "" || docs != nil {
				t.Errorf("with %d others: got %v, %v, want refused with a hint", len(with), docs, err)
			}
		}
	}
}

// TestTheHostOfAnEncryptedSnapshotLearnsNothing of names, texts and whether a
// guess is right.
func TestTheHostOfAnEncryptedSnapshotLearnsNothing(t *testing.T) {
	t.Parallel()
	id := newIdentity(t)
	p, again := encrypted(t, id), encrypted(t, id)
	sum := must.Get(newDraft(t).Documents.Digest())(t)
	must.Hides(t, "the manifest", p.Manifest.Content, "MEMORY", "what was", strings.TrimPrefix(sum, "sha256:"))
	if p.Info.PlaintextSHA256 == again.Info.PlaintextSHA256 || p.Parts[0].Content == again.Parts[0].Content {
		t.Error("it can be seen that two snapshots are of the same documents")
	}
	if !p.Info.Encrypted || len(p.Info.DocNames) != 0 || p.Info.ByteSize != plainBytes+32 {
		t.Errorf("got %+v", p.Info)
	}
	must.Says(t, "the manifest", p.Manifest.Content,
		`"codec": "gzip+age+base64"`, `"encryption": {"alg": "age", "salt_bytes": 32}`, `"doc_names": []`)
}

// TestEncryptionIsNotGuessed changes what the manifest says about it.
func TestEncryptionIsNotGuessed(t *testing.T) {
	t.Parallel()
	id := newIdentity(t)
	good := encrypted(t, id)
	tests := []struct {
		name     string
		member   string
		value    any
		strict   amber.Kind
		tolerant amber.Kind
	}{
		{"another way", "encryption", map[string]any{"alg": "pgp", "salt_bytes": 32}, amber.KindUnsupported, amber.KindUnsupported},
		{"another salt", "encryption", map[string]any{"alg": "age", "salt_bytes": 16}, amber.KindUnsupported, amber.KindUnsupported},
		{"no object", "encryption", "age", amber.KindUnsupported, amber.KindUnsupported},
		{"no note", "encryption", nil, amber.KindUnsupported, amber.KindUnsupported},
		{"the codec of others", "codec", "gzip+base64", amber.KindDamaged, ""},
		{"names", "doc_names", []string{"MEMORY.md"}, amber.KindDamaged, ""},
		{"another length", "byte_size", plainBytes + 31, amber.KindDamaged, ""},
	}
	for _, tt := range tests {
		p := good
		p.Manifest.Content = edit(t, p.Manifest.Content, map[string]any{tt.member: tt.value, "signature": nil})
		o := colony.ReadOptions{Identities: []age.Identity{id}}
		if _, _, err := unpack(t, p, o); amber.KindOf(err) != tt.strict {
			t.Errorf("%s, strict: got %v, want kind %q", tt.name, err, tt.strict)
		}
		o.Tolerant = true
		if _, _, err := unpack(t, p, o); amber.KindOf(err) != tt.tolerant {
			t.Errorf("%s, tolerant: got %v, want kind %q", tt.name, err, tt.tolerant)
		}
	}
}

// TestEncryptedAndPlainAreNotTakenForOneAnother takes the note from one that is
// encrypted, and gives it to one that is not.
func TestEncryptedAndPlainAreNotTakenForOneAnother(t *testing.T) {
	t.Parallel()
	id := newIdentity(t)
	p := encrypted(t, id)
	p.Manifest.Content = edit(t, p.Manifest.Content, map[string]any{"encryption": nil, "codec": "gzip+base64", "signature": nil})
	o := colony.ReadOptions{Identities: []age.Identity{id}, Tolerant: true}
	if _, _, err := unpack(t, p, o); amber.KindOf(err) != amber.KindDamaged {
		t.Errorf("without the note: got %v, want damaged", err)
	}
	p = pack(t, newDraft(t))
	p.Manifest.Content = edit(t, p.Manifest.Content, map[string]any{
		"encryption": map[string]any{"alg": "age", "salt_bytes": 32}, "codec": "gzip+age+base64", "signature": nil,
	})
	if _, _, err := unpack(t, p, o); amber.KindOf(err) != amber.KindDamaged {
		t.Errorf("with a note: got %v, want damaged", err)
	}
}
