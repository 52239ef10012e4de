package redact_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/test/must"
)

// password is found by its surroundings alone.
const password = "Tr0ub4dor-Lighthouse"

func known(secrets ...string) *redact.Secrets {
	var s redact.Secrets
	for _, secret := range secrets {
		s.Add("jwt", secret)
	}
	s.Seal()
	return &s
}

func TestSecretsRemove(t *testing.T) {
	t.Parallel()
	const gone = "[REDACTED:jwt]"
	s := known(password, "overlap1ping", "ping-and-m0re", "<private>a\nb</private>")
	for _, c := range []struct{ name, in, want string }{
		{"alone", password, gone},
		{"in a text", "a " + password + " b", "a " + gone + " b"},
		{"in other cases", strings.ToUpper(password) + strings.ToLower(password), gone + gone},
		{"overlapping", "x overlap1ping-and-m0re y", "x " + gone + " y"},
		{"parts of one", "Tr0ub4dor and Lighthouse", "Tr0ub4dor and Lighthouse"},
		{"as JSON writes it", `<private>a\nb</private> \u003cprivate\u003ea\nb\u003c/private\u003e`, gone + " " + gone},
		{"nothing", "nothing", "nothing"},
	} {
		got, report := s.Remove(c.in)
		if got != c.want || (report.Total == 0) != (c.in == c.want) {
			t.Errorf("%s: got %q with %+v, want %q", c.name, got, report, c.want)
		}
	}
}

func TestSecretsRemoveJSON(t *testing.T) {
	t.Parallel()
	s := known(password, `quote"s1nside`)
	for in, want := range map[string]string{
		`{"a": "` + password + `", "n": 1.50}`:    `{"a": "[REDACTED:jwt]", "n": 1.50}`,
		`["\u0054r0ub4dor-Lighthouse", "x\ny"]`:   `["[REDACTED:jwt]", "x\ny"]`,
		`{"quote\"s1nside": "\u003c"}`:            `{"[REDACTED:jwt]": "\u003c"}`,
		`{"a":"{\"b\":\"quote\\\"s1nside\"}"}`:    `{"a":"{\"b\":\"[REDACTED:jwt]\"}"}`,
		`no JSON ` + password:                     `no JSON [REDACTED:jwt]`,
		`{"a": "\u003cnothing\u003e", "n": 1e10}`: `{"a": "\u003cnothing\u003e", "n": 1e10}`,
	} {
		got, _ := s.RemoveJSON(in)
		must.Equal(t, in, got, want)
		if json.Valid([]byte(in)) && !json.Valid([]byte(got)) {
			t.Errorf("%s is not JSON", got)
		}
	}
}

// Secrets that are common in other texts are not looked for.
func TestSecretsThatTellNothing(t *testing.T) {
	t.Parallel()
	var s redact.Secrets
	plain := []string{"short1", "20240131", "postgres", "POSTGRES", "deadbeef", "0123456789", "duplicate_count", "12-34-56-78"}
	for _, secret := range plain {
		s.Add("jwt", secret)
	}
	s.Add("jwt", password)
	s.Add("jwt", password)
	s.Seal()
	if n, dropped := s.Left(); n != len(plain) || dropped != 0 || s.Len() != 1 {
		t.Errorf("%d are plain, %d too many, %d known", n, dropped, s.Len())
	}
	if got, _ := s.Remove(strings.Join(plain, " ")); got != strings.Join(plain, " ") {
		t.Errorf("got %q", got)
	}
}

func TestSecretsAreBounded(t *testing.T) {
	t.Parallel()
	var s redact.Secrets
	for i := range 20_000 {
		s.Add("jwt", fmt.Sprintf("secret%08dx", i))
	}
	if _, dropped := s.Left(); dropped == 0 || s.Len()+dropped != 20_000 {
		t.Errorf("%d are known, %d dropped", s.Len(), dropped)
	}
	var long redact.Secrets
	text := strings.Repeat("Long secret 1. ", 1000)
	for i := range 400 {
		long.Add("jwt", fmt.Sprint(i)+text)
	}
	if _, dropped := long.Left(); dropped == 0 {
		t.Error("six megabytes are remembered")
	}
	long.Seal()
	if leak, err := long.Search(strings.NewReader("x"+text+"x"), nil); err != nil || leak == nil {
		t.Errorf("the end of a long secret is not found: %v", err)
	}
}

// Wherever in a file a secret lies, it is found, also where the file breaks it
// in two.
func TestSecretsSearch(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	noise := make([]byte, 3<<20)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	s := known(password)
	if leak, err := s.Search(bytes.NewReader(noise), nil); leak != nil || err != nil {
		t.Fatalf("found %+v in noise, %v", leak, err)
	}
	offsets := []int{0, 1, 1<<20 - 1, 1 << 20, 1<<20 - 4096, 1<<20 - 10, len(noise) - len(password)}
	for range 20 {
		offsets = append(offsets, random.IntN(len(noise)-len(password)))
	}
	for _, at := range offsets {
		file := bytes.Clone(noise)
		copy(file[at:], strings.ToLower(password))
		leak, err := s.Search(bytes.NewReader(file), nil)
		if err != nil || leak == nil || leak.Rule != "jwt" || leak.Offset < int64(at) || leak.Offset > int64(at+len(password)) {
			t.Errorf("at %d: %+v, %v", at, leak, err)
		}
	}
	gh := key("github-token")
	s = known(gh)
	for cut := range len(gh) {
		file := gh[:cut] + "\x00\x00\x12\x34" + gh[cut:]
		if leak, err := s.Search(strings.NewReader(file), nil); leak == nil || err != nil {
			t.Errorf("cut at %d: not found, %v", cut, err)
		}
	}
}

