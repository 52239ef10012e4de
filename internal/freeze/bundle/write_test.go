package bundle_test

import (
	"archive/tar"
	"bytes"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/freeze/bundle"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestWhatIsWrittenComesBack(t *testing.T) {
	t.Parallel()
	x, y, h := newKey(t, agekey.X25519), newKey(t, agekey.X25519), newKey(t, agekey.Hybrid)
	h2 := newKey(t, agekey.Hybrid)
	for _, tt := range []struct {
		name  string
		write bundle.WriteOptions
		read  []age.Identity
		kinds []string
	}{
		{"plain", bundle.WriteOptions{}, nil, nil},
		{"plain, signed, level 19", bundle.WriteOptions{Signer: newSigner(1), Level: 19}, nil, nil},
		{"x25519", bundle.WriteOptions{Recipients: recipients(x)}, []age.Identity{x.identity}, []string{"x25519"}},
		{"two, the second opens", bundle.WriteOptions{Recipients: recipients(x, y), Signer: newSigner(1)}, []age.Identity{h.identity, y.identity}, []string{"x25519", "x25519"}},
		{"hybrid", bundle.WriteOptions{Recipients: recipients(h, h2), Signer: newSigner(1)}, []age.Identity{h2.identity}, []string{"hybrid", "hybrid"}},
		{"passphrase", bundle.WriteOptions{Passphrase: "tea", Signer: newSigner(1)}, []age.Identity{passphrase(t, "tea")}, []string{"passphrase"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "b")
			info := write(t, file, tt.write)
			got := must.Get(extract(t, file, bundle.ReadOptions{Identities: tt.read}))(t)
			must.Equal(t, "what was written and what was read", got.Info, info, cmp.AllowUnexported(amber.Time{}))
			must.Equal(t, "recipients", info.Recipients, tt.kinds)
			c, sources := sample()
			must.Equal(t, "contents", got.Contents, c, cmp.AllowUnexported(amber.Time{}))
			sameFiles(t, got.Dir, sources)
		})
	}
}

// sameFiles compares a folder with what was put into a bundle.
func sameFiles(t *testing.T, dir string, sources []bundle.Source) {
	t.Helper()
	want := map[string]string{}
	for _, s := range sources {
		if strings.HasSuffix(s.Path, "/") {
			want[s.Path] = "drwx------"
			continue
		}
		r := must.Get(s.Open(t.Context()))(t)
		b := must.Get(io.ReadAll(r))(t)
		want[s.Path] = s.Mode.String() + string(b)
	}
	got := map[string]string{}
	must.Do(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if list, err := os.ReadDir(path); err != nil || len(list) > 0 {
				return err
			}
			got[rel+"/"] = info.Mode().String()
			return nil
		}
		got[rel] = info.Mode().String() + string(readFile(t, path))
		return nil
	}))
	if runtime.GOOS == "windows" {
		return
	}
	must.Equal(t, "files", got, want)
}

func TestEqualContentsGiveEqualBytes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	c, sources := sample()
	o := bundle.WriteOptions{Signer: newSigner(1)}
	a := must.Get(bundle.Write(t.Context(), filepath.Join(dir, "a"), c, sources, o))(t)
	slices.Reverse(sources)
	b := must.Get(bundle.Write(t.Context(), filepath.Join(dir, "b"), c, sources, o))(t)
	must.Hold(t, a.SHA256 == b.SHA256 && bytes.Equal(readFile(t, a.File), readFile(t, b.File)), "the bytes differ")
}

// plainTar returns the tar of a bundle by other means than this package.
func plainTar(t *testing.T, file string, ids ...age.Identity) []byte {
	t.Helper()
	var r io.Reader = bytes.NewReader(readFile(t, file))
	if len(ids) > 0 {
		r = must.Get(age.Decrypt(r, ids...))(t)
	}
	z := must.Get(zstd.NewReader(r))(t)
	defer z.Close()
	return must.Get(io.ReadAll(z))(t)
}

func tarNames(t *testing.T, b []byte) (list []string) {
	t.Helper()
	r := tar.NewReader(bytes.NewReader(b))
	for {
		h, err := r.Next()
		if err == io.EOF {
			return list
		}
		must.Do(t, err)
		if h.Uid != 0 || h.Gid != 0 || h.Uname != "" || h.Gname != "" || h.Mode&0o077 != 0 {
			t.Errorf("%s tells too much: %+v", h.Name, h)
		}
		list = append(list, h.Name)
	}
}

