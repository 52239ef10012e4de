package bundle_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/freeze/bundle"
	"github.com/amber-memory/amber/internal/test/crashfs"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

var damageStride = flag.Int("damage.stride", 4, "every how many bytes of a bundle one is changed; 1: each")

func step() int { return max(*damageStride, minStep) }

// small is one kind of bundle, as small as it can be.
type small struct {
	name  string
	bytes []byte
	ids   []age.Identity
}

func smalls(t testing.TB) []small {
	t.Helper()
	x := newKey(t, agekey.X25519)
	c, _ := sample()
	c.Databases, c.Skipped, c.Marks, c.Refs = nil, nil, nil, nil
	sources := []bundle.Source{text("notes/a.md", "note", "tea")}
	nc := bundle.NexoContents{Contents: c}
	nexoSources := []bundle.Source{text("memory_files/a.md", "memory_file", "tea")}
	plain := bundle.WriteOptions{Signer: newSigner(1)}
	sealed := bundle.WriteOptions{Signer: newSigner(1), Recipients: recipients(x)}
	var list []small
	for _, k := range []struct {
		name string
		nexo bool
		o    bundle.WriteOptions
		ids  []age.Identity
	}{
		{"plain", false, plain, nil},
		{"encrypted", false, sealed, []age.Identity{x.identity}},
		{"nexo plain", true, plain, nil},
		{"nexo encrypted", true, sealed, []age.Identity{x.identity}},
	} {
		file := filepath.Join(t.TempDir(), "b")
		var err error
		if k.nexo {
			_, err = bundle.WriteNexo(t.Context(), file, nc, nexoSources, k.o)
		} else {
			_, err = bundle.Write(t.Context(), file, c, sources, k.o)
		}
		must.Do(t, err)
		list = append(list, small{k.name, readFile(t, file), k.ids})
	}
	return list
}

// memory is a disk with one bundle, its sidecar and an empty folder.
func memory(t testing.TB, b []byte, sidecar string) fsx.FS {
	t.Helper()
	disk := crashfs.New()
	must.Do(t, disk.Mkdir("/x", 0o700))
	for name, content := range map[string][]byte{"/b": b, "/b.sha256": []byte(sidecar)} {
		f := must.Get(fsx.Build(disk, name, 0o600))(t)
		must.Get(f.Write(content))(t)
		f.Close()
	}
	return disk
}

// look verifies and extracts the bundle on a disk.
func look(t testing.TB, disk fsx.FS, o bundle.ReadOptions) (r wire.BundleReport, verr, xerr error) {
	t.Helper()
	if r, verr = check(t, disk, o); verr != nil && r.File == "" {
		return r, verr, verr
	}
	return r, verr, unpack(t, disk, o)
}

// check verifies the bundle on a disk.
func check(t testing.TB, disk fsx.FS, o bundle.ReadOptions) (wire.BundleReport, error) {
	t.Helper()
	o.FS = disk
	b, err := bundle.Read(t.Context(), "/b", o)
	if err != nil {
		return wire.BundleReport{}, err
	}
	defer b.Close()
	return b.Verify(t.Context())
}

// unpack extracts the bundle on a disk; if that fails nothing may be left.
func unpack(t testing.TB, disk fsx.FS, o bundle.ReadOptions) error {
	t.Helper()
	o.FS = disk
	b, err := bundle.Read(t.Context(), "/b", o)
	if err != nil {
		return err
	}
	defer b.Close()
	_, err = b.Extract(t.Context(), "/x")
	if list, rerr := disk.ReadDir("/x"); err != nil && (rerr != nil || len(list) > 0) {
		t.Errorf("after %v the folder holds %v, %v", err, list, rerr)
	}
	return err
}

// found reports whether damage was noticed, or that it cannot be read at all.
func found(r wire.BundleReport, err error) bool { return err != nil || !r.OK() }

func TestEveryFlippedByteIsFound(t *testing.T) {
	t.Parallel()
	for _, s := range smalls(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			digest := sumOf(s.bytes)
			known := map[string][]age.Identity{"without a key": nil}
			if s.ids != nil {
				known["with the key"] = s.ids
			}
			for i := 0; i < len(s.bytes); i += step() {
				disk := memory(t, flipped(s.bytes, i), digest)
				for name, ids := range known {
					o := bundle.ReadOptions{Identities: ids}
					if r, err := check(t, disk, o); !found(r, err) {
						t.Errorf("%s, %s: not found: %v", where(s.bytes, i), name, r.Checked)
					}
					if i%16 == 0 && unpack(t, disk, o) == nil {
						t.Errorf("%s, %s: extracted in spite of it", where(s.bytes, i), name)
					}
				}
			}
		})
	}
}

func flipped(b []byte, i int) []byte {
	b = bytes.Clone(b)
	b[i] ^= 1 << (i % 8)
	return b
}

// TestEveryFlippedByteIsFoundByTheBundleItself gives the damage a sidecar that matches, as an attacker would.
func TestEveryFlippedByteIsFoundByTheBundleItself(t *testing.T) {
	t.Parallel()
	for _, s := range smalls(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			whole := entriesOf(t, s)
			for i := 0; i < len(s.bytes); i += step() {
				b := flipped(s.bytes, i)
				disk := memory(t, b, sumOf(b))
				o := bundle.ReadOptions{Identities: s.ids}
				r, err := check(t, disk, o)
				switch {
				case found(r, err):
					if i%16 == 0 && unpack(t, disk, o) == nil {
						t.Errorf("%s: extracted in spite of it", where(b, i))
					}
				case slices.Contains(r.NotChecked, notOpened):
					// It damaged the recipient, so that the key opens nothing: nothing is claimed, nothing comes out.
					must.Kind(t, where(b, i), unpack(t, disk, o), amber.KindRefused)
				case s.name == "nexo plain" && fmt.Sprint(r.Parts) == whole:
					// This format has no digest of what is stored: what does not change the content is no damage to it.
				default:
					t.Errorf("%s, with the key: not found: %v", where(b, i), r.Checked)
				}
				if s.ids != nil {
					checkLocked(t, s, i, disk)
				}
			}
		})
	}
}

