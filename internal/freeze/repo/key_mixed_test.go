package repo_test

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
)

// sealedNeeds fails unless everything a snapshot needs is encrypted under one
// key.
func sealedNeeds(t *testing.T, r *repo.Repo, m repo.Manifest) {
	t.Helper()
	in := must.Get(r.Inner(ctx, m))(t)
	ids := []repo.ID{m.Inner}
	must.Do(t, r.NeededBy(ctx, in, func(id repo.ID, _ repo.Kind) error { ids = append(ids, id); return nil }))
	for _, id := range ids {
		if b := must.Get(r.Get(ctx, id))(t); b.Key != m.Key || m.Key == "" {
			t.Errorf("blob %v of %v: under key %q and not %q", id, b.Kind, b.Key, m.Key)
		}
	}
}

// TestARepositoryThatIsEncryptedLaterKeepsWhatItHas has snapshots under no key,
// under one and under the next.
func TestARepositoryThatIsEncryptedLaterKeepsWhatItHas(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newMemory())
	plain := s.take(t, ada, "same")
	gone := s.take(t, ada, "gone")
	must.Do(t, s.repo.InitKey(ctx, recipients(t, alice), &steady{}, s.at()))
	first := s.take(t, ada, "same")
	must.Do(t, s.repo.SetRecipients(ctx, recipients(t, alice), true, &steady{n: 9}, s.at()))
	second := s.take(t, ada, "same")
	if plain.Key != "" || first.Key == "" || second.Key == "" || first.Key == second.Key {
		t.Fatalf("keys %q, %q, %q", plain.Key, first.Key, second.Key)
	}
	for _, m := range []repo.Manifest{first, second} {
		sealedNeeds(t, s.repo, m)
		must.Hold(t, m.BytesNew >= plain.BytesNew, "only %d bytes were stored again", m.BytesNew)
	}
	s.whole(t, plain, first, second)
	// A process without a key reads what is not encrypted, and gc goes on with it.
	if err := func() error { r := openAs(t, target); _, err := r.Inner(ctx, plain); return err }(); err != nil {
		t.Errorf("without a key: %v", err)
	}
	s.delete(t, gone)
	s.later(grace)
	s.collect(t)
	s.whole(t, plain, first, second)
	s.delete(t, first)
	s.collect(t)
	s.whole(t, plain, second)
	s.delete(t, plain)
	s.collect(t)
	must.Equal(t, "bytes that are left of the others", s.whole(t, second).Unused, 0)
	sealedNeeds(t, s.repo, second)
}

// TestNothingUnderAnotherKeyIsABase is about databases and sets of git objects
// from before a key, and under the key before.
func TestNothingUnderAnotherKeyIsABase(t *testing.T) {
	t.Parallel()
	r := open(t, newMemory())
	data := noise(1, 512*300)
	object := gitBlob(20, "note")
	change := map[string]func() error{
		"a first key":    func() error { return r.InitKey(ctx, recipients(t, alice), &steady{}, amber.At(epoch)) },
		"another key":    func() error { return r.SetRecipients(ctx, recipients(t, alice), true, &steady{n: 9}, amber.At(epoch)) },
		"the same key":   func() error { return r.SetRecipients(ctx, recipients(t, alice), false, nil, amber.At(epoch)) },
		"nothing at all": func() error { return nil },
	}
	for _, what := range []string{"nothing at all", "a first key", "another key", "the same key"} {
		base, _ := freeze(t, r, 512, data, nil)
		git, _ := storeGit(t, r, repo.ID{}, object)
		must.Do(t, change[what]())
		shared := what == "nothing at all" || what == "the same key"
		w := r.NewWriter(ctx)
		must.Equal(t, what+": git set based", must.Get(w.NewGitSet(ctx, git))(t).Based(), shared)
		_ = w.Close()
		copy(data, noise(2, 512))
		again, report := freeze(t, r, 512, data, base)
		must.Hold(t, (report.Plain < int64(len(data))) == shared, "%s: %d bytes stored", what, report.Plain)
		isDatabase(t, r, again.Ref, data)
		isDatabase(t, r, base.Ref, append(noise(1, 512), data[512:]...))
		copy(data, noise(1, 512))
	}
}

