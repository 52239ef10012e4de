package colony_test

import (
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

// two makes two snapshots.
func two(b *bench, v *colony.Vault) (older, newer colony.SnapshotID) {
	b.t.Helper()
	older = b.backup(v, doc("one"), colony.BackupOptions{}).ID
	return older, b.backup(v, doc("two"), colony.BackupOptions{}).ID
}

// A pointer that is of no use is not followed, and that is said; a good one is,
// also to what is damaged.
func TestRestoreByPointer(t *testing.T) {
	t.Parallel()
	const pointer = "cmem.x.latest.json"
	latest := func(id colony.SnapshotID) string {
		return colony.Latest("x", id, time.Date(2026, 7, 1, 0, 0, 0, 0, time.UTC)).Content
	}
	for name, c := range map[string]struct {
		spoil    func(f *colonytest.Fake, older, newer colony.SnapshotID)
		text     string // what is restored
		fallback bool
		kind     amber.Kind
		tolerant string // what a tolerant reader restores, if it is another
	}{
		"good": {func(*colonytest.Fake, colony.SnapshotID, colony.SnapshotID) {}, "two", false, "", ""},
		"back to the older one": {func(f *colonytest.Fake, older, _ colony.SnapshotID) {
			f.Fill(map[string]string{pointer: latest(older)})
		}, "one", false, "", ""},
		"missing": {func(f *colonytest.Fake, _, _ colony.SnapshotID) { f.Remove(pointer) }, "two", true, "", ""},
		"names nothing": {func(f *colonytest.Fake, _, _ colony.SnapshotID) {
			f.Fill(map[string]string{pointer: latest("20270619T051643039000Z-abc027")})
		}, "two", true, "", ""},
		"of another label": {func(f *colonytest.Fake, older, _ colony.SnapshotID) {
			f.Fill(map[string]string{pointer: strings.Replace(latest(older), `"x"`, `"y"`, 1)})
		}, "two", true, "", "one"},
		"of another manifest": {func(f *colonytest.Fake, older, newer colony.SnapshotID) {
			f.Fill(map[string]string{pointer: strings.Replace(latest(older), "cmem.x."+string(older), "cmem.x."+string(newer), 1)})
		}, "two", true, "", "one"},
		"of a newer format": {func(f *colonytest.Fake, older, _ colony.SnapshotID) {
			f.Fill(map[string]string{pointer: strings.Replace(latest(older), "latest/1", "latest/2", 1)})
		}, "", false, amber.KindTooNew, ""},
		"manifest missing": {func(f *colonytest.Fake, _, newer colony.SnapshotID) {
			f.Remove(colony.ManifestName("x", newer))
		}, "one", true, "", ""},
		"part missing": {func(f *colonytest.Fake, _, newer colony.SnapshotID) {
			f.Remove(colony.PartName("x", newer, 0))
		}, "one", true, "", ""},
		"manifest damaged": {func(f *colonytest.Fake, _, newer colony.SnapshotID) {
			f.Fill(map[string]string{colony.ManifestName("x", newer): "{"})
		}, "", false, amber.KindDamaged, ""},
		"part_files damaged": {func(f *colonytest.Fake, _, newer colony.SnapshotID) {
			name := colony.ManifestName("x", newer)
			f.Fill(map[string]string{name: strings.Replace(f.Files()[name], colony.PartName("x", newer, 0), "notes.md", 1), "notes.md": "mine"})
		}, "", false, amber.KindDamaged, ""},
		"part damaged": {func(f *colonytest.Fake, _, newer colony.SnapshotID) {
			f.Fill(map[string]string{colony.PartName("x", newer, 0): "{"})
		}, "", false, amber.KindDamaged, ""},
		"nothing but the pointer": {func(f *colonytest.Fake, older, newer colony.SnapshotID) {
			f.Remove(names(f, "cmem.x."+string(older))...)
			f.Remove(names(f, "cmem.x."+string(newer))...)
		}, "", false, amber.KindDamaged, ""},
		"nothing but parts": {func(f *colonytest.Fake, older, newer colony.SnapshotID) {
			f.Remove(pointer, colony.ManifestName("x", older), colony.ManifestName("x", newer))
		}, "", false, amber.KindDamaged, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			v := b.open(nil)
			older, newer := two(b, v)
			c.spoil(b.fake, older, newer)
			r, err := v.Restore(t.Context(), "")
			if amber.KindOf(err) != c.kind || r.Documents["MEMORY.md"] != c.text || (r.Fallback != "") != c.fallback {
				t.Fatalf("restored %q (%q): %v", r.Documents, r.Fallback, err)
			}
			if _, err := v.Latest(t.Context()); amber.KindOf(err) != c.kind && !strings.HasSuffix(name, "damaged") {
				t.Errorf("latest: %v", err)
			}
			if c.kind == amber.KindDamaged && strings.HasSuffix(name, "damaged") && amber.HintOf(err) != "amber vault restore --snapshot "+string(older) {
				t.Errorf("hint is %q", amber.HintOf(err))
			}
			want := c.text
			if c.tolerant != "" {
				want = c.tolerant
			}
			r, _ = b.open(func(o *colony.Options) { o.Tolerant = true }).Restore(t.Context(), "")
			if r.Documents["MEMORY.md"] != want || c.tolerant != "" && (len(r.Checks.Relaxed) == 0 || r.Checks.Declared) {
				t.Errorf("a tolerant reader restored %q: %+v", r.Documents, r.Checks)
			}
			if c.kind == amber.KindTooNew {
				return
			}
			b.backup(v, doc("three"), colony.BackupOptions{})
			if r := b.restore(v, doc("three")); r.Fallback != "" || len(r.Warnings) > 0 {
				t.Errorf("after a backup: %q, %q", r.Fallback, r.Warnings)
			}
		})
	}
}