const notOpened = "age authentication: no identity opens it"

// checkLocked looks at a bundle with a flipped byte without the key. The outer manifest covers all but itself and the
// last line of the header, and what it does not cover is not claimed.
func checkLocked(t *testing.T, s small, i int, disk fsx.FS) {
	t.Helper()
	r, err := check(t, disk, bundle.ReadOptions{})
	if found(r, err) {
		return
	}
	if !slices.Contains(r.NotChecked, notOpened) {
		t.Errorf("%s, without the key: %v is claimed", where(s.bytes, i), r.Checked)
	}
	header := must.Get(agekey.ParseHeader(s.bytes))(t)
	isMAC := i >= header.Footer && i < header.Size
	if slices.Contains(r.Checked, bundle.CheckPayload) && !isMAC {
		t.Errorf("%s, without the key: not found: %v", where(s.bytes, i), r.Checked)
	}
}

func entriesOf(t *testing.T, s small) string {
	t.Helper()
	r, verr, xerr := look(t, memory(t, s.bytes, sumOf(s.bytes)), bundle.ReadOptions{Identities: s.ids})
	if verr != nil || xerr != nil || !r.OK() {
		t.Fatalf("the bundle is not whole: %v, %v, %v", verr, xerr, damages(r))
	}
	return fmt.Sprint(r.Parts)
}

func TestEveryFlippedBitOfASidecarIsFound(t *testing.T) {
	t.Parallel()
	for _, s := range smalls(t)[:2] {
		digest := []byte(sumOf(s.bytes))
		for i := range digest {
			for bit := range 8 {
				d := bytes.Clone(digest)
				d[i] ^= 1 << bit
				r, verr, xerr := look(t, memory(t, s.bytes, string(d)), bundle.ReadOptions{})
				if !found(r, verr) || xerr == nil {
					t.Errorf("%s, bit %d of %s is not found", s.name, bit, where(digest, i))
				}
			}
		}
	}
}

func TestTheSidecarOfTheOtherFormatIsReadAsTheOriginalDoes(t *testing.T) {
	t.Parallel()
	s := smalls(t)[2]
	digest := sumOf(s.bytes)
	for sidecar, ok := range map[string]bool{
		digest: true, " " + digest + "\r\n": true, string(bytes.ToUpper([]byte(digest))): true,
		digest + "  b": false, digest[1:]: false, "": false, digest + digest + digest + digest + digest: false,
	} {
		r, verr, xerr := look(t, memory(t, s.bytes, sidecar), bundle.ReadOptions{})
		if found(r, verr) == ok || (xerr == nil) != ok {
			t.Errorf("%q: found damage %v, extract %v", sidecar, damages(r), xerr)
		}
	}
}

func TestEveryTruncationIsFound(t *testing.T) {
	t.Parallel()
	for _, s := range smalls(t) {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			for n := 0; n < len(s.bytes); n += step() {
				b := s.bytes[:n]
				disk := memory(t, b, sumOf(b))
				o := bundle.ReadOptions{Identities: s.ids}
				must.Kind(t, fmt.Sprintf("cut at %d", n), unpack(t, disk, o), amber.KindDamaged)
				if n%8 != 0 {
					continue
				}
				if r, err := check(t, disk, o); !found(r, err) {
					t.Errorf("cut at %d of %d: not found: %v", n, len(s.bytes), r.Checked)
				}
			}
			more := append(bytes.Clone(s.bytes), 0)
			if _, _, xerr := look(t, memory(t, more, sumOf(more)), bundle.ReadOptions{Identities: s.ids}); xerr == nil {
				t.Error("a byte more is not found")
			}
		})
	}
}

func TestWhatIsNoBundle(t *testing.T) {
	t.Parallel()
	for name, b := range map[string][]byte{
		"nothing": nil, "text": []byte("hello, I am a bundle"), "a gzip": {0x1f, 0x8b, 8, 0},
		"armor": []byte("-----BEGIN AGE ENCRYPTED FILE-----\n"), "zeros": make([]byte, 5000),
	} {
		r, verr, xerr := look(t, memory(t, b, sumOf(b)), bundle.ReadOptions{})
		if verr != nil || r.OK() {
			t.Errorf("%s: got %v, %v", name, damages(r), verr)
		}
		must.Kind(t, name, xerr, amber.KindDamaged)
	}
	must.Fail(bundle.Read(t.Context(), filepath.Join(t.TempDir(), "b"), bundle.ReadOptions{}))(t, "a missing file", amber.KindNotFound)
	must.Fail(bundle.Read(t.Context(), t.TempDir(), bundle.ReadOptions{}))(t, "a folder", amber.KindInvalid)
}

func TestAMissingSidecarIsDamageUnlessItIsLeftOut(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "b")
	write(t, file, bundle.WriteOptions{})
	must.Do(t, os.Remove(file+".sha256"))
	_, err := extract(t, file, bundle.ReadOptions{})
	must.Kind(t, "without the sidecar", err, amber.KindDamaged)
	must.Hold(t, amber.HintOf(err) != "", "no hint")
	must.Kind(t, "with NoSidecar", must.Err(extract(t, file, bundle.ReadOptions{NoSidecar: true})), "")
}