// TestIDsFromBeforeTheKeyAreRefused is about callers that remember ids.
func TestIDsFromBeforeTheKeyAreRefused(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newMemory())
	plain := s.take(t, ada, "a")
	in := must.Get(s.repo.Inner(ctx, plain))(t)
	entries := must.Get(s.repo.Tree(ctx, in.Notes.Tree))(t)
	encrypt(t, target)
	s = s.again(t)
	w := writer(t, s.repo)
	must.Fail(w.PutTree(ctx, entries))(t, "a file", amber.KindInvalid)
	must.Fail(w.PutTree(ctx, []repo.TreeEntry{{Name: "notes", Mode: repo.ModeDir, Tree: in.Notes.Tree}}))(t, "a folder", amber.KindInvalid)
	for what, bad := range map[string]repo.Inner{
		"databases": {Databases: in.Databases}, "notes": {Notes: in.Notes}, "git": {Git: in.Git}, "state": {State: in.Notes},
		"a source":                {Sources: []repo.SourceEntry{{Name: "x", Files: in.Notes}}},
		"the database of another": {Sources: []repo.SourceEntry{{Name: "x", Databases: in.Databases}}},
	} {
		must.Fail(w.PutInner(ctx, bad))(t, what, amber.KindInvalid)
	}
	must.NoError(t, must.Err(w.PutInner(ctx, repo.Inner{Label: "empty"})))
}

// TestAWriterEndsWhenTheKeyChanges changes it in this program and in another
// one.
func TestAWriterEndsWhenTheKeyChanges(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{false, true} {
		for _, first := range []bool{false, true} {
			target := newMemory()
			if !first {
				encrypt(t, target)
			}
			s := newStore(t, target)
			m, err := s.prepare(t, ada, laptop, content{"before", 0})
			must.Do(t, err)
			w := writer(t, s.repo)
			must.Get(w.Put(ctx, repo.KindFile, []byte("a word that waits for its pack")))(t)
			r := s.repo
			if elsewhere {
				r = open(t, target)
			}
			if first {
				err = r.InitKey(ctx, recipients(t, alice), &steady{n: 3}, s.at())
			} else {
				err = r.SetRecipients(ctx, recipients(t, alice), true, &steady{n: 3}, s.at())
			}
			must.Do(t, err)
			must.Do(t, s.repo.Reload(ctx))
			packs := len(target.names("packs/"))
			must.Fail(w.Put(ctx, repo.KindFile, []byte("later")))(t, "put", amber.KindConflict)
			must.Fail(w.Flush(ctx))(t, "flush", amber.KindConflict)
			must.Equal(t, "packs", len(target.names("packs/")), packs)
			must.Kind(t, "publish", s.publish(m), amber.KindConflict)
			must.Hold(t, len(target.names("snapshots/")) == 0, "it was published")
			s.whole(t, s.take(t, ada, "after"))
		}
	}
}

// TestAChangeOfRecipientsAloneEndsNoWriter adds a recipient while a snapshot is taken.
func TestAChangeOfRecipientsAloneEndsNoWriter(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newEncrypted(t))
	m := must.Get(s.prepare(t, ada, laptop, content{"a", 1}))(t)
	must.Do(t, open(t, target).SetRecipients(ctx, recipients(t, alice, carol), false, nil, s.at()))
	must.Do(t, s.publish(m))
	s.whole(t, m)
}

