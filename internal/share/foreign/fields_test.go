package foreign

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

func TestFieldsOfAnyTypeAreRead(t *testing.T) {
	t.Parallel()
	m, ok := ParseFields([]byte(`{"s":"a","n":12.5,"b":true,"z":null,"l":["x"," y ",3,null,{}],"o":{"k":"v"},"q":"{\"k\":\"w\"}","t":" 7 ","e":""}`))
	must.Hold(t, ok, "an object is not read")
	must.Equal(t, "texts", []string{m.Text("s"), m.Text("n"), m.Text("b"), m.Text("z"), m.Text("l"), m.Text("o"), m.Text("absent")},
		[]string{"a", "12.5", "true", "", "", "", ""})
	must.Equal(t, "first text", m.Text("z", "absent", "o", "s"), "a")
	must.Equal(t, "list", m.Texts("l"), []string{"x", "y", "3"})
	must.Equal(t, "list of one", m.Texts("s"), []string{"a"})
	must.Equal(t, "no list", m.Texts("z"), nil)
	must.Equal(t, "object", m.Sub("o").Text("k"), "v")
	must.Equal(t, "object in quotes", m.Sub("q").Text("k"), "w")
	must.Equal(t, "no object", m.Sub("s"), nil)
	n, ok := m.Number("t")
	must.Hold(t, ok && n == 7, "number in quotes is %v %v", n, ok)
	_, ok = m.Number("s")
	must.Hold(t, !ok, "a word is a number")
	texts, rest := m.Split()
	must.Equal(t, "flat", texts, map[string]string{"s": "a", "n": "12.5", "b": "true", "q": `{"k":"w"}`, "t": " 7 "})
	must.Equal(t, "rest", slices.Sorted(maps.Keys(rest)), []string{"l", "o"})
	for _, text := range []string{"", "null", "[]", `"a"`, "{", "12"} {
		_, ok := ParseFields([]byte(text))
		must.Hold(t, !ok, "%q is an object", text)
	}
}

func TestAnOutlineNamesWhatTheHeadHolds(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"a":1,"b":[{"c":{"d":1e999}},{"e":2}],"f":[[{"g":1}]]}`: "a b b[].c b[].c.d b[].e f f[][].g",
		`[{"id":1}]`:           "[].id",
		`{"a":[{"b":"cut he`:   "a a[].b",
		"\xef\xbb\xbf{\"a\":1": "a",
		"":                     "", "12": "", "nonsense": "", `{"a" "b"}`: "a",
		strings.Repeat("[", 1000): "",
	} {
		got := slices.Sorted(maps.Keys(Outline([]byte(text))))
		must.Equal(t, text, strings.Join(got, " "), want)
	}
}

func TestSeenTellsRowsOfOneKeyApart(t *testing.T) {
	t.Parallel()
	s := Seen{}
	must.Equal(t, "first", s.Add(Key{"a", "b"}, "text"), First)
	must.Equal(t, "same", s.Add(Key{"a", "b"}, "text"), Same)
	must.Equal(t, "other text", s.Add(Key{"a", "b"}, "tex", "t"), Other)
	must.Equal(t, "the first one counts", s.Add(Key{"a", "b"}, "text"), Same)
	must.Equal(t, "other key", s.Add(Key{"ab"}, "text"), First)
	must.Hold(t, s.Has(Key{"ab"}) && !s.Has(Key{"", "ab"}), "keys are not told apart")
}
