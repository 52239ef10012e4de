package colony_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

// The files below testdata were made by colony-memory 0.1.2; its README lists the files that were compressed to keep
// them small.

// vector is what that client says about a snapshot of testdata/ok.
type vector struct {
	Name            string            `json:"name"`
	LabelIn         string            `json:"label_in"`
	Label           string            `json:"label"`
	ID              colony.SnapshotID `json:"snapshot_id"`
	DocNames        []string          `json:"doc_names"`
	PartCount       int               `json:"part_count"`
	ByteSize        int64             `json:"byte_size"`
	BlobChars       int64             `json:"blob_chars"`
	PlaintextSHA256 string            `json:"plaintext_sha256"`
	Signed          bool              `json:"signed"`
	Issuer          sign.KeyID        `json:"issuer"`
	Seed            string            `json:"seed_hex"`
	PartChars       int               `json:"part_chars"`
	SignedSHA256    string            `json:"signed_bytes_sha256"`
	Signature       string            `json:"signature"`
	Files           map[string]string `json:"files"`
}

func okVectors(t testing.TB) []vector {
	t.Helper()
	var l []vector
	readJSON(t, "testdata/ok/index.json", &l)
	if len(l) != 13 {
		t.Fatalf("%d vectors", len(l))
	}
	return l
}

func readJSON(t testing.TB, file string, into any) {
	t.Helper()
	if err := json.Unmarshal(readFile(t, file), into); err != nil {
		t.Fatalf("%s: %v", file, err)
	}
}

// readFile reads a file, or what its compressed form holds.
func readFile(t testing.TB, file string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(file))
	if errors.Is(err, fs.ErrNotExist) {
		b, err = os.ReadFile(filepath.FromSlash(file + ".gz"))
		if err == nil {
			b = gunzip(t, b)
		}
	}
	must.Do(t, err)
	return b
}

func gunzip(t testing.TB, b []byte) []byte {
	t.Helper()
	return must.Get(io.ReadAll(must.Get(gzip.NewReader(bytes.NewReader(b)))(t)))(t)
}

// vaultFiles reads the files of a vault of testdata.
func vaultFiles(t testing.TB, dir string) map[string]string {
	t.Helper()
	list := must.Get(os.ReadDir(filepath.FromSlash(dir)))(t)
	files := make(map[string]string)
	for _, e := range list {
		files[e.Name()] = string(readFile(t, dir+"/"+e.Name()))
	}
	return files
}

func (v vector) dir() string { return "testdata/ok/" + v.Name }

// files returns the files of the vault. Where the parts are too big to be kept,
// they are made from the payload.
func (v vector) files(t testing.TB) map[string]string {
	t.Helper()
	files := vaultFiles(t, v.dir()+"/vault")
	if v.Name != "multipart" {
		return files
	}
	blob := base64.StdEncoding.EncodeToString(v.rawPayload(t))
	for seq := range v.PartCount {
		chunk := blob[seq*700_000 : min(len(blob), (seq+1)*700_000)]
		files[colony.PartName(v.Label, v.ID, seq)] = fmt.Sprintf(
			`{"format": "colony-memory/1", "snapshot_id": "%s", "seq": %d, "b64": "%s"}`, v.ID, seq, chunk)
	}
	return files
}

func (v vector) rawPayload(t testing.TB) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.FromSlash(v.dir() + "/payload.gz")))(t)
}

// documents and plaintext are what was to be packed, and what it was hashed as.
func (v vector) documents(t testing.TB) (docs colony.Documents) {
	t.Helper()
	if v.Name == "multipart" {
		return multipartDocuments()
	}
	readJSON(t, v.dir()+"/documents.json", &docs)
	return docs
}

func (v vector) plaintext(t testing.TB) []byte {
	t.Helper()
	if v.Name == "multipart" {
		return gunzip(t, v.rawPayload(t))
	}
	return readFile(t, v.dir()+"/plaintext.bin")
}

// multipartDocuments are the documents of the vector that is not kept in full.
func multipartDocuments() colony.Documents {
	var big strings.Builder
	for i := 0; big.Len() < 1_900_000; i++ {
		sum := sha256.Sum256(fmt.Appendf(nil, "big:%d", i))
		big.WriteString(hex.EncodeToString(sum[:]))
	}
	return colony.Documents{"big.hex": big.String()[:1_900_000], "small": "s"}
}

// snapshotOf returns the manifest of files and its parts in their order.
func snapshotOf(t testing.TB, files map[string]string, label string, id colony.SnapshotID) (colony.Manifest, []string) {
	t.Helper()
	m := must.Get(colony.ParseManifest(files[colony.ManifestName(label, id)]))(t)
	var parts []string
	for _, name := range m.PartFiles {
		parts = append(parts, files[name])
	}
	return m, parts
}

// signer signs with a key.
type signer struct{ key ed25519.PrivateKey }

func (s signer) KeyID() sign.KeyID {
	return sign.NewKeyID(s.key.Public().(ed25519.PublicKey))
}

func (s signer) Sign(_ context.Context, message []byte) (sign.Signature, error) {
	return sign.SignWith(s.key, message), nil
}

// signerOf returns the signer of a seed; nil for none.
func signerOf(t testing.TB, seed string) sign.Signer {
	t.Helper()
	if seed == "" {
		return nil
	}
	b := must.Get(hex.DecodeString(seed))(t)
	return signer{ed25519.NewKeyFromSeed(b)}
}

func hexSum[T string | []byte](b T) string {
	sum := sha256.Sum256([]byte(b))
	return hex.EncodeToString(sum[:])
}

