package repo_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/base/agekey"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// markers are words that must not be found in an encrypted repository.
func markers(kind repo.Kind) string { return fmt.Sprintf("marker-of-%v-Zwiebelfisch", kind) }

// putMarkers stores blobs of every kind that say what they are, short and long
// ones, and a snapshot with words in every place that has some. It returns what
// must not be found.
func putMarkers(t *testing.T, s *store) (secrets map[string][]byte) {
	t.Helper()
	secrets = map[string][]byte{}
	hide := func(what string, b []byte) {
		secrets[what] = b
		secrets[what+" in hexadecimal"] = []byte(hex.EncodeToString(b))
	}
	w := writer(t, s.repo)
	for kind := repo.KindPages; kind <= repo.KindManifest; kind++ {
		word := markers(kind)
		secrets[word] = []byte(word)
		for _, data := range [][]byte{[]byte(word), append([]byte(word), noise(uint64(kind), 5000)...), []byte(strings.Repeat(word, 200))} {
			p := sample{kind, 0, data}
			if kind == repo.KindPages {
				p = sample{kind, 512, append(data, make([]byte, 512-len(data)%512)...)}
			}
			must.Get(p.put(ctx, w))(t)
			id := p.id()
			hide(fmt.Sprintf("plain id of a %v of %d bytes", kind, len(p.data)), id[:])
		}
	}
	in := must.Get(s.inner(w, content{"Zaunkönig", 3}))(t)
	in.Label = "Zaunkönig"
	in.Skipped = []wire.Skipped{{Part: "notes", Path: "Zaunkönig.md", Reason: "unreadable"}}
	m := repo.Manifest{ID: s.newID(t), Tenant: tenant, Agent: ada, Device: laptop, Counter: 1, CreatedAt: s.at(), Label: "Zaunkönig"}
	m.Inner = must.Get(w.PutInner(ctx, in))(t)
	must.Get(w.Flush(ctx))(t)
	must.Do(t, s.publish(s.sealed(w, m)))
	secrets["a label, a note and a page"] = []byte("Zaunkönig")
	secrets["the name of a note"] = []byte("0.md")
	secrets["the name of a ref"] = []byte("refs/heads/main")
	secrets["the name of a database"] = []byte("memory.db")
	oid, _ := hex.DecodeString(content{word: "Zaunkönig"}.object().OID)
	hide("a git id", oid)
	digest := in.Databases[0].Ref.Digest
	hide("the digest of a database", digest[:])
	page := repo.DigestPage(content{word: "Zaunkönig"}.pages()[512:1024])
	hide("the digest of a page", page[:])
	return secrets
}

// TestNothingOfItsContentsIsFoundInAnEncryptedRepository searches every byte of
// every object.
func TestNothingOfItsContentsIsFoundInAnEncryptedRepository(t *testing.T) {
	t.Parallel()
	find := func(target *memory, secrets map[string][]byte) (found []string) {
		for what, b := range secrets {
			for _, name := range target.names("") {
				if bytes.Contains(target.objects[name], b) || strings.Contains(name, string(b)) {
					found = append(found, what)
					break
				}
			}
		}
		slices.Sort(found)
		return found
	}
	target, s := storeOn(t, newEncrypted(t))
	secrets := putMarkers(t, s)
	for range 3 {
		s.gc(t) // which copies some of it
		s.later(grace)
	}
	must.Equal(t, "secrets found", find(target, secrets), nil)
	s.audit(t)
	// The search finds what is there.
	plain := newMemory()
	if found := find(plain, putMarkers(t, newStore(t, plain))); len(found) < len(secrets)/3 {
		t.Errorf("found only %q where nothing is encrypted", found)
	}
}

