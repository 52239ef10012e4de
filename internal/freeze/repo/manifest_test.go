package repo_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/repo"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire"
)

// envelope makes a record of any body, from docs/format/repository.md and not
// from the code.
func envelope(body string) []byte {
	sum := sha256.Sum256([]byte(body))
	return fmt.Appendf(nil, `{"body":%s,"digest":"%s","signatures":[]}`+"\n", body, hex.EncodeToString(sum[:]))
}

// bodyOf returns the body of a record.
func bodyOf(object []byte) string {
	s, _ := strings.CutPrefix(string(object), `{"body":`)
	at := strings.LastIndex(s, `,"digest":"`)
	return s[:at]
}

// TestRecordsAreReadStrictly changes what a manifest says, with a digest that
// is right.
func TestRecordsAreReadStrictly(t *testing.T) {
	t.Parallel()
	target, s := storeOn(t, newMemory())
	m := s.take(t, ada, "a")
	name := manifestOf(m)
	good := string(target.objects[name])
	body := bodyOf(target.objects[name])
	if string(envelope(body)) != good {
		t.Fatalf("the envelope of the document is not %q", good)
	}
	replace := func(old, new string) []byte {
		if !strings.Contains(body, old) {
			t.Fatalf("no %q in %s", old, body)
		}
		return envelope(strings.Replace(body, old, new, 1))
	}
	tests := []struct {
		name   string
		object []byte
		want   amber.Kind
	}{
		{"as it was", []byte(good), ""},
		{"no line feed", []byte(strings.TrimSpace(good)), amber.KindDamaged},
		{"two line feeds", []byte(good + "\n"), amber.KindDamaged},
		{"twice", []byte(good + good), amber.KindDamaged},
		{"a space before it", []byte(" " + good), amber.KindDamaged},
		{"a space in the envelope", []byte(strings.Replace(good, `,"digest"`, `, "digest"`, 1)), amber.KindDamaged},
		{"a space before the body", []byte(strings.Replace(good, `{"body":`, `{"body": `, 1)), amber.KindDamaged},
		{"an upper-case digest", []byte(strings.Replace(good, digestIn(good), strings.ToUpper(digestIn(good)), 1)), amber.KindDamaged},
		{"another digest", []byte(strings.Replace(good, digestIn(good), strings.Repeat("0", 64), 1)), amber.KindDamaged},
		{"signatures that are no list", []byte(strings.Replace(good, "[]}", "{}}", 1)), amber.KindDamaged},
		{"signatures that are no JSON", []byte(strings.Replace(good, "[]}", "[x]}", 1)), amber.KindDamaged},
		{"a space in no signatures", []byte(strings.Replace(good, "[]}", "[ ]}", 1)), amber.KindDamaged},
		{"a signature that is not valid", []byte(strings.Replace(good, "[]}", `["x"]}`, 1)), amber.KindDamaged},
		{"a signer that is not valid", replace(`"generation":1`, `"generation":1,"signer":"me"`), amber.KindDamaged},
		{"a signer that is empty", replace(`"generation":1`, `"generation":1,"signer":""`), amber.KindDamaged},
		{"a space in the body", replace(`"version":1`, `"version": 1`), amber.KindDamaged},
		{"another field", replace(`"version":1`, `"version":1,"colour":2`), amber.KindDamaged},
		{"a field twice", replace(`"version":1`, `"version":1,"version":1`), amber.KindDamaged},
		{"a field in upper case", replace(`"version":1`, `"Version":1`), amber.KindDamaged},
		{"a field missing", replace(`"label":"a",`, ``), amber.KindDamaged},
		{"fields in another order", replace(`"format":"amber-snapshot","version":1`, `"version":1,"format":"amber-snapshot"`), amber.KindDamaged},
		{"a null", replace(`"label":"a"`, `"label":null`), amber.KindDamaged},
		{"an escape too many", replace(`"label":"a"`, `"label":"\u0061"`), amber.KindDamaged},
		{"a number with a point", replace(`"version":1`, `"version":1.0`), amber.KindDamaged},
		{"a fence of nanoseconds", replace(`"fence_ms":1.25`, `"fence_ms":1.2500001`), amber.KindDamaged},
		{"a time with another zone", replace(`Z","label"`, `+00:00","label"`), amber.KindDamaged},
		{"version 0", replace(`"version":1`, `"version":0`), amber.KindDamaged},
		{"version 2", replace(`"version":1`, `"version":2`), amber.KindTooNew},
		{"version 2 with new fields", envelope(`{"format":"amber-snapshot","version":2,"colour":1}`), amber.KindTooNew},
		{"version 2 with a wrong digest", []byte(strings.Replace(good, `"version":1`, `"version":2`, 1)), amber.KindDamaged},
		{"another format", replace(`amber-snapshot`, `amber-stub`), amber.KindDamaged},
		{"a body that is no object", envelope(`[]`), amber.KindDamaged},
		{"a deep body", envelope(strings.Repeat("[", 20000) + strings.Repeat("]", 20000)), amber.KindDamaged},
		{"a long one", envelope(`{"format":"` + strings.Repeat("x", 1<<20) + `"}`), amber.KindDamaged},
		{"another tenant", replace(`"tenant":"acme"`, `"tenant":"evil"`), amber.KindCrossTenant},
		{"another agent", replace(`"agent":"ada"`, `"agent":"bob"`), amber.KindCrossTenant},
		{"another id", replace(string(m.ID), "00000000-0000-0000-0000-000000000000"), amber.KindDamaged},
		{"nothing", nil, amber.KindDamaged},
	}
	for _, tt := range tests {
		target.objects[name] = tt.object
		_, err := s.catalog.Get(ctx, ada, m.ID)
		must.Kind(t, tt.name, err, tt.want)
		if tt.want == amber.KindTooNew && amber.HintOf(err) != "use a newer amber" {
			t.Errorf("%s: hint %q", tt.name, amber.HintOf(err))
		}
	}
}

