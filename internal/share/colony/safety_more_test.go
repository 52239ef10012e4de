package colony_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

// Labels that become the same do not overwrite one another.
func TestLabelsThatBecomeTheSameDoNotOverwrite(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	as := func(label string) *colony.Vault { return b.open(func(o *colony.Options) { o.Label = label }) }
	id := b.backup(as("日本語"), doc("one"), colony.BackupOptions{}).ID
	for _, label := range []string{"عربي", "", "default"} {
		_, err := as(label).Backup(t.Context(), doc("two"), colony.BackupOptions{})
		must.Kind(t, "", err, amber.KindConflict)
		if amber.HintOf(err) == "" {
			t.Error("there is no hint")
		}
		must.Fail(as(label).Prune(t.Context(), 1, false))(t, "", amber.KindConflict)
		_, err = as(label).Restore(t.Context(), "")
		must.Kind(t, "", err, amber.KindConflict)
		must.Says(t, "hint", amber.HintOf(err), "restore --label")
		must.Equal(t, "warnings by its id", len(must.Get(as(label).Restore(t.Context(), id))(t).Warnings), 1)
	}
	b.backup(as(" 日本語 "), doc("three"), colony.BackupOptions{})
	b.restore(as("日本語"), doc("three"))
}

// A snapshot that unpacks to more than MaxBytes is not unpacked.
func TestUnpackIsBounded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.backup(b.open(nil), doc(strings.Repeat("a", 100_000)), colony.BackupOptions{})
	must.Fail(b.open(func(o *colony.Options) { o.MaxBytes = 50_000 }).Restore(t.Context(), ""))(t, "", amber.KindQuota)
	_, err := b.open(func(o *colony.Options) { o.MaxBytes, o.Tolerant = 50_000, true }).Restore(t.Context(), "")
	must.Kind(t, "", err, amber.KindQuota)
}

// The error names the damaged part, and the snapshot that can be restored instead.
func TestDamagedPartIsNamed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	v.SetPartChars(200)
	one := b.backup(v, doc("one"), colony.BackupOptions{})
	two := b.backup(v, doc(long), colony.BackupOptions{})
	name := colony.PartName("x", two.ID, 1)
	content := []byte(b.fake.Files()[name])
	content[len(content)-20] ^= 1
	b.fake.Fill(map[string]string{name: string(content)})
	_, err := v.Restore(t.Context(), "")
	must.Kind(t, "", err, amber.KindDamaged)
	must.Says(t, "the error", err.Error(), name)
	must.Equal(t, "hint", amber.HintOf(err), "amber vault restore --snapshot "+string(one.ID))
}

// A backup reads back what it wrote, and does not write the same documents twice.
// That an upload continues where it stopped is tested with the outages.
func TestBackupReadsBackWhatItWrote(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	first := b.backup(v, doc("one"), colony.BackupOptions{})
	begin := len(b.fake.Requests())
	same := b.backup(v, doc("one"), colony.BackupOptions{})
	if !same.Unchanged || same.ID != first.ID || len(same.Uploaded) != 0 || count(b.fake.Requests()[begin:], "put") != 0 {
		t.Errorf("report is %+v", same)
	}
	if forced := b.backup(v, doc("one"), colony.BackupOptions{Force: true}); forced.Unchanged || forced.ID == first.ID || len(forced.Uploaded) != 3 {
		t.Errorf("report is %+v", forced)
	}
	// It is no longer unchanged when it is to be signed.
	signed := b.open(func(o *colony.Options) { o.Signer = signerOf(t, strings.Repeat("01", 32)) })
	if r := b.backup(signed, doc("one"), colony.BackupOptions{}); r.Unchanged || !r.Signed {
		t.Errorf("report is %+v", r)
	}
	must.Equal(t, "unchanged", b.backup(signed, doc("one"), colony.BackupOptions{}).Unchanged, true)
	if r := b.backup(v, doc("one"), colony.BackupOptions{}); r.Unchanged || r.Signed {
		t.Errorf("report is %+v", r)
	}
	for name, spoil := range map[string]func(part string){
		"loses it": func(part string) { b.fake.Remove(part) },
		"cuts it":  func(part string) { b.fake.Fill(map[string]string{part: "{"}) },
	} {
		b.fake.Before = func(r colonytest.Request) colonytest.Fault {
			if parts := names(b.fake, "cmem.z."); r.Op == "list" && len(parts) > 0 {
				spoil(parts[0])
			}
			return colonytest.Fault{}
		}
		_, err := b.open(func(o *colony.Options) { o.Label = "z" }).Backup(t.Context(), doc("two"), colony.BackupOptions{})
		must.Kind(t, "a vault that "+name, err, amber.KindDamaged)
		b.fake.Before = nil
		b.fake.Remove(names(b.fake, "cmem.z.")...)
	}
}

