package colony_test

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

// trusting says the same of every key.
func trusting(s sign.Standing) func(context.Context, sign.KeyID) (sign.Standing, error) {
	return func(context.Context, sign.KeyID) (sign.Standing, error) { return s, nil }
}

// TestSnapshotsAreSignedInTheNameOfTheKey has the 24 keys of the original client.
func TestSnapshotsAreSignedInTheNameOfTheKey(t *testing.T) {
	t.Parallel()
	var keys []struct {
		Seed   string     `json:"seed_hex"`
		Public string     `json:"public_hex"`
		Key    sign.KeyID `json:"did_key"`
	}
	readJSON(t, "testdata/didkeys.json", &keys)
	if len(keys) != 24 {
		t.Fatalf("%d keys", len(keys))
	}
	for _, k := range keys {
		d := newDraft(t)
		d.Signer = signerOf(t, k.Seed)
		p := pack(t, d)
		public, err := p.Info.Issuer.PublicKey()
		if p.Info.Issuer != k.Key || err != nil || hex.EncodeToString(public) != k.Public {
			t.Errorf("seed %s: got %s, %v, want %s", k.Seed, p.Info.Issuer, err, k.Key)
		}
		if _, _, err := unpack(t, p, colony.ReadOptions{}); err != nil {
			t.Errorf("seed %s: %v", k.Seed, err)
		}
	}
}

// TestTheSignatureCounts has every way to be signed and every reader.
func TestTheSignatureCounts(t *testing.T) {
	t.Parallel()
	signed := pack(t, newDraft(t))
	d := newDraft(t)
	d.Signer = nil
	unsigned := pack(t, d)
	forged, padded := signed, signed
	forged.Manifest.Content = edit(t, forged.Manifest.Content, map[string]any{"created_at": "2026-06-19T05:16:44Z"})
	at := strings.LastIndex(padded.Manifest.Content, `"}}`)
	padded.Manifest.Content = padded.Manifest.Content[:at] + "==" + padded.Manifest.Content[at:]

	own, trusted, stranger := trusting(sign.StandingOwn), trusting(sign.StandingTrusted), trusting(sign.StandingStranger)
	tests := []struct {
		name   string
		p      colony.Packed
		o      colony.ReadOptions
		status string
		kind   amber.Kind
	}{
		{"own", signed, colony.ReadOptions{Trust: own, RequireSigned: true}, colony.SignatureVerified, ""},
		{"trusted", signed, colony.ReadOptions{Trust: trusted, RequireSigned: true}, colony.SignatureVerified, ""},
		{"trusted, not required", signed, colony.ReadOptions{Trust: trusted}, colony.SignatureVerified, ""},
		{"stranger", signed, colony.ReadOptions{Trust: stranger}, colony.SignatureUnknown, ""},
		{"nobody is known", signed, colony.ReadOptions{}, colony.SignatureUnknown, ""},
		{"a stranger is not enough", signed, colony.ReadOptions{Trust: stranger, RequireSigned: true}, "", amber.KindUntrusted},
		{"nobody known is not enough", signed, colony.ReadOptions{RequireSigned: true}, "", amber.KindUntrusted},
		{"a standing of later", signed, colony.ReadOptions{Trust: trusting("revoked"), RequireSigned: true}, "", amber.KindUntrusted},
		{"not checked", signed, colony.ReadOptions{NoVerify: true}, colony.SignatureSkipped, ""},
		{"unsigned", unsigned, colony.ReadOptions{}, colony.SignatureNone, ""},
		{"unsigned, not checked", unsigned, colony.ReadOptions{NoVerify: true}, colony.SignatureNone, ""},
		{"unsigned, required", unsigned, colony.ReadOptions{Trust: own, RequireSigned: true}, "", amber.KindUntrusted},
		{"unsigned, required, tolerant", unsigned, colony.ReadOptions{RequireSigned: true, Tolerant: true}, "", amber.KindUntrusted},
		{"forged", forged, colony.ReadOptions{Trust: own}, "", amber.KindUntrusted},
		{"forged, tolerant", forged, colony.ReadOptions{Tolerant: true}, "", amber.KindUntrusted},
		{"forged, not checked", forged, colony.ReadOptions{NoVerify: true}, colony.SignatureSkipped, ""},
		{"padded", padded, colony.ReadOptions{}, colony.SignatureUnknown, amber.KindDamaged},
		{"padded, tolerant", padded, colony.ReadOptions{Tolerant: true, Trust: own}, colony.SignatureVerified, ""},
		{"required and not checked", signed, colony.ReadOptions{Trust: own, RequireSigned: true, NoVerify: true}, "", amber.KindInvalid},
	}
	for _, tt := range tests {
		_, checks, err := unpack(t, tt.p, tt.o)
		if checks.Signature != tt.status || amber.KindOf(err) != tt.kind {
			t.Errorf("%s: got %q and %v, want %q and kind %q", tt.name, checks.Signature, err, tt.status, tt.kind)
		}
	}
	_, _, err := unpack(t, signed, colony.ReadOptions{RequireSigned: true})
	must.Equal(t, "hint", amber.HintOf(err), "if you know the owner of the key: amber key trust "+string(signed.Info.Issuer))
	fails := errors.New("the list is gone")
	_, _, err = unpack(t, signed, colony.ReadOptions{Trust: func(context.Context, sign.KeyID) (sign.Standing, error) { return "", fails }})
	must.Is(t, "", err, fails)
}

