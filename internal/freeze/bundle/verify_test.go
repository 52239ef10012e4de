package bundle_test

import (
	"os"
	"path/filepath"
	"testing"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/freeze/bundle"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// TestVerifyTellsWhatWasCheckedAndWhatWasNot pins both lists for every kind of bundle and knowledge.
func TestVerifyTellsWhatWasCheckedAndWhatWasNot(t *testing.T) {
	t.Parallel()
	x := newKey(t, agekey.X25519)
	stranger := []age.Identity{newKey(t, agekey.X25519).identity}
	open := []age.Identity{x.identity}
	signed := bundle.WriteOptions{Signer: newSigner(1)}
	sealed := bundle.WriteOptions{Signer: newSigner(1), Recipients: recipients(x)}
	pass := bundle.WriteOptions{Signer: newSigner(1), Passphrase: "tea"}
	const entries, nexoEntries = "entries: 9 files, 706 bytes", "entries: 5 files, 39 bytes"
	locked := []string{
		"age authentication: no identity opens it", "inner manifest: no identity opens it",
		"inner signature: no identity opens it", "entries: no identity opens it",
	}
	unknown := []string{
		"age authentication: no identity opens it", "manifest: no identity opens it",
		"signature: no identity opens it", "entries: no identity opens it",
	}
	outside := []string{"sidecar", "outer manifest", "outer signature", "recipients", "payload digest"}
	for _, tt := range []struct {
		name             string
		make             func(t testing.TB, file string, o bundle.WriteOptions) wire.BundleInfo
		write            bundle.WriteOptions
		read             bundle.ReadOptions
		loseSidecar      bool
		checked, skipped []string
		damaged          []string
		format           wire.BundleFormat
	}{
		{
			name: "plain", make: write, write: signed, format: "amber",
			checked: []string{"sidecar", "outer manifest", "outer signature", "payload digest", "inner manifest", "inner signature", entries},
			skipped: []string{},
		},
		{
			name: "plain, unsigned", make: write, format: "amber",
			checked: []string{"sidecar", "outer manifest", "payload digest", "inner manifest", entries},
			skipped: []string{"outer signature: unsigned", "inner signature: unsigned"},
		},
		{
			name: "encrypted, opened", make: write, write: sealed, read: bundle.ReadOptions{Identities: open}, format: "amber",
			checked: append(append([]string{}, outside...), "age authentication", "inner manifest", "inner signature", entries),
			skipped: []string{},
		},
		{name: "encrypted, no identity", make: write, write: sealed, checked: outside, skipped: locked, format: "amber"},
		{
			name: "encrypted, another identity", make: write, write: sealed, read: bundle.ReadOptions{Identities: stranger},
			checked: outside, skipped: locked, format: "amber",
		},
		{
			name: "passphrase, opened", make: write, write: pass, read: bundle.ReadOptions{Identities: []age.Identity{passphrase(t, "tea")}}, format: "amber",
			checked: []string{"sidecar", "age authentication", "inner manifest", "inner signature", entries},
			skipped: []string{"outer manifest: none beside a passphrase"},
		},
		{name: "passphrase, none", make: write, write: pass, checked: []string{"sidecar"}, skipped: unknown},
		{
			name: "passphrase, another", make: write, write: pass, read: bundle.ReadOptions{Identities: []age.Identity{passphrase(t, "coffee")}},
			checked: []string{"sidecar"}, skipped: unknown,
		},
		{
			name: "nexo of ours", make: writeNexo, write: signed, format: "nexo",
			checked: []string{"sidecar", "manifest", "seal", nexoEntries, "amber manifest", "fields", "signature"},
			skipped: []string{},
		},
		{
			name: "nexo of ours, unsigned", make: writeNexo, format: "nexo",
			checked: []string{"sidecar", "manifest", "seal", nexoEntries, "amber manifest", "fields"},
			skipped: []string{"signature: unsigned"},
		},
		{
			name: "nexo encrypted, opened", make: writeNexo, write: sealed, read: bundle.ReadOptions{Identities: open}, format: "nexo",
			checked: []string{"sidecar", "age authentication", "manifest", "seal", nexoEntries, "amber manifest", "fields", "signature"},
			skipped: []string{},
		},
		{name: "nexo encrypted, no identity", make: writeNexo, write: sealed, checked: []string{"sidecar"}, skipped: unknown},
		{
			name: "nexo of the original", make: copyOf("plain.tar.zst"), format: "nexo",
			checked: []string{"sidecar", "manifest", "seal", "entries: 41 files, 132060 bytes"},
			skipped: []string{"fields: nothing covers them", "signature: unsigned"},
		},
		{
			name: "nexo of the original, opened", make: copyOf("encrypted.tar.zst.age"), read: bundle.ReadOptions{Identities: goldenIDs(t)}, format: "nexo",
			checked: []string{"sidecar", "age authentication", "manifest", "seal", "entries: 41 files, 132060 bytes"},
			skipped: []string{"fields: nothing covers them", "signature: unsigned"},
		},
		{name: "nexo of the original, no identity", make: copyOf("encrypted.tar.zst.age"), checked: []string{"sidecar"}, skipped: unknown},
		{
			name: "the sidecar is missing", make: write, write: sealed, loseSidecar: true, format: "amber",
			checked: outside[1:], skipped: locked, damaged: []string{"sidecar: the file is missing"},
		},
		{
			name: "without the sidecar", make: write, write: sealed, loseSidecar: true, read: bundle.ReadOptions{NoSidecar: true}, format: "amber",
			checked: outside[1:], skipped: append([]string{"sidecar: left out"}, locked...),
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "b")
			tt.make(t, file, tt.write)
			if tt.loseSidecar {
				must.Do(t, os.Remove(file+".sha256"))
			}
			r := mustVerify(t, file, tt.read)
			must.Equal(t, "checked", r.Checked, tt.checked)
			must.Equal(t, "not checked", r.NotChecked, tt.skipped)
			must.Equal(t, "damaged", damages(r), tt.damaged)
			must.Equal(t, "the format", r.Format, tt.format)
		})
	}
}

