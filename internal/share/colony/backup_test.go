package colony_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

// An upload that stopped goes on under its own id, with what is missing.
func TestBackupResumes(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	s := &scene{bench: b, v: b.open(nil)}
	s.v.SetPartChars(200)
	s.save("one")
	s.interrupt("put", 3, func() { _, _ = backUp(long, 0)(s) })
	begun := names(b.fake, "cmem.x.")[2:4]
	begin := len(b.fake.Requests())
	r := b.backup(s.v, doc(long), colony.BackupOptions{})
	if n, _ := colony.ParseName(begun[0]); !r.Resumed || r.ID != n.ID || len(r.Uploaded) != r.PartCount-2+2 {
		t.Errorf("report is %+v, begun was %q", r, begun)
	}
	must.Equal(t, "files that were written", count(b.fake.Requests()[begin:], "put"), len(r.Uploaded))
	b.restore(s.v, doc(long))
}

// A backup leaves an upload alone that was begun with other documents, or long ago.
func TestBackupDoesNotResumeWhatIsNotIts(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(b *bench, part string){
		"other documents": func(b *bench, part string) {
			text := b.fake.Files()[part]
			end := strings.LastIndex(text, `"`) - 20
			b.fake.Fill(map[string]string{part: text[:end] + "AAAA" + text[end+4:]})
		},
		"only begins so": func(b *bench, _ string) {
			all := names(b.fake, "cmem.x.2026")
			b.fake.Remove(all[len(all)-1])
		},
		"rotten":   func(b *bench, part string) { b.fake.Rot(part) },
		"long ago": func(b *bench, _ string) { b.pass(colony.DefaultGrace/2 + time.Minute) },
		"too many parts": func(b *bench, part string) {
			b.fake.Fill(map[string]string{strings.Replace(part, ".json", "9.json", 1): "x"})
		},
	} {
		b := newBench(t)
		s := &scene{bench: b, v: b.open(nil)}
		s.v.SetPartChars(200)
		s.save("one")
		s.interrupt("put", 3, func() { _, _ = backUp(long, 0)(s) })
		part := names(b.fake, "cmem.x.")[2]
		change(b, part)
		before := b.fake.Files()[part]
		r := b.backup(s.v, doc(long), colony.BackupOptions{})
		if r.Resumed || strings.Contains(part, string(r.ID)) || b.fake.Files()[part] != before {
			t.Errorf("%s: report is %+v", name, r)
		}
		b.restore(s.v, doc(long))
	}
}

// Another writer goes on with what this one has begun, and a third makes a newer
// snapshot and prunes: this one makes a new one.
func TestBackupIsOvertaken(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"conditional", "unconditional"} {
		b := newBench(t)
		open := func() *colony.Vault {
			v := b.openOn(backends[backend](&scene{bench: b}), nil)
			v.SetPartChars(200)
			return v
		}
		busy, puts := false, 0
		b.fake.Before = func(r colonytest.Request) colonytest.Fault {
			if r.Op == "put" && !busy {
				if puts++; puts == 3 {
					busy = true
					must.Equal(t, "resumed", b.backup(open(), doc(long), colony.BackupOptions{}).Resumed, true)
					b.backup(open(), doc("newer"), colony.BackupOptions{Keep: 1})
				}
			}
			return colonytest.Fault{}
		}
		v := open()
		r := b.backup(v, doc(long), colony.BackupOptions{})
		must.Equal(t, backend+": resumed", r.Resumed, false)
		must.Equal(t, backend+": superseded by", r.SupersededBy, "")
		b.restore(v, doc(long))
		if ids, _ := complete(b.fake.Files(), "x"); len(ids) != 2 || ids[1] != r.ID {
			t.Errorf("%s: complete are %s", backend, ids)
		}
	}
}

// One who does not sign goes on with what one who signs has begun: the latter
// still makes a signed snapshot.
func TestBackupIsFinishedByAnother(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	before(b.fake, "put", "manifest", func() {
		if r := b.backup(b.open(nil), doc("one"), colony.BackupOptions{}); !r.Resumed || r.Signed {
			t.Errorf("the other made %+v", r)
		}
	})
	v := b.open(func(o *colony.Options) { o.Signer = signerOf(t, strings.Repeat("01", 32)) })
	r := b.backup(v, doc("one"), colony.BackupOptions{})
	if got := b.restore(v, doc("one")); !got.Signed || got.ID != r.ID || !r.Signed {
		t.Errorf("restored %+v, report was %+v", got.Info, r)
	}
}