func TestWhoHasNoIdentityReadsNothing(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newEncrypted(t))
	m := s.take(t, ada, "a")
	in, err := s.repo.Inner(ctx, m)
	if err != nil || in.Label != "a" || m.Label != "" || !m.Encrypted || m.Key != s.repo.KeyID() {
		t.Fatalf("%v, %+v, %+v", err, in, m)
	}
	hybrid := must.Get(age.GenerateHybridIdentity())(t)
	pass := must.Get(age.NewScryptIdentity("open sesame"))(t)
	for name, o := range map[string]*repo.Options{
		"no options": nil, "no identity": {}, "another one": {Identities: []age.Identity{identity(t, carol)}},
		"several others": {Identities: []age.Identity{identity(t, carol), hybrid}},
		"a passphrase":   {Identities: []age.Identity{pass}},
	} {
		r, err := repo.Open(ctx, target, o)
		if err != nil {
			t.Fatal(name, err)
		}
		if !r.Locked() || r.KeyID() != m.Key || r.KeySerial() != 1 || !r.HasKey(m.Key) || len(r.Problems()) > 0 {
			t.Errorf("%s: locked %v, key %q", name, r.Locked(), r.KeyID())
		}
		lockedOut(t, name, r, m, in)
	}
	must.Hold(t, !openAs(t, target, dave, alice).Locked(), "one of two identities is the right one")
}

// lockedOut tries everything that needs a key, and what does not.
func lockedOut(t *testing.T, name string, r *repo.Repo, m repo.Manifest, in repo.Inner) {
	t.Helper()
	w := writer(t, r)
	refused := map[string]error{}
	_, refused["get"] = r.Get(ctx, m.Inner)
	refused["read"] = r.Read(ctx, []repo.ID{m.Inner, in.Notes.Tree}, func(repo.Blob) error { t.Error("handed out"); return nil })
	_, refused["inner"] = r.Inner(ctx, m)
	_, refused["tree"] = r.Tree(ctx, in.Notes.Tree)
	refused["database"] = r.ReadDatabase(ctx, in.Databases[0].Ref, func(int64, []byte) error { t.Error("handed out"); return nil })
	_, refused["git"] = r.OpenGitSet(ctx, in.Git.Set)
	_, refused["put"] = w.Put(ctx, repo.KindFile, []byte("new"))
	_, refused["put pages"] = w.PutPages(ctx, 512, make([]repo.PageDigest, 1), make([]byte, 512))
	_, refused["put inner"] = w.PutInner(ctx, repo.Inner{})
	_, refused["gc"] = r.CollectGarbage(ctx, may(), repo.GCOptions{Tenant: tenant, Now: newStore(t, newMemory()).clock})
	_, refused["dry gc"] = r.CollectGarbage(ctx, may(), repo.GCOptions{Tenant: tenant, Now: newStore(t, newMemory()).clock, DryRun: true})
	refused["recipients"] = r.SetRecipients(ctx, recipients(t, carol), true, &steady{}, amber.At(epoch))
	for what, err := range refused {
		must.Kind(t, name+": "+what, err, amber.KindRefused)
		must.Equal(t, name+": "+what+": hint", amber.HintOf(err), "amber … --identity FILE")
	}
	must.Hold(t, r.BlobID(repo.KindFile, nil).IsZero() && r.PagesID(512, nil).IsZero(), "%s: an id without a key", name)
	must.Kind(t, name+": another key", r.InitKey(ctx, recipients(t, carol), &steady{}, amber.At(epoch)), amber.KindConflict)
	allowed := map[string]error{}
	allowed["check sealed"] = r.CheckSealed(ctx, m)
	_, allowed["list"] = r.Catalog(tenant).List(ctx, ada)
	_, allowed["chain"] = r.Catalog(tenant).CheckChain(ctx, ada, nil)
	_, allowed["recipients"] = r.Recipients(ctx)
	_, allowed["check"] = r.Check(ctx, true)
	_, allowed["audit"] = r.Audit(ctx, tenant, true, nil)
	allowed["rebuild"] = r.Rebuild(ctx)
	for what, err := range allowed {
		must.Kind(t, name+": "+what, err, "")
	}
	if l, ok := r.Find(m.Inner); !ok || !l.Sealed || l.Kind != repo.KindManifest || !r.Has(m.Inner) {
		t.Errorf("%s: not found: %+v", name, l)
	}
}

