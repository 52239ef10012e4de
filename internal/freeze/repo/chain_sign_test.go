package repo_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// checkChain checks the chains of ada with the heads that are known.
func (s *store) checkChain(t testing.TB, heads heads) repo.ChainReport {
	t.Helper()
	return must.Get(s.catalog.CheckChain(ctx, ada, func(device string) (repo.Link, bool) { return heads.known(ada, device) }))(t)
}

// TestAChainThatIsSignedStaysSo goes on without a signature, in every way.
func TestAChainThatIsSignedStaysSo(t *testing.T) {
	t.Parallel()
	const notSigned = "counter 3 is not signed, but counter 2 before it is"
	tests := []struct {
		name string
		// third makes the third link of a chain of which the second is signed.
		third   func(t *testing.T, s *store)
		damaged string // "" for nothing
	}{
		{"signed", func(t *testing.T, s *store) { s.takeSigned(t, "c") }, ""},
		{"signed by another", func(t *testing.T, s *store) { s.with(t, other).takeAs(t, laptop, "c", other.KeyID()) }, ""},
		{"signed and deleted", func(t *testing.T, s *store) { s.delete(t, s.takeSigned(t, "c")) }, ""},
		{"signed and deleted by another", func(t *testing.T, s *store) { s.with(t, other).delete(t, s.takeSigned(t, "c")) }, ""},
		{"not signed", func(t *testing.T, s *store) { s.takeAs(t, laptop, "c", "") }, notSigned},
		{"not signed by somebody without a key", func(t *testing.T, s *store) { s.with(t, nil).takeAs(t, laptop, "c", "") }, notSigned},
		{"not signed and deleted", func(t *testing.T, s *store) { s.delete(t, s.takeAs(t, laptop, "c", "")) }, notSigned},
		{"not signed and deleted without a key", func(t *testing.T, s *store) {
			s = s.with(t, nil)
			s.delete(t, s.takeAs(t, laptop, "c", ""))
		}, notSigned},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := signing(t, newMemory(), own)
			s.takeAs(t, laptop, "a", "") // from before there was a key
			s.takeSigned(t, "b")
			tt.third(t, s)
			r := s.checkChain(t, headsOf(t, s))
			if len(r.Damaged) > 0 != (tt.damaged != "") || !hasText(append(r.Damaged, ""), tt.damaged) || len(r.NotChecked) > 0 {
				t.Errorf("%+v", r)
			}
			must.Equal(t, "the audit finds no damage", s.audit(t).OK(), tt.damaged == "")
			// A fourth one that is signed does not make it good.
			s.takeSigned(t, "d")
			must.Equal(t, "damage against the heads", len(s.checkChain(t, headsOf(t, s)).Damaged) > 0, tt.damaged != "")
		})
	}
}

// TestStubsOfOldSnapshotsAreSignedAndNothingElseMustBe deletes a snapshot from
// before there was a key: that its stub is signed says nothing about those
// after it.
func TestStubsOfOldSnapshotsAreSignedAndNothingElseMustBe(t *testing.T) {
	t.Parallel()
	s := newStore(t, newMemory())
	var old []repo.Manifest
	for _, word := range []string{"a", "b", "c"} {
		old = append(old, s.take(t, ada, word))
	}
	s = s.with(t, own)
	last := s.takeSigned(t, "d")
	s.delete(t, old[0])
	report := s.whole(t, old[1], old[2], last)
	must.Hold(t, hasText(report.Checked, "signatures: 2 valid, 2 unsigned"), "%q", report.Checked)
	want := []repo.ChainSigner{{Device: laptop, KeyID: own.KeyID(), From: 4, To: 4}}
	must.Equal(t, "signers", s.checkChain(t, nil).Signers, want)
}

func TestAChangeOfSignersIsTold(t *testing.T) {
	t.Parallel()
	s := signing(t, newMemory(), own)
	stranger := s.with(t, other)
	s.takeSigned(t, "1")
	b := s.takeSigned(t, "2")
	stranger.takeAs(t, laptop, "3", other.KeyID())
	stranger.takeAs(t, "desk", "1", other.KeyID())
	s.takeAs(t, laptop, "4", own.KeyID())
	s.takeAs(t, "phone", "1", "")
	s.delete(t, b)
	r := s.checkChain(t, headsOf(t, s))
	want := []repo.ChainSigner{
		{Device: "desk", KeyID: other.KeyID(), From: 1, To: 1},
		{Device: laptop, KeyID: own.KeyID(), From: 1, To: 2},
		{Device: laptop, KeyID: other.KeyID(), From: 3, To: 3},
		{Device: laptop, KeyID: own.KeyID(), From: 4, To: 4},
	}
	if diff := cmp.Diff(want, r.Signers); diff != "" || len(r.Damaged) > 0 {
		t.Error(diff, r.Damaged)
	}
	told := fmt.Sprintf("signed by %s from counter 1 to 2, by %s from counter 3 to 3, by %[1]s from counter 4 to 4", own.KeyID(), other.KeyID())
	must.Hold(t, hasText(r.Checked, "device laptop: "+told) && !hasText(r.Checked, "device phone: signed"), "%q", r.Checked)
}

