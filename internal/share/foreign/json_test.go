package foreign

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/amber-memory/amber/internal/test/must"
)

type readDoc struct{ got, skipped []string }

func (r *readDoc) document() Document {
	return Document{
		Element: func(list string, n int64, raw []byte) error {
			r.got = append(r.got, fmt.Sprintf("%s %d %s", list, n, raw))
			return nil
		},
		Member: func(name string, raw []byte) error {
			r.got = append(r.got, fmt.Sprintf("%s=%s", name, raw))
			return nil
		},
		Skip: func(at, reason string) { r.skipped = append(r.skipped, at+": "+reason) },
	}
}

func TestADocumentIsReadInParts(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`[1, "a,]", {"b":[1,2]}, null]`:                " 1 1| 2 \"a,]\"| 3 {\"b\":[1,2]}| 4 null",
		`{"a": [ {"x":1} , {"y":"}"} ], "b": {"c":1}}`: "a 1 {\"x\":1}|a 2 {\"y\":\"}\"}|b={\"c\":1}",
		"\xef\xbb\xbf[]":                               "",
		`{}`:                                           "",
		`"a string"`:                                   `="a string"`,
		`{"n": 12, "l": [], "m":3}`:                    "n=12|m=3",
		`["a\"b", "c\\"]`:                              ` 1 "a\"b"| 2 "c\\"`,
	} {
		var whole, bitwise readDoc
		must.Do(t, ReadJSON(strings.NewReader(text), whole.document()))
		must.Do(t, ReadJSON(iotest.OneByteReader(strings.NewReader(text)), bitwise.document()))
		must.Equal(t, text, strings.Join(whole.got, "|"), want)
		must.Equal(t, text+" byte by byte", strings.Join(bitwise.got, "|"), want)
		must.Equal(t, "skipped", len(whole.skipped), 0)
	}
}

// A document that is cut gives out every element before the cut, and says where it ends.
func TestACutDocumentGivesItsWholeElements(t *testing.T) {
	t.Parallel()
	text := "[\n {\"n\": 1},\n {\"n\": 2},\n {\"n\": 3}\n]"
	ends := []int{}
	for i := range text {
		if text[i] == '}' {
			ends = append(ends, i+1)
		}
	}
	for cut := range len(text) {
		var r readDoc
		must.Do(t, ReadJSON(strings.NewReader(text[:cut]), r.document()))
		whole := 0
		for _, end := range ends {
			if cut >= end {
				whole++
			}
		}
		must.Equal(t, fmt.Sprintf("elements of %q", text[:cut]), len(r.got), whole)
		if len(r.skipped) == 0 {
			t.Errorf("cut at %d: skipped is %q, want a place", cut, r.skipped)
		}
	}
}

// In a document whose elements begin on lines of their own, a broken line costs its element alone.
func TestABrokenLineCostsOneElement(t *testing.T) {
	t.Parallel()
	var elements []map[string]any
	for i := range 5 {
		elements = append(elements, map[string]any{"id": i, "list": []int{1, 2}, "text": `a "quoted" } text`})
	}
	for _, wrap := range []any{elements, map[string]any{"items": elements}} {
		b := must.Get(json.MarshalIndent(wrap, "", " "))(t)
		lines := strings.Split(string(b), "\n")
		for i, line := range lines {
			if !strings.HasPrefix(strings.TrimSpace(line), `"id"`) && !strings.HasPrefix(strings.TrimSpace(line), `"text"`) &&
				strings.TrimSpace(line) != "1," && strings.TrimSpace(line) != `"list": [` {
				continue
			}
			for _, with := range []string{line[:len(line)/2], "garbage", `"`, "{", "}", "]"} {
				broken := append(append(append([]string{}, lines[:i]...), with), lines[i+1:]...)
				if json.Valid([]byte(strings.Join(broken, "\n"))) {
					continue
				}
				var r readDoc
				must.Do(t, ReadJSON(strings.NewReader(strings.Join(broken, "\n")), r.document()))
				if len(r.got) < 4 || len(r.skipped) == 0 {
					t.Errorf("line %d as %q: %d elements, skipped %q; want the other 4 and a place", i+1, with, len(r.got), r.skipped)
				}
			}
		}
	}
}

func TestLinesAreBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", MaxItemBytes+10)
	var got, skipped []string
	err := eachLine(strings.NewReader("\xef\xbb\xbfa\n\n"+long+"\nb\r\nc"), func(n int64, line []byte) error {
		got = append(got, fmt.Sprintf("%d %s", n, line))
		return nil
	}, func(n int64, reason string) { skipped = append(skipped, fmt.Sprintf("%d", n)) })
	must.Do(t, err)
	must.Equal(t, "lines", strings.Join(got, "|"), "1 a|4 b|5 c")
	must.Equal(t, "skipped", strings.Join(skipped, "|"), "3")
}