func TestRecipientsComeAndGo(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newEncrypted(t))
	a := s.take(t, ada, "a")
	opens := func(secret string) bool { return !openAs(t, target, secret).Locked() }
	set := func(rotate bool, secrets ...string) {
		t.Helper()
		must.Do(t, s.repo.SetRecipients(ctx, recipients(t, secrets...), rotate, &steady{n: 100}, s.at()))
		var texts []string
		for _, r := range recipients(t, secrets...) {
			texts = append(texts, r.Text)
		}
		got, err := openAs(t, target).Recipients(ctx)
		if diff := cmp.Diff(texts, got); err != nil || diff != "" {
			t.Errorf("%v, %s", err, diff)
		}
		must.Equal(t, "key records", len(target.names("keys/")), 1)
	}
	set(false, alice, carol)
	if s.repo.KeyID() != a.Key || s.repo.KeySerial() != 2 || !opens(alice) || !opens(carol) || opens(dave) {
		t.Error("carol was let in")
	}
	old := target.clone() // a copy of the target as it is now
	set(true, alice, dave)
	if s.repo.KeyID() == a.Key || !s.repo.HasKey(a.Key) || !opens(alice) || opens(carol) || !opens(dave) {
		t.Error("carol was shut out, dave let in")
	}
	must.Fail(openAs(t, target, carol).Inner(ctx, a))(t, "carol reads on", amber.KindRefused)
	b := s.again(t).take(t, ada, "a") // the same
	other := &store{target: target, repo: openAs(t, target, dave), now: s.now, ids: s.ids}
	other.catalog = other.repo.Catalog(tenant)
	for _, m := range []repo.Manifest{a, b} {
		must.Kind(t, "dave", other.same(m), "")
	}
	// The content that is stored again lies under the new key, which carol has never seen.
	must.Hold(t, b.Key == s.repo.KeyID() && b.BytesNew >= a.BytesNew*9/10, "stored %d bytes again of %d", b.BytesNew, a.BytesNew)
	for name, object := range target.objects {
		if !strings.HasPrefix(name, "keys/") {
			old.objects[name] = object
		}
	}
	kept := openAs(t, old, carol)
	must.Kind(t, "what carol could read before, with the record she kept", must.Err(kept.Inner(ctx, a)), "")
	must.Fail(kept.Inner(ctx, b))(t, "what was written after", amber.KindDamaged)
	s.whole(t, a, b)
	s.delete(t, a)
	s.collect(t)
	s.whole(t, b)
}

func TestRecipientsThatAreNone(t *testing.T) {
	t.Parallel()
	hybrid := must.Get(age.GenerateHybridIdentity())(t)
	pq, _ := agekey.RecipientOf(hybrid)
	many := make([]agekey.Recipient, 65)
	for i := range many {
		id := must.Get(age.GenerateX25519Identity())(t)
		many[i], _ = agekey.RecipientOf(id)
	}
	one := recipients(t, alice)[0]
	for name, list := range map[string][]agekey.Recipient{
		"nobody": nil, "one twice": {one, one}, "too many": many, "hybrid and not": {one, pq}, "no text": {{Recipient: one.Recipient}},
	} {
		target := newMemory()
		must.Kind(t, name, open(t, target).InitKey(ctx, list, &steady{}, amber.At(epoch)), amber.KindInvalid)
		must.Hold(t, len(target.objects) == 0, "%s: something was written", name)
	}
	for _, list := range [][]agekey.Recipient{many[:64], {pq}} {
		must.NoError(t, open(t, newMemory()).InitKey(ctx, list, &steady{}, amber.At(epoch)))
	}
	must.Kind(t, "no key", open(t, newMemory()).SetRecipients(ctx, recipients(t, alice), true, &steady{}, amber.At(epoch)), amber.KindNotFound)
	if err := open(t, newMemory()).InitKey(ctx, recipients(t, alice), strings.NewReader("short"), amber.At(epoch)); err == nil {
		t.Error("a key of five bytes")
	}
}

func TestKeysAreBounded(t *testing.T) {
	t.Parallel()
	target, r := openOn(t, newMemory())
	var list []agekey.Recipient // of the longest kind
	var last *age.HybridIdentity
	for range 64 {
		id := must.Get(age.GenerateHybridIdentity())(t)
		p, _ := agekey.RecipientOf(id)
		list, last = append(list, p), id
	}
	random, now, one := &steady{}, amber.At(epoch), recipients(t, alice)
	must.Do(t, r.InitKey(ctx, one, random, now))
	for range 255 {
		must.Do(t, r.SetRecipients(ctx, one, true, random, now))
	}
	must.Kind(t, "256 keys", r.SetRecipients(ctx, list, true, random, now), amber.KindQuota)
	must.Do(t, r.SetRecipients(ctx, list, false, random, now))
	t.Logf("a record of 256 keys for 64 recipients has %d bytes", len(target.objects[target.names("keys/")[0]]))
	if again, err := repo.Open(ctx, target, &repo.Options{Identities: []age.Identity{last}}); err != nil || again.Locked() {
		t.Errorf("%v", err)
	}
}