// Files of other labels are not read.
func TestOtherLabelsAreNotRead(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v, other := b.open(nil), b.open(func(o *colony.Options) { o.Label = "other" })
	for _, text := range []string{"one", "two", "three"} {
		b.backup(v, doc(text), colony.BackupOptions{})
		b.backup(other, doc(text), colony.BackupOptions{})
	}
	begin := len(b.fake.Requests())
	must.Equal(t, "listed", len(must.Get(v.List(t.Context()))(t)), 3)
	requests := b.fake.Requests()[begin:]
	if len(requests) != 5 || count(requests, "list") != 1 {
		t.Errorf("requests are %v", requests)
	}
	b.restore(v, doc("three"))
	must.Equal(t, "requests of a restore", len(b.fake.Requests()[begin+5:]), 4)
}

// A backup that does not fit, the pointer included, fails before the first write,
// also in a vault that does not report its quota yet.
func TestBackupThatDoesNotFitWritesNothing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*colony.Options)
		fake   func(*colonytest.Fake)
		text   string
		kind   amber.Kind
	}{
		"fresh":                {text: "x"},
		"more than a quota":    {text: bulky(3, 2000), fake: func(f *colonytest.Fake) { f.Quota = 2500 }, kind: amber.KindQuota},
		"too many operations":  {text: bulky(3, 800_000), change: func(o *colony.Options) { o.Operations = 3 }, kind: amber.KindQuota},
		"as many as there are": {text: bulky(3, 800_000), change: func(o *colony.Options) { o.Operations = 4 }},
		"no bound":             {text: bulky(3, 800_000), change: func(o *colony.Options) { o.Operations = -1 }},
		"read only":            {text: "x", fake: func(f *colonytest.Fake) { f.ReadOnly = true }, kind: amber.KindRefused},
		"more than is read":    {text: bulky(3, 2000), change: func(o *colony.Options) { o.MaxBytes = 1000 }, kind: amber.KindQuota},
	} {
		b := newBench(t)
		if c.fake != nil {
			b.fake.Fill(map[string]string{"a": "x"})
			c.fake(b.fake)
		}
		_, err := b.open(c.change).Backup(t.Context(), doc(c.text), colony.BackupOptions{})
		must.Kind(t, name, err, c.kind)
		if err != nil && count(b.fake.Requests(), "put") > 0 {
			t.Errorf("%s: something was written", name)
		}
	}
	// A vault that tells no quota and is nearly full.
	b := newBench(t)
	must.Fail(b.openOn(nearlyFull{b.fake}, nil).Backup(t.Context(), doc(long), colony.BackupOptions{}))(t, "", amber.KindQuota)
	// A vault with room for all but the pointer.
	b = newBench(t)
	b.backup(b.open(nil), doc("one"), colony.BackupOptions{})
	need := int64(0)
	for _, content := range b.fake.Files() {
		need += int64(len(content))
	}
	for short, kind := range map[int64]amber.Kind{0: "", 1: amber.KindQuota} {
		b := newBench(t)
		b.fake.Fill(map[string]string{"a": "x"})
		b.fake.Quota = need + 1 - short
		b.pass(time.Second)
		_, err := b.open(nil).Backup(t.Context(), doc("one"), colony.BackupOptions{})
		if amber.KindOf(err) != kind || err != nil && count(b.fake.Requests(), "put") > 0 {
			t.Errorf("%d too few: %v", short, err)
		}
		if err != nil {
			continue
		}
		// The pointer is replaced: the next one needs no more room for it.
		second := b.backupSize(doc("two"))
		b.fake.Quota += second
		b.backup(b.open(nil), doc("two"), colony.BackupOptions{})
	}
}