func digestIn(object string) string {
	at := strings.LastIndex(object, `,"digest":"`) + len(`,"digest":"`)
	return object[at : at+64]
}

// full is an inner manifest that has everything.
func full() repo.Inner {
	id := func(s string) repo.ID { return repo.BlobID(repo.KindFile, []byte(s)) }
	database := func(name, damage string) repo.DatabaseEntry {
		return repo.DatabaseEntry{
			Name: name, ApplicationID: 0x416d6265, Schema: 3, Damage: damage,
			Ref: repo.DatabaseRef{PageSize: 4096, Pages: 2, Digest: id(name), Maps: []repo.ID{id("whole"), id("change")}},
		}
	}
	oid := strings.Repeat("0123456789", 4)
	git := &repo.GitEntry{
		Head: "refs/heads/main", HeadOID: oid, Set: id("set"), Objects: 12,
		Refs: []repo.GitRefEntry{{Name: "refs/heads/main", OID: oid}, {Name: "refs/tags/a", OID: oid}},
	}
	return repo.Inner{
		Databases: []repo.DatabaseEntry{database("memory.db", ""), database("control.db", "page 2: <\u2028\"\\\n\x01é>")},
		Notes:     &repo.FilesEntry{Tree: id("notes"), Files: 3, Bytes: 40},
		Git:       git,
		State:     &repo.FilesEntry{Tree: id("state")},
		Journal:   &repo.FilesEntry{Tree: id("journal"), Files: 1, Bytes: 7},
		Marks:     []repo.JournalMark{{Key: "k", Host: "claude-code", SessionID: "s 1", Cursor: "journal:k", Drained: 4, Last: 6, Frames: 2}},
		Sources: []repo.SourceEntry{
			{Name: "notebook", Fenced: true, Files: &repo.FilesEntry{Tree: id("files")}, Databases: []repo.DatabaseEntry{database("a/b.db", "")}, Git: git},
			{Name: "other"},
		},
		Skipped: []wire.Skipped{
			{Part: "notes", Path: "a/\xff.md", Reason: wire.SkipBadName},
			{Part: "source:other", Path: "x", Reason: wire.SkipTorn, Detail: "changes"},
		},
		SkippedMore: 1,
		Checks: []wire.Check{
			{Name: "integrity", Part: "memory", Digest: id("memory.db").String(), At: amber.At(epoch), OK: true},
			{Name: "git", Part: "notes", At: amber.At(epoch), Detail: "not connected"},
		},
	}
}

