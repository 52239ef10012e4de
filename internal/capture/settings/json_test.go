package settings_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/amber-memory/amber/internal/capture/settings"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestAddKeepsEverythingElse shows what an added entry looks like. The text
// before it is old, path and key say where "{"x":[1]}" goes.
func TestAddKeepsEverythingElse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, old string
		path      []string
		want      string
	}{
		{"blank", "", nil, "{\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}\n"},
		{"blank line", "\n", nil, "{\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}\n"},
		{"empty object", "{}", nil, "{\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}"},
		{"empty object with a space", "{ }\n", nil, "{\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}\n"},
		{"two spaces", "{\n  \"a\": 1\n}\n", nil, "{\n  \"a\": 1,\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}\n"},
		{"four spaces", "{\n    \"a\": 1\n}", nil, "{\n    \"a\": 1,\n    \"k\": {\n        \"x\": [\n            1\n        ]\n    }\n}"},
		{"tabs", "{\n\t\"a\": {\n\t}\n}\n", []string{"a"}, "{\n\t\"a\": {\n\t\t\"k\": {\n\t\t\t\"x\": [\n\t\t\t\t1\n\t\t\t]\n\t\t}\n\t}\n}\n"},
		{"windows", "{\r\n  \"a\": 1\r\n}\r\n", nil, "{\r\n  \"a\": 1,\r\n  \"k\": {\r\n    \"x\": [\r\n      1\r\n    ]\r\n  }\r\n}\r\n"},
		{"one line", `{"a":1}`, nil, `{"a":1,"k":{"x":[1]}}`},
		{"one line with spaces", `{ "a": 1 }`, nil, `{ "a": 1, "k": {"x": [1]} }`},
		{"one line, empty inside", `{"a": {}}`, []string{"a"}, `{"a": {"k": {"x": [1]}}}`},
		{"comma at the end", "{\n  \"a\": 1,\n}\n", nil, "{\n  \"a\": 1,\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  },\n}\n"},
		{"comment behind the last", "{\n  \"a\": 1 // one\n}\n", nil, "{\n  \"a\": 1, // one\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}\n"},
		{"comment before the brace", "{\n  \"a\": 1\n  // more to come\n}\n", nil, "{\n  \"a\": 1,\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n  // more to come\n}\n"},
		{"only a comment", "{\n  // nothing yet\n}\n", nil, "{\n  // nothing yet\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}\n"},
		{"only a short comment", "{ /* nothing */ }", nil, `{ /* nothing */ "k": {"x": [1]} }`},
		{"byte order mark", "\ufeff{}", nil, "\ufeff{\n  \"k\": {\n    \"x\": [\n      1\n    ]\n  }\n}"},
		{"list", "{\n  \"a\": [\n    \"b\"\n  ]\n}", []string{"a"}, "{\n  \"a\": [\n    \"b\",\n    {\n      \"x\": [\n        1\n      ]\n    }\n  ]\n}"},
		{"list on one line", "{\n  \"a\": [\"b\"]\n}", []string{"a"}, "{\n  \"a\": [\"b\", {\"x\": [1]}]\n}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			j := parse(t, tc.old)
			added := must.Get(j.Add(tc.path, "k", []byte(`{"x": [1]}`)))(t)
			must.Equal(t, "added", string(added.Bytes()), tc.want)
			checkRemovalGivesBack(t, j, added, tc.path, "k")
		})
	}
}

func parse(t *testing.T, src string) *settings.JSON {
	t.Helper()
	return must.Get(settings.ParseJSON([]byte(src)))(t)
}

// checkRemovalGivesBack deletes what was added last to the container at path.
func checkRemovalGivesBack(t *testing.T, old, added *settings.JSON, path []string, key string) {
	t.Helper()
	if old.Root() == nil {
		return // the caller remembers that the file was empty
	}
	interior, blank := old.Interior(path...)
	back, err := added.Delete(append(append([]string{}, path...), lastOf(added, path, key))...)
	if err == nil && blank {
		back, err = back.Refill(interior, path...)
	}
	must.Do(t, err)
	must.Equal(t, "removed", string(back.Bytes()), string(old.Bytes()))
}

