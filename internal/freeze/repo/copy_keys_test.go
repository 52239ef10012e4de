package repo_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

const (
	firstKeys  = "keys/00000001.json"
	secondKeys = "keys/00000002.json"
)

// fieldOf returns a text of a body.
func fieldOf(body, field string) string {
	_, rest, _ := strings.Cut(body, `"`+field+`":"`)
	v, _, _ := strings.Cut(rest, `"`)
	return v
}

// rotated returns a target with a newer key record: a new key, and who can open
// it.
func rotated(t *testing.T, m *memory, seed uint64, who ...string) *memory {
	t.Helper()
	c := m.clone()
	must.Do(t, open(t, c).SetRecipients(ctx, recipients(t, who...), true, &steady{n: seed}, amber.At(epoch)))
	return c
}

// TestAHostileTargetCannotTakeTheKeyAway is about the loss of everything: a
// record that names our keys and does not hold them must not replace ours.
func TestAHostileTargetCannotTakeTheKeyAway(t *testing.T) {
	t.Parallel()
	local := newEncrypted(t)
	s := newStore(t, local)
	m := s.take(t, ada, "a")
	body := bodyOf(local.objects[firstKeys])
	id := fieldOf(body, "repository")
	with := func(pairs ...string) []byte {
		return envelope(strings.NewReplacer(append(pairs, `"serial":1`, `"serial":2`)...).Replace(body))
	}
	box := fieldOf(body, "box")
	me := []age.Identity{identity(t, alice)}
	good := rotated(t, local, 9, alice).objects[secondKeys]
	tests := map[string]struct {
		record     []byte
		identities []age.Identity
	}{
		"a box that is no age file":   {with(box, "QUJD"), me},
		"the box of the old record":   {with(), me},
		"the same without identities": {with(), nil},
		"another key of ours":         {repo.ForgeKeys(open(t, local), id, 2, recipients(t, alice), &steady{n: 50}), me},
		"another repository":          {repo.ForgeKeys(open(t, local), strings.Repeat("ab", 16), 2, recipients(t, alice), &steady{n: 50}), me},
		"our keys elsewhere":          {repo.ForgeKeys(open(t, local), strings.Repeat("ab", 16), 2, recipients(t, alice), nil), me},
		"good, and nobody proves it":  {good, nil},
		"good, and a stranger":        {good, []age.Identity{identity(t, dave)}},
		"good, and not for us":        {rotated(t, local, 9, carol).objects[secondKeys], me},
	}
	for name, tt := range tests {
		hostile, to := local.clone(), local.clone()
		delete(hostile.objects, firstKeys)
		hostile.objects[secondKeys] = tt.record
		must.Fail(repo.Copy(ctx, hostile, to, repo.CopyOptions{Identities: tt.identities}))(t, name, amber.KindConflict)
		must.Equal(t, name+": objects", to.objects, local.objects)
	}
	to := local.clone()
	hostile := rotated(t, local, 9, alice)
	if _, err := repo.Copy(ctx, hostile, to, aliceCopies(t)); err != nil || openAs(t, to, alice).KeySerial() != 2 {
		t.Errorf("a good one: %v", err)
	}
	s.on(t, to).whole(t, m)
}

// TestAKeyRecordIsBroughtOnlyIfItsSignatureIsAccepted: a recipient that was
// removed has the keys, and can make a record that holds them all.
func TestAKeyRecordIsBroughtOnlyIfItsSignatureIsAccepted(t *testing.T) {
	t.Parallel()
	from := newEncrypted(t)
	newStore(t, from).take(t, ada, "a")
	errNo := errors.New("not one of ours")
	for name, to := range map[string]*memory{"none there": newMemory(), "an older one there": from.clone()} {
		source, before := from, to.clone()
		if name != "none there" {
			source = rotated(t, from, 9, alice)
		}
		o := aliceCopies(t)
		var asked []repo.SignatureState
		o.Accept = func(s repo.SignatureState) error { asked = append(asked, s); return errNo }
		_, err := repo.Copy(ctx, source, to, o)
		must.Hold(t, errors.Is(err, errNo) && cmp.Diff(before.objects, to.objects) == "", "%s: %v", name, err)
		must.Equal(t, name, asked, []repo.SignatureState{{Status: sign.SignatureMissing}})
		o.Accept = func(repo.SignatureState) error { return nil }
		if _, err := repo.Copy(ctx, source, to, o); err != nil || openAs(t, to, alice).Locked() {
			t.Errorf("%s, accepted: %v", name, err)
		}
	}
}

