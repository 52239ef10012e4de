package keyring

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

func TestASeedShowsNothing(t *testing.T) {
	t.Parallel()
	s := seed([]byte(strings.Repeat("s", 32)))
	shown := []string{s.String(), s.LogValue().String(), slog.Any("seed", s).String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
		shown = append(shown, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, []any{s}))
	}
	b := must.Get(json.Marshal(s))(t)
	for _, text := range append(shown, string(b)) {
		if !strings.Contains(text, redacted) || strings.Contains(text, "ss") || strings.Contains(text, "115") || strings.Contains(text, "73") {
			t.Errorf("it shows %q", text)
		}
	}
}

// FuzzTrusted reads any bytes as the list. A list that is accepted names the same keys when it is
// written again.
func FuzzTrusted(f *testing.F) {
	key := "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp"
	for _, s := range []string{"", "\n", "# nobody\n", key, key + " a comment\r\n\n#\n" + key + "\tb", "x\n", " " + key + "  spaces  \n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		l, err := parseList(b)
		if err != nil {
			must.Hold(t, !strings.ContainsAny(err.Error(), "\n\x1b"), "%q", err)
			return
		}
		must.Equal(t, "keys", fmt.Sprint(must.Get(parseList(l.bytes()))(t).keys()), fmt.Sprint(l.keys()))
	})
}

// FuzzSeed reads any bytes as a seed.
func FuzzSeed(f *testing.F) {
	f.Add([]byte(strings.Repeat("s", 32)))
	f.Add([]byte(strings.Repeat("0a", 32) + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, ok := parseSeed(b); ok && len(b) == 32 && string(s[:]) != string(b) {
			t.Error("32 bytes are another seed")
		}
	})
}
