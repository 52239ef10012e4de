package sqlcore

import (
	"encoding/base64"
	"math"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestCursorRoundTrip(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		ms   int64
		id   string
	}{
		{"plain", 1773480600000, "0195a0c2-0000-7000-8000-000000000000"},
		{"before 1970", -1, "a"},
		{"slash and letters beyond ASCII", 0, "köln/ü→"},
		{"longest id", math.MaxInt64, strings.Repeat("x", amber.MaxIDBytes)},
	} {
		t.Run(c.name, func(t *testing.T) {
			ms, id, err := decodeCursor("tasks", encodeCursor("tasks", c.ms, c.id))
			if err != nil || ms != c.ms || id != c.id {
				t.Errorf("got %d, %q and %v, want %d and %q", ms, id, err, c.ms, c.id)
			}
		})
	}
}

func TestCursorRefuses(t *testing.T) {
	t.Parallel()
	raw := func(s string) amber.Cursor { return amber.Cursor(base64.RawURLEncoding.EncodeToString([]byte(s))) }
	for name, c := range map[string]amber.Cursor{
		"another listing":     encodeCursor("sessions", 1, "a"),
		"not base64":          "***",
		"padding":             encodeCursor("tasks", 1, "ab") + "=",
		"no lines":            raw("tasks"),
		"no id":               raw("tasks\n1\n"),
		"an id of two lines":  raw("tasks\n1\na\nb"),
		"a time no number":    raw("tasks\nnow\na"),
		"a time out of range": raw("tasks\n9223372036854775808\na"),
		"no UTF-8":            raw("tasks\n1\n\xff"),
		"too long":            raw("tasks\n1\n" + strings.Repeat("x", 4096)),
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := decodeCursor("tasks", c)
			must.Kind(t, "decode", err, amber.KindInvalid)
		})
	}
}

func FuzzDecodeCursor(f *testing.F) {
	f.Add("")
	f.Add(string(encodeCursor("tasks", 5, "id")))
	f.Fuzz(func(t *testing.T, c string) {
		ms, id, err := decodeCursor("tasks", amber.Cursor(c))
		if err != nil {
			must.Kind(t, string(c), err, amber.KindInvalid)
			return
		}
		again, sameID, err := decodeCursor("tasks", encodeCursor("tasks", ms, id))
		if c != "" && (err != nil || again != ms || sameID != id) {
			t.Fatalf("%q gives %d and %q, which encode to %d, %q and %v", c, ms, id, again, sameID, err)
		}
	})
}
