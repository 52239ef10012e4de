package colony_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

// Mistakes of the original client, colony-memory, and what happens here instead.

// An outage is not taken for an empty vault, and an empty backup after it does not
// cost the memory, however often it is repeated.
func TestOutageIsNotAnEmptyVault(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	good := b.backup(v, doc("all I know"), colony.BackupOptions{})
	for name, fault := range faults {
		b.fake.Before = func(colonytest.Request) colonytest.Fault { return fault }
		must.Kind(t, name, must.Err(v.Restore(t.Context(), "")), amber.KindOf(fault.Err))
	}
	b.fake.Before = nil
	r := b.backup(v, doc(""), colony.BackupOptions{Keep: 1})
	if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "are empty") {
		t.Errorf("warnings are %q", r.Warnings)
	}
	r = b.backup(v, doc(""), colony.BackupOptions{Keep: 1})
	must.Equal(t, "unchanged", r.Unchanged, true)
	b.backup(v, colony.Documents{"a": "", "b": ""}, colony.BackupOptions{Keep: 1})
	got := must.Get(v.Restore(t.Context(), good.ID))(t)
	sameDocuments(t, got.Documents, doc("all I know"))
	// With text again, it goes.
	b.backup(v, doc("I know it again"), colony.BackupOptions{Keep: 1})
	if ids, _ := complete(b.fake.Files(), "x"); len(ids) != 1 {
		t.Errorf("complete are %s", ids)
	}
}

// One writer has written its manifest when another makes a newer snapshot and
// prunes. The pointer stays with the newer one.
func TestPointerStaysWithTheNewerSnapshot(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"conditional", "unconditional"} {
		b := newBench(t)
		on := func() colony.Backend { return backends[backend](&scene{bench: b}) }
		one, two := b.openOn(on(), nil), b.openOn(on(), nil)
		var newer colony.BackupReport
		before(b.fake, "put", pointerFile, func() { newer = b.backup(two, doc("two"), colony.BackupOptions{Keep: 1}) })
		older := b.backup(one, doc("one"), colony.BackupOptions{})
		if older.SupersededBy != newer.ID || older.ID >= newer.ID {
			t.Errorf("%s: reports are %+v and %+v", backend, older, newer)
		}
		must.Equal(t, backend, b.restore(one, doc("two")).Fallback, "")
	}
}

// With RequireSigned nothing unsigned is restored, and a snapshot that is older than
// one that was seen is noticed.
func TestRequiredSignatureAndRollback(t *testing.T) {
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
	must.Equal(t, "signature", b.restore(v, doc("two")).Checks.Signature, colony.SignatureVerified)
	for name, by := range map[string]sign.Signer{"unsigned": nil, "by a stranger": stranger} {
		b.backup(b.open(func(o *colony.Options) { o.Signer = by }), doc("evil "+name), colony.BackupOptions{})
		must.Fail(v.Restore(t.Context(), ""))(t, "", amber.KindUntrusted)
	}
	// The vault is put back to an older state.
	b.fake.Remove(names(b.fake, "cmem.")...)
	b.fake.Fill(old)
	_, err := v.Restore(t.Context(), "")
	must.Kind(t, "", err, amber.KindUntrusted)
	must.Equal(t, "hint", amber.HintOf(err), "amber vault restore --snapshot "+string(first.ID))
	r, err := v.Restore(t.Context(), first.ID)
	if err != nil || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], string(second.ID)) {
		t.Errorf("restored %+v, %v", r, err)
	}
	// To nothing at all.
	b.fake.Remove(names(b.fake, "cmem.")...)
	must.Fail(v.Restore(t.Context(), ""))(t, "", amber.KindUntrusted)
	// The next backup is later than what was seen, and all is well.
	third := b.backup(v, doc("three"), colony.BackupOptions{})
	if third.ID <= second.ID || third.Counter != second.Counter+1 || len(third.Warnings) != 1 {
		t.Errorf("report is %+v", third)
	}
	b.restore(v, doc("three"))
}

// A vault that was put back and went on from there is noticed by parent and
// counter, although the newest snapshot is newer than what was seen.
func TestRollbackIsNoticedByTheCounter(t *testing.T) {
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
	must.Fail(v.Restore(t.Context(), ""))(t, "", amber.KindUntrusted)
	// A client that does not count is no reason to distrust what comes after.
	b = newBench(t)
	witness = &memo{}
	v, elsewhere = b.open(func(o *colony.Options) { o.Label, o.Witness = "m", witness }), b.open(func(o *colony.Options) { o.Label = "m" })
	witness.seen = colony.Sighting{ID: "20250101T000000000000Z-000000", Counter: 9}
	b.fake.Fill(vaultFiles(t, "testdata/mut/clean_signed/vault"))
	must.Get(v.Restore(t.Context(), ""))(t)
	must.Equal(t, "counter", b.backup(elsewhere, doc("five"), colony.BackupOptions{}).Counter, 1)
	b.restore(v, doc("five"))
	must.Equal(t, "counter of the witness", witness.seen.Counter, 9)
}

// Parts of no snapshot are removed after the grace time, and not before.
func TestPruneRemovesOrphansAfterTheGraceTime(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	v.SetPartChars(200)
	b.backup(v, doc("one"), colony.BackupOptions{})
	s := &scene{bench: b, v: v}
	s.interrupt("put", 4, func() { _, _ = backUp(long, 0)(s) })
	orphans := names(b.fake, "cmem.x.")[2:5]
	b.fake.Fill(map[string]string{"cmem.x.20260101T000000000000Z-aaaaaa.p0.md": "mine", "cmem.y.20200101T000000000000Z-aaaaaa.p0.json": "other"})
	r := must.Get(v.Prune(t.Context(), 1, false))(t)
	must.Equal(t, "orphans", len(r.Orphans), 0)
	b.pass(colony.DefaultGrace)
	r = must.Get(v.Prune(t.Context(), 1, true))(t)
	must.Equal(t, "planned", r.Planned, true)
	must.Equal(t, "orphans", len(r.Orphans), len(orphans))
	r, err := v.Prune(t.Context(), 1, false)
	slices.Sort(r.Orphans)
	if diff := cmp.Diff(orphans, r.Orphans); err != nil || diff != "" || len(orphans) != 3 {
		t.Errorf("prune: %v (-want +got):\n%s", err, diff)
	}
	must.Equal(t, "files", len(b.fake.Files()), 5)
	b.restore(v, doc("one"))
}

// Prune reports what it could not remove, and leaves no snapshot that is listed and
// cannot be restored.
func TestPruneReportsWhatItCouldNotRemove(t *testing.T) {
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
	must.Kind(t, "", err, amber.KindQuota)
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
	r = must.Get(v.Prune(t.Context(), 1, false))(t)
	must.Equal(t, "deleted", r.Deleted, []colony.SnapshotID{two.ID})
	must.Equal(t, "kept", r.Kept, []colony.SnapshotID{three.ID})
}

// A manifest that names files of others has none of them read or removed.
func TestManifestReachesNoOtherFiles(t *testing.T) {
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
		must.Fail(v.Restore(t.Context(), ""))(t, "", amber.KindDamaged)
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