// TestOneOfTwoChangesOfRecipientsWins lets others change the recipients just
// before a record is written: once, and so often that the record they wrote is
// gone again.
func TestOneOfTwoChangesOfRecipientsWins(t *testing.T) {
	t.Parallel()
	for _, others := range []int{1, 2, 3} {
		target, random := newEncrypted(t), &steady{n: 50}
		change := func() {
			for range others {
				must.Do(t, open(t, target).SetRecipients(ctx, recipients(t, alice, carol), true, random, amber.At(epoch)))
			}
		}
		late := openAs(t, &before{Target: target, call: "put keys/", do: change}, alice)
		err := late.SetRecipients(ctx, recipients(t, alice, dave), true, &steady{n: 60}, amber.At(epoch))
		must.Kind(t, fmt.Sprintf("%d changes before", others), err, amber.KindConflict)
		r := openAs(t, target, carol)
		if r.Locked() || r.KeySerial() != int64(1+others) || len(target.names("keys/")) != 1 {
			t.Errorf("after %d changes: locked %v, serial %d, %q", others, r.Locked(), r.KeySerial(), target.names("keys/"))
		}
		must.Equal(t, "the recipient of the change that lost is locked out", openAs(t, target, dave).Locked(), true)
		// After reading them again they can be changed.
		must.Get(late.Recipients(ctx))(t)
		must.Kind(t, "again", late.SetRecipients(ctx, recipients(t, alice, dave), false, &steady{}, amber.At(epoch)), "")
	}
	target := newMemory()
	first := openAs(t, &before{Target: target, call: "put keys/", do: func() { encrypt(t, target) }}, alice)
	must.Kind(t, "two first keys", first.InitKey(ctx, recipients(t, alice), &steady{n: 9}, amber.At(epoch)), amber.KindConflict)
}

// TestAChangeOfRecipientsSurvivesEveryError fails every call once: afterwards
// there is the old record, or the new one, or both, and then the new one counts;
// the next change leaves one.
func TestAChangeOfRecipientsSurvivesEveryError(t *testing.T) {
	t.Parallel()
	base := newEncrypted(t)
	m := newStore(t, base).take(t, ada, "a")
	leftTwo := false
	for n := 1; ; n++ {
		target := base.clone()
		r := open(t, target)
		calls := 0
		target.fail = func(int) error {
			if calls++; calls == n {
				return errCut
			}
			return nil
		}
		err := r.SetRecipients(ctx, recipients(t, alice, carol), true, &steady{n: 7}, amber.At(epoch))
		target.fail = nil
		after := openAs(t, target, alice)
		if _, ierr := after.Inner(ctx, m); ierr != nil {
			t.Fatalf("call %d: %v", n, ierr)
		}
		changed := !openAs(t, target, carol).Locked()
		if err == nil && !changed {
			t.Fatalf("call %d: acknowledged, and not so", n)
		}
		if len(target.names("keys/")) == 2 {
			leftTwo = true
			must.Hold(t, changed, "call %d: the older of two records counts", n)
			if report := auditAs(t, target, nil); !report.OK() {
				t.Errorf("call %d: two records are damage: %+v", n, report.Damaged)
			}
		}
		if err := after.SetRecipients(ctx, recipients(t, alice, dave), true, &steady{n: 8}, amber.At(epoch)); err != nil {
			t.Fatalf("call %d, again: %v", n, err)
		}
		if len(target.names("keys/")) != 1 || !openAs(t, target, carol).Locked() {
			t.Errorf("call %d: %q is left", n, target.names("keys/"))
		}
		if calls < n {
			break
		}
	}
	must.Hold(t, leftTwo, "no error came between writing and deleting")
}

