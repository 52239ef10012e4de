package colony_test

import (
	"encoding/json"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
)

// edit changes the manifest of a snapshot.
func (b *bench) edit(id colony.SnapshotID, change func(m map[string]any)) {
	b.t.Helper()
	name := colony.ManifestName("x", id)
	var m map[string]any
	must.Do(b.t, json.Unmarshal([]byte(b.fake.Files()[name]), &m))
	change(m)
	text := must.Get(json.Marshal(m))(b.t)
	b.fake.Fill(map[string]string{name: string(text)})
}

// spoilings are what makes a snapshot useless although all its files are listed.
// unseen are those that only who reads the parts can find.
var spoilings = map[string]struct {
	spoil  func(b *bench, id colony.SnapshotID)
	unseen bool
}{
	"a part that is empty": {func(b *bench, id colony.SnapshotID) {
		b.fake.Fill(map[string]string{colony.PartName("x", id, 0): ""})
	}, false},
	"a part that is cut": {func(b *bench, id colony.SnapshotID) {
		name := colony.PartName("x", id, 0)
		text := b.fake.Files()[name]
		b.fake.Fill(map[string]string{name: text[:len(text)/4]})
	}, false},
	"no parts": {func(b *bench, id colony.SnapshotID) {
		b.edit(id, func(m map[string]any) {
			m["part_files"], m["part_sha256"], m["part_count"], m["blob_chars"] = []string{}, []string{}, 0, 0
		})
	}, false},
	"other bytes": {func(b *bench, id colony.SnapshotID) {
		name := colony.PartName("x", id, 0)
		b.fake.Fill(map[string]string{name: strings.Replace(b.fake.Files()[name], "H4sI", "h4sI", 1)})
	}, true},
	"a part that the vault knows to be rotten": {func(b *bench, id colony.SnapshotID) {
		b.fake.Rot(colony.PartName("x", id, 0))
	}, true},
}

// A newest snapshot that is useless is not called unchanged, and nothing that is
// good is removed for it.
func TestUselessSnapshotsCountForNothing(t *testing.T) {
	t.Parallel()
	for name, c := range spoilings {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			v := b.open(nil)
			older, newer := two(b, v)
			c.spoil(b, newer)
			r, err := v.Prune(t.Context(), 1, false)
			must.Equal(t, "prune fails", err != nil, c.unseen)
			must.Equal(t, "deleted", len(r.Deleted), 0)
			if c.unseen {
				must.Kind(t, "", err, amber.KindDamaged)
			}
			must.Fail(v.Restore(t.Context(), ""))(t, "", amber.KindDamaged)
			again := b.backup(v, doc("two"), colony.BackupOptions{Keep: 1})
			if again.Unchanged != c.unseen || len(again.Warnings) == 0 {
				t.Errorf("report is %+v", again)
			}
			if c.unseen {
				must.Equal(t, "restored", must.Get(v.Restore(t.Context(), older))(t).Documents["MEMORY.md"], "one")
				again = b.backup(v, doc("two"), colony.BackupOptions{Keep: 1, Force: true})
			}
			b.restore(v, doc("two"))
			ids, _ := complete(b.fake.Files(), "x")
			must.Equal(t, "complete", ids, []colony.SnapshotID{again.ID})
		})
	}
}

// A new snapshot that the vault did not keep as it was takes the place of none.
func TestPruneReadsWhatItReliesOn(t *testing.T) {
	t.Parallel()
	mine := newIdentity(t)
	for name, change := range map[string]func(*colony.Options){
		"plain":     nil,
		"encrypted": func(o *colony.Options) { o.Recipients = []age.Recipient{mine.Recipient()} },
		"encrypted, and open": func(o *colony.Options) {
			o.Recipients, o.Identities = []age.Recipient{mine.Recipient()}, []age.Identity{mine}
		},
		"encrypted, and tolerant": func(o *colony.Options) {
			o.Recipients, o.Tolerant = []age.Recipient{mine.Recipient()}, true
		},
		"of somebody else": func(o *colony.Options) {
			o.Recipients, o.Identities = []age.Recipient{mine.Recipient()}, []age.Identity{newIdentity(t)}
		},
	} {
		b := newBench(t)
		v := b.open(change)
		b.backup(v, doc("one"), colony.BackupOptions{})
		before(b.fake, "put", "manifest", func() {
			for _, part := range names(b.fake, "cmem.x.20260701T120002") {
				text := b.fake.Files()[part]
				at := strings.Index(text, `"b64": "`) + len(`"b64": "`) + 8
				b.fake.Fill(map[string]string{part: text[:at] + strings.Repeat("A", 4) + text[at+4:]})
			}
		})
		r := b.backup(v, doc("two"), colony.BackupOptions{Keep: 1})
		if len(r.Pruned.Deleted) > 0 || len(r.Warnings) == 0 {
			t.Errorf("%s: report is %+v", name, r)
		}
		r = b.backup(v, doc("three"), colony.BackupOptions{Keep: 1})
		must.Equal(t, name+": deleted", len(r.Pruned.Deleted), 2)
	}
}

// A restore names the newer snapshots that it passes over for an older one, and a backup does not make the older one
// the newest again.
func TestNewerOnesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"damaged": "{", "too new": `{"format": "colony-memory/2"}`} {
		b := newBench(t)
		v := b.open(nil)
		_, newer := two(b, v)
		b.fake.Fill(map[string]string{colony.ManifestName("x", newer): content})
		b.fake.Remove(pointerFile)
		must.Says(t, name+": fallback", b.restore(v, doc("one")).Fallback, string(newer), "the label has no pointer")
		r, err := v.Backup(t.Context(), doc("one"), colony.BackupOptions{})
		if name == "too new" {
			must.Kind(t, "", err, amber.KindTooNew)
			continue
		}
		if err != nil || r.Unchanged || r.ID <= newer || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], string(newer)) {
			t.Errorf("report is %+v, %v", r, err)
		}
	}
}

// A pointer that is good wins over a newer snapshot, also over one that cannot be
// read, and that is told.
func TestRestoreTellsOfWhatIsNewerAndDamaged(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	older, newer := two(b, v)
	b.fake.Fill(map[string]string{
		colony.ManifestName("x", newer): "{", pointerFile: colony.Latest("x", older, b.now()).Content,
	})
	if r := b.restore(v, doc("one")); r.Fallback != "" || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], string(newer)) {
		t.Errorf("restored with %q and %q", r.Fallback, r.Warnings)
	}
}
