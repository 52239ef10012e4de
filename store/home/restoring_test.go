package home

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func noteVector(t testing.TB) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join("testdata", "restoring", "v1.txt")))(t)
}

// noteV1 is what v1.txt says.
var noteV1 = note{
	generation:  4,
	incarnation: "019b7ccd-f1ae-7a1b-8c2d-3e4f5a6b7c8d",
	replaces:    3,
	from:        "019b7cc0-0000-7000-8000-0123456789ab",
}

func TestRestoringVector(t *testing.T) {
	t.Parallel()
	b := noteVector(t)
	got := must.Get(parseNote(b))(t)
	must.Hold(t, got == noteV1, "got %+v, want %+v", got, noteV1)
	must.Equal(t, "written again", string(got.marshal()), string(b))
	page := must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "format", "home.md")))(t)
	if !strings.Contains(strings.ReplaceAll(string(page), "\r\n", "\n"), "```\n"+string(b)+"```\n") {
		t.Error("docs/format/home.md does not show it")
	}
}

func TestRestoringNoticesEveryByte(t *testing.T) {
	t.Parallel()
	good := noteVector(t)
	check := func(what string, b []byte) {
		t.Helper()
		want := amber.KindDamaged
		head, _, _ := strings.Cut(string(b), "\n")
		var version int
		if _, err := fmt.Sscanf(head, "amber-restoring %d", &version); err == nil && version > 1 && head == fmt.Sprintf("amber-restoring %d", version) {
			want = amber.KindTooNew
		}
		n, err := parseNote(b)
		must.Hold(t, amber.KindOf(err) == want && n == (note{}), "%s: got %+v, %v, want %s", what, n, err, want)
	}
	for at := range good {
		for v := range 256 {
			if flipped := bytes.Clone(good); flipped[at] != byte(v) {
				flipped[at] = byte(v)
				check(fmt.Sprintf("byte %d set to %#02x", at, v), flipped)
			}
		}
		for _, v := range []byte("\x00\n 1a") {
			check(fmt.Sprintf("%#02x put in at %d", v, at), append(append(bytes.Clone(good[:at]), v), good[at:]...))
		}
		check(fmt.Sprintf("cut to %d bytes", at), good[:at])
		check(fmt.Sprintf("byte %d removed", at), append(bytes.Clone(good[:at]), good[at+1:]...))
		if t.Failed() {
			return
		}
	}
}

func TestRestoringThatIsNoNote(t *testing.T) {
	t.Parallel()
	lines := func(generation, incarnation, replaces, from string) []byte {
		return withCRC(fmt.Sprintf("amber-restoring 1\ngeneration %s\nincarnation %s\nreplaces %s\nfrom %s\n", generation, incarnation, replaces, from))
	}
	must.Get(parseNote(lines("2", "a", "1", "b")))(t)
	for name, b := range map[string][]byte{
		"generation 0":             lines("0", "a", "1", "b"),
		"generation below":         lines("2", "a", "3", "b"),
		"generation of itself":     lines("2", "a", "2", "b"),
		"replaces none":            lines("2", "a", "0", "b"),
		"leading zero":             lines("02", "a", "1", "b"),
		"sign":                     lines("+2", "a", "1", "b"),
		"beyond 63 bits":           lines("9223372036854775808", "a", "1", "b"),
		"no incarnation":           lines("2", "", "1", "b"),
		"from nothing":             lines("2", "a", "1", ""),
		"from with a space behind": lines("2", "a", "1", "b "),
		"from too long":            lines("2", "a", "1", strings.Repeat("b", 201)),
		"CURRENT":                  vector(t, "v1.txt"),
	} {
		must.Kind(t, name, must.Err(parseNote(b)), amber.KindDamaged)
	}
}

func FuzzRestoring(f *testing.F) {
	good := noteVector(f)
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(bytes.Replace(good, []byte("restoring 1"), []byte("restoring 2"), 1))
	f.Add(note{generation: 2, incarnation: "a", replaces: 1, from: "b"}.marshal())
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, b := range [][]byte{b, withCRC(string(b))} {
			n, err := parseNote(b)
			kind := amber.KindOf(err)
			if err != nil && kind != amber.KindDamaged && kind != amber.KindTooNew {
				t.Fatalf("got %v, want damaged or too_new", err)
			}
			if err == nil && !bytes.Equal(n.marshal(), b) {
				t.Fatalf("%q is read as %+v, which is written %q", b, n, n.marshal())
			}
		}
	})
}
