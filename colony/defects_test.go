package colony_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/colony"
	"github.com/amber-memory/amber/colony/colonytest"
)

// The weaknesses of the original client, by their numbers.

// 1: an outage is no empty vault, and an empty backup after one does not cost
// the memory, however often it is repeated.
func TestDefectA6_1(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	good := b.backup(v, doc("all I know"), colony.BackupOptions{})
	for name, fault := range faults {
		b.fake.Before = func(colonytest.Request) colonytest.Fault { return fault }
		_, err := v.Restore(t.Context(), "")
		if amber.KindOf(err) != amber.KindOf(fault.Err) {
			t.Errorf("%s: restore says %v", name, err)
		}
	}
	b.fake.Before = nil
	r := b.backup(v, doc(""), colony.BackupOptions{Keep: 1})
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "no text") {
		t.Errorf("warnings are %q", r.Warnings)
	}
	r = b.backup(v, doc(""), colony.BackupOptions{Keep: 1})
	if !r.Unchanged {
		t.Errorf("report is %+v", r)
	}
	b.backup(v, colony.Documents{"a": "", "b": ""}, colony.BackupOptions{Keep: 1})
	got, err := v.Restore(t.Context(), good.ID)
	if err != nil {
		t.Fatal(err)
	}
	sameDocuments(t, got.Documents, doc("all I know"))
	// With text again, it goes.
	b.backup(v, doc("I know it again"), colony.BackupOptions{Keep: 1})
	if ids, _ := complete(b.fake.Files(), "x"); len(ids) != 1 {
		t.Errorf("complete are %s", ids)
	}
}

// 2: one writer has written its manifest when another makes a newer snapshot and
// prunes. The pointer stays with the newer one.
func TestDefectA6_2(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"conditional", "unconditional"} {
		b := newBench(t)
		var other func()
		b.fake.Before = func(r colonytest.Request) colonytest.Fault {
			if f := other; f != nil && r.Op == "put" && r.Name == "cmem.x.latest.json" {
				other = nil
				f()
			}
			return colonytest.Fault{}
		}
		on := func() colony.Backend { return backends[backend](&scene{bench: b}) }
		one, two := b.openOn(on(), nil), b.openOn(on(), nil)
		var newer colony.BackupReport
		other = func() { newer = b.backup(two, doc("two"), colony.BackupOptions{Keep: 1}) }
		older := b.backup(one, doc("one"), colony.BackupOptions{})
		if older.SupersededBy != newer.ID || older.ID >= newer.ID {
			t.Errorf("%s: reports are %+v and %+v", backend, older, newer)
		}
		if r := b.restore(one, doc("two")); r.Fallback != "" {
			t.Errorf("%s: %s", backend, r.Fallback)
		}
	}
}

// 3: who requires a signature takes no other; what is older than what was seen
// is noticed.
func TestDefectA6_3(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	me, stranger := signerOf(t, strings.Repeat("01", 32)), signerOf(t, strings.Repeat("02", 32))
	witness := &memo{}
	require := func(o *colony.Options) {
		o.Signer, o.RequireSigned, o.Trust, o.Witness = me, true, trustIn(me.KeyID()), witness
	}
	v := b.open(require)
	first := b.backup(v, doc("one"), colony.BackupOptions{})
	old := b.fake.Files()
	second := b.backup(v, doc("two"), colony.BackupOptions{})
	if r := b.restore(v, doc("two")); r.Checks.Signature != colony.SignatureVerified {
		t.Errorf("checks are %+v", r.Checks)
	}
	for name, by := range map[string]amber.Signer{"unsigned": nil, "by a stranger": stranger} {
		b.backup(b.open(func(o *colony.Options) { o.Signer = by }), doc("evil "+name), colony.BackupOptions{})
		_, err := v.Restore(t.Context(), "")
		refusedAs(t, err, amber.KindUntrusted)
	}
	// The vault is put back to an older state.
	b.fake.Remove(names(b.fake, "cmem.")...)
	b.fake.Fill(old)
	_, err := v.Restore(t.Context(), "")
	refusedAs(t, err, amber.KindUntrusted)
	if want := "amber vault restore --snapshot " + string(first.ID); amber.HintOf(err) != want {
		t.Errorf("hint is %q, want %q", amber.HintOf(err), want)
	}
	r, err := v.Restore(t.Context(), first.ID)
	if err != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], string(second.ID)) {
		t.Errorf("restored %+v, %v", r, err)
	}
	// To nothing at all.
	b.fake.Remove(names(b.fake, "cmem.")...)
	_, err = v.Restore(t.Context(), "")
	refusedAs(t, err, amber.KindUntrusted)
	// The next backup is later than what was seen, and all is well.
	third := b.backup(v, doc("three"), colony.BackupOptions{})
	if third.ID <= second.ID || third.Counter != second.Counter+1 || len(third.Warnings) != 1 {
		t.Errorf("report is %+v", third)
	}
	b.restore(v, doc("three"))
}