func lastOf(j *settings.JSON, path []string, key string) string {
	if n := j.Get(path...); n.Kind == settings.Array {
		return itoa(len(n.Items) - 1)
	}
	return key
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func TestDeleteKeepsEverythingElse(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, old string
		path      string
		want      string
	}{
		{"first", "{\n  \"a\": 1,\n  \"b\": 2\n}", "a", "{\n  \"b\": 2\n}"},
		{"middle", "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3\n}", "b", "{\n  \"a\": 1,\n  \"c\": 3\n}"},
		{"last", "{\n  \"a\": 1,\n  \"b\": 2\n}", "b", "{\n  \"a\": 1\n}"},
		{"only", "{\n  \"a\": 1\n}", "a", "{}"},
		{"on one line", `{"a": 1, "b": 2}`, "a", `{ "b": 2}`},
		{"comment above stays", "{\n  // one\n  \"a\": 1,\n  \"b\": 2\n}", "a", "{\n  // one\n  \"b\": 2\n}"},
		{"comment above the last stays", "{\n  \"b\": 2, // two\n  \"a\": 1\n}", "a", "{\n  \"b\": 2 // two\n}"},
		{"brace does not fall into a comment", "{\"b\": 2, // two\n \"a\": 1}", "a", "{\"b\": 2 // two\n}"},
		{"neighbour does not fall into a comment", "{ // head\n \"a\": 1, \"b\": 2}", "a", "{ // head\n \"b\": 2}"},
		{"comment behind stays", "{\n  \"b\": 2, // two\n  \"a\": 1 // one\n}", "a", "{\n  \"b\": 2 // two\n // one\n}"},
		{"comment before the comma stays", "{\"a\": 1 /* one */, \"b\": 2}", "a", "{ /* one */ \"b\": 2}"},
		{"line comment before the comma stays", "{ // head\n\"a\": 1 // one\n, \"b\": 2}", "a", "{ // head\n // one\n \"b\": 2}"},
		{"only with comment", "{\n  // one\n  \"a\": 1\n}", "a", "{\n  // one\n}"},
		{"comma at the end", "{\n  \"b\": 2,\n  \"a\": 1,\n}", "a", "{\n  \"b\": 2,\n}"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := must.Get(parse(t, tc.old).Delete(tc.path))(t)
			must.Equal(t, "deleted", string(got.Bytes()), tc.want)
		})
	}
}

func TestSetReplacesOneValue(t *testing.T) {
	t.Parallel()
	j := parse(t, "{\n  \"a\": \"old\", // one\n  \"b\": [\n    1\n  ]\n}")
	j, err := j.Set([]byte(`"new \u00e4"`), "a")
	must.Do(t, err)
	j = must.Get(j.Set([]byte(`[2,3]`), "b"))(t)
	want := "{\n  \"a\": \"new \\u00e4\", // one\n  \"b\": [\n    2,\n    3\n  ]\n}"
	must.Equal(t, "set", string(j.Bytes()), want)
	if _, err := j.Set([]byte(`1`), "c"); err == nil {
		t.Error("a value that is not there was replaced")
	}
	if _, err := j.Set([]byte(`{`), "a"); err == nil {
		t.Error("a value that is no JSON was accepted")
	}
}

func TestEditsRefuseWhatIsNotThere(t *testing.T) {
	t.Parallel()
	j := parse(t, `{"a": 1, "b": {}}`)
	for name, edit := range map[string]func() (*settings.JSON, error){
		"add to a number":     func() (*settings.JSON, error) { return j.Add([]string{"a"}, "x", []byte("1")) },
		"add to nothing":      func() (*settings.JSON, error) { return j.Add([]string{"c"}, "x", []byte("1")) },
		"add twice":           func() (*settings.JSON, error) { return j.Add(nil, "a", []byte("1")) },
		"add nonsense":        func() (*settings.JSON, error) { return j.Add(nil, "x", []byte("{]")) },
		"delete nothing":      func() (*settings.JSON, error) { return j.Delete("c") },
		"delete the root":     func() (*settings.JSON, error) { return j.Delete() },
		"refill what is full": func() (*settings.JSON, error) { return j.Refill(" ") },
		"refill with text":    func() (*settings.JSON, error) { return j.Refill(`"x":1`, "b") },
	} {
		if _, err := edit(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestParseJSONSaysWhereItIsWrong(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ src, want string }{
		{"{\n  \"a\": 1\n  \"b\": 2\n}", `line 3, column 3: expected ',' or '}', found '"'`},
		{`{"a": 1`, `line 1, column 1: '{' is never closed`},
		{`{"a": 1,`, `an object is never closed`},
		{`{"a": tru}`, `"tru" is not a value`},
		{`{"a": 01}`, `"01" is not a value`},
		{`{'a': 1}`, `expected a key in double quotes`},
		{`{a: 1}`, `expected a key in double quotes`},
		{`{"a" 1}`, `expected ':' after the key "a"`},
		{`{"a": 1} x`, `data follows the value`},
		{`{"a": "x`, `this string does not end`},
		{"{\"a\": \"x\ny\"}", `a control character inside a string`},
		{`{"a": "\q"}`, `unknown escape`},
		{`{"a": /* x `, `this comment does not end`},
		{`{"a": / }`, `unexpected '/'`},
		{`{"a": 1, "a": 2}`, `line 1, column 10: the key "a" is there twice`},
		{`{"a": 1, "\u0061": 2}`, `the key "a" is there twice`},
		{`[1,,2]`, `expected a value, found ','`},
		{"// nothing", `a value is missing`},
		{"{\"a\": \"\xff\"}", `line 1, column 8: this is not UTF-8`},
		{strings.Repeat("[", 300) + strings.Repeat("]", 300), `nested deeper than 200`},
		{strings.Repeat("[", 100_000), `nested deeper than 200`},
	} {
		_, err := settings.ParseJSON([]byte(tc.src))
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("parse %.40q: %v, want %q", tc.src, err, tc.want)
		}
		if se := (*settings.SyntaxError)(nil); !errors.As(err, &se) || se.Line < 1 || se.Column < 1 {
			t.Errorf("parse %.40q: %T without a place", tc.src, err)
		}
	}
	if _, err := settings.ParseJSON(make([]byte, 10<<20)); err == nil || !strings.Contains(err.Error(), "the limit for editing") {
		t.Errorf("ten megabytes: %v", err)
	}
}

// FuzzJSON adds to and removes from any document: the text is given back to
// the byte, and in between it holds the old value and the new one.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		"", " \n", "{}", "{ }", "{\n}", "{\"a\": {}, \"b\": []}", "{\n\t\"a\": [1, 2 /* two */],\n\t// end\n}\n",
		"\ufeff{\r\n  \"a\": 1, // one\r\n}\r\n", `{"a":1}`, `[{"a":[]}]`, "{ // x\n \"a\": 1 // y\n}", `{"é":"\ud83d\ude00"}`,
		"{\"a\": /* c */ 1 /* d */ , /* e */ \"b\": [/* f */]}", "[\n// a\n]", `{"":{"":[]}}`, "null", `"x"`, "{\"a\":[1,],}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		old, err := settings.ParseJSON(src)
		if err != nil {
			return
		}
		if old.Root() != nil && !json.Valid(old.Strict()) {
			t.Fatalf("%q is no JSON", old.Strict())
		}
		for _, path := range containers(old.Root(), nil, 8) {
			exchange(t, old, path)
		}
	})
}

