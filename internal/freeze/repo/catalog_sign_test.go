package repo_test

import (
	"context"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/freeze/target"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// testKey signs. It is made of a seed of which each byte is one more than the
// one before.
type testKey struct{ ed25519.PrivateKey }

func newKey(first byte) testKey {
	seed := make([]byte, ed25519.SeedSize)
	for i := range seed {
		seed[i] = first + byte(i)
	}
	return testKey{ed25519.NewKeyFromSeed(seed)}
}

func (k testKey) KeyID() sign.KeyID { return sign.NewKeyID(k.Public().(ed25519.PublicKey)) }

func (k testKey) Sign(_ context.Context, message []byte) (sign.Signature, error) {
	return sign.SignWith(k.PrivateKey, message), nil
}

var own, other = newKey(0), newKey(100)

// signatures makes the list of an envelope, from docs/format/repository.md and
// not from the code.
func (k testKey) signatures(body string) string {
	s := sign.SignWith(k.PrivateKey, []byte("amber record 1\x00"+body))
	return fmt.Sprintf(`[{"alg":"ed25519","key_id":"%s","sig":"%s"}]`, s.KeyID, s.Sig)
}

// envelopeWith makes a record of any body with any list of signatures.
func envelopeWith(body, signatures string) []byte {
	return []byte(strings.Replace(string(envelope(body)), `"signatures":[]`, `"signatures":`+signatures, 1))
}

// signaturesIn returns the list of signatures of a record.
func signaturesIn(object []byte) string {
	_, list, _ := strings.Cut(string(object), `","signatures":`)
	return strings.TrimSuffix(list, "}\n")
}

// signing returns a store that signs.
func signing(t testing.TB, target target.Target, key sign.Signer) *store {
	t.Helper()
	r := must.Get(repo.Open(ctx, target, &repo.Options{Signer: key}))(t)
	return &store{target: target, repo: r, catalog: r.Catalog(tenant), now: epoch, ids: new(uint64)}
}

// signedStore returns a new target and a store on it that signs.
func signedStore(t testing.TB) (*memory, *store) {
	t.Helper()
	target := newMemory()
	return target, signing(t, target, own)
}

// with returns the same store with another key, or none.
func (s *store) with(t testing.TB, key sign.Signer) *store {
	t.Helper()
	c := signing(t, s.target, key)
	c.now, c.ids = s.now, s.ids
	return c
}

// takeAs takes a snapshot of ada that names a signer.
func (s *store) takeAs(t testing.TB, device, word string, signer sign.KeyID) repo.Manifest {
	t.Helper()
	m := must.Get(s.prepare(t, ada, device, content{word, 0}))(t)
	m.Signer = signer
	must.Do(t, s.publish(m))
	s.later(time.Second)
	return m
}

func (s *store) takeSigned(t testing.TB, word string) repo.Manifest {
	t.Helper()
	return s.takeAs(t, laptop, word, own.KeyID())
}

// get returns a snapshot that is there.
func (s *store) get(t testing.TB, m repo.Manifest) repo.Entry {
	t.Helper()
	return must.Get(s.catalog.Get(ctx, m.Agent, m.ID))(t)
}

func hasText(list []string, want string) bool {
	return slices.ContainsFunc(list, func(s string) bool { return strings.Contains(s, want) })
}

// damageOf returns what an audit says about an object.
func damageOf(r wire.CheckReport, object string) string {
	for _, d := range r.Damaged {
		if d.Object == object {
			return d.Reason
		}
	}
	return ""
}

func TestSignedSnapshotsAreValid(t *testing.T) {
	t.Parallel()
	target, s := signedStore(t)
	a, b := s.takeSigned(t, "a"), s.takeSigned(t, "b")
	c := s.takeAs(t, "desk", "c", "")
	s.delete(t, a)
	must.Equal(t, "signature", s.get(t, b).Signature, repo.SignatureState{Status: sign.SignatureValid, KeyID: own.KeyID()})
	must.Equal(t, "signature", s.get(t, c).Signature, repo.SignatureState{Status: sign.SignatureMissing})
	for _, m := range []repo.Manifest{b, c} {
		must.NoError(t, s.get(t, m).Usable())
	}
	for _, name := range []string{stubNameOf(a), manifestOf(b)} {
		if object := target.objects[name]; signaturesIn(object) != own.signatures(bodyOf(object)) {
			t.Errorf("%s is signed otherwise than the document says: %s", name, object)
		}
	}
	report := s.whole(t, b, c)
	must.Hold(t, hasText(report.Checked, "signatures: 2 valid, 1 unsigned"), "the audit says %q", report.Checked)
}

func TestPublishSignsWhatNamesItsSigner(t *testing.T) {
	t.Parallel()
	target, s := signedStore(t)
	m := s.takeSigned(t, "a")
	object := target.objects[manifestOf(m)]
	if _, err := s.catalog.Publish(ctx, may(), m); err != nil || string(target.objects[manifestOf(m)]) != string(object) {
		t.Errorf("the same once more: %v", err)
	}
	unsigned := m
	unsigned.Signer = ""
	must.Fail(s.catalog.Publish(ctx, may(), unsigned))(t, "the same, not signed", amber.KindConflict)
	fresh := m
	fresh.ID = s.newID(t)
	for name, c := range map[string]*repo.Catalog{"another key": s.with(t, other).catalog, "no key": s.with(t, nil).catalog} {
		must.Fail(c.Publish(ctx, may(), fresh))(t, name, amber.KindInvalid)
	}
	for _, signer := range []sign.KeyID{"x", other.KeyID(), own.KeyID() + "1"} {
		fresh.Signer = signer
		must.Fail(s.catalog.Publish(ctx, may(), fresh))(t, "signer "+string(signer), amber.KindInvalid)
	}
	must.Equal(t, "manifests", len(target.names("snapshots/")), 1)
}

// badSigner does not sign, or signs something else.
type badSigner struct {
	testKey
	err error
}

func (b badSigner) Sign(context.Context, []byte) (sign.Signature, error) {
	return sign.SignWith(b.PrivateKey, []byte("something else")), b.err
}

func TestASignerThatFailsLeavesNothing(t *testing.T) {
	t.Parallel()
	target := newMemory()
	m := signing(t, target, own).takeSigned(t, "a")
	before := target.clone()
	fresh := m
	fresh.ID = "01900000-0000-7000-8000-000000000000"
	refused := errors.New("the agent says no")
	for name, signer := range map[string]badSigner{"error": {own, refused}, "lies": {own, nil}} {
		s := signing(t, target, signer)
		_, published := s.catalog.Publish(ctx, may(), fresh)
		deleted := s.catalog.Delete(ctx, may(), ada, m.ID, "", s.at())
		for _, err := range []error{published, deleted} {
			if err == nil || signer.err != nil && !errors.Is(err, refused) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	must.Equal(t, "objects", target.objects, before.objects)
}

// TestForgedSignatures changes the signature of a manifest, and of a stub, in
// every way. The snapshot is listed, and nothing is taken from it.
func TestForgedSignatures(t *testing.T) {
	t.Parallel()
	target, s := signedStore(t)
	gone, m, another := s.takeSigned(t, "gone"), s.takeSigned(t, "a"), s.takeSigned(t, "b")
	s.delete(t, gone)
	good := target.clone()
	tests := []struct {
		name string
		// signatures of a record with this body, another record, and what it had.
		signatures func(body, another, had string) string
		want       sign.SignatureStatus // "" when the record cannot be read
	}{
		{"as it was", func(_, _, had string) string { return had }, sign.SignatureValid},
		{"made once more", func(body, _, _ string) string { return own.signatures(body) }, sign.SignatureValid},
		{"taken away", func(string, string, string) string { return "[]" }, sign.SignatureStripped},
		{"of another record", func(_, another, _ string) string { return another }, sign.SignatureBad},
		{"of a stranger", func(body, _, _ string) string { return other.signatures(body) }, sign.SignatureBad},
		{"of a stranger, with our name", func(body, _, _ string) string {
			return strings.Replace(other.signatures(body), string(other.KeyID()), string(own.KeyID()), 1)
		}, sign.SignatureBad},
		{"ours, with another name", func(_, _, had string) string {
			return strings.Replace(had, string(own.KeyID()), string(other.KeyID()), 1)
		}, sign.SignatureBad},
		{"of the body alone", func(body, _, _ string) string {
			b, _ := json.Marshal([]sign.Signature{sign.SignWith(own.PrivateKey, []byte(body))})
			return string(b)
		}, sign.SignatureBad},
		{"another algorithm", func(_, _, had string) string { return strings.Replace(had, "ed25519", "none", 1) }, sign.SignatureBad},
		{"padded", func(_, _, had string) string { return strings.Replace(had, `"}]`, `=="}]`, 1) }, sign.SignatureBad},
		{"a line end in it", func(_, _, had string) string { return strings.Replace(had, `"}]`, `\n"}]`, 1) }, sign.SignatureBad},
		{"empty", func(string, string, string) string { return `[{"alg":"","key_id":"","sig":""}]` }, sign.SignatureBad},
		{"twice", func(_, _, had string) string { return had[:len(had)-1] + "," + had[1:] }, ""},
		{"null", func(string, string, string) string { return "null" }, ""},
		{"a list of null", func(string, string, string) string { return "[null]" }, ""},
		{"a list of nothing", func(string, string, string) string { return "[{}]" }, ""},
		{"a number", func(string, string, string) string { return "[1]" }, ""},
		{"a space", func(_, _, had string) string { return strings.Replace(had, ",", ", ", 1) }, ""},
		{"a space behind it", func(_, _, had string) string { return had + " " }, ""},
		{"another field", func(_, _, had string) string { return strings.Replace(had, `"}]`, `","x":1}]`, 1) }, ""},
		{"a field twice", func(_, _, had string) string { return strings.Replace(had, `{"alg"`, `{"alg":"none","alg"`, 1) }, ""},
		{"upper case", func(_, _, had string) string { return strings.Replace(had, `"alg"`, `"Alg"`, 1) }, ""},
		{"another order", func(_, _, had string) string {
			sig := strings.TrimSuffix(strings.TrimPrefix(had, `[{"alg":"ed25519",`), "}]")
			return "[{" + sig + `,"alg":"ed25519"}]`
		}, ""},
		{"an escape", func(_, _, had string) string { return strings.Replace(had, "did:key", `did\u003akey`, 1) }, ""},
		{"deep", func(string, string, string) string {
			return strings.Repeat("[", 20000) + strings.Repeat("]", 20000)
		}, ""},
	}
	for _, tt := range tests {
		for _, name := range []string{manifestOf(m), stubNameOf(gone)} {
			t.Run(tt.name+" "+name[:5], func(t *testing.T) {
				t.Parallel()
				target := good.clone()
				body := bodyOf(target.objects[name])
				target.objects[name] = envelopeWith(body, tt.signatures(body, signaturesIn(target.objects[manifestOf(another)]), signaturesIn(target.objects[name])))
				checkForged(t, target, name, m, tt.want)
			})
		}
	}
}

// checkForged looks at a repository of three snapshots, the first deleted, in
// which one record has a signature of some status.
func checkForged(t *testing.T, target *memory, name string, m repo.Manifest, want sign.SignatureStatus) {
	t.Helper()
	s := signing(t, target, own)
	wording := map[sign.SignatureStatus]string{
		sign.SignatureBad: "signature does not match", sign.SignatureStripped: "signature was taken away", "": "envelope is damaged",
	}[want]
	report := s.audit(t)
	if why := damageOf(report, name); report.OK() != (want == sign.SignatureValid) || !strings.HasPrefix(why, wording) {
		t.Errorf("the audit says %+v", report)
	}
	if r := must.Get(s.catalog.CheckChain(ctx, ada, nil))(t); want != "" && hasText(r.Damaged, name+": "+wording) != (wording != "") {
		t.Errorf("the chain: %+v", r)
	}
	if name != manifestOf(m) {
		return
	}
	l, err := s.catalog.List(ctx, ada)
	if err != nil || len(l) != 2 {
		t.Fatalf("list: %v, %d", err, len(l))
	}
	e := l[1]
	if e.Signature.Status != want || (e.Problem != nil) != (want == "") || e.Manifest.ID != m.ID {
		t.Errorf("listed as %+v, %v", e.Signature, e.Problem)
	}
	kind := map[sign.SignatureStatus]amber.Kind{
		sign.SignatureBad: amber.KindUntrusted, sign.SignatureStripped: amber.KindUntrusted, "": amber.KindDamaged,
	}[want]
	must.Kind(t, "use", e.Usable(), kind)
	before := target.clone()
	must.Fail(s.repo.CollectGarbage(ctx, may(), s.options()))(t, "gc", kind)
	if kind != "" {
		must.Equal(t, "objects after gc", target.objects, before.objects)
	}
}

// TestASignatureNobodyNamesIsBad signs a manifest, and a pin, that name no
// signer.
func TestASignatureNobodyNamesIsBad(t *testing.T) {
	t.Parallel()
	target, s := signedStore(t)
	m := s.takeAs(t, laptop, "a", "")
	must.Do(t, s.catalog.SetPin(ctx, may(), ada, m.ID, true, s.at()))
	pin := "pins/ada/" + string(m.ID) + ".json"
	for _, name := range []string{manifestOf(m), pin} {
		body := bodyOf(target.objects[name])
		target.objects[name] = envelopeWith(body, own.signatures(body))
	}
	e := s.get(t, m)
	must.Hold(t, e.Signature.Status == sign.SignatureBad && e.Signature.KeyID == "" && e.Pinned, "%+v", e)
	report := s.audit(t)
	for _, name := range []string{manifestOf(m), pin} {
		must.Hold(t, damageOf(report, name) != "", "%s: the audit says %+v", name, report)
	}
}

// TestEveryChangedByteOfSignedRecordsIsFound flips a bit of each byte, as it
// is, and with a digest that is made to fit.
func TestEveryChangedByteOfSignedRecordsIsFound(t *testing.T) {
	t.Parallel()
	target, s := signedStore(t)
	gone, m := s.takeSigned(t, "gone"), s.takeSigned(t, "a")
	s.delete(t, gone)
	heads := headsOf(t, s)
	for _, name := range []string{manifestOf(m), stubNameOf(gone)} {
		good := target.objects[name]
		body, list := bodyOf(good), signaturesIn(good)
		check := func(what string, i int, object []byte) {
			target.objects[name] = object
			report := must.Get(s.repo.Audit(ctx, tenant, false, heads.known))(t)
			// A version that grew, with a digest that fits, is a newer Amber's.
			if report.OK() && !hasText(report.NotChecked, "this amber knows version 1") {
				t.Errorf("%s: %s %d flipped, and nothing is found: %q", name, what, i, object)
			}
		}
		for i := 0; i < len(good); i += *stride {
			object := slices.Clone(good)
			object[i] ^= 1
			check("byte", i, object)
		}
		for i := 0; i < len(body); i += *stride {
			flipped := []byte(body)
			flipped[i] ^= 1
			if json.Valid(flipped) {
				check("byte of the body", i, envelopeWith(string(flipped), list))
			}
		}
		target.objects[name] = good
	}
	if report := s.audit(t); !report.OK() {
		t.Errorf("%+v", report)
	}
}

// TestAStubIsNotEnoughForASignedSnapshot puts stubs without a signature beside signed manifests.
func TestAStubIsNotEnoughForASignedSnapshot(t *testing.T) {
	t.Parallel()
	target, s := signedStore(t)
	m := s.takeSigned(t, "a")
	object := target.objects[manifestOf(m)]
	s.delete(t, m)
	stub := target.objects[stubNameOf(m)]
	target.objects[manifestOf(m)] = object
	body := bodyOf(stub)
	unsigned := body[:strings.Index(body, `,"author"`)] + "}"
	for name, forged := range map[string][]byte{
		"not signed": envelope(unsigned), "signature taken away": envelope(body), "of another key": envelopeWith(body, other.signatures(body)),
	} {
		target.objects[stubNameOf(m)] = forged
		must.Equal(t, name, s.get(t, m).Manifest.ID, m.ID)
		must.Equal(t, name+": snapshots that are listed", len(labels(t, s, ada)), 1)
		if report := s.audit(t); damageOf(report, stubNameOf(m)) == "" {
			t.Errorf("%s: the audit says %+v", name, report)
		}
		s.collect(t)
		must.Kind(t, name, s.same(m), "")
	}
	s.delete(t, m)
	must.Equal(t, "snapshots that are listed", len(labels(t, s, ada)), 0)
	s.whole(t)
}

func TestASignedSnapshotIsNotDeletedWithoutAKey(t *testing.T) {
	t.Parallel()
	_, s := signedStore(t)
	m := s.takeSigned(t, "a")
	bare := s.with(t, nil)
	err := bare.catalog.Delete(ctx, may(), ada, m.ID, "", s.at())
	must.Kind(t, "delete", err, amber.KindRefused)
	must.Hold(t, amber.HintOf(err) != "", "no hint")
	s.whole(t, m)
	// The key of another signer will do, and CheckChain reports the change of signers.
	s.with(t, other).delete(t, m)
	s.whole(t)
}