func sortedPaths(sources []bundle.Source) (list []string) {
	for _, s := range sources {
		list = append(list, s.Path)
	}
	slices.Sort(list)
	return append(list, "manifest.json")
}

func TestTarAndZstdAndAgeOpenABundle(t *testing.T) {
	t.Parallel()
	x, h := newKey(t, agekey.X25519), newKey(t, agekey.Hybrid)
	_, sources := sample()
	for _, tt := range []struct {
		name  string
		write bundle.WriteOptions
		ids   []age.Identity
	}{
		{"plain", bundle.WriteOptions{}, nil},
		{"x25519", bundle.WriteOptions{Recipients: recipients(newKey(t, agekey.X25519), x)}, []age.Identity{x.identity}},
		{"hybrid", bundle.WriteOptions{Recipients: recipients(h)}, []age.Identity{h.identity}},
		{"passphrase", bundle.WriteOptions{Passphrase: "p"}, []age.Identity{passphrase(t, "p")}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "b")
			write(t, file, tt.write)
			must.Equal(t, "entries", tarNames(t, plainTar(t, file, tt.ids...)), sortedPaths(sources))
		})
	}
}

func TestTheProgramsOpenABundle(t *testing.T) {
	t.Parallel()
	zstdPath, err := exec.LookPath("zstd")
	if err != nil {
		t.Skip("the zstd program is not installed; other tests open bundles with the library")
	}
	tarPath, err := exec.LookPath("tar")
	if err != nil {
		t.Skip("the tar program is not installed; other tests open bundles with the library")
	}
	file := filepath.Join(t.TempDir(), "b.tar.zst")
	write(t, file, bundle.WriteOptions{Signer: newSigner(1)})
	plain := must.Get(exec.CommandContext(t.Context(), zstdPath, "-dc", file).Output())(t)
	list := exec.CommandContext(t.Context(), tarPath, "tf", "-")
	list.Stdin, list.Env = bytes.NewReader(plain), []string{"LC_ALL=C.UTF-8"}
	out, err := list.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_, sources := sample()
	if got := strings.Count(string(out), "\n"); got != len(sources)+1 || !strings.HasSuffix(string(out), "manifest.json\n") {
		t.Errorf("tar lists %q", out)
	}
}

func TestAnEncryptedBundleTellsNothingThatIsInside(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "b")
	write(t, file, bundle.WriteOptions{Recipients: recipients(newKey(t, agekey.X25519)), Signer: newSigner(1)})
	b := must.Get(bundle.Read(t.Context(), file, bundle.ReadOptions{}))(t)
	defer b.Close()
	info := b.Info()
	if info.ID != sampleID || info.Agent != "ana" || info.Entries != 10 || info.SignedBy != string(newSigner(1).KeyID()) {
		t.Errorf("got %+v", info)
	}
	must.Hold(t, info.Label == "" && info.GitOID == "", "the label or the git id is told: %+v", info)
}

func TestBundlesAreReadByTheirOwnerAlone(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no modes of files")
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a"), bundle.WriteOptions{})
	writeNexo(t, filepath.Join(dir, "n"), bundle.WriteOptions{})
	list := must.Get(os.ReadDir(dir))(t)
	for _, e := range list {
		info := must.Get(e.Info())(t)
		must.Equal(t, "mode of "+e.Name(), info.Mode(), 0o600)
	}
	must.Equal(t, "bundles and sidecars", len(list), 4)
	for _, name := range []string{"a", "n"} {
		got := must.Get(extract(t, filepath.Join(dir, name), bundle.ReadOptions{}))(t)
		must.Do(t, filepath.WalkDir(got.Dir, func(path string, d fs.DirEntry, err error) error {
			if info, ierr := d.Info(); ierr == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %v", path, info.Mode())
			}
			return err
		}))
	}
	open := t.TempDir() // 0755
	must.Do(t, os.Chmod(open, 0o755))
	b := must.Get(bundle.Read(t.Context(), filepath.Join(dir, "a"), bundle.ReadOptions{}))(t)
	defer b.Close()
	must.Fail(b.Extract(t.Context(), open))(t, "extract where others look", amber.KindRefused)
}
