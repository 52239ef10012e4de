package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/amber-memory/amber/internal/test/must"
)

// A document gives the same parts however it is cut into reads. A valid document gives what
// encoding/json finds in it, and nothing is skipped.
func FuzzReadJSON(f *testing.F) {
	f.Add([]byte(`{"a": [ {"x":1} , "}]" ], "b": {"c":[1]}, "d": 1e5}`))
	f.Add([]byte("[\n  {\"a\": 1},\n  {\"a\": \"\\\"},\n  {\"b\": 2}\n]"))
	f.Add([]byte("[{\"a\":1},\n{\"a\"\n{\"a\":3}]"))
	f.Add([]byte("\xef\xbb\xbf\"text\""))
	f.Fuzz(func(t *testing.T, b []byte) {
		var whole, bitwise readDoc
		must.Do(t, ReadJSON(bytes.NewReader(b), whole.document()))
		must.Do(t, ReadJSON(iotest.OneByteReader(bytes.NewReader(b)), bitwise.document()))
		must.Equal(t, "byte by byte", bitwise.got, whole.got)
		must.Equal(t, "skipped byte by byte", bitwise.skipped, whole.skipped)
		if json.Valid(b) {
			must.Equal(t, "parts", strings.Join(whole.got, "|"), strings.Join(partsOf(t, b), "|"))
			must.Equal(t, "skipped", len(whole.skipped), 0)
		}
	})
}

// partsOf returns the parts of a valid document.
func partsOf(t *testing.T, b []byte) (parts []string) {
	t.Helper()
	switch b = bytes.TrimSpace(b); b[0] {
	case '[':
		return elementsOf(t, "", b)
	case '{':
	default:
		return []string{"=" + string(b)}
	}
	d := json.NewDecoder(bytes.NewReader(b))
	must.Get(d.Token())(t)
	for d.More() {
		name := must.Get(d.Token())(t).(string)
		var value json.RawMessage
		must.Do(t, d.Decode(&value))
		if value[0] == '[' {
			parts = append(parts, elementsOf(t, name, value)...)
		} else {
			parts = append(parts, fmt.Sprintf("%s=%s", name, value))
		}
	}
	return parts
}

func elementsOf(t *testing.T, name string, list []byte) (parts []string) {
	t.Helper()
	var elements []json.RawMessage
	must.Do(t, json.Unmarshal(list, &elements))
	for i, e := range elements {
		parts = append(parts, fmt.Sprintf("%s %d %s", name, i+1, e))
	}
	return parts
}

// Lines are what lies between line feeds, without the mark at the beginning and white space.
func FuzzLines(f *testing.F) {
	f.Add([]byte("\xef\xbb\xbfa\r\n\n b \nc"))
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		var got, want []string
		must.Do(t, eachLine(iotest.HalfReader(bytes.NewReader(b)), func(n int64, line []byte) error {
			got = append(got, fmt.Sprintf("%d %s", n, line))
			return nil
		}, func(n int64, reason string) { t.Errorf("line %d: %s", n, reason) }))
		for i, line := range bytes.Split(TrimMark(b), []byte("\n")) {
			if line = bytes.TrimSpace(line); len(line) > 0 {
				want = append(want, fmt.Sprintf("%d %s", i+1, line))
			}
		}
		must.Equal(t, "lines", got, want)
	})
}

// The head of a Markdown file never costs its body: without a head that can be read, all of
// the file is body.
func FuzzFront(f *testing.F) {
	f.Add([]byte("---\ntitle: A\ntags: [a, b]\nmetadata:\n  x: 1\n---\nbody\n"))
	f.Add([]byte("---\na: &x 1\nb: *x\n---\n"))
	f.Add([]byte("---\n\"\n---\nbody"))
	f.Fuzz(func(t *testing.T, b []byte) {
		text := strings.ReplaceAll(string(TrimMark(b)), "\r\n", "\n")
		front, body, err := SplitFront(b)
		if !strings.HasSuffix(text, body) || err != nil && (body != text || front != nil) {
			t.Errorf("body %q of %q, front %v, error %v", body, text, front, err)
		}
		for name := range front {
			_, _, _ = front.Text(name), front.Texts(name), front.Sub(name)
		}
	})
}