// containers returns the paths of some objects and lists.
func containers(n *settings.Node, path []string, most int) (found [][]string) {
	if n == nil || n.Kind != settings.Object && n.Kind != settings.Array {
		return nil
	}
	found = append(found, append([]string{}, path...))
	for i, item := range n.Items {
		key := item.Key
		if n.Kind == settings.Array {
			key = itoa(i)
		}
		if len(found) < most {
			found = append(found, containers(item.Value, append(path, key), most-len(found))...)
		}
	}
	return found
}

// exchange adds two items to a container and removes them, first in the
// order they came and then the other way round.
func exchange(t *testing.T, old *settings.JSON, path []string) {
	t.Helper()
	n := old.Get(path...)
	if n.Member("k1") != nil || n.Member("k2") != nil {
		return
	}
	one := must.Get(old.Add(path, "k1", []byte(`{"x":[1]}`)))(t)
	two := must.Get(one.Add(path, "k2", []byte(`"y"`)))(t)
	checkValue(t, old, two, path)
	checkRemovalGivesBack(t, one, two, path, "k2")
	checkRemovalGivesBack(t, old, one, path, "k1")
	size := len(two.Get(path...).Items)
	first := "k1"
	if n.Kind == settings.Array {
		first = itoa(size - 2)
	}
	left := must.Get(two.Delete(append(append([]string{}, path...), first)...))(t)
	last := left.Get(append(append([]string{}, path...), lastOf(left, path, "k2"))...)
	if got := left.Get(path...); len(got.Items) != size-1 || last == nil || last.Text != "y" {
		t.Fatalf("deleting the first of two from %q leaves %q", two.Bytes(), left.Bytes())
	}
}

// decode reads JSON with numbers as they are written: they may be larger than
// any type holds.
func decode(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	return d.Decode(v)
}

// checkValue checks that two holds what old holds and the two items.
func checkValue(t *testing.T, old, two *settings.JSON, path []string) {
	t.Helper()
	var want, got any
	if decode(old.Strict(), &want) != nil || decode(two.Strict(), &got) != nil {
		t.Fatalf("%q or %q is no JSON", old.Strict(), two.Strict())
	}
	want = with(want, path, old, nil)
	if diff := cmp.Diff(got, want); diff != "" {
		t.Fatalf("value (-got +want):\n%s", diff)
	}
}

// with returns v with the two items added at path.
func with(v any, path []string, j *settings.JSON, at []string) any {
	switch v := v.(type) {
	case map[string]any:
		if len(path) == 0 {
			v["k1"], v["k2"] = map[string]any{"x": []any{json.Number("1")}}, "y"
		} else {
			v[path[0]] = with(v[path[0]], path[1:], j, append(at, path[0]))
		}
		return v
	case []any:
		if len(path) == 0 {
			return append(v, map[string]any{"x": []any{json.Number("1")}}, "y")
		}
		var i int
		_ = json.Unmarshal([]byte(path[0]), &i)
		v[i] = with(v[i], path[1:], j, append(at, path[0]))
		return v
	}
	return v
}
