package bundle

import (
	"bytes"
	"os"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

// FuzzRead reads hostile files. Nothing that Verify finds damaged is extracted, and the other way round.
func FuzzRead(f *testing.F) {
	f.Add(forgery{files: []forged{note("notes/a", "1")}, innerKey: 1, outerKey: 1}.forge(f))
	f.Add(forgery{files: []forged{note("notes/ü", "1"), {path: "notes/x/", kind: KindFolder, mode: 0o700}}}.forge(f))
	f.Add(nexoForgery{files: []forged{memoryFile("a.md", "1")}, own: true, key: 1}.forge(f))
	f.Add([]byte("age-encryption.org/v1\n-> X25519 a\n\n--- AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA\n"))
	for _, name := range []string{"empty.tar.zst", "odd-names.tar.zst"} {
		b := must.Get(os.ReadFile("testdata/nexo/" + name))(f)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, verr, xerr := try(t, b, Limits{Expanded: 1 << 20, EntryBytes: 1 << 20, Entries: 100, ManifestBytes: 1 << 20})
		if (verr == nil && r.OK()) != (xerr == nil) && amber.KindOf(xerr) != amber.KindRefused {
			t.Errorf("verify: %v, %v; extract: %v", r.Damaged, verr, xerr)
		}
		must.Hold(t, amber.KindOf(xerr) != amber.KindInternal, "extract: %v", xerr)
	})
}

// FuzzArchive puts hostile archives into a bundle whose digests match.
func FuzzArchive(f *testing.F) {
	var first []byte
	forgery{files: []forged{note("notes/a", "1"), pax(paxRecord("path", "notes/b"))}, tar: func(b []byte) []byte {
		first = b
		return b
	}}.forge(f)
	f.Add(first, false)
	nexoForgery{files: []forged{memoryFile("a.md", "1")}, raw: func(b []byte) []byte {
		first = b
		return b
	}}.forge(f)
	f.Add(first, true)
	f.Fuzz(func(t *testing.T, tar []byte, nexo bool) {
		var b []byte
		if nexo {
			b = zstdOf(t, tar)
		} else {
			b = forgery{tar: func([]byte) []byte { return tar }}.forge(t)
		}
		_, _, xerr := try(t, b, Limits{})
		must.Hold(t, amber.KindOf(xerr) != amber.KindInternal, "extract: %v", xerr)
	})
}

// FuzzOuter reads hostile outer manifests: whatever is accepted is what Amber would write.
func FuzzOuter(f *testing.F) {
	b := forgery{outerKey: 1, innerKey: 1}.forge(f)
	f.Add(bytes.TrimRight(b[skipBytes:skipBytes+outerRoom], " \n"))
	f.Add([]byte(`{"body":{},"digest":"","signatures":[]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) >= outerRoom {
			return
		}
		o, sig, err := readOuter(pad(b, outerRoom))
		if err != nil {
			return
		}
		must.Kind(t, "check of what was accepted", o.check(), "")
		if sig.Status == sign.SignatureValid && sig.KeyID != o.Signer {
			t.Errorf("signed by %s, and it names %s", sig.KeyID, o.Signer)
		}
		if raw := must.Get(envelope.Canonical(o))(t); !bytes.HasPrefix(b, append([]byte(envelope.BodyPrefix), raw...)) {
			t.Error("it has another spelling")
		}
	})
}