// A vault that was put back and went on from there is noticed by parent and
// counter, although the newest snapshot is newer than what was seen.
func TestDefectA6_3Counter(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	witness := &memo{}
	v, elsewhere := b.open(func(o *colony.Options) { o.Witness = witness }), b.open(nil)
	b.backup(v, doc("one"), colony.BackupOptions{})
	old := b.fake.Files()
	b.backup(v, doc("two"), colony.BackupOptions{})
	b.backup(v, doc("three"), colony.BackupOptions{})
	b.fake.Remove(names(b.fake, "cmem.")...)
	b.fake.Fill(old)
	b.backup(elsewhere, doc("four"), colony.BackupOptions{})
	_, err := v.Restore(t.Context(), "")
	refusedAs(t, err, amber.KindUntrusted)
	// A client that does not count is no reason to distrust what comes after.
	b = newBench(t)
	witness = &memo{}
	v, elsewhere = b.open(func(o *colony.Options) { o.Label, o.Witness = "m", witness }), b.open(func(o *colony.Options) { o.Label = "m" })
	witness.seen = colony.Sighting{ID: "20250101T000000000000Z-000000", Counter: 9}
	b.fake.Fill(vaultFiles(t, "testdata/mut/clean_signed/vault"))
	if _, err := v.Restore(t.Context(), ""); err != nil {
		t.Error(err)
	}
	if r := b.backup(elsewhere, doc("five"), colony.BackupOptions{}); r.Counter != 1 {
		t.Errorf("counter is %d", r.Counter)
	}
	b.restore(v, doc("five"))
	if witness.seen.Counter != 9 {
		t.Errorf("seen is %+v", witness.seen)
	}
}

// 4: parts of no snapshot are removed after the grace time, and not before.
func TestDefectA6_4(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	v.SetPartChars(200)
	b.backup(v, doc("one"), colony.BackupOptions{})
	s := &scene{bench: b, v: v}
	s.interrupt("put", 4, func() { _, _ = backUp(long, 0)(s) })
	orphans := names(b.fake, "cmem.x.")[2:5]
	b.fake.Fill(map[string]string{"cmem.x.20260101T000000000000Z-aaaaaa.p0.md": "mine", "cmem.y.20200101T000000000000Z-aaaaaa.p0.json": "other"})
	r, err := v.Prune(t.Context(), 1, false)
	if err != nil || len(r.Orphans) != 0 {
		t.Fatalf("prune is %+v, %v", r, err)
	}
	b.pass(colony.DefaultGrace)
	r, err = v.Prune(t.Context(), 1, true)
	if err != nil || !r.Planned || len(r.Orphans) != len(orphans) {
		t.Fatalf("plan is %+v, %v", r, err)
	}
	r, err = v.Prune(t.Context(), 1, false)
	slices.Sort(r.Orphans)
	if diff := cmp.Diff(orphans, r.Orphans); err != nil || diff != "" || len(orphans) != 3 {
		t.Errorf("prune: %v (-want +got):\n%s", err, diff)
	}
	if got := len(b.fake.Files()); got != 5 {
		t.Errorf("files are %q", names(b.fake, ""))
	}
	b.restore(v, doc("one"))
}

