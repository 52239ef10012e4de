package colony_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

// nameless is a recipient that does not say who it is.
type nameless struct{ age.Recipient }

// A snapshot with another set of recipients is another snapshot, even when the documents are the same.
func TestOtherRecipientsAreAChange(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m, a, c := &memo{}, newIdentity(t), newIdentity(t)
	save := func(to ...age.Recipient) bool {
		t.Helper()
		v := b.open(func(o *colony.Options) {
			o.Witness, o.Recipients, o.Identities = m, to, []age.Identity{a, c}
		})
		return b.backup(v, doc("one"), colony.BackupOptions{}).Unchanged
	}
	for i, step := range []struct {
		to        []age.Recipient
		unchanged bool
	}{
		{[]age.Recipient{a.Recipient()}, false},
		{[]age.Recipient{a.Recipient()}, true},
		{[]age.Recipient{c.Recipient()}, false},
		{[]age.Recipient{c.Recipient(), a.Recipient()}, false},
		{[]age.Recipient{a.Recipient(), c.Recipient()}, true},
		{[]age.Recipient{nameless{a.Recipient()}}, false},
		{[]age.Recipient{nameless{a.Recipient()}}, false},
	} {
		must.Equal(t, fmt.Sprintf("step %d: unchanged", i), save(step.to...), step.unchanged)
	}
	// One who has only read it does not know for whom it is.
	save(a.Recipient())
	m.seen.Recipients = ""
	if save(a.Recipient()) {
		t.Error("nobody knows for whom it is, and it is unchanged")
	}
}

// A backup warns when the new snapshot is protected less than the one before it: unsigned or unencrypted.
func TestBackupWarnsOfLess(t *testing.T) {
	t.Parallel()
	key, to := signerOf(t, strings.Repeat("01", 32)), newIdentity(t)
	b := newBench(t)
	signed := func(o *colony.Options) { o.Signer = key }
	sealed := func(o *colony.Options) { o.Recipients = []age.Recipient{to.Recipient()} }
	for i, step := range []struct {
		change func(*colony.Options)
		want   string
	}{
		{signed, ""},
		{signed, ""},
		{nil, "is signed"},
		{nil, ""},
		{sealed, ""},
		{nil, "is encrypted"},
		{sealed, ""},
		{signed, "is encrypted"},
	} {
		got := strings.Join(b.backup(b.open(step.change), doc(fmt.Sprint(i)), colony.BackupOptions{}).Warnings, "; ")
		if (got == "") != (step.want == "") || !strings.Contains(got, step.want) {
			t.Errorf("step %d: warnings are %q", i, got)
		}
	}
}

// Documents of nothing but white space count as empty ones.
func TestBlankDocumentsKeepWhatHasText(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	id := b.backup(v, doc("a year of memory"), colony.BackupOptions{}).ID
	for _, text := range []string{"\n", " \t", "", "\n\n"} {
		r := b.backup(v, doc(text), colony.BackupOptions{Keep: 1})
		if text == "\n" && len(r.Warnings) != 1 {
			t.Errorf("%q: warnings are %q", text, r.Warnings)
		}
		must.Get(v.Prune(t.Context(), 1, false))(t)
		if ids, _ := complete(b.fake.Files(), "x"); len(ids) != 2 || ids[0] != id {
			t.Errorf("after %q complete are %s", text, ids)
		}
	}
	b.backup(v, doc("more"), colony.BackupOptions{Keep: 1})
	if ids, _ := complete(b.fake.Files(), "x"); len(ids) != 1 {
		t.Errorf("complete are %s", ids)
	}
}

// A listing reports a vault that was put back, as for one who
// restores does.
func TestListAndLatestAskTheWitness(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m := &memo{}
	v := b.open(func(o *colony.Options) { o.Witness = m })
	older, _ := two(b, v)
	now := b.fake.Files()
	b.fake.Remove(names(b.fake, "")...)
	back := map[string]string{pointerFile: colony.Latest("x", older, b.now()).Content}
	for name, content := range now {
		if strings.Contains(name, string(older)) {
			back[name] = content
		}
	}
	must.Fail(v.Latest(t.Context()))(t, "", amber.KindUntrusted)
	must.Fail(v.List(t.Context()))(t, "", amber.KindUntrusted)
	b.fake.Fill(back)
	_, err := v.Latest(t.Context())
	must.Kind(t, "", err, amber.KindUntrusted)
	must.Equal(t, "hint", amber.HintOf(err), "amber vault restore --snapshot "+string(older))
	if all, err := v.List(t.Context()); err != nil || len(all) != 1 || !strings.Contains(all[0].Damage, "was seen before") {
		t.Errorf("list is %+v, %v", all, err)
	}
	if all, err := b.open(nil).List(t.Context()); err != nil || len(all) != 1 || all[0].Damage != "" {
		t.Errorf("for one who has not seen it the list is %+v, %v", all, err)
	}
	must.Fail(b.open(func(o *colony.Options) { o.Witness = forgetful{blind: true} }).Latest(t.Context()))(t, "", amber.KindInternal)
}

// flood is a vault whose parts are as long as an answer may be.
type flood struct {
	*colonytest.Fake
	sizes bool // they are told
	got   int
}

func (f *flood) List(ctx context.Context, prefix string) ([]colony.FileInfo, error) {
	all, err := f.Fake.List(ctx, prefix)
	for i := range all {
		if strings.Contains(all[i].Name, ".p") {
			if all[i].Size = -1; f.sizes {
				all[i].Size = 7 << 20
			}
		}
	}
	return all, err
}

func (f *flood) Get(ctx context.Context, name string) (colony.File, error) {
	file, err := f.Fake.Get(ctx, name)
	if strings.Contains(name, ".p") {
		f.got++
		file.Content = strings.Repeat("x", 7<<20)
	}
	return file, err
}

// No more is fetched than documents that may be read could need.
func TestRestoreBoundsWhatItFetches(t *testing.T) {
	t.Parallel()
	for _, sizes := range []bool{false, true} {
		b := newBench(t)
		v := b.open(nil)
		v.SetPartChars(4)
		b.backup(v, doc("one"), colony.BackupOptions{})
		f := &flood{Fake: b.fake, sizes: sizes}
		must.Fail(b.openOn(f, func(o *colony.Options) { o.MaxBytes = 4 << 20 }).Restore(t.Context(), ""))(t, "", amber.KindQuota)
		if most := 2; f.got > most || sizes && f.got > 0 {
			t.Errorf("%d parts of 7 MiB were fetched", f.got)
		}
	}
}
