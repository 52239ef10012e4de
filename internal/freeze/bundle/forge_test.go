package bundle

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/binary"
	"io"
	"io/fs"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// forgery is a bundle by an attacker who knows the format and has a key, but does not keep the rules. Every digest in
// it matches, so that only the rule it breaks can be what stops it.
type forgery struct {
	files []forged
	// Changes that are made before the bundle is sealed; nil for none.
	contents func(*Contents)
	inner    func(*inner)
	outer    func(*outer)
	tar      func([]byte) []byte // the whole archive
	stream   func([]byte) []byte // compressed
	file     func([]byte) []byte // the whole bundle
	// The keys that sign; 0 for no signature.
	innerKey, outerKey byte
	noManifest         bool
}

// forged is an entry.
type forged struct {
	path, kind, body string
	mode             int64  // 0: 0600
	header           []byte // nil: what belongs to the entry
	unlisted         bool
}

type forger struct{ key ed25519.PrivateKey }

func (f forger) KeyID() sign.KeyID { return sign.NewKeyID(f.key.Public().(ed25519.PublicKey)) }

func (f forger) Sign(_ context.Context, m []byte) (sign.Signature, error) {
	return sign.SignWith(f.key, m), nil
}

func signerOf(b byte) sign.Signer {
	if b == 0 {
		return nil
	}
	return forger{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{b}, ed25519.SeedSize))}
}

func forgedContents() Contents {
	return Contents{
		ID: "0190b8a0-1111-7222-8333-444455556666", Tenant: "default", Agent: "ana", Device: "d",
		CreatedAt: amber.At(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)),
	}.filled()
}

// forge returns the bytes of a plain bundle.
func (f forgery) forge(t testing.TB) []byte {
	t.Helper()
	c := forgedContents()
	if f.contents != nil {
		f.contents(&c)
	}
	in := &inner{Format: innerFormat, Version: innerVersion, Contents: c, Entries: []entry{}}
	archive := f.archive(in, c)
	if f.innerKey != 0 {
		in.Signer = signerOf(f.innerKey).KeyID()
	}
	if f.inner != nil {
		f.inner(in)
	}
	manifest := append(sealed(t, in, f.innerKey), '\n')
	if !f.noManifest {
		archive = append(archive, posixHeader(header{manifestName, 0o600, int64(len(manifest)), c.CreatedAt.UnixMilli() / 1000})...)
		archive = append(append(archive, manifest...), make([]byte, padding(int64(len(manifest))))...)
	}
	archive = append(archive, make([]byte, tarEnd)...)
	if f.tar != nil {
		archive = f.tar(archive)
	}
	stream := zstdOf(t, archive)
	if f.stream != nil {
		stream = f.stream(stream)
	}
	out := outerOf(&c, false, nil)
	out.fill(in.Entries, manifest)
	out.PayloadBytes, out.PayloadSHA256 = int64(len(stream)), envelope.Digest(stream)
	if f.outerKey != 0 {
		out.Signer = signerOf(f.outerKey).KeyID()
	}
	if f.outer != nil {
		f.outer(&out)
	}
	b := binary.LittleEndian.AppendUint32(nil, skipMagic)
	b = binary.LittleEndian.AppendUint32(b, outerRoom)
	b = append(append(b, pad(sealed(t, &out, f.outerKey), outerRoom)...), stream...)
	if f.file != nil {
		b = f.file(b)
	}
	return b
}

// archive writes the entries and lists them.
func (f forgery) archive(in *inner, c Contents) (out []byte) {
	for _, e := range f.files {
		mode := e.mode
		if mode == 0 {
			mode = 0o600
		}
		h := header{e.path, mode, int64(len(e.body)), c.CreatedAt.UnixMilli() / 1000}
		raw := e.header
		if raw == nil {
			raw = posixHeader(h)
		}
		out = append(append(out, raw...), e.body...)
		out = append(out, make([]byte, padding(h.size))...)
		if e.unlisted {
			continue
		}
		row := entry{Path: e.path, Kind: e.kind, Mode: modeText(fs.FileMode(mode)), Size: h.size, SHA256: envelope.Digest([]byte(e.body))}
		if e.kind == KindFolder {
			row.SHA256 = ""
		}
		in.Entries = append(in.Entries, row)
		in.ExpandedBytes += h.size
	}
	return out
}

func sealed(t testing.TB, v body, key byte) []byte {
	t.Helper()
	signer := signerOf(key)
	if signer != nil && signer.KeyID() != v.signer() {
		signer = nil
	}
	raw := must.Get(envelope.Canonical(v))(t)
	var list []sign.Signature
	if signer != nil {
		signature := must.Get(signer.Sign(t.Context(), envelope.Message(signedDomain, raw)))(t)
		list = append(list, signature)
	}
	return must.Get(envelope.Join(raw, list))(t)
}

func zstdOf(t testing.TB, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w := must.Get(newFrameWriter(&out, 3))(t)
	must.Get(w.Write(b))(t)
	must.Do(t, w.Close())
	return out.Bytes()
}

// try reads a bundle from memory and returns what Verify and Extract say.
func try(t testing.TB, b []byte, l Limits) (wire.BundleReport, error, error) {
	t.Helper()
	disk := crashfs.New()
	must.Do(t, disk.Mkdir("/x", 0o700))
	for name, content := range map[string]string{"/b": string(b), "/b.sha256": envelope.Digest(b)} {
		f := must.Get(fsx.Build(disk, name, 0o600))(t)
		must.Get(io.WriteString(f, content))(t)
		f.Close()
	}
	x, err := Read(t.Context(), "/b", ReadOptions{FS: disk, Limits: l})
	if err != nil {
		return wire.BundleReport{}, err, err
	}
	defer x.Close()
	r, verr := x.Verify(t.Context())
	_, xerr := x.Extract(t.Context(), "/x")
	if list, err := disk.ReadDir("/x"); xerr != nil && (err != nil || len(list) > 0) {
		t.Errorf("after %v the folder holds %v, %v", xerr, list, err)
	}
	return r, verr, xerr
}

// refuses reports a forgery that is not stopped with the right kind.
func refuses(t testing.TB, b []byte, l Limits, kind amber.Kind) {
	t.Helper()
	r, verr, xerr := try(t, b, l)
	must.Kind(t, "extract", xerr, kind)
	if kind == amber.KindTooNew || kind == amber.KindQuota {
		must.Kind(t, "verify", verr, kind)
		return
	}
	must.Hold(t, verr == nil && !r.OK(), "verify: got %v, %v; want damage", r.Damaged, verr)
}

// frames returns something compressed.
func frame(t testing.TB, b []byte, o ...zstd.EOption) []byte {
	t.Helper()
	var out bytes.Buffer
	w := must.Get(zstd.NewWriter(&out, o...))(t)
	must.Get(w.Write(b))(t)
	must.Do(t, w.Close())
	return out.Bytes()
}
