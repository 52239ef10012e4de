package colony_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

// put fills the vault with a snapshot as the original client makes it.
func (b *bench) put(label, text string) colony.SnapshotID {
	b.t.Helper()
	b.pass(time.Second)
	id := must.Get(colony.NewSnapshotID(b.now(), randomness(99)))(b.t)
	p := pack(b.t, colony.Draft{ID: id, Label: label, CreatedAt: b.now(), Documents: doc(text)})
	files := map[string]string{p.Manifest.Name: p.Manifest.Content}
	for _, f := range append(p.Parts, colony.Latest(label, id, b.now())) {
		files[f.Name] = f.Content
	}
	b.fake.Fill(files)
	return id
}

// TestPruneLeavesOtherLabelsAlone: labels that become the same share their names,
// and a client that does not tell hides it.
func TestPruneLeavesOtherLabelsAlone(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	one := b.open(func(o *colony.Options) { o.Label = "a b" })
	two := b.open(func(o *colony.Options) { o.Label = "a.b" })
	theirs := b.backup(one, doc("of a b"), colony.BackupOptions{}).ID
	unknown := b.put("a-b", "of nobody")
	mine := b.backup(two, doc("of a.b"), colony.BackupOptions{}).ID
	for _, dryRun := range []bool{true, false} {
		r, err := two.Prune(t.Context(), 1, dryRun)
		want := colony.PruneReport{
			Label: "a-b", Kept: []colony.SnapshotID{mine, theirs}, Deleted: []colony.SnapshotID{unknown},
			Failed: []colony.Failure{}, Orphans: []string{}, Planned: dryRun,
		}
		must.Do(t, err)
		must.Equal(t, "prune", r, want)
	}
	got := must.Get(one.Restore(t.Context(), theirs))(t)
	sameDocuments(t, got.Documents, doc("of a b"))

	// It does not count as one that is kept either.
	b.backup(two, doc("more of a.b"), colony.BackupOptions{})
	r := must.Get(two.Prune(t.Context(), 2, false))(t)
	must.Equal(t, "deleted", len(r.Deleted), 0)
	must.Equal(t, "kept", len(r.Kept), 3)
}

// TestPruneKeepsTheLastText: a backup of documents without text has not
// asked for the end of those that had some, now or in the next prune.
func TestPruneKeepsTheLastText(t *testing.T) {
	t.Parallel()
	for name, blanks := range map[string][]string{"empty": {""}, "white": {"\n"}, "ever more": {"", "\n", " \n\t"}} {
		b := newBench(t)
		v := b.open(nil)
		b.backup(v, doc("the first year"), colony.BackupOptions{})
		text := b.backup(v, doc("a year of memory"), colony.BackupOptions{}).ID
		for _, blank := range blanks {
			b.backup(v, doc(blank), colony.BackupOptions{Keep: 1})
		}
		r, err := v.Prune(t.Context(), 1, false)
		if err != nil || !slices.Contains(r.Kept, text) || len(r.Kept) != 2 {
			t.Errorf("%s: prune keeps %v of %v, %v", name, r.Kept, text, err)
		}
		got, err := v.Restore(t.Context(), text)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sameDocuments(t, got.Documents, doc("a year of memory"))
		// With text again there is no reason to keep it.
		b.backup(v, doc("the second year"), colony.BackupOptions{Keep: 1})
		if all, _ := complete(b.fake.Files(), "x"); len(all) != 1 {
			t.Errorf("%s: there are %v", name, all)
		}
	}
}

// TestPruneRemovesPartsOfAWrongClock: an id in the future does not keep parts of
// no snapshot for ever, if the vault tells when they came.
func TestPruneRemovesPartsOfAWrongClock(t *testing.T) {
	t.Parallel()
	part := colony.PartName("x", "20990101T000000000000Z-aaaaaa", 0)
	for name, tc := range map[string]struct {
		bare bool
		age  time.Duration
		gone bool
	}{
		"old":      {age: 24 * time.Hour, gone: true},
		"young":    {age: 24*time.Hour - time.Second},
		"not told": {bare: true, age: 30 * 24 * time.Hour},
	} {
		b := newBench(t)
		b.fake.Bare = tc.bare
		v := b.open(nil)
		b.backup(v, doc("one"), colony.BackupOptions{})
		b.fake.Fill(map[string]string{part: "x"})
		b.pass(tc.age)
		r, err := v.Prune(t.Context(), 1, false)
		if gone := slices.Equal(r.Orphans, []string{part}); err != nil || gone != tc.gone {
			t.Errorf("%s: removed %v, %v", name, r.Orphans, err)
		}
		if _, there := b.fake.Files()[part]; there == tc.gone {
			t.Errorf("%s: files are %v", name, names(b.fake, ""))
		}
	}
}

// TestFullVaultsSayWhatHelps: prune is no help against parts of an upload that
// was not finished today, nor against a quota that is not known.
func TestFullVaultsSayWhatHelps(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.fake.Quota = 2 << 20
	b.fake.Fill(map[string]string{"z.md": "z"})
	id := newIdentity(t)
	v := b.open(func(o *colony.Options) { o.Recipients = append(o.Recipients, id.Recipient()) })
	puts := 0
	b.fake.Before = func(r colonytest.Request) colonytest.Fault {
		if r.Op == "put" {
			puts++
		}
		if puts == 3 {
			return colonytest.Fault{Err: amber.Errorf(amber.KindUnreachable, r.Op, "", "away")}
		}
		return colonytest.Fault{}
	}
	text := doc(bulky(1, 1_400_000))
	must.Fail(v.Backup(t.Context(), text, colony.BackupOptions{}))(t, "", amber.KindUnreachable)
	b.fake.Before = nil
	b.pass(time.Minute)
	_, err := v.Backup(t.Context(), text, colony.BackupOptions{})
	must.Kind(t, "", err, amber.KindQuota)
	begun, ok := strings.CutPrefix(amber.HintOf(err), "amber vault delete --snapshot ")
	if !ok || !strings.Contains(err.Error(), "unfinished uploads") {
		t.Fatalf("the error is %v, the hint %q", err, amber.HintOf(err))
	}
	must.Get(v.Delete(t.Context(), colony.SnapshotID(begun), false))(t)
	b.backup(v, text, colony.BackupOptions{})
	_, err = v.Backup(t.Context(), doc(bulky(2, 1_400_000)), colony.BackupOptions{})
	must.Kind(t, "", err, amber.KindQuota)
	must.Equal(t, "hint", amber.HintOf(err), "amber vault prune --keep 1")

	b = newBench(t)
	_, err = b.openOn(quiet{b.fake}, nil).Backup(t.Context(), doc("one"), colony.BackupOptions{})
	must.Kind(t, "", err, amber.KindQuota)
	must.Says(t, "the error", err.Error(), "reports no quota yet")
	must.Says(t, "the hint", amber.HintOf(err), "small file")
}

// quiet is a vault that has not told its quota and holds nearly what most hold.
type quiet struct{ *colonytest.Fake }

func (quiet) Status(context.Context) (colony.Status, error) {
	return colony.Status{UsedBytes: colony.DefaultQuota - 100}, nil
}