// A restore warns of a snapshot that is newer than the one the pointer names, and does not take it.
func TestRestoreTellsOfWhatIsNewer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := &scene{bench: b, v: b.open(nil)}
	s.save("one")
	s.interrupt("put", 3, func() { _, _ = backUp("two", 0)(s) })
	r := b.restore(s.v, doc("one"))
	ids, _ := complete(b.fake.Files(), "x")
	if len(ids) != 2 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], string(ids[1])) {
		t.Errorf("complete are %s, warnings are %q", ids, r.Warnings)
	}
}

func TestRestoreByName(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	older, newer := two(b, v)
	for id, text := range map[colony.SnapshotID]string{older: "one", newer: "two"} {
		r, err := v.Restore(t.Context(), id)
		if err != nil || r.ID != id || r.Documents["MEMORY.md"] != text || len(r.Warnings) > 0 {
			t.Errorf("restored %+v: %v", r, err)
		}
	}
	must.Fail(v.Restore(t.Context(), "yesterday"))(t, "", amber.KindInvalid)
	must.Fail(v.Restore(t.Context(), "20270619T051643039000Z-abc027"))(t, "", amber.KindNotFound)
	b.fake.Remove(colony.ManifestName("x", older))
	must.Fail(v.Restore(t.Context(), older))(t, "", amber.KindDamaged)
	b.fake.Remove("cmem.x.latest.json")
	must.NoError(t, must.Err(v.Restore(t.Context(), newer)))
}

// When another client removes a snapshot during a restore, the restore looks for the newest one again.
func TestRestoreWhileOthersPrune(t *testing.T) {
	t.Parallel()
	for _, at := range []string{"cmem.x.latest.json", "manifest", ".p0."} {
		b := newBench(t)
		v, other := b.open(nil), b.open(nil)
		b.backup(v, doc("one"), colony.BackupOptions{})
		before(b.fake, "get", at, func() { b.backup(other, doc("two"), colony.BackupOptions{Keep: 1}) })
		must.Equal(t, "fallback while "+at+" is read", b.restore(v, doc("two")).Fallback, "")
	}
}

// A client that does not count is older, too.
func TestRestoreNoticesWhatIsOlder(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fake.Fill(vaultFiles(t, "testdata/vaults/three_plus_one"))
	v := b.open(func(o *colony.Options) { o.Witness = &memo{} })
	newest := must.Get(v.Restore(t.Context(), ""))(t)
	must.Equal(t, "counter", newest.Counter, 0)
	b.fake.Remove(names(b.fake, "cmem.x."+string(newest.ID))...)
	must.Fail(v.Restore(t.Context(), ""))(t, "", amber.KindUntrusted)
}

// A restore does not fetch the parts of a snapshot that it does not trust.
func TestRestoreChecksBeforeItFetches(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fake.Fill(vaultFiles(t, "testdata/mut/tamper_created_at/vault"))
	must.Fail(b.open(func(o *colony.Options) { o.Label = "m" }).Restore(t.Context(), ""))(t, "", amber.KindUntrusted)
	must.Equal(t, "requests", len(b.fake.Requests()), 3)
}

// The same id with other documents is not what was seen.
func TestRestoreNoticesOtherDocuments(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	witness := &memo{}
	v := b.open(func(o *colony.Options) { o.Witness = witness })
	id := b.backup(v, doc("one"), colony.BackupOptions{}).ID
	p := must.Get(colony.Pack(t.Context(), colony.Draft{ID: id, Label: "x", CreatedAt: b.now(), Documents: doc("evil")}))(t)
	b.fake.Fill(map[string]string{p.Manifest.Name: p.Manifest.Content, p.Parts[0].Name: p.Parts[0].Content})
	must.Fail(v.Restore(t.Context(), ""))(t, "", amber.KindUntrusted)
}
