package repo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

// place puts a record into a target as the manifest or the stub of another
// snapshot.
func (s *store) place(t *testing.T, prefix, body string, old amber.SnapshotID, sign func(body string) string) amber.SnapshotID {
	t.Helper()
	id := s.newID(t)
	body = strings.ReplaceAll(body, `"id":"`+string(old)+`"`, `"id":"`+string(id)+`"`)
	s.target.(*memory).objects[prefix+"ada/"+string(id)+".json"] = envelopeWith(body, sign(body))
	return id
}

// TestTheTipIsNothingThatATargetMadeUp puts a third link behind two that are signed, in every way in which a person
// without the key can.
func TestTheTipIsNothingThatATargetMadeUp(t *testing.T) {
	t.Parallel()
	none := func(string) string { return "[]" }
	unsigned := func(body string) string {
		return strings.Replace(body, `,"signer":"`+string(own.KeyID())+`"`, "", 1)
	}
	foreign := func(body string) string { return strings.ReplaceAll(body, string(own.KeyID()), string(other.KeyID())) }
	tests := []struct {
		name   string
		change func(body string) string
		sign   func(body string) string
		trusts func(sign.KeyID) bool
		tip    bool // it is the tip
	}{
		{"signed", nil, own.signatures, nil, true},
		{"signed, and trusted", nil, own.signatures, func(k sign.KeyID) bool { return k == own.KeyID() }, true},
		{"bad", nil, func(string) string { return own.signatures("something else") }, nil, false},
		{"stripped", nil, none, nil, false},
		{"missing", unsigned, none, nil, false},
		{"by another", foreign, other.signatures, nil, true},
		{"by another who is not trusted", foreign, other.signatures, func(k sign.KeyID) bool { return k == own.KeyID() }, false},
		{"the last counter of all", func(b string) string { return strings.Replace(b, `"counter":3`, fmt.Sprintf(`"counter":%d`, 1<<40), 1) }, own.signatures, nil, false},
		{"a counter beyond", func(b string) string {
			return strings.Replace(b, `"counter":3`, fmt.Sprintf(`"counter":%d`, 1<<40+1), 1)
		}, own.signatures, nil, false},
		{"the greatest number", func(b string) string { return strings.Replace(b, `"counter":3`, `"counter":9223372036854775807`, 1) }, own.signatures, nil, false},
	}
	for _, tt := range tests {
		for _, kind := range []string{"snapshots/", "stubs/"} {
			t.Run(tt.name+" in "+kind, func(t *testing.T) {
				t.Parallel()
				s := signing(t, newMemory(), own)
				s.takeSigned(t, "a")
				second := s.takeSigned(t, "b")
				catalog := s.catalog.Trusting(tt.trusts)
				seen, err := catalog.TipSince(ctx, ada, laptop, repo.Seen{})
				if err != nil || seen.Tip.ID != second.ID {
					t.Fatal(err, seen)
				}
				third := s.takeSigned(t, "c")
				name := manifestOf(third)
				if kind == "stubs/" {
					s.delete(t, third)
					name = stubNameOf(third)
				}
				body := bodyOf(s.target.(*memory).objects[name])
				delete(s.target.(*memory).objects, name)
				if tt.change != nil {
					body = tt.change(body)
				}
				if kind == "stubs/" && tt.name == "missing" {
					body = strings.Replace(body, `,"author":"`+string(own.KeyID())+`"`, "", 1)
				}
				want := s.place(t, kind, body, third.ID, tt.sign)
				if !tt.tip {
					want = second.ID
				}
				for what, since := range map[string]repo.Seen{"at first sight": {}, "after the second": seen} {
					got := must.Get(catalog.TipSince(ctx, ada, laptop, since))(t)
					must.Equal(t, what+": tip", got.Tip.ID, want)
					if n := len(got.IDs); tt.tip != (n == 3) {
						t.Errorf("%s: %d links are noted", what, n)
					}
				}
			})
		}
	}
}

// TestATipThatBecameAnotherIsNotBelieved: what was seen is read again.
func TestATipThatBecameAnotherIsNotBelieved(t *testing.T) {
	t.Parallel()
	s := signing(t, newMemory(), own)
	first := s.takeSigned(t, "a")
	second := s.takeSigned(t, "b")
	seen, err := s.catalog.TipSince(ctx, ada, laptop, repo.Seen{})
	if err != nil || seen.Tip.ID != second.ID {
		t.Fatal(err, seen)
	}
	o := s.target.(*memory).objects
	o[manifestOf(second)] = envelopeWith(bodyOf(o[manifestOf(second)]), "[]")
	must.Equal(t, "tip", must.Get(s.catalog.TipSince(ctx, ada, laptop, seen))(t).Tip.ID, first.ID)
}

// A chain without signatures goes on.
func TestTheTipOfAChainWithoutSignatures(t *testing.T) {
	t.Parallel()
	s := newStore(t, newMemory())
	s.take(t, ada, "a")
	b := s.take(t, ada, "b")
	catalog := s.catalog.Trusting(func(sign.KeyID) bool { return false })
	must.Equal(t, "tip", must.Get(catalog.Tip(ctx, ada, laptop))(t).ID, b.ID)
}

// TestSignedLinksBeforeACounterAreFound, also when only their stubs are there.
func TestSignedLinksBeforeACounterAreFound(t *testing.T) {
	t.Parallel()
	s := signing(t, newMemory(), own)
	s.takeAs(t, laptop, "a", "")
	b := s.takeSigned(t, "b")
	s.takeAs(t, "desk", "x", "")
	check := func(what string, c *repo.Catalog, device string, counter, want int64) {
		t.Helper()
		must.Equal(t, what, must.Get(c.SignedBefore(ctx, ada, device, counter))(t), want)
	}
	for range 2 {
		check("behind it", s.catalog, laptop, 3, 2)
		check("far behind it", s.catalog, laptop, 1<<40, 2)
		check("at it", s.catalog, laptop, 2, 0)
		check("another device", s.catalog, "desk", 3, 0)
		check("trusted", s.catalog.Trusting(func(k sign.KeyID) bool { return k == own.KeyID() }), laptop, 3, 2)
		check("not trusted", s.catalog.Trusting(func(sign.KeyID) bool { return false }), laptop, 3, 0)
		s.delete(t, b)
	}
	must.Fail(s.catalog.SignedBefore(ctx, "No such", laptop, 3))(t, "no agent", amber.KindInvalid)
}