func TestInnerManifestsOfEncryptedSnapshotsAreNeverEqual(t *testing.T) {
	t.Parallel()
	s := newStore(t, newEncrypted(t))
	a, b := s.take(t, ada, "same"), s.take(t, ada, "same")
	if a.Inner == b.Inner || a.Sealed == b.Sealed || a.Sealed == "" {
		t.Errorf("%v and %v, %s and %s", a.Inner, b.Inner, a.Sealed, b.Sealed)
	}
	// Each is what its manifest says, and stays so when packs are rewritten.
	s.delete(t, a)
	s.collect(t)
	must.NoError(t, s.repo.CheckSealed(ctx, b))
	must.Kind(t, "one that is not encrypted", s.repo.CheckSealed(ctx, repo.Manifest{}), amber.KindInvalid)
	other := b
	other.Sealed = strings.Repeat("0", 64)
	must.Kind(t, "other bytes", s.repo.CheckSealed(ctx, other), amber.KindDamaged)
	other = b
	other.Key = strings.Repeat("0", 16)
	must.Kind(t, "another key", s.repo.CheckSealed(ctx, other), amber.KindDamaged)
	other = b
	other.Inner = repo.ID{1}
	must.Kind(t, "no blob", s.repo.CheckSealed(ctx, other), amber.KindDamaged)
	must.Fail(s.repo.Inner(ctx, repo.Manifest{ID: b.ID, Inner: b.Inner}))(t, "said to be plain", amber.KindDamaged)
}

func TestManifestsOfEncryptedSnapshotsSayNothingElse(t *testing.T) {
	t.Parallel()
	s := newStore(t, newEncrypted(t))
	good := must.Get(s.prepare(t, ada, laptop, content{"a", 0}))(t)
	for name, spoil := range map[string]func(m *repo.Manifest){
		"a label":                 func(m *repo.Manifest) { m.Label = "secret" },
		"a label that looks so":   func(m *repo.Manifest) { m.Label = " auto:x" },
		"a git id":                func(m *repo.Manifest) { m.GitOID = strings.Repeat("a", 40) },
		"no key":                  func(m *repo.Manifest) { m.Key = "" },
		"a key that is not valid": func(m *repo.Manifest) { m.Key = "ABCDEF0123456789" },
		"no digest":               func(m *repo.Manifest) { m.Sealed = "" },
		"not encrypted":           func(m *repo.Manifest) { m.Encrypted = false },
	} {
		m := good
		spoil(&m)
		must.Fail(s.catalog.Publish(ctx, may(), m))(t, name, amber.KindInvalid)
	}
	plain := good
	plain.Encrypted, plain.Key, plain.Sealed = false, "", ""
	must.Fail(s.catalog.Publish(ctx, may(), plain))(t, "plain in an encrypted repository", amber.KindConflict)
	good.Label = "auto:hourly"
	must.NoError(t, must.Err(s.catalog.Publish(ctx, may(), good)))
}

// TestABlobOfTheGreatestSizeIsSealed is about bounds.
func TestABlobOfTheGreatestSizeIsSealed(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes 64 MiB and seconds: not with -short")
	}
	target := newEncrypted(t)
	r := open(t, target)
	big := sample{repo.KindFile, 0, noise(1, repo.MaxBlobBytes)}
	must.Equal(t, "stored bytes", fill(t, r, big).Stored, repo.MaxBlobBytes+48)
	must.Equal(t, "content", sha256.Sum256(must.Get(open(t, target).Get(ctx, big.in(r)))(t).Data), sha256.Sum256(big.data))
	clean(t, r)
}

// TestEqualBlobsLookDifferent seals the same twice.
func TestEqualBlobsLookDifferent(t *testing.T) {
	t.Parallel()
	a, b := newEncrypted(t), newEncrypted(t)
	for _, target := range []*memory{a, b} {
		fill(t, open(t, target), few()...)
	}
	x, y := forgeOf(t, a, a.names("packs/")[0]), forgeOf(t, b, b.names("packs/")[0])
	for i := range x.items {
		must.Equal(t, "ids under one key", x.items[i].id, y.items[i].id)
		if bytes.Equal(x.data[i], y.data[i]) || bytes.Equal(x.data[i][8:32], y.data[i][8:32]) {
			t.Error("the same nonce or the same bytes")
		}
	}
}
