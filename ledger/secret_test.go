package ledger

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/must"
)

func TestASecretShowsNothing(t *testing.T) {
	t.Parallel()
	s := must.Get(newSecret(rand.Reader))(t)
	b := must.Get(json.Marshal(map[string]any{"s": s}))(t)
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("made", "secret", s)
	shown := []string{s.String(), s.LogValue().String(), string(b), log.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d", "%q"} {
		shown = append(shown, fmt.Sprintf(verb, s), fmt.Sprintf(verb, &s), fmt.Sprintf(verb, []any{s}))
	}
	for _, text := range shown {
		if strings.Contains(text, s.random[:6]) || strings.Contains(text, fmt.Sprintf("%x", s.random[:6])) || !strings.Contains(text, "redacted") {
			t.Errorf("it shows %q", text)
		}
	}
}

// FuzzSecret reads any text as a secret. What is accepted is what is revealed.
func FuzzSecret(f *testing.F) {
	f.Add("")
	f.Add("amber_")
	f.Add("amber_aaaaaaaa_" + strings.Repeat("7", randomChars))
	f.Add("amber_aaaaaaaa-" + strings.Repeat("7", randomChars))
	f.Add("amber_aaaaaaa\xff_" + strings.Repeat("a", randomChars))
	f.Add("amber_________" + strings.Repeat("_", randomChars))
	f.Fuzz(func(t *testing.T, text string) {
		s, ok := parseSecret(text)
		if ok && (s.reveal() != text || len(s.id) != idChars || len(s.random) != randomChars) {
			t.Errorf("%q became %q", text, s.reveal())
		}
		if !ok && s != (secret{}) {
			t.Error("something of a refused secret is left")
		}
	})
}

// FuzzHead reads any bytes as a head file. What is accepted is written so.
func FuzzHead(f *testing.F) {
	f.Add([]byte(""))
	f.Add(mark{1, [32]byte{1}}.bytes())
	f.Add(mark{1 << 62, [32]byte{255}}.bytes())
	f.Add([]byte("amber-audit 2 whatever\n"))
	f.Add([]byte("amber-audit +1 1 " + strings.Repeat("0", 64) + "\n"))
	f.Add([]byte("amber-audit 1 01 " + strings.Repeat("0", 64) + "\n"))
	f.Add([]byte("amber-audit 1 1 " + strings.Repeat("A", 64) + "\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := parseHead(b)
		if err == nil && (!bytes.Equal(m.bytes(), b) || m.seq < 1) {
			t.Errorf("%q became %q", b, m.bytes())
		}
		if err != nil && m != (mark{}) {
			t.Error("something of a refused head is left")
		}
	})
}