// backupSize returns how many bytes the next backup adds.
func (b *bench) backupSize(docs colony.Documents) (n int64) {
	b.t.Helper()
	before := b.fake.Files()
	try := &bench{t: b.t, clock: &clock{t: b.now()}}
	try.fake = &colonytest.Fake{Clock: try.now}
	try.fake.Fill(before)
	try.backup(try.open(nil), docs, colony.BackupOptions{})
	for name, content := range try.fake.Files() {
		n += int64(len(content) - len(before[name]))
	}
	return n
}

// nearlyFull is a vault that tells no quota.
type nearlyFull struct{ *colonytest.Fake }

func (nearlyFull) Status(context.Context) (colony.Status, error) {
	return colony.Status{UsedBytes: colony.DefaultQuota - 1000}, nil
}

// Only a recipient can read an encrypted snapshot, see its names, or guess the
// documents by their digest.
func TestEncryptedSnapshotHidesEverything(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id := must.Get(age.GenerateX25519Identity())(t)
	witness := &memo{}
	v := b.open(func(o *colony.Options) {
		o.Recipients, o.Identities, o.Witness = []age.Recipient{id.Recipient()}, []age.Identity{id}, witness
	})
	r := b.backup(v, doc("secret"), colony.BackupOptions{})
	digest, _ := doc("secret").Digest()
	for name, content := range b.fake.Files() {
		must.Hides(t, name, content, "MEMORY.md", digest)
	}
	must.Equal(t, "encrypted", r.Encrypted, true)
	must.Equal(t, "documents", witness.seen.Documents, digest)
	b.restore(v, doc("secret"))
	must.Equal(t, "unchanged", b.backup(v, doc("secret"), colony.BackupOptions{}).Unchanged, true)
	elsewhere := b.open(func(o *colony.Options) { o.Recipients = []age.Recipient{id.Recipient()} })
	b.backup(elsewhere, doc("other"), colony.BackupOptions{})
	for _, text := range []string{"secret", "other"} {
		must.Equal(t, "unchanged", b.backup(v, doc(text), colony.BackupOptions{}).Unchanged, false)
	}
	must.Fail(b.open(nil).Restore(t.Context(), ""))(t, "", amber.KindRefused)
	if plain := b.backup(b.open(nil), doc("other"), colony.BackupOptions{}); plain.Unchanged || plain.Encrypted {
		t.Errorf("report is %+v", plain)
	}
}

// Every error has a kind.
func TestEveryErrorHasAKind(t *testing.T) {
	t.Parallel()
	for name := range verdicts {
		b := newBench(t)
		b.fake.Fill(vaultFiles(t, "testdata/mut/"+name+"/vault"))
		v := b.open(func(o *colony.Options) { o.Label = "m" })
		_, err := v.Restore(t.Context(), "")
		_, lerr := v.List(t.Context())
		var e *amber.Error
		if err != nil && (!errors.As(err, &e) || e.Kind == amber.KindInternal) || lerr != nil {
			t.Errorf("%s: %v, %v", name, err, lerr)
		}
		// Whatever is there, a backup makes it good, but for what is newer.
		if name == "manifest_format_2" {
			must.Fail(v.Backup(t.Context(), doc("new"), colony.BackupOptions{}))(t, "", amber.KindTooNew)
			continue
		}
		b.backup(v, doc("new"), colony.BackupOptions{Keep: 1})
		if r := b.restore(v, doc("new")); r.Fallback != "" || len(r.Warnings) > 0 {
			t.Errorf("%s: restored %+v", name, r)
		}
	}
}