// stubborn is a target that does not delete, or that gives back something else.
type stubborn struct {
	*memory
	refuse bool
	garble string
}

func (s *stubborn) Delete(ctx context.Context, name string) error {
	if s.refuse {
		return amber.Errorf(amber.KindRefused, "delete", name, "write only")
	}
	return s.memory.Delete(ctx, name)
}

func (s *stubborn) Get(ctx context.Context, name string, offset, length int64) (io.ReadCloser, error) {
	if s.garble != "" && name == s.garble {
		return io.NopCloser(bytes.NewReader([]byte("garbage"))), nil
	}
	return s.memory.Get(ctx, name, offset, length)
}

// TestOldKeyRecordsGoAsSoonAsTheyMay copies to a destination that refuses, and
// then does not.
func TestOldKeyRecordsGoAsSoonAsTheyMay(t *testing.T) {
	t.Parallel()
	from := newEncrypted(t)
	m := newStore(t, from).take(t, ada, "a")
	to := &stubborn{memory: from.clone(), refuse: true}
	from = rotated(t, from, 9, alice)
	for _, o := range []repo.CopyOptions{aliceCopies(t), aliceCopies(t), {}} {
		r := must.Get(repo.Copy(ctx, from, to, o))(t)
		must.Equal(t, "not removed", r.NotRemoved, []string{firstKeys})
	}
	to.refuse = false
	if r, err := repo.Copy(ctx, from, to, repo.CopyOptions{}); err != nil || len(r.NotRemoved) != 1 || len(to.names("keys/")) != 2 {
		t.Errorf("nobody proves it: %v, %+v", err, r)
	}
	must.Equal(t, "not removed", len(must.Get(repo.Copy(ctx, from, to, aliceCopies(t)))(t).NotRemoved), 0)
	must.Equal(t, "key records", to.names("keys/"), []string{secondKeys})
	newStore(t, to).whole(t, m)
}

// An old record stays that holds another key, or whose keys cannot be read.
func TestAnOldKeyRecordThatHoldsSomethingElseStays(t *testing.T) {
	t.Parallel()
	base := newEncrypted(t)
	other := newMemory()
	must.Do(t, open(t, other).InitKey(ctx, recipients(t, alice), &steady{n: 70}, amber.At(epoch)))
	from := rotated(t, base, 9, alice)
	for name, record := range map[string][]byte{
		"another key": other.objects[firstKeys], "not for us": repo.ForgeKeys(open(t, base), strings.Repeat("ab", 16), 1, recipients(t, carol), &steady{}),
		"damaged": []byte("{"),
	} {
		to := from.clone()
		to.objects[firstKeys] = record
		if r := must.Get(repo.Copy(ctx, from, to, aliceCopies(t)))(t); len(r.NotRemoved) != 1 || !bytes.Equal(to.objects[firstKeys], record) {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestNothingIsRemovedBeforeTheNewKeyRecordWasReadBack(t *testing.T) {
	t.Parallel()
	from := newEncrypted(t)
	to := &stubborn{memory: from.clone(), garble: secondKeys}
	must.Fail(repo.Copy(ctx, rotated(t, from, 9, alice), to, aliceCopies(t)))(t, "copy", amber.KindConflict)
	must.Equal(t, "the only good record", to.objects[firstKeys], from.objects[firstKeys])
}