// TestWhatNobodySignedFillsNoGapInASignedChain takes a snapshot out of the
// middle, or off the end, of a signed chain, and leaves something in its place.
func TestWhatNobodySignedFillsNoGapInASignedChain(t *testing.T) {
	t.Parallel()
	unknown := func(id amber.SnapshotID, signer string) string {
		if signer != "" {
			signer = `,"signer":"` + signer + `"`
		}
		return fmt.Sprintf(`{"format":"amber-stub","version":1,"id":"%s","tenant":"acme","agent":"ada","device":"","counter":0,"parent":"","parent_id":"",`+
			`"digest":"","created_at":null,"deleted_at":"2026-01-02T03:04:05.000Z","reason":""%s}`, id, signer)
	}
	full := func(t *testing.T, target *memory, m repo.Manifest) string {
		s := signing(t, target.clone(), own)
		s.delete(t, m)
		body := bodyOf(s.target.(*memory).objects[stubNameOf(m)])
		return body[:strings.Index(body, `,"author"`)] + "}"
	}
	tests := []struct {
		name string
		stub func(t *testing.T, target *memory, m repo.Manifest) []byte
		// The damage that the check reports when the stub is of a link in the middle, and of the last link; "" for no
		// damage.
		middle, last string
	}{
		{"nothing", func(*testing.T, *memory, repo.Manifest) []byte { return nil }, "counters 2 to 2 are missing", "ends at counter 2, but counter 3 was written"},
		{"a stub that nobody signed", func(t *testing.T, target *memory, m repo.Manifest) []byte {
			return envelope(full(t, target, m))
		}, "counter 2 is not signed, but counter 1 before it is", "counter 3 is not signed, but counter 2 before it is"},
		{"a stub that says nothing, and nobody signed", func(_ *testing.T, _ *memory, m repo.Manifest) []byte {
			return envelope(unknown(m.ID, ""))
		}, "counters 2 to 2 are missing, and their stub is not signed although counter 1 is", "ends at counter 2, but counter 3 was written"},
		{"a stub that says nothing, its signature taken away", func(_ *testing.T, _ *memory, m repo.Manifest) []byte {
			return envelope(unknown(m.ID, string(own.KeyID())))
		}, "signature was taken away", "signature was taken away"},
		{"a stub that says nothing, of another key than it names", func(_ *testing.T, _ *memory, m repo.Manifest) []byte {
			body := unknown(m.ID, string(own.KeyID()))
			return envelopeWith(body, other.signatures(body))
		}, "signature does not match", "signature does not match"},
		{"a stub that says nothing, and we signed", func(_ *testing.T, _ *memory, m repo.Manifest) []byte {
			body := unknown(m.ID, string(own.KeyID()))
			return envelopeWith(body, own.signatures(body))
		}, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target, s := signedStore(t)
			var taken []repo.Manifest
			for _, word := range []string{"a", "b", "c"} {
				taken = append(taken, s.takeSigned(t, word))
			}
			heads := headsOf(t, s)
			for at, want := range map[int]string{1: tt.middle, 2: tt.last} {
				m := taken[at]
				left := target.clone()
				if stub := tt.stub(t, target, m); stub != nil {
					left.objects[stubNameOf(m)] = stub
				}
				delete(left.objects, manifestOf(m))
				r := signing(t, left, own).checkChain(t, heads)
				if len(r.Damaged) > 0 != (want != "") || !hasText(append(r.Damaged, ""), want) || want == "" && len(r.NotChecked) != 1 {
					t.Errorf("counter %d: %+v", at+1, r)
				}
			}
		})
	}
}

func TestAStubOfAnUnreadableSnapshotIsSigned(t *testing.T) {
	t.Parallel()
	target, s := signedStore(t)
	a, b, c := s.takeSigned(t, "a"), s.takeSigned(t, "b"), s.takeSigned(t, "c")
	target.objects[manifestOf(b)] = nil
	s.delete(t, b)
	object := target.objects[stubNameOf(b)]
	must.Equal(t, "signatures", signaturesIn(object), own.signatures(bodyOf(object)))
	r := s.checkChain(t, headsOf(t, s))
	must.Hold(t, len(r.Damaged) == 0 && hasText(r.NotChecked, "counters 2 to 2: their records cannot be read"), "%+v", r)
	for _, m := range []repo.Manifest{a, c} {
		must.NoError(t, s.same(m))
	}
}

// TestTheKnownHeadCountsMoreThanSignatures sets a repository back to an earlier
// state in which every signature is right.
func TestTheKnownHeadCountsMoreThanSignatures(t *testing.T) {
	t.Parallel()
	target, s := signedStore(t)
	s.takeSigned(t, "a")
	before := target.clone()
	s.takeSigned(t, "b")
	heads := headsOf(t, s)
	r := signing(t, before, own).checkChain(t, heads)
	must.Hold(t, hasText(r.Damaged, "ends at counter 1, but counter 2 was written"), "%+v", r)
}

// TestDeletingAForgedSnapshotDoesNotHideIt deletes a snapshot whose signature
// was taken away: the stub is signed, and does not say that the snapshot was.
func TestDeletingAForgedSnapshotDoesNotHideIt(t *testing.T) {
	t.Parallel()
	target, s := signedStore(t)
	s.takeSigned(t, "a")
	b := s.takeSigned(t, "b")
	s.takeSigned(t, "c")
	heads := headsOf(t, s)
	target.objects[manifestOf(b)] = envelope(bodyOf(target.objects[manifestOf(b)]))
	s.delete(t, b)
	r := s.checkChain(t, heads)
	must.Hold(t, len(r.Damaged) == 1 && hasText(r.Damaged, "counter 2 is not signed, but counter 1 before it is"), "%+v", r)
}