// TestTheFilesOfColonyAreRead reads every snapshot of the original client as a
// strict reader.
func TestTheFilesOfColonyAreRead(t *testing.T) {
	t.Parallel()
	for _, v := range okVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			files := v.files(t)
			if len(files) != len(v.Files) {
				t.Fatalf("%d files of %d", len(files), len(v.Files))
			}
			for name, want := range v.Files {
				must.Equal(t, name, hexSum(files[name]), want)
			}
			m, parts := snapshotOf(t, files, v.Label, v.ID)
			docs, checks, err := colony.Unpack(t.Context(), m, parts, colony.ReadOptions{Label: v.Label, ID: v.ID})
			must.Do(t, err)
			if want := v.documents(t); !maps.Equal(want, docs) {
				t.Errorf("documents: got %.400q, want %.400q", docs, want)
			}
			want := colony.Checks{Digest: true, Declared: true, Signature: colony.SignatureNone}
			if v.Signed {
				want.Signature = colony.SignatureUnknown
			}
			must.Equal(t, "checks", checks, want)
			v.checkInfo(t, m.Info)
			p, err := colony.ParsePointer(files[colony.LatestName(v.Label)])
			if err != nil || p.ID != v.ID || len(p.Objections(v.Label)) > 0 {
				t.Errorf("pointer: got %+v, %v, %v", p, err, p.Objections(v.Label))
			}
		})
	}
}

func (v vector) checkInfo(t *testing.T, got colony.Info) {
	t.Helper()
	want := colony.Info{
		ID: v.ID, Label: v.Label, CreatedAt: "2026-06-19T05:16:43Z", DocNames: v.DocNames, PartCount: v.PartCount,
		ByteSize: v.ByteSize, BlobChars: v.BlobChars, PlaintextSHA256: v.PlaintextSHA256, Signed: v.Signed, Issuer: v.Issuer,
	}
	if v.Name == "tiny_parts" { // the index does not tell
		want.DocNames, want.BlobChars = []string{"big", "日"}, got.BlobChars
	}
	must.Equal(t, "info", got, want)
}

// TestTheBytesOfColonyAreMade makes what is hashed, what is signed, the signature and every file from the documents,
// byte for byte. It takes the compressed bytes from the vector, since they depend on the library.
func TestTheBytesOfColonyAreMade(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 19, 5, 16, 43, 999, time.FixedZone("", 0))
	for _, v := range okVectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			t.Parallel()
			docs, files := v.documents(t), v.files(t)
			plaintext, err := docs.Canonical()
			if err != nil || !bytes.Equal(plaintext, v.plaintext(t)) {
				t.Fatalf("the canonical bytes are others: %v", err)
			}
			must.Equal(t, "digest", must.Get(docs.Digest())(t), v.PlaintextSHA256)
			must.Equal(t, "label", colony.Label(v.LabelIn), v.Label)
			packed, err := colony.PackPayload(t.Context(), colony.Draft{
				ID: v.ID, Label: v.Label, CreatedAt: at, Documents: docs, Signer: signerOf(t, v.Seed), PartChars: v.PartChars,
			}, plaintext, payloadOf(t, files, v))
			must.Do(t, err)
			made := append(slices.Clone(packed.Parts), packed.Manifest, colony.Latest(v.Label, v.ID, at))
			must.Equal(t, "files", len(made), len(files))
			for _, f := range made {
				must.Equal(t, f.Name, f.Content, files[f.Name])
			}
			v.checkInfo(t, packed.Info)
			checkSignedBytes(t, v, packed.Manifest.Content)
		})
	}
}

func checkSignedBytes(t *testing.T, v vector, manifest string) {
	t.Helper()
	if !v.Signed {
		return
	}
	m := must.Get(colony.ParseManifest(manifest))(t)
	signed := m.SignedBytes()
	if v.Name != "tiny_parts" { // which has neither
		must.Equal(t, "signed", signed, readFile(t, v.dir()+"/signed_bytes.bin"))
		must.Equal(t, "signed", hexSum(signed), v.SignedSHA256)
		s := sign.Signature{Alg: sign.SignatureAlg, KeyID: v.Issuer, Sig: v.Signature}
		must.Do(t, s.Verify(signed))
	}
}

// payloadOf takes the payload out of parts with another decoder than the one
// under test.
func payloadOf(t testing.TB, files map[string]string, v vector) []byte {
	t.Helper()
	var blob strings.Builder
	for seq := range v.PartCount {
		var part struct {
			B64 string `json:"b64"`
		}
		must.Do(t, json.Unmarshal([]byte(files[colony.PartName(v.Label, v.ID, seq)]), &part))
		blob.WriteString(part.B64)
	}
	return must.Get(base64.StdEncoding.DecodeString(blob.String()))(t)
}

// TestPlainIsWhatPythonWrites writes again every file of every vault that is
// JSON without a member twice.
func TestPlainIsWhatPythonWrites(t *testing.T) {
	t.Parallel()
	var written int
	for name, content := range allFiles(t) {
		v, err := colony.DecodeJSON([]byte(content))
		if err != nil {
			continue
		}
		written++
		must.Equal(t, name, string(v.Plain()), content)
	}
	if written < 150 {
		t.Errorf("only %d files", written)
	}
}

// allFiles returns the files of all vaults of testdata by path.
func allFiles(t testing.TB) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir("testdata", func(path string, e fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(e.Name(), "cmem.") {
			files[path] = string(readFile(t, filepath.ToSlash(path)))
		}
		return err
	})
	must.Do(t, err)
	return files
}