func TestSecretsSearchEndsWithItsReader(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	must.Is(t, "", must.Err(known(password).Search(iotest.ErrReader(broken), nil)), broken)
	_, err := known(password).Search(strings.NewReader("x"), func(int) error { return broken })
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// A part of a secret that stays elsewhere is no leak; the whole is.
func TestSecretsExcuse(t *testing.T) {
	t.Parallel()
	s := known(password)
	if !s.Holds([]byte("the tr0ub4dor sings")) {
		t.Fatal("a word of a secret is not looked for")
	}
	s.Excuse("the Tr0ub4dor sings")
	if s.Holds([]byte("the tr0ub4dor sings")) {
		t.Error("what stays is looked for")
	}
	s.Excuse(password)
	if !s.Holds([]byte(password)) {
		t.Error("a whole secret was excused")
	}
	if n := s.Allow("a digest like " + password); n != 1 || s.Holds([]byte(password)) {
		t.Errorf("%d were allowed", n)
	}
}

func FuzzSecretsRemove(f *testing.F) {
	f.Add(password, "a "+password+" b")
	f.Add("a\"b\\c1234", `{"x":"a\"b\\c1234"}`)
	f.Fuzz(func(t *testing.T, secret, text string) {
		s := known(secret)
		out, report := s.Remove(text)
		if (report.Total == 0) != (out == text) && !strings.Contains(out, "[REDACTED:jwt]") {
			t.Errorf("%q: %+v, %q", text, report, out)
		}
		if s.Len() == 1 && strings.Contains(text, secret) && report.Total == 0 {
			t.Errorf("%q is left in %q", secret, text)
		}
		doc, _ := s.RemoveJSON(text)
		if json.Valid([]byte(text)) && !json.Valid([]byte(doc)) {
			t.Errorf("%q became %q", text, doc)
		}
	})
}

func BenchmarkSearch(b *testing.B) {
	var s redact.Secrets
	for _, sample := range samples(b, 4) {
		s.Add(sample.Rule, sample.Value)
	}
	s.Seal()
	text := []byte(strings.Repeat(negatives(b)["prose.md"], 100))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if leak, err := s.Search(bytes.NewReader(text), nil); leak != nil || err != nil {
			b.Fatal(leak, err)
		}
	}
}

// No text makes a search slow that finds little in it.
func TestSecretsInHostileText(t *testing.T) {
	t.Parallel()
	var units []string
	for _, unit := range []string{"a", "a1", "ab1", "ab1cd2", "aB3$x", "github_pat_", "<private>"} {
		units = append(units, unit, strings.ToUpper(unit))
	}
	var s redact.Secrets
	for _, unit := range units {
		text := strings.Repeat(unit, 2000/len(unit))
		s.Add("jwt", text)
		s.Add("jwt", text+"Z9")
	}
	for i := range 5000 {
		s.Add("jwt", fmt.Sprintf("github_pat_%04d", i))
	}
	s.Seal()
	for _, unit := range units {
		text := strings.Repeat(unit, 100_000/len(unit))
		must.Get(s.Search(strings.NewReader(text), nil))(t)
		s.Remove(text)
	}
}

// A copy learns and forgets on its own.
func TestSecretsClone(t *testing.T) {
	t.Parallel()
	s := known(password)
	c := s.Clone()
	c.Add("jwt", "an0ther-Secret")
	c.Add("jwt", "short1")
	c.Seal()
	c.Allow("it is " + password)
	text := []byte(password + " an0ther-Secret")
	if got, _ := c.Remove(string(text)); got != password+" [REDACTED:jwt]" {
		t.Errorf("the copy made %q", got)
	}
	if got, _ := s.Remove(string(text)); got != "[REDACTED:jwt] an0ther-Secret" {
		t.Errorf("the original made %q", got)
	}
	if plain, _ := s.Left(); plain != 0 || s.Len() != 1 || c.Len() != 2 {
		t.Errorf("%d secrets and %d plain ones, and %d in the copy", s.Len(), plain, c.Len())
	}
}

// A text may have words that a secret has, and must not have all of it.
func TestSecretsSearchWhole(t *testing.T) {
	t.Parallel()
	s := known(password)
	for text, leaks := range map[string]bool{
		"a Tr0ub4dor was here":                         false,
		"a " + strings.ToUpper(password) + " was here": true,
		strings.Repeat("x", 1<<20-8) + password:        true,
		"":                                             false,
	} {
		must.Equal(t, fmt.Sprintf("%.30q", text), must.Get(s.SearchWhole(strings.NewReader(text), nil))(t) != nil, leaks)
	}
	if leak, err := s.Search(strings.NewReader("a Tr0ub4dor was here"), nil); err != nil || leak == nil {
		t.Errorf("a word of it is not found: %v", err)
	}
}

// Secrets that differ at one end alone are all found.
func TestSecretsThatAreAlike(t *testing.T) {
	t.Parallel()
	var list []string
	for i := range 500 {
		list = append(list, fmt.Sprintf("Xk9-Tr0ub4d0r-%dx", i))
	}
	s := known(list...)
	if _, dropped := s.Left(); dropped > 0 {
		t.Errorf("%d were left out", dropped)
	}
	for _, secret := range list {
		if got, _ := s.Remove(secret); got != "[REDACTED:jwt]" {
			t.Errorf("%s became %s", secret, got)
		}
	}
}