func damages(r wire.BundleReport) (list []string) {
	for _, d := range r.Damaged {
		list = append(list, d.Object+": "+d.Reason)
	}
	return list
}

// copyOf returns a maker that copies a bundle of the original.
func copyOf(name string) func(testing.TB, string, bundle.WriteOptions) wire.BundleInfo {
	return func(t testing.TB, file string, _ bundle.WriteOptions) wire.BundleInfo {
		put(t, file, readFile(t, filepath.Join("testdata/nexo", name)))
		return wire.BundleInfo{}
	}
}

func TestTheNameOfAFileDecidesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	x := newKey(t, agekey.X25519)
	plain, sealed := filepath.Join(dir, "plain.tar.zst.age"), filepath.Join(dir, "sealed.tar.zst")
	write(t, plain, bundle.WriteOptions{})
	write(t, sealed, bundle.WriteOptions{Recipients: recipients(x)})
	if r := mustVerify(t, plain, bundle.ReadOptions{}); r.Encrypted || len(r.Parts) != 10 || !r.OK() {
		t.Errorf("a plain bundle named .age: %+v", r)
	}
	if r := mustVerify(t, sealed, bundle.ReadOptions{}); !r.Encrypted || len(r.Parts) != 0 || !r.OK() {
		t.Errorf("an encrypted bundle named .tar.zst: %+v", r)
	}
	// The same, damaged, with a sidecar that matches: the content decides.
	for _, from := range []string{"plain", "nexo"} {
		file := filepath.Join(dir, from+"-damaged.tar.zst.age")
		if from == "nexo" {
			writeNexo(t, file, bundle.WriteOptions{})
		} else {
			write(t, file, bundle.WriteOptions{})
		}
		b := readFile(t, file)
		b[len(b)-10] ^= 1
		put(t, file, b)
		if r := mustVerify(t, file, bundle.ReadOptions{}); r.OK() {
			t.Errorf("%s: a damaged bundle named .age passes: %v", from, r.Checked)
		}
	}
}

func TestADigestHasOneMeaning(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "b")
	info := writeNexo(t, file, bundle.WriteOptions{})
	want := sumOf(readFile(t, file))
	got := must.Get(extract(t, file, bundle.ReadOptions{}))(t)
	r := mustVerify(t, file, bundle.ReadOptions{})
	for what, sum := range map[string]string{
		"written": info.SHA256, "extracted": got.Info.SHA256, "verified": r.SHA256, "sidecar": string(readFile(t, file+".sha256")),
	} {
		must.Equal(t, what+": digest", sum, want)
	}
	must.Hold(t, got.Nexo.Seal != want, "the seal is the digest of the file")
}

func TestWrongIdentitiesAreRefusedWithAHint(t *testing.T) {
	t.Parallel()
	x := newKey(t, agekey.X25519)
	for name, tt := range map[string]struct {
		write bundle.WriteOptions
		ids   []age.Identity
	}{
		"none":               {bundle.WriteOptions{Recipients: recipients(x)}, nil},
		"another":            {bundle.WriteOptions{Recipients: recipients(x)}, []age.Identity{newKey(t, agekey.X25519).identity}},
		"a passphrase":       {bundle.WriteOptions{Recipients: recipients(x)}, []age.Identity{passphrase(t, "tea")}},
		"another passphrase": {bundle.WriteOptions{Passphrase: "tea"}, []age.Identity{passphrase(t, "coffee")}},
	} {
		file := filepath.Join(t.TempDir(), "b")
		write(t, file, tt.write)
		_, err := extract(t, file, bundle.ReadOptions{Identities: tt.ids})
		must.Kind(t, name, err, amber.KindRefused)
		must.Hold(t, amber.HintOf(err) != "", "%s: no hint", name)
	}
}
