package repo_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestACopyLosesNoKey copies between repositories whose keys are related in
// every way.
func TestACopyLosesNoKey(t *testing.T) {
	t.Parallel()
	at := amber.At(epoch)
	rotate := func(t *testing.T, m *memory, seed uint64, who ...string) {
		t.Helper()
		must.Do(t, open(t, m).SetRecipients(ctx, recipients(t, who...), true, &steady{n: seed}, at))
	}
	tests := []struct {
		name string
		to   func(t *testing.T, from *memory) *memory // from has one key
		more func(t *testing.T, from *memory)         // happens to it later
		want amber.Kind
	}{
		{"to nothing", func(*testing.T, *memory) *memory { return newMemory() }, nil, ""},
		{"to a copy", func(_ *testing.T, from *memory) *memory { return from.clone() }, nil, ""},
		{"a newer key to a copy", func(_ *testing.T, from *memory) *memory { return from.clone() }, func(t *testing.T, from *memory) { rotate(t, from, 9, alice) }, ""},
		{"to a copy with a newer key", func(t *testing.T, from *memory) *memory { m := from.clone(); rotate(t, m, 9, alice); return m }, nil, ""},
		{"two newer keys", func(t *testing.T, from *memory) *memory { m := from.clone(); rotate(t, m, 9, alice); return m }, func(t *testing.T, from *memory) { rotate(t, from, 19, alice) }, amber.KindConflict},
		{"a newer one over another", func(t *testing.T, from *memory) *memory { m := from.clone(); rotate(t, m, 9, alice); return m }, func(t *testing.T, from *memory) {
			rotate(t, from, 19, alice)
			rotate(t, from, 20, alice)
		}, amber.KindConflict},
		{"to another repository", func(t *testing.T, _ *memory) *memory {
			m := newMemory()
			must.Do(t, open(t, m).InitKey(ctx, recipients(t, alice), &steady{n: 40}, at))
			return m
		}, nil, amber.KindConflict},
		{"recipients that were shut out", func(t *testing.T, from *memory) *memory {
			must.Do(t, open(t, from).SetRecipients(ctx, recipients(t, alice, carol), false, nil, at))
			return from.clone()
		}, func(t *testing.T, from *memory) { rotate(t, from, 9, alice) }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			from := newEncrypted(t)
			s := newStore(t, from)
			a := s.take(t, ada, "a")
			to := tt.to(t, from)
			kept := []repo.Manifest{a}
			if tt.more != nil {
				tt.more(t, from)
			}
			s = s.again(t)
			kept = append(kept, s.take(t, ada, "b"))
			before := to.clone()
			must.Fail(repo.Copy(ctx, from, to, aliceCopies(t)))(t, "copy", tt.want)
			if tt.want != "" {
				must.Equal(t, "objects", to.objects, before.objects)
				return
			}
			there := newStore(t, to)
			there.ids = s.ids
			there.whole(t, kept...)
			if len(to.names("keys/")) != 1 || !openAs(t, to, carol).Locked() {
				t.Errorf("who was shut out is let in by %q", to.names("keys/"))
			}
		})
	}
	plain := newMemory()
	newStore(t, plain).take(t, ada, "a")
	to := newEncrypted(t)
	must.Fail(repo.Copy(ctx, plain, to, aliceCopies(t)))(t, "what is not encrypted", amber.KindConflict)
	must.Hold(t, len(to.names("packs/")) == 0, "it was written to an encrypted repository")
}