// TestABadSignatureIsNotUnsigned changes each member of it.
func TestABadSignatureIsNotUnsigned(t *testing.T) {
	t.Parallel()
	good := pack(t, newDraft(t))
	key := string(good.Info.Issuer)
	sig := good.Manifest.Content[len(good.Manifest.Content)-len(`"}}`)-86 : len(good.Manifest.Content)-len(`"}}`)]
	for name, s := range map[string]any{
		"another algorithm": map[string]any{"alg": "ed448", "key_id": key, "sig": sig},
		"no algorithm":      map[string]any{"key_id": key, "sig": sig},
		"no key":            map[string]any{"alg": "ed25519", "sig": sig},
		"no key of the web": map[string]any{"alg": "ed25519", "key_id": "did:web:example.org", "sig": sig},
		"no signature":      map[string]any{"alg": "ed25519", "key_id": key},
		"a number":          map[string]any{"alg": "ed25519", "key_id": key, "sig": 1},
		"cut":               map[string]any{"alg": "ed25519", "key_id": key, "sig": sig[:40]},
		"only a name":       map[string]any{"x": 1},
		"a list":            []any{key, sig},
		"a text":            sig,
	} {
		p := good
		p.Manifest.Content = edit(t, p.Manifest.Content, map[string]any{"signature": s})
		for _, tolerant := range []bool{false, true} {
			if _, _, err := unpack(t, p, colony.ReadOptions{Tolerant: tolerant}); amber.KindOf(err) != amber.KindUntrusted {
				t.Errorf("%s, tolerant %v: got %v, want untrusted", name, tolerant, err)
			}
		}
	}
	p := good
	p.Manifest.Content = edit(t, p.Manifest.Content, map[string]any{"signature": map[string]any{"alg": "ed25519", "key_id": key, "sig": sig}})
	if _, _, err := unpack(t, p, colony.ReadOptions{}); err != nil {
		t.Errorf("the same signature: %v", err)
	}
}

// badSigner returns signatures of something else.
type badSigner struct{ signer }

func (b badSigner) Sign(ctx context.Context, _ []byte) (sign.Signature, error) {
	return b.signer.Sign(ctx, []byte("something else"))
}

type noSigner struct{ signer }

func (noSigner) Sign(context.Context, []byte) (sign.Signature, error) {
	return sign.Signature{}, amber.Errorf(amber.KindNotFound, "sign", "", "the key is gone")
}

func TestABadSignatureIsNotWritten(t *testing.T) {
	t.Parallel()
	d := newDraft(t)
	s := d.Signer.(signer)
	d.Signer = badSigner{s}
	must.Fail(colony.Pack(t.Context(), d))(t, "untrusted", amber.KindUntrusted)
	d.Signer = noSigner{s}
	must.Fail(colony.Pack(t.Context(), d))(t, "not found", amber.KindNotFound)
}
