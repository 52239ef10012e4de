package colony_test

import (
	"context"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

const pointerFile = "cmem.x.latest.json"

// A pointer that the vault knows to be rotten is a bad one: every snapshot is
// still there, and the next writer mends it.
func TestRottenPointer(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"conditional", "unconditional", "bare"} {
		for name, mend := range map[string]func(b *bench, v *colony.Vault) error{
			"backup": func(b *bench, v *colony.Vault) error {
				return must.Err(v.Backup(b.t.Context(), doc("three"), colony.BackupOptions{}))
			},
			"unchanged": func(b *bench, v *colony.Vault) error {
				r, err := v.Backup(b.t.Context(), doc("two"), colony.BackupOptions{})
				must.Equal(b.t, "unchanged", r.Unchanged, true)
				must.Equal(b.t, "warnings", len(r.Warnings), 1)
				return err
			},
			"prune": func(b *bench, v *colony.Vault) error {
				return must.Err(v.Prune(b.t.Context(), 2, false))
			},
		} {
			b := newBench(t)
			v := b.openOn(backends[backend](&scene{bench: b}), nil)
			_, newer := two(b, v)
			b.fake.Rot(pointerFile)
			must.Says(t, "fallback", b.restore(v, doc("two")).Fallback, "the pointer cannot be read")
			must.Equal(t, "latest", must.Get(v.Latest(t.Context()))(t).ID, newer)
			must.Equal(t, "listed", len(must.Get(v.List(t.Context()))(t)), 2)
			b.pass(colony.DefaultGrace)
			must.Kind(t, backend+", "+name, mend(b, v), "")
			must.Equal(t, backend+", "+name+": fallback", must.Get(v.Restore(t.Context(), ""))(t).Fallback, "")
		}
	}
}

// Delete works while the pointer is rotten, and a restore finds the other snapshots.
func TestDeleteWithARottenPointer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	older, newer := two(b, v)
	b.fake.Rot(pointerFile)
	must.Equal(t, "deleted", must.Get(v.Delete(t.Context(), newer, false))(t).Deleted, []colony.SnapshotID{newer})
	b.restore(v, doc("one"))
	must.Get(v.Delete(t.Context(), older, false))(t)
	must.Equal(t, "files left", len(names(b.fake, "")), 0)
}

// A writer puts the pointer over a rotten one without a condition: it is
// not left at what is older when another was faster.
func TestRottenPointerIsMendedByTwo(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v, other := b.open(nil), b.open(nil)
	b.backup(v, doc("one"), colony.BackupOptions{})
	b.fake.Rot(pointerFile)
	before(b.fake, "put", pointerFile, func() { b.backup(other, doc("later"), colony.BackupOptions{}) })
	r := b.backup(v, doc("two"), colony.BackupOptions{})
	if got := b.restore(v, doc("later")); got.ID != r.SupersededBy || got.Fallback != "" || len(got.Warnings) > 0 {
		t.Errorf("restored %+v, report is %+v", got, r)
	}
}

// A pointer that rots between looking and moving it is mended as well.
func TestPointerRotsMeanwhile(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	b.backup(v, doc("one"), colony.BackupOptions{})
	before(b.fake, "put", pointerFile, func() { b.fake.Rot(pointerFile) })
	b.backup(v, doc("two"), colony.BackupOptions{})
	must.Equal(t, "fallback", b.restore(v, doc("two")).Fallback, "")
}

// A rotten manifest or part is one damaged snapshot, and no more.
func TestRottenSnapshot(t *testing.T) {
	t.Parallel()
	for _, part := range []bool{false, true} {
		b := newBench(t)
		v := b.open(nil)
		older, newer := two(b, v)
		rot := func(id colony.SnapshotID) {
			if part {
				b.fake.Rot(colony.PartName("x", id, 0))
			} else {
				b.fake.Rot(colony.ManifestName("x", id))
			}
		}
		rot(older)
		all, err := v.List(t.Context())
		if err != nil || len(all) != 2 || (all[1].Damage == "") != part || all[0].Damage != "" || all[1].DocNames == nil {
			t.Errorf("list is %+v, %v", all, err)
		}
		b.restore(v, doc("two"))
		must.Fail(v.Restore(t.Context(), older))(t, "", amber.KindDamaged)
		third := b.backup(v, doc("three"), colony.BackupOptions{}).ID
		rot(third)
		_, err = v.Restore(t.Context(), "")
		must.Kind(t, "", err, amber.KindDamaged)
		must.Equal(t, "hint", amber.HintOf(err), "amber vault restore --snapshot "+string(newer))
		b.backup(v, doc("four"), colony.BackupOptions{})
		b.restore(v, doc("four"))
	}
}

// before runs do once, just before a request.
func before(f *colonytest.Fake, op, part string, do func()) {
	f.Before = func(r colonytest.Request) colonytest.Fault {
		if r.Op == op && strings.Contains(r.Name, part) {
			f.Before = nil
			do()
		}
		return colonytest.Fault{}
	}
}

// unlisted is a vault in which some file, perhaps of another label, makes that
// no listing can be given.
type unlisted struct{ *colonytest.Fake }

func (unlisted) List(context.Context, string) ([]colony.FileInfo, error) {
	return nil, amber.Errorf(amber.KindDamaged, "list", "notes.md", "the file is not what was put")
}

// A restore needs no listing when all that it reads is there; it says what is not
// known then. Nothing else goes on, and nothing is taken to be absent.
func TestRestoreWithoutAListing(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v, blind := b.open(nil), b.openOn(unlisted{b.fake}, nil)
	older, newer := two(b, v)
	for id, text := range map[colony.SnapshotID]string{"": "two", newer: "two", older: "one"} {
		r, err := blind.Restore(t.Context(), id)
		if err != nil || r.Documents["MEMORY.md"] != text || r.Fallback != "" || len(r.Warnings) != 1 {
			t.Errorf("restored %+v: %v", r, err)
		}
	}
	refused := func() {
		t.Helper()
		must.Fail(blind.Restore(t.Context(), ""))(t, "", amber.KindDamaged)
	}
	for _, name := range []string{colony.PartName("x", newer, 0), colony.ManifestName("x", newer), pointerFile} {
		b.fake.Remove(name)
		refused()
	}
	must.Fail(blind.Restore(t.Context(), newer))(t, "", amber.KindDamaged)
	must.Fail(blind.Backup(t.Context(), doc("three"), colony.BackupOptions{}))(t, "", amber.KindDamaged)
	must.Fail(blind.List(t.Context()))(t, "", amber.KindDamaged)
	must.Fail(blind.Latest(t.Context()))(t, "", amber.KindDamaged)
	must.Fail(blind.Prune(t.Context(), 1, false))(t, "", amber.KindDamaged)
	must.Fail(blind.Delete(t.Context(), older, false))(t, "", amber.KindDamaged)
	must.Equal(t, "files removed", count(b.fake.Requests(), "delete"), 0)
}
