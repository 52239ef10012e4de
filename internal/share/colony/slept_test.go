package colony_test

import (
	"context"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/share/colony/colonytest"
	"github.com/amber-memory/amber/internal/test/must"
)

// halted is a vault that stops at the first file that is to be deleted.
type halted struct {
	*colonytest.Fake
	at, on chan struct{}
}

func (h halted) Delete(ctx context.Context, name string) error {
	select {
	case h.at <- struct{}{}:
	case <-h.on:
	}
	<-h.on
	return h.Fake.Delete(ctx, name)
}

// A writer sleeps for longer than parts may lie about, and wakes while another client is just removing them. The
// snapshot that it acknowledges then does not go with them.
func TestBackupWakesWhileItsPartsAreRemoved(t *testing.T) {
	t.Parallel()
	for _, at := range []string{".p0.", "manifest"} {
		b := newBench(t)
		v := b.open(nil)
		v.SetPartChars(200)
		b.backup(v, doc("one"), colony.BackupOptions{})
		h := halted{b.fake, make(chan struct{}), make(chan struct{})}
		other, done := b.openOn(h, nil), make(chan error, 1)
		before(b.fake, "put", at, func() {
			b.pass(colony.DefaultGrace + 1)
			go func() {
				_, err := other.Prune(t.Context(), 5, false)
				done <- err
			}()
			<-h.at
		})
		r := b.backup(v, doc(long), colony.BackupOptions{})
		close(h.on)
		must.Do(t, <-done)
		if got := b.restore(v, doc(long)); got.ID != r.ID || got.Fallback != "" {
			t.Errorf("asleep before %s: restored %+v, report is %+v", at, got, r)
		}
	}
}

// Another client finishes the snapshot that is being uploaded and deletes it again: the backup makes another one. It
// distinguishes that from a vault that keeps no parts.
func TestBackupIsFinishedAndDeleted(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v, other := b.open(nil), b.open(nil)
	v.SetPartChars(200)
	other.SetPartChars(200)
	before(b.fake, "put", ".p0.", func() {
		r := b.backup(other, doc(long), colony.BackupOptions{})
		must.NoError(t, must.Err(other.Delete(t.Context(), r.ID, false)))
		must.Equal(t, "resumed", r.Resumed, true)
	})
	b.backup(v, doc(long), colony.BackupOptions{})
	b.restore(v, doc(long))
}

// Another client removes the snapshot that prune relies on, since there is a newer one: prune looks again, and reports
// what it did then.
func TestPruneLooksAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	v, other := b.open(nil), b.open(nil)
	b.backup(v, doc(strings.Repeat("one", 1000)), colony.BackupOptions{})
	b.backup(v, doc(strings.Repeat("two", 1000)), colony.BackupOptions{})
	before(b.fake, "get", ".p0.", func() { b.backup(other, doc("three"), colony.BackupOptions{Keep: 1}) })
	r := must.Get(v.Prune(t.Context(), 1, false))(t)
	must.Equal(t, "failed", len(r.Failed), 0)
	must.Equal(t, "kept", len(r.Kept), 1)
	b.restore(v, doc("three"))
}
