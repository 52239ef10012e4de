package foreign

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

func TestAMemberOfAnotherTypeCostsNothingElse(t *testing.T) {
	t.Parallel()
	var v struct {
		A string
		B []string
		C struct{ D int }
		E string
	}
	must.Do(t, Decode([]byte(`{"a":{"x":1},"b":["x",2,"y"],"c":{"d":1e99},"e":"last"}`), &v))
	must.Equal(t, "b", strings.Join(v.B, "|"), "x||y")
	must.Equal(t, "e", v.E, "last")
	must.Error(t, "broken JSON", Decode([]byte(`{"a":`), &v))
	must.Error(t, "too many values", Decode([]byte("["+strings.Repeat("0,", maxValues+1)+"0]"), &[]byte{}))
}

func TestNamesOfTheFirstObject(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", headBytes)
	for text, want := range map[string]map[string]json.Token{
		`[{"title":"a","mapping":{"n":{"m":[1,{}]}},"id":null},{"other":1}]`: {"title": "a", "mapping": json.Delim('{'), "id": nil},
		"\xef\xbb\xbf{\n \"a\": [\n  {}\n ],\n \"b\": true\n}":               {"a": json.Delim('['), "b": true},
		`[{"a":1,"b":"` + long + `","c":1}]`:                                 {"a": 1.0, "b": nil},
		`[{"a":{"b":"` + long:                                                {"a": json.Delim('{')},
		`[{}]`:                                                               {},
		`[]`:                                                                 nil,
		`[[{"a":1}]]`:                                                        nil,
		`null`:                                                               nil,
		``:                                                                   nil,
		`{"a" 1}`:                                                            {"a": nil},
	} {
		name := filepath.Join(t.TempDir(), "file.json")
		must.Do(t, os.WriteFile(name, []byte(text), 0o600))
		tree := must.Get(Open(name))(t)
		f, _ := tree.Single()
		must.Equal(t, text[:min(len(text), 70)], f.Names(), want)
		must.Do(t, tree.Close())
	}
}
