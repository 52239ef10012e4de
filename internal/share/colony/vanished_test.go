package colony_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

// beforePointer runs do once, between the manifest of the next snapshot and its
// pointer.
func beforePointer(f *colonytest.Fake, do func()) {
	sealed := false
	f.Before = func(r colonytest.Request) colonytest.Fault {
		switch {
		case r.Op == "put" && strings.Contains(r.Name, "manifest"):
			sealed = true
		case sealed && r.Op == "get" && r.Name == pointerFile:
			f.Before = nil
			do()
		}
		return colonytest.Fault{}
	}
}

// Another client makes a later snapshot, prunes, and deletes its own: the snapshot that the backup acknowledges
// afterwards is there.
func TestBackupIsRemovedBeforeThePointer(t *testing.T) {
	t.Parallel()
	for _, backend := range []string{"conditional", "unconditional", "bare"} {
		b := newBench(t)
		v, other := b.openOn(backends[backend](&scene{bench: b}), nil), b.open(nil)
		b.backup(v, doc("zero"), colony.BackupOptions{})
		beforePointer(b.fake, func() {
			r := b.backup(other, doc("by another"), colony.BackupOptions{Keep: 1})
			must.Get(other.Delete(t.Context(), r.ID, false))(t)
		})
		r := b.backup(v, doc("mine"), colony.BackupOptions{})
		if got := b.restore(v, doc("mine")); got.ID != r.ID || got.Fallback != "" || r.SupersededBy != "" {
			t.Errorf("%s: restored %+v, report is %+v", backend, got, r)
		}
	}
}

// A snapshot that a later one pushed out was the newest for a moment: no other is
// made, and the report says it.
func TestBackupIsPrunedByALaterOne(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v, other := b.open(nil), b.open(nil)
	b.backup(v, doc("zero"), colony.BackupOptions{})
	var later colony.SnapshotID
	push := func() { later = b.backup(other, doc("later"), colony.BackupOptions{Keep: 1}).ID }
	beforePointer(b.fake, push)
	r := b.backup(v, doc("mine"), colony.BackupOptions{})
	if r.SupersededBy != later || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "another writer has removed") {
		t.Errorf("report is %+v", r)
	}
	b.restore(v, doc("later"))

	// Between the pointer and the last look.
	moved := false
	b.fake.Before = func(req colonytest.Request) colonytest.Fault {
		moved = moved || req.Op == "put" && req.Name == pointerFile
		if moved && req.Op == "list" {
			b.fake.Before = nil
			push()
		}
		return colonytest.Fault{}
	}
	r = b.backup(v, doc("mine again"), colony.BackupOptions{})
	must.Equal(t, "superseded by", r.SupersededBy, later)
	must.Equal(t, "warnings", len(r.Warnings), 1)
	if ids, named := complete(b.fake.Files(), "x"); len(ids) != 1 || named != later {
		t.Errorf("complete are %s, the pointer names %s", ids, named)
	}
}

// A writer that sleeps for longer than parts may lie about, at any of its
// requests, still puts there what it acknowledges.
func TestBackupSleepsPastTheGrace(t *testing.T) {
	t.Parallel()
	for n := 1; ; n++ {
		b := newBench(t)
		v, other := b.open(nil), b.open(nil)
		v.SetPartChars(200)
		b.backup(v, doc("one"), colony.BackupOptions{})
		start, slept := len(b.fake.Requests()), false
		b.fake.Before = func(r colonytest.Request) colonytest.Fault {
			if r.N == start+n {
				b.fake.Before, slept = nil, true
				b.pass(25 * time.Hour)
				must.NoError(t, must.Err(other.Prune(t.Context(), 5, false)))
			}
			return colonytest.Fault{}
		}
		b.backup(v, doc(long), colony.BackupOptions{Keep: 1})
		b.fake.Before = nil
		must.Equal(t, fmt.Sprint("asleep at request ", n), b.restore(v, doc(long)).Fallback, "")
		if !slept {
			return
		}
	}
}

// It is not tried for ever.
func TestBackupGivesUpWhenOthersRemoveIt(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v := b.open(nil)
	b.fake.Before = func(r colonytest.Request) colonytest.Fault {
		if r.Op == "put" && r.Name == pointerFile {
			b.fake.Remove(names(b.fake, "cmem.x.2026")...)
		}
		return colonytest.Fault{}
	}
	must.Fail(v.Backup(t.Context(), doc("one"), colony.BackupOptions{}))(t, "", amber.KindConflict)
	if n := count(b.fake.Requests(), "put"); n > 5*3 {
		t.Errorf("%d files were written", n)
	}
}
