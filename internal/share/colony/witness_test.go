package colony_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestWitnessNeverGoesBack: a restore that began before a backup ends after it.
func TestWitnessNeverGoesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m := &memo{}
	v := b.seenBy(m)
	b.backup(v, doc("one"), colony.BackupOptions{})
	var newer colony.SnapshotID
	before(b.fake, "get", ".p0.", func() { newer = b.backup(v, doc("two"), colony.BackupOptions{}).ID })
	b.restore(v, doc("one"))
	must.Equal(t, "id", m.seen.ID, newer)
	must.Equal(t, "counter", m.seen.Counter, 2)
	// A caller who deletes the newest snapshot knows that there is nothing newer.
	must.Get(v.Delete(t.Context(), newer, false))(t)
	if m.seen.ID >= newer || m.seen.Counter != 1 {
		t.Errorf("remembers %+v after %s was deleted", m.seen, newer)
	}
	b.restore(v, doc("one"))
}

// TestCountsNobodyCanHaveComeTo: a number that is the last one ends no backups,
// wherever it comes from.
func TestCountsNobodyCanHaveComeTo(t *testing.T) {
	t.Parallel()
	const most = "9007199254740991" // 2^53-1
	for count, valid := range map[string]bool{
		most: true, "9007199254740992": false, "9223372036854775807": false, "9223372036854775808": false, "0": false, "-1": false, "1.0": false,
	} {
		b := newBench(t)
		m := &memo{}
		v := b.seenBy(m)
		id := b.backup(v, doc("one"), colony.BackupOptions{}).ID
		name := colony.ManifestName("x", id)
		b.fake.Fill(map[string]string{name: strings.Replace(b.fake.Files()[name], `"counter": 1`, `"counter": `+count, 1)})
		m.seen = colony.Sighting{}
		_, err := v.Restore(t.Context(), "")
		if valid != (err == nil) || !valid && amber.KindOf(err) != amber.KindDamaged {
			t.Errorf("counter %s: %v", count, err)
		}
		m.seen = colony.Sighting{}
		tolerant := b.open(func(o *colony.Options) { o.Witness, o.Tolerant = m, true })
		must.Kind(t, "counter "+count+", tolerant", must.Err(tolerant.Restore(t.Context(), "")), "")
		if !valid && m.seen.Counter != 0 {
			t.Errorf("counter %s: remembers %+v", count, m.seen)
		}
		b.backup(v, doc("two"), colony.BackupOptions{})
		b.restore(v, doc("two"))
		b.backup(v, doc("three"), colony.BackupOptions{})
		b.restore(v, doc("three"))
	}
	// A counter that a witness remembered before any client looked.
	b := newBench(t)
	m := &memo{seen: colony.Sighting{ID: "20260101T000000000000Z-aaaaaa", Counter: 1<<63 - 1}}
	v := b.seenBy(m)
	must.Equal(t, "counter", b.backup(v, doc("one"), colony.BackupOptions{}).Counter, 1)
	must.Equal(t, "counter", m.seen.Counter, 1)
}