// The clock may be behind, here or elsewhere: a new snapshot is later than all
// others.
func TestBackupIsLaterThanAllOthers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	last := b.backup(v, doc("one"), colony.BackupOptions{}).ID
	for _, d := range []time.Duration{-time.Hour, 0, -24 * time.Hour} {
		b.pass(d)
		r := b.backup(v, doc(string(last)), colony.BackupOptions{})
		if r.ID <= last || r.Parent != last {
			t.Errorf("%s comes after %s", r.ID, last)
		}
		last = r.ID
	}
	b.fake.Fill(map[string]string{"cmem.x.99991231T235959999999Z-ffffff.p0.json": "x"})
	_, err := v.Backup(t.Context(), doc("two"), colony.BackupOptions{})
	must.Kind(t, "", err, amber.KindDamaged)
	must.Says(t, "hint", amber.HintOf(err), "amber vault delete 99991231")
}

// Documents that cannot be written are refused before anything is asked.
func TestBackupRefusesDocuments(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	for _, docs := range []colony.Documents{nil, {}, {"a": "\xff"}, {"\xff": "a"}} {
		must.Fail(b.open(nil).Backup(t.Context(), docs, colony.BackupOptions{}))(t, "", amber.KindInvalid)
	}
	must.Fail(b.open(nil).Backup(t.Context(), doc("x"), colony.BackupOptions{Keep: -1}))(t, "", amber.KindInvalid)
	must.Equal(t, "requests", len(b.fake.Requests()), 0)
}

// Every write is announced, in the order in which it is made.
func TestBackupTellsItsProgress(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	var told []string
	v := b.open(func(o *colony.Options) {
		o.Progress = func(p colony.Progress) {
			told = append(told, p.Name)
			if p.Done >= p.Total {
				t.Errorf("%s is %d of %d", p.Name, p.Done, p.Total)
			}
		}
	})
	v.SetPartChars(200)
	r := b.backup(v, doc(long), colony.BackupOptions{})
	must.Equal(t, "told", told, r.Uploaded)
	must.Equal(t, "told", len(told), r.PartCount+2)
}

// A pointer that others move all the time is given up in the end, and the
// snapshot is there.
func TestBackupGivesUpThePointer(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	b.backup(v, doc("one"), colony.BackupOptions{})
	b.fake.Before = func(r colonytest.Request) colonytest.Fault {
		if r.Op == "put" && r.Name == "cmem.x.latest.json" {
			return colonytest.Fault{Err: amber.Errorf(amber.KindConflict, "put", r.Name, "changed")}
		}
		return colonytest.Fault{}
	}
	must.Fail(v.Backup(t.Context(), doc("two"), colony.BackupOptions{}))(t, "", amber.KindConflict)
	b.fake.Before = nil
	b.restore(v, doc("one"))
	if r := b.backup(v, doc("two"), colony.BackupOptions{}); !r.Resumed || len(r.Uploaded) != 1 {
		t.Errorf("report is %+v", r)
	}
}

// A witness that cannot remember does not undo a backup; one that cannot tell
// stops everything that depends on it.
func TestWitnessFails(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(func(o *colony.Options) { o.Witness = &forgetful{} })
	must.Equal(t, "warnings", len(b.backup(v, doc("one"), colony.BackupOptions{}).Warnings), 1)
	must.Equal(t, "warnings", len(b.restore(v, doc("one")).Warnings), 1)
	v = b.open(func(o *colony.Options) { o.Witness = &forgetful{blind: true} })
	must.Fail(v.Restore(t.Context(), ""))(t, "", amber.KindInternal)
	must.Fail(v.Backup(t.Context(), doc("two"), colony.BackupOptions{}))(t, "", amber.KindInternal)
}

type forgetful struct{ blind bool }

func (f forgetful) Seen(context.Context) (colony.Sighting, error) {
	if f.blind {
		return colony.Sighting{}, errors.New("no disk")
	}
	return colony.Sighting{}, nil
}

func (forgetful) Update(context.Context, func(colony.Sighting) colony.Sighting) error {
	return errors.New("no disk")
}