// 5: prune says what it could not remove, and leaves nothing that is listed and
// cannot be restored.
func TestDefectA6_5(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	v.SetPartChars(200)
	one := b.backup(v, doc(long), colony.BackupOptions{})
	two := b.backup(v, doc("two"), colony.BackupOptions{})
	three := b.backup(v, doc("three"), colony.BackupOptions{})
	deletes := 0
	b.fake.Before = func(r colonytest.Request) colonytest.Fault {
		if r.Op == "delete" {
			if deletes++; deletes > 2 {
				return colonytest.Fault{Err: amber.Errorf(amber.KindQuota, "delete", r.Name, "too often")}
			}
		}
		return colonytest.Fault{}
	}
	r, err := v.Prune(t.Context(), 1, false)
	refusedAs(t, err, amber.KindQuota)
	if len(r.Deleted) != 0 || len(r.Failed) != one.PartCount-1+1 || deletes != 3 {
		t.Errorf("report is %+v after %d deletes", r, deletes)
	}
	failed := map[colony.SnapshotID]int{}
	for _, f := range r.Failed {
		failed[f.ID]++
		if _, there := b.fake.Files()[f.File]; !there || f.Kind != amber.KindQuota || f.Error == "" {
			t.Errorf("failure %+v", f)
		}
	}
	if failed[one.ID] != one.PartCount-1 || failed[two.ID] != 1 {
		t.Errorf("failed are %v", failed)
	}
	b.fake.Before = nil
	all, err := v.List(t.Context())
	if err != nil || len(all) != 3 || all[0].ID != three.ID || all[1].Damage != "" || all[2].Damage == "" || all[2].Signed {
		t.Errorf("list is %+v, %v", all, err)
	}
	r, err = v.Prune(t.Context(), 1, false)
	if err != nil || !slices.Equal(r.Deleted, []colony.SnapshotID{two.ID}) || !slices.Equal(r.Kept, []colony.SnapshotID{three.ID}) {
		t.Errorf("report is %+v, %v", r, err)
	}
}

// 6: a manifest that names other files has none of them read or removed.
func TestDefectA6_6(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(func(o *colony.Options) { o.Tolerant = true })
	planted := b.backup(v, doc("one"), colony.BackupOptions{})
	name := colony.ManifestName("x", planted.ID)
	part := colony.PartName("x", planted.ID, 0)
	for _, foreign := range []string{"notes.md", "cmem.y.latest.json", colony.PartName("y", planted.ID, 0), colony.PartName("x", "20260619T051643039000Z-abc027", 0), "../" + part} {
		b.fake.Fill(map[string]string{name: strings.ReplaceAll(b.fake.Files()[name], `["`+part+`"]`, `["`+foreign+`"]`), foreign: "mine"})
		if !strings.Contains(b.fake.Files()[name], foreign) {
			t.Fatal("nothing was planted")
		}
		begin := len(b.fake.Requests())
		_, err := v.Restore(t.Context(), "")
		refusedAs(t, err, amber.KindDamaged)
		b.backup(v, doc("two"), colony.BackupOptions{Keep: 1, Force: true})
		for _, r := range b.fake.Requests()[begin:] {
			if r.Name == foreign {
				t.Errorf("%s: %s was asked for", foreign, r.Op)
			}
		}
		if b.fake.Files()[foreign] != "mine" || b.fake.Files()[name] != "" {
			t.Errorf("%s: files are %q", foreign, names(b.fake, ""))
		}
		b.fake.Remove(names(b.fake, "")...)
		planted = b.backup(v, doc("one"), colony.BackupOptions{})
		name, part = colony.ManifestName("x", planted.ID), colony.PartName("x", planted.ID, 0)
	}
}

// 7: labels that become the same do not overwrite one another.
func TestDefectA6_7(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	as := func(label string) *colony.Vault { return b.open(func(o *colony.Options) { o.Label = label }) }
	b.backup(as("日本語"), doc("one"), colony.BackupOptions{})
	for _, label := range []string{"عربي", "", "default"} {
		_, err := as(label).Backup(t.Context(), doc("two"), colony.BackupOptions{})
		refusedAs(t, err, amber.KindConflict)
		if amber.HintOf(err) == "" {
			t.Error("there is no hint")
		}
		_, err = as(label).Prune(t.Context(), 1, false)
		refusedAs(t, err, amber.KindConflict)
		if r := b.restore(as(label), doc("one")); len(r.Warnings) != 1 {
			t.Errorf("warnings are %q", r.Warnings)
		}
	}
	b.backup(as(" 日本語 "), doc("three"), colony.BackupOptions{})
	b.restore(as("日本語"), doc("three"))
}

// 8: what unpacks to more than may be read is not unpacked.
func TestDefectA6_8(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.backup(b.open(nil), doc(strings.Repeat("a", 100_000)), colony.BackupOptions{})
	_, err := b.open(func(o *colony.Options) { o.MaxBytes = 50_000 }).Restore(t.Context(), "")
	refusedAs(t, err, amber.KindQuota)
	_, err = b.open(func(o *colony.Options) { o.MaxBytes, o.Tolerant = 50_000, true }).Restore(t.Context(), "")
	refusedAs(t, err, amber.KindQuota)
}

