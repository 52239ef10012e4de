package repo_test

import (
	"fmt"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestAKeyThatChangesMeanwhileIsNoticed changes the key after another process has opened the repository: that process
// stores nothing that is not sealed, or is sealed with a key that counts no more.
func TestAKeyThatChangesMeanwhileIsNoticed(t *testing.T) {
	t.Parallel()
	rotate := func(t *testing.T, m *memory) {
		must.Do(t, open(t, m).SetRecipients(ctx, recipients(t, alice), true, &steady{n: 9}, amber.At(epoch)))
	}
	tests := []struct {
		name   string
		target func(testing.TB) *memory
		change func(*testing.T, *memory)
	}{
		{"encrypted", func(testing.TB) *memory { return newMemory() }, func(t *testing.T, m *memory) { encrypt(t, m) }},
		{"rotated", newEncrypted, rotate},
		{"the record is gone", newEncrypted, func(_ *testing.T, m *memory) { delete(m.objects, firstKeys) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target := tt.target(t)
			s := newStore(t, target)
			m := must.Get(s.prepare(t, ada, laptop, content{"a", 1}))(t)
			key := s.repo.KeyID()
			packs := len(target.names("packs/"))
			w := writer(t, s.repo)
			must.Get(w.Put(ctx, repo.KindFile, []byte("something new")))(t)
			tt.change(t, target)
			must.Fail(w.Flush(ctx))(t, "flush", amber.KindConflict)
			must.Fail(s.catalog.Publish(ctx, may(), m))(t, "publish", amber.KindConflict)
			if n := len(target.names("packs/")); n != packs || len(target.names("snapshots/")) > 0 {
				t.Errorf("%d packs came, and %q", n-packs, target.names("snapshots/"))
			}
			// A record that the caller has not looked at is not taken up.
			must.Equal(t, "the key", s.repo.KeyID(), key)
		})
	}
}

// TestARepositoryKeepsItsID: the id shows that a key record is that of another repository.
func TestARepositoryKeepsItsID(t *testing.T) {
	t.Parallel()
	must.Equal(t, "the id of a repository without a key", open(t, newMemory()).RepositoryID(), "")
	target := newEncrypted(t)
	id := open(t, target).RepositoryID()
	if len(id) != 32 || openAs(t, target).RepositoryID() != id {
		t.Errorf("%q, and %q without the key", id, openAs(t, target).RepositoryID())
	}
	for i, rotate := range []bool{false, true} {
		must.Do(t, open(t, target).SetRecipients(ctx, recipients(t, alice), rotate, &steady{n: uint64(i) + 9}, amber.At(epoch)))
		must.Equal(t, fmt.Sprintf("rotate %v", rotate), open(t, target).RepositoryID(), id)
	}
	other := newMemory()
	if err := open(t, other).InitKey(ctx, recipients(t, alice), &steady{n: 30}, amber.At(epoch)); err != nil || open(t, other).RepositoryID() == id {
		t.Errorf("another repository: %v, %q", err, id)
	}
}
