package keyring_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/freeze/keyring"
	"github.com/amber-memory/amber/internal/test/must"
	"github.com/amber-memory/amber/wire/sign"
)

func trusted(t testing.TB, r *keyring.Ring) []keyring.TrustedKey {
	t.Helper()
	return must.Get(r.Trusted(t.Context()))(t)
}

func TestTrustIsKeptAsText(t *testing.T) {
	t.Parallel()
	dir := keysDir(t)
	r := ring(dir, 1)
	do := func(err error) {
		t.Helper()
		must.Do(t, err)
	}
	do(r.Trust(t.Context(), keyOf(2), "  Björn's laptop "))
	do(r.Trust(t.Context(), keyOf(3), ""))
	do(r.Trust(t.Context(), keyOf(2), "")) // once more, and the comment stays
	do(r.Trust(t.Context(), keyOf(3), "# desk"))
	b, err := os.ReadFile(filepath.Join(dir, "trusted"))
	want := fmt.Sprintf("%s Björn's laptop\n%s # desk\n", keyOf(2), keyOf(3))
	if diff := cmp.Diff(want, string(b)); diff != "" || err != nil {
		t.Error(diff, err)
	}
	must.Equal(t, "trusted keys", trusted(t, r), []keyring.TrustedKey{{KeyID: keyOf(2), Comment: "Björn's laptop"}, {KeyID: keyOf(3), Comment: "# desk"}})
	do(r.Untrust(t.Context(), keyOf(2)))
	must.Kind(t, "untrust again", r.Untrust(t.Context(), keyOf(2)), amber.KindNotFound)
	must.Kind(t, "untrust what is no key", r.Untrust(t.Context(), "x"), amber.KindInvalid)
	must.Kind(t, "trust what is no key", r.Trust(t.Context(), "did:web:example.org", ""), amber.KindInvalid)
	for _, comment := range []string{"two\nlines", "\xff", "\x1b[2J", "a\tb", "\u202egnp.exe", strings.Repeat("x", 257)} {
		must.Kind(t, fmt.Sprintf("comment %q", comment), r.Trust(t.Context(), keyOf(4), comment), amber.KindInvalid)
	}
	must.Equal(t, "trusted keys", trusted(t, r), []keyring.TrustedKey{{KeyID: keyOf(3), Comment: "# desk"}})
}

// TestWhatPeopleWroteStays edits a file that was written by hand.
func TestWhatPeopleWroteStays(t *testing.T) {
	t.Parallel()
	dir := keysDir(t)
	hand := "# our team\r\n\r\n  " + string(keyOf(2)) + "\tAda  Lovelace \r\n# gone: Bob\r\n" + string(keyOf(3)) + "\n" + string(keyOf(2)) + " again"
	write(t, filepath.Join(dir, "trusted"), 0o644, hand)
	r := ring(dir, 1)
	must.Equal(t, "trusted keys", trusted(t, r), []keyring.TrustedKey{{KeyID: keyOf(2), Comment: "Ada  Lovelace"}, {KeyID: keyOf(3)}})
	must.Do(t, r.Trust(t.Context(), keyOf(4), "new"))
	if err := r.Untrust(t.Context(), keyOf(2)); err != nil { // both lines
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "trusted"))
	want := fmt.Sprintf("# our team\n\n# gone: Bob\n%s\n%s new\n", keyOf(3), keyOf(4))
	if diff := cmp.Diff(want, string(b)); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

// TestAListThatCannotBeReadTrustsNobody has one bad line among good ones.
func TestAListThatCannotBeReadTrustsNobody(t *testing.T) {
	t.Parallel()
	good := string(keyOf(2)) + " good\n"
	tests := map[string]string{
		"no key":            "hello",
		"a key cut":         string(keyOf(3)[:50]),
		"a key too long":    string(keyOf(3)) + "1",
		"upper case":        strings.ToUpper(string(keyOf(3))),
		"another method":    "did:web:example.org",
		"a comma":           string(keyOf(3)) + ",comment",
		"a carriage return": "# comment\r" + string(keyOf(3)),
		"a zero byte":       string(keyOf(3)) + " a\x00b",
		"an escape":         "# \x1b[1A\x1b[2K",
		"invalid UTF-8":     "# \xff",
		"backwards text":    string(keyOf(3)) + " \u202ekrow",
		"a mark in front":   "\ufeff" + string(keyOf(3)),
		"a long comment":    string(keyOf(3)) + " " + strings.Repeat("x", 300),
		"too many lines":    strings.Repeat("\n", 5000),
		"too many bytes":    "#" + strings.Repeat("x", 1<<20),
	}
	for name, bad := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := keysDir(t)
			text := good + bad + "\n" + good
			write(t, filepath.Join(dir, "trusted"), 0o600, text)
			r := ring(dir, 1)
			l, err := r.Trusted(t.Context())
			must.Kind(t, "trusted", err, amber.KindDamaged)
			if len(l) > 0 || err != nil && strings.ContainsAny(err.Error(), "\x1b\n\r\x00") {
				t.Errorf("got %v, %q", l, err)
			}
			must.Fail(r.Standing(t.Context(), keyOf(2)))(t, "standing", amber.KindDamaged)
			must.Kind(t, "trust", r.Trust(t.Context(), keyOf(4), ""), amber.KindDamaged)
			must.Kind(t, "untrust", r.Untrust(t.Context(), keyOf(2)), amber.KindDamaged)
			must.Equal(t, "the file", string(must.Get(os.ReadFile(filepath.Join(dir, "trusted")))(t)), text)
		})
	}
}

func TestTheListIsBounded(t *testing.T) {
	t.Parallel()
	dir := keysDir(t)
	write(t, filepath.Join(dir, "trusted"), 0o600, strings.Repeat("#\n", 4095)+string(keyOf(2))+"\n")
	r := ring(dir, 1)
	must.Kind(t, "one more", r.Trust(t.Context(), keyOf(3), ""), amber.KindQuota)
	must.Do(t, r.Trust(t.Context(), keyOf(2), "there already"))
	if l := trusted(t, r); len(l) != 1 || l[0].Comment != "there already" {
		t.Errorf("%v", l)
	}
}

// TestChangesAtTheSameTimeLoseNothing has rings that share nothing but the
// folder, as processes do.
func TestChangesAtTheSameTimeLoseNothing(t *testing.T) {
	t.Parallel()
	const callers = 16
	dir := keysDir(t)
	must.Do(t, ring(dir, 1).Trust(t.Context(), keyOf(200), "goes"))
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			must.NoError(t, ring(dir, 1).Trust(t.Context(), keyOf(byte(i)), fmt.Sprint(i)))
		})
	}
	wg.Go(func() {
		must.NoError(t, ring(dir, 1).Untrust(t.Context(), keyOf(200)))
	})
	wg.Wait()
	got := map[sign.KeyID]string{}
	for _, k := range trusted(t, ring(dir, 1)) {
		got[k.KeyID] = k.Comment
	}
	want := map[sign.KeyID]string{}
	for i := range callers {
		want[keyOf(byte(i))] = fmt.Sprint(i)
	}
	must.Equal(t, "trusted keys", got, want)
}