func TestADamagedOrLostKeyRecordIsDamage(t *testing.T) {
	t.Parallel()
	base, s := storeOn(t, newEncrypted(t))
	m := s.take(t, ada, "a")
	first := bytes.Clone(base.objects["keys/00000001.json"])
	must.Do(t, s.repo.SetRecipients(ctx, recipients(t, alice, carol), false, &steady{}, s.at()))
	const newest = "keys/00000002.json"
	fresh := s.newID(t)
	tests := []struct {
		name   string
		do     func(o map[string][]byte)
		object string
	}{
		{"damaged", func(o map[string][]byte) { o[newest][100] ^= 1 }, newest},
		{"damaged, beside an older one", func(o map[string][]byte) { o[newest][100] ^= 1; o["keys/00000001.json"] = first }, newest},
		{"empty", func(o map[string][]byte) { o[newest] = nil }, newest},
		{"an older one in its place", func(o map[string][]byte) { o[newest] = first }, newest},
		{"a stub in its place", func(o map[string][]byte) { o[newest] = o[manifestOf(m)] }, newest},
		{"lost", func(o map[string][]byte) { delete(o, newest) }, "keys/"},
		{"renamed", func(o map[string][]byte) { o["keys/2.json"] = o[newest]; delete(o, newest) }, "keys/"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			target := base.clone()
			tt.do(target.objects)
			before := target.clone()
			r := open(t, target)
			if !r.Locked() || r.KeyID() != "" || len(r.Problems()) != 1 || r.Problems()[0].Object != tt.object {
				t.Errorf("locked %v, key %q, problems %v", r.Locked(), r.KeyID(), r.Problems())
			}
			w := writer(t, r)
			must.Fail(w.Put(ctx, repo.KindFile, []byte("would be plain")))(t, "put", amber.KindDamaged)
			must.Fail(r.Inner(ctx, m))(t, "inner", amber.KindDamaged)
			must.Fail(r.CollectGarbage(ctx, may(), s.options()))(t, "gc", amber.KindDamaged)
			must.Kind(t, "another key", r.InitKey(ctx, recipients(t, carol), &steady{}, s.at()), amber.KindDamaged)
			must.Kind(t, "recipients", r.SetRecipients(ctx, recipients(t, carol), true, &steady{}, s.at()), amber.KindDamaged)
			must.Fail(r.Recipients(ctx))(t, "list of recipients", amber.KindDamaged)
			plain := repo.Manifest{ID: fresh, Tenant: tenant, Agent: ada, Device: "other", Counter: 1, CreatedAt: s.at(), Inner: m.Inner}
			must.Fail(r.Catalog(tenant).Publish(ctx, may(), plain))(t, "publish", amber.KindDamaged)
			report, err := r.Audit(ctx, tenant, true, nil)
			if err != nil || len(report.Damaged) != 1 || report.Damaged[0].Object != tt.object {
				t.Errorf("audit: %v, %+v", err, report.Damaged)
			}
			if !slices.Contains(report.NotChecked, "contents of 1 encrypted snapshots: the key record cannot be read") {
				t.Errorf("not checked: %q", report.NotChecked)
			}
			must.Equal(t, "objects", target.objects, before.objects)
		})
	}
	newer := base.clone()
	newer.objects[newest] = envelope(`{"format":"amber-key","version":2}`)
	must.Fail(repo.Open(ctx, newer, nil))(t, "a newer record", amber.KindTooNew)
}

// TestSecretsAreNotPrinted prints everything that holds a key.
func TestSecretsAreNotPrinted(t *testing.T) {
	t.Parallel()
	target := newEncrypted(t)
	r := open(t, target)
	master := noise(1, 32)
	for _, format := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for name, v := range repo.KeyParts(r) {
			out := fmt.Sprintf(format, v)
			for _, leak := range []string{string(master), hex.EncodeToString(master), fmt.Sprint(master)[1:20], fmt.Sprintf("%#v", master)[7:40]} {
				must.Hold(t, !strings.Contains(strings.ToLower(out), leak), "%s of %s shows the key: %s", format, name, out)
			}
		}
	}
	var logged bytes.Buffer
	repo.LogKeyParts(io.Writer(&logged), r)
	for _, leak := range []string{hex.EncodeToString(master), fmt.Sprint(master)[1:20]} {
		if strings.Contains(logged.String(), leak) || logged.Len() == 0 {
			t.Errorf("the log shows the key: %s", logged.String())
		}
	}
}
