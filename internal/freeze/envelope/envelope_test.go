package envelope_test

import (
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/envelope"
	"github.com/amber-memory/amber/internal/test/must"
)

const format, domain = "test", "test 1\x00"

func open(text string) error {
	return must.Err(envelope.Open([]byte(text), format, 1))
}

// sealed is an envelope of a body with any list of signatures.
func sealed(body, signatures string) string {
	return `{"body":` + body + `,"digest":"` + envelope.Digest([]byte(body)) + `","signatures":` + signatures + `}`
}

func TestOneSpelling(t *testing.T) {
	const body = `{"format":"test","version":1}`
	good := sealed(body, "[]")
	must.Do(t, open(good))
	for what, bad := range map[string]string{
		"no list of signatures": sealed(body, "null"),
		"space in the list":     sealed(body, "[ ]"),
		"two signatures":        sealed(body, `[{"alg":"a","key_id":"b","sig":"c"},{"alg":"a","key_id":"b","sig":"c"}]`),
		"a field nobody knows":  sealed(body, `[{"alg":"a","key_id":"b","sig":"c","x":1}]`),
		"a line feed behind":    good + "\n",
		"a space in front":      " " + good,
		"cut off":               good[:len(good)-1],
		"another digest":        strings.Replace(good, `"digest":"`, `"digest":"0`, 1),
		"another format":        sealed(`{"format":"other","version":1}`, "[]"),
		"version 0":             sealed(`{"format":"test","version":0}`, "[]"),
		"a list as the body":    sealed(`[]`, "[]"),
	} {
		if err := open(bad); err == nil || amber.KindOf(err) == amber.KindTooNew {
			t.Errorf("%s: got %v, want an error that is not too_new", what, err)
		}
	}
	must.Kind(t, "a later version", open(sealed(`{"format":"test","version":2,"more":true}`, "[]")), amber.KindTooNew)
}

func TestDecodeTakesTheCanonicalFormOnly(t *testing.T) {
	var into struct {
		A int    `json:"a"`
		B string `json:"b"`
	}
	if err := envelope.Decode([]byte(`{"a":1,"b":"<é>"}`), &into); err != nil || into.B != "<é>" {
		t.Fatalf("got %+v, %v", into, err)
	}
	for _, bad := range []string{
		`{"b":"","a":1}`, `{"a":1,"b":"","c":2}`, `{"a":1,"a":1,"b":""}`, `{"A":1,"b":""}`, `{"a":1}`, `{"a": 1,"b":""}`,
		`{"a":1,"b":"\u003c"}`, `{"a":1e0,"b":""}`, `{"a":1,"b":""}{}`, `{"a":1,"b":"` + "\xff" + `"}`,
	} {
		if err := envelope.Decode([]byte(bad), &into); err == nil {
			t.Errorf("accepted %s", bad)
		}
	}
}

func TestSealRefusesAnotherSigner(t *testing.T) {
	body := struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}{format, 1}
	if _, _, err := envelope.Seal(t.Context(), domain, body, "did:key:x", nil); amber.KindOf(err) != amber.KindInvalid {
		t.Errorf("no key to sign with: got %v, want invalid", err)
	}
	b, digest, err := envelope.Seal(t.Context(), domain, body, "", nil)
	must.Hold(t, err == nil && open(string(b)) == nil && strings.Contains(string(b), digest), "unsigned: %s, %v", b, err)
}
