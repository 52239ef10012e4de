package bundle_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/freeze/bundle"
	"github.com/amber-memory/amber/internal/test/errfs"
	"github.com/amber-memory/amber/internal/test/golden"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

var update = flag.Bool("update", false, "write the golden files and those vectors that are missing")

const vectorPassphrase = "vector"

// vectors are bundles that stay as they are: what was written once is read forever. The archives of those that are not
// encrypted are also what is written today, byte for byte.
var vectors = []struct {
	name      string
	nexo      bool
	encrypted bool
	options   func(x, h agekey.Recipient) bundle.WriteOptions
}{
	{"plain", false, false, func(_, _ agekey.Recipient) bundle.WriteOptions { return bundle.WriteOptions{} }},
	{"signed", false, false, func(_, _ agekey.Recipient) bundle.WriteOptions { return bundle.WriteOptions{Signer: newSigner(1)} }},
	{"x25519", false, true, func(x, _ agekey.Recipient) bundle.WriteOptions {
		return bundle.WriteOptions{Signer: newSigner(1), Recipients: []agekey.Recipient{x}}
	}},
	{"hybrid", false, true, func(_, h agekey.Recipient) bundle.WriteOptions {
		return bundle.WriteOptions{Signer: newSigner(1), Recipients: []agekey.Recipient{h}}
	}},
	{"passphrase", false, true, func(_, _ agekey.Recipient) bundle.WriteOptions {
		return bundle.WriteOptions{Signer: newSigner(1), Passphrase: vectorPassphrase}
	}},
	{"nexo", true, false, func(_, _ agekey.Recipient) bundle.WriteOptions { return bundle.WriteOptions{Signer: newSigner(1)} }},
	{"nexo-x25519", true, true, func(x, _ agekey.Recipient) bundle.WriteOptions {
		return bundle.WriteOptions{Signer: newSigner(1), Recipients: []agekey.Recipient{x}}
	}},
}

// vectorIDs reads the identities of the vectors: one of X25519, one hybrid, and the passphrase.
func vectorIDs(t testing.TB) []age.Identity {
	t.Helper()
	const file = "testdata/vectors/identities.txt"
	if _, err := os.Stat(file); err != nil && *update {
		must.Get(agekey.Own(nil, file))(t)
	}
	ids := must.Get(agekey.ParseIdentities(bytes.NewReader(readFile(t, file))))(t)
	return append(ids, passphrase(t, vectorPassphrase))
}

func TestVectorsAreReadForever(t *testing.T) {
	t.Parallel()
	ids := vectorIDs(t)
	x, _ := agekey.RecipientOf(ids[0])
	h, _ := agekey.RecipientOf(ids[1])
	for _, v := range vectors {
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("testdata", "vectors", v.name+"-1.bundle")
			make := write
			if v.nexo {
				make = writeNexo
			}
			if _, err := os.Stat(file); err != nil && *update {
				make(t, file, v.options(x, h))
			}
			got := must.Get(extract(t, file, bundle.ReadOptions{Identities: ids}))(t)
			golden.Check(t, *update, "vectors/"+v.name+"-1", describe(t, got))
			if v.encrypted {
				return
			}
			// The archive, not what is around it: another version of zstd may compress otherwise.
			again := filepath.Join(t.TempDir(), "b")
			make(t, again, v.options(x, h))
			must.Hold(t, bytes.Equal(plainTar(t, again), plainTar(t, file)), "the same contents give another archive today")
		})
	}
}

// describe returns everything a bundle tells, without where it lies.
func describe(t testing.TB, x *bundle.Extracted) string {
	t.Helper()
	x.Info.File = ""
	b := must.Get(json.MarshalIndent(struct {
		Info      wire.BundleInfo
		Contents  bundle.Contents
		Entries   []wire.BundleEntry
		Nexo      *bundle.NexoManifest
		Signature sign.SignatureReport
		Checked   []string
	}{x.Info, x.Contents, x.Entries, x.Nexo, x.Signature, x.Checked}, "", "  "))(t)
	return string(b) + "\n"
}

// TestTheOrderOfTheDisk pins when what becomes durable and visible: the bytes, the sidecar, the name.
func TestTheOrderOfTheDisk(t *testing.T) {
	t.Parallel()
	var lines strings.Builder
	traced := errfs.TraceRel(disk(t), "/d", func(line string) { lines.WriteString(line + "\n") })
	c, _ := sample()
	c.Databases = nil
	must.Get(bundle.Write(t.Context(), "/d/b", c, nil, bundle.WriteOptions{FS: traced}))(t)
	golden.Check(t, *update, "write-order", lines.String())
}