// 9: a part that is damaged is named, and so is what could be restored instead.
func TestDefectA6_9(t *testing.T) {
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
	refusedAs(t, err, amber.KindDamaged)
	if !strings.Contains(err.Error(), name) || amber.HintOf(err) != "amber vault restore --snapshot "+string(one.ID) {
		t.Errorf("error is %v, hint %q", err, amber.HintOf(err))
	}
}

// 10: what was written is looked at, and the same documents are not written
// twice. That an upload goes on where it stopped is shown with the outages.
func TestDefectA6_10(t *testing.T) {
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
	if r := b.backup(signed, doc("one"), colony.BackupOptions{}); !r.Unchanged {
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
		if amber.KindOf(err) != amber.KindDamaged {
			t.Errorf("a vault that %s: %v", name, err)
		}
		b.fake.Before = nil
		b.fake.Remove(names(b.fake, "cmem.z.")...)
	}
}

// 11: what is not of the label is not read.
func TestDefectA6_11(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v, other := b.open(nil), b.open(func(o *colony.Options) { o.Label = "other" })
	for _, text := range []string{"one", "two", "three"} {
		b.backup(v, doc(text), colony.BackupOptions{})
		b.backup(other, doc(text), colony.BackupOptions{})
	}
	begin := len(b.fake.Requests())
	if all, err := v.List(t.Context()); err != nil || len(all) != 3 {
		t.Errorf("list is %v, %v", all, err)
	}
	requests := b.fake.Requests()[begin:]
	if len(requests) != 5 || count(requests, "list") != 1 {
		t.Errorf("requests are %v", requests)
	}
	b.restore(v, doc("three"))
	if got := len(b.fake.Requests()[begin+5:]); got != 4 {
		t.Errorf("a restore takes %d requests", got)
	}
}

// 12: what does not fit is known before the first write, the pointer included,
// also in a vault that does not know its quota yet.
func TestDefectA6_12(t *testing.T) {
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
		if amber.KindOf(err) != c.kind {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && count(b.fake.Requests(), "put") > 0 {
			t.Errorf("%s: something was written", name)
		}
	}
	// A vault that tells no quota and is nearly full.
	b := newBench(t)
	_, err := b.openOn(nearlyFull{b.fake}, nil).Backup(t.Context(), doc(long), colony.BackupOptions{})
	refusedAs(t, err, amber.KindQuota)
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
	}
}

// nearlyFull is a vault that tells no quota.
type nearlyFull struct{ *colonytest.Fake }

func (nearlyFull) Status(context.Context) (colony.Status, error) {
	return colony.Status{UsedBytes: colony.DefaultQuota - 1000}, nil
}

// 13: nobody but a recipient can read what is encrypted, nor see the names or
// guess the documents by their digest.
func TestDefectA6_13(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	witness := &memo{}
	v := b.open(func(o *colony.Options) {
		o.Recipients, o.Identities, o.Witness = []age.Recipient{id.Recipient()}, []age.Identity{id}, witness
	})
	r := b.backup(v, doc("secret"), colony.BackupOptions{})
	digest, _ := doc("secret").Digest()
	for name, content := range b.fake.Files() {
		if strings.Contains(content, "MEMORY.md") || strings.Contains(content, digest) {
			t.Errorf("%s tells what it should not", name)
		}
	}
	if !r.Encrypted || witness.seen.Documents != digest {
		t.Errorf("report is %+v, seen was %+v", r, witness.seen)
	}
	b.restore(v, doc("secret"))
	if same := b.backup(v, doc("secret"), colony.BackupOptions{}); !same.Unchanged {
		t.Errorf("report is %+v", same)
	}
	if other := b.backup(v, doc("other"), colony.BackupOptions{}); other.Unchanged {
		t.Errorf("report is %+v", other)
	}
	_, err = b.open(nil).Restore(t.Context(), "")
	refusedAs(t, err, amber.KindRefused)
	if plain := b.backup(b.open(nil), doc("other"), colony.BackupOptions{}); plain.Unchanged || plain.Encrypted {
		t.Errorf("report is %+v", plain)
	}
}

// 14: every error says what kind it is.
func TestDefectA6_14(t *testing.T) {
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
			_, err := v.Backup(t.Context(), doc("new"), colony.BackupOptions{})
			refusedAs(t, err, amber.KindTooNew)
			continue
		}
		b.backup(v, doc("new"), colony.BackupOptions{Keep: 1})
		if r := b.restore(v, doc("new")); r.Fallback != "" || len(r.Warnings) > 0 {
			t.Errorf("%s: restored %+v", name, r)
		}
	}
}
