package bundle_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/freeze/bundle"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// original is what testdata/nexo/index.json says about a bundle that the original wrote.
type original struct {
	File       string              `json:"file"`
	Sidecar    string              `json:"sidecar"`
	Identities []string            `json:"identities"`
	Duplicates []any               `json:"duplicates"`
	Manifest   bundle.NexoManifest `json:"manifest"`
}

func originals(t testing.TB) []original {
	t.Helper()
	b := must.Get(os.ReadFile("testdata/nexo/index.json"))(t)
	var index struct {
		Vectors []original `json:"vectors"`
	}
	must.Do(t, json.Unmarshal(b, &index))
	if len(index.Vectors) == 0 {
		t.Fatal("no bundles")
	}
	return index.Vectors
}

// goldenIDs reads the identities beside the bundles, whatever mode a checkout gave them.
func goldenIDs(t testing.TB) (ids []age.Identity) {
	t.Helper()
	for _, name := range []string{"ana", "ben"} {
		list := must.Get(agekey.ParseIdentities(bytes.NewReader(readFile(t, "testdata/nexo/"+name+".identity"))))(t)
		ids = append(ids, list...)
	}
	return ids
}

func TestBundlesOfTheOriginalAreRead(t *testing.T) {
	t.Parallel()
	for _, g := range originals(t) {
		if g.File == "odd-names.tar.zst" {
			continue // see TestTheOtherFormatIsReadStrictly
		}
		t.Run(g.File, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join("testdata/nexo", g.File)
			got := must.Get(extract(t, file, bundle.ReadOptions{Identities: goldenIDs(t)}))(t)
			must.Equal(t, "manifest", got.Nexo, &g.Manifest)
			if got.Format != wire.FormatNexo || got.Info.SHA256 != g.Sidecar || got.Signature.Status != sign.SignatureMissing {
				t.Errorf("got %s, %s, %+v", got.Format, got.Info.SHA256, got.Signature)
			}
			for _, e := range got.Entries {
				b := readFile(t, filepath.Join(got.Dir, filepath.FromSlash(e.Path)))
				must.Hold(t, int64(len(b)) == e.Bytes && sumOf(b) == e.SHA256, "%s is not what the manifest says", e.Path)
			}
			if g.Manifest.Git.HeadOID == strings.Repeat("0", 40) && got.Info.GitOID != "" {
				t.Errorf("no repository, and the git id is %q", got.Info.GitOID)
			}
		})
	}
}

// TestHeadersAreThoseOfTheOriginal writes every header of a bundle of the original anew and compares the bytes.
func TestHeadersAreThoseOfTheOriginal(t *testing.T) {
	t.Parallel()
	raw := plainTar(t, "testdata/nexo/plain.tar.zst")
	var g original
	for _, g = range originals(t) {
		if g.File == "plain.tar.zst" {
			break
		}
	}
	size := func(b []byte) (n int64) {
		for _, c := range b[124:135] {
			n = n*8 + int64(c-'0')
		}
		return n
	}
	at, long := 0, 0
	paths := []string{"manifest.json"}
	for _, a := range g.Manifest.Artifacts {
		paths = append(paths, a.Path)
	}
	for _, path := range paths {
		last := at
		if raw[at+156] == 'L' {
			last += 512 + int(size(raw[at:])+511)/512*512
			long++
		}
		n := size(raw[last:])
		want := bundle.GNUHeader(path, n)
		must.Equal(t, "the header of "+path, raw[at:at+len(want)], want)
		at += len(want) + int(n+511)/512*512
	}
	must.Hold(t, long != 0, "no long name was compared")
	must.Equal(t, "the end of the archive", raw[at:], make([]byte, 1024))
}

func TestNexoBundlesComeBack(t *testing.T) {
	t.Parallel()
	x := newKey(t, agekey.X25519)
	for _, tt := range []struct {
		name  string
		write bundle.WriteOptions
		ids   []age.Identity
	}{
		{"plain", bundle.WriteOptions{}, nil},
		{"signed", bundle.WriteOptions{Signer: newSigner(2)}, nil},
		{"encrypted", bundle.WriteOptions{Signer: newSigner(2), Recipients: recipients(x)}, []age.Identity{x.identity}},
		{"passphrase", bundle.WriteOptions{Passphrase: "p"}, []age.Identity{passphrase(t, "p")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "b")
			info := writeNexo(t, file, tt.write)
			got := must.Get(extract(t, file, bundle.ReadOptions{Identities: tt.ids}))(t)
			must.Equal(t, "what was written and what was read", got.Info, info, cmp.AllowUnexported(amber.Time{}))
			_, sources := nexoSample()
			sameFiles(t, got.Dir, sources)
			// The manifest is first, and everything is in the order of the original.
			want := []string{
				"manifest.json", "sqlite/long_term.sqlite", "state/dream_run.json", "memory_files/MEMORY.md",
				"memory_files/" + strings.Repeat("x", 110) + ".md", "git/HEAD", "amber-manifest.json",
			}
			must.Equal(t, "entries", tarNames(t, plainTar(t, file, tt.ids...)), want)
		})
	}
}

func TestANexoSourceThatChangesIsNotWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, _ := nexoSample()
	reads := 0
	s := text("memory_files/a.md", "memory_file", "1")
	open := s.Open
	s.Open = func(ctx ctxType) (io.ReadCloser, error) {
		if reads++; reads == 2 {
			return io.NopCloser(strings.NewReader("2")), nil
		}
		return open(ctx)
	}
	_, err := bundle.WriteNexo(t.Context(), filepath.Join(dir, "b"), c, []bundle.Source{s}, bundle.WriteOptions{})
	must.Kind(t, "a source that changes", err, amber.KindConflict)
	if list, _ := os.ReadDir(dir); len(list) != 0 {
		t.Errorf("something is left: %v", list)
	}
}