func TestInnerManifestsComeBackAsTheyWere(t *testing.T) {
	t.Parallel()
	want := full()
	b := must.Get(repo.EncodeInner(want))(t)
	got := must.Get(repo.DecodeInner(b))(t)
	want.Format, want.Version = "amber-inner", 1
	want.Skipped[0].Path = "a/\uFFFD.md"
	must.Equal(t, "inner manifest", got, want, cmpopts.EquateEmpty(), cmpopts.EquateComparable(amber.Time{}))
	empty := must.Get(repo.EncodeInner(repo.Inner{}))(t)
	must.Kind(t, "an empty one", must.Err(repo.DecodeInner(empty)), "")
}

func TestInnerManifestsAreReadStrictly(t *testing.T) {
	t.Parallel()
	good := must.Get(repo.EncodeInner(full()))(t)
	tests := []struct{ name, old, new string }{
		{"a space", `"version":1`, `"version": 1`},
		{"null for a list", `"databases":[`, `"databases":null,"x":[`},
		{"a database twice", `"control.db"`, `"memory.db"`},
		{"a page size", `"page_size":4096`, `"page_size":4095`},
		{"no map", `"maps":[`, `"maps":[],"x":[`},
		{"pages below zero", `"pages":2`, `"pages":-2`},
		{"the refs are not sorted", `refs/tags/a`, `refs/a`},
		{"an oid", `"oid":"0`, `"oid":"x`},
		{"no oid", `"oid":"0123456789012345678901234567890123456789"`, `"oid":""`},
		{"a source twice", `"name":"other"`, `"name":"notebook"`},
		{"a tree id that is not valid", `"tree":"`, `"tree":"0`},
		{"files below zero", `"files":3`, `"files":-3`},
		{"frames below zero", `"frames":2`, `"frames":-2`},
		{"no key", `"key":"k"`, `"key":""`},
		{"a check without a time", `"at":"2026-01-02T03:04:05.000Z"`, `"at":null`},
		{"another format", `amber-inner`, `amber-outer`},
		{"HTML escaped", `<`, `\u003c`},
		{"something behind it", `}]}`, `}]} `},
	}
	for _, tt := range tests {
		if !strings.Contains(string(good), tt.old) {
			t.Fatalf("no %q in %s", tt.old, good)
		}
		must.Fail(repo.DecodeInner([]byte(strings.Replace(string(good), tt.old, tt.new, 1))))(t, tt.name, amber.KindDamaged)
	}
	must.Fail(repo.DecodeInner([]byte(`{"format":"amber-inner","version":2,"colour":"red"}`)))(t, "a newer version", amber.KindTooNew)
}

func TestInnerManifestsThatSayNonsenseAreNotWritten(t *testing.T) {
	t.Parallel()
	in := full()
	in.Databases[1].Name = in.Databases[0].Name
	must.Fail(repo.EncodeInner(in))(t, "a database twice", amber.KindInvalid)
	in = full()
	in.Notes.Tree = repo.ID{}
	must.Fail(repo.EncodeInner(in))(t, "no tree", amber.KindInvalid)
}

func TestTooMuchThatWasSkippedIsCounted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		path         string
		listed, more int
	}{{"x", 10_000, 5}, {strings.Repeat("ü", 4000), 255, 9750}} {
		var in repo.Inner
		for range 10_005 {
			in.Skipped = append(in.Skipped, wire.Skipped{Part: "notes", Path: tt.path, Reason: wire.SkipTooLarge})
		}
		b := must.Get(repo.EncodeInner(in))(t)
		got, err := repo.DecodeInner(b)
		if err != nil || len(got.Skipped) != tt.listed || got.SkippedMore != int64(tt.more) || len(got.Skipped[0].Path) > 4096 {
			t.Errorf("%v: %d listed, %d more", err, len(got.Skipped), got.SkippedMore)
		}
	}
}
