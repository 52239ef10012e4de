package colony_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/colony"
	"github.com/amber-memory/amber/internal/test/must"
)

// TestCanonicalIsOneSpelling has what other encoders of JSON do otherwise.
func TestCanonicalIsOneSpelling(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{" null ", "null"},
		{"[ true,false\n,null ]", "[true,false,null]"},
		{"{}", "{}"},
		{"[]", "[]"},
		{`{"b": 1, "a": {"d": [], "c": {}}}`, `{"a":{"c":{},"d":[]},"b":1}`},
		{`{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`},
		{`{"":0,"\u0000":1}`, `{"":0,"\u0000":1}`},
		// By code point: U+10000 would be before U+FFFF by units of UTF-16.
		{`{"\ud800\udc00":1,"\uffff":2,"z":3}`, "{\"z\":3,\"\uffff\":2,\"\U00010000\":1}"},
		{`"\u002f\/<>&\u007f"`, "\"//<>&\x7f\""},
		{`"\u2028\u2029\u0085\ufeff"`, "\"\u2028\u2029\u0085\ufeff\""},
		{`"\b\f\n\r\t\"\\\u0001\u001F\u0008"`, `"\b\f\n\r\t\"\\\u0001\u001f\b"`},
		{`"e\u0301 \u00e9"`, "\"e\u0301 é\""}, // not normalised
		// Numbers stay as they are.
		{`[0,-0,1.0,1e2,1E+2,100000000000000000000000000001,0.10]`, `[0,-0,1.0,1e2,1E+2,100000000000000000000000000001,0.10]`},
	}
	for _, tt := range tests {
		v := must.Get(colony.DecodeJSON([]byte(tt.in)))(t)
		must.Equal(t, tt.in, string(v.Canonical()), tt.want)
	}
}

// TestPlainKeepsTheOrder compares with what json.dumps of Python 3.11 writes.
func TestPlainKeepsTheOrder(t *testing.T) {
	t.Parallel()
	tests := []struct{ in, want string }{
		{`{"b":1,"a":[1,2,{}],"c":[]}`, `{"b": 1, "a": [1, 2, {}], "c": []}`},
		{`{"a":1,"b":2,"a":3}`, `{"a": 3, "b": 2}`},
		{"\"é\u2028\U0001f600\x7f~/\"", `"\u00e9\u2028\ud83d\ude00\u007f~/"`},
		{"\"\uffff\U00010000\U0010ffff\"", `"\uffff\ud800\udc00\udbff\udfff"`},
		{"\"\ufffd\"", `"\ufffd"`},
		{`"\"\\\b\f\n\r\t\u0000"`, `"\"\\\b\f\n\r\t\u0000"`},
	}
	for _, tt := range tests {
		v := must.Get(colony.DecodeJSON([]byte(tt.in)))(t)
		must.Equal(t, tt.in, string(v.Plain()), tt.want)
	}
}

// TestWhatIsNoJSONIsDamaged has everything that lenient decoders let through.
func TestWhatIsNoJSONIsDamaged(t *testing.T) {
	t.Parallel()
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	must.Kind(t, "65 brackets are 64 deep", must.Err(colony.DecodeJSON([]byte(deep(65)))), "")
	tests := []string{
		"", " ", "{", "[", `"`, `"a`, `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{a:1}`, `{"a" 1}`, `{1:1}`,
		"[1", "[1,", "[1,]", "[,]", "[1 2]", "1 2", "{} {}", "]", "}", ",", ":", "nul", "nulll", "True", "NaN", "Infinity", "-Infinity",
		"01", "-", "-a", "1.", ".1", "1e", "1e+", "+1", "0x1", "1_0", "--1",
		`"\x"`, `"\u"`, `"\u12"`, `"\u12g4"`, "\"\\u\x100000\"", `"\u 123"`, `"\`, `"\"`, `'a'`,
		"\"\n\"", "\"\x00\"", "\"\x1f\"", "\"\\n\n\"",
		"\xff", "\"\xff\"", "\"\xed\xa0\x80\"", "\"\xc0\xaf\"", // not UTF-8
		`"\ud800"`, `"\udc00"`, `"\ud800\ud800"`, `"\ud800x"`, `"\ud800\n"`, `"\ud800\u0041"`, `"\udc00\ud800"`, `"\ud800\u"`,
		"\ufeff{}", "{}\x00", "{}//", "{}\f", "\u00a0{}", // not white space of JSON
		deep(66), strings.Repeat("[", 100_000), strings.Repeat(`{"":`, 100_000),
		"[" + strings.Repeat("0,", 1<<18) + "0]",
	}
	for _, in := range tests {
		must.Fail(colony.DecodeJSON([]byte(in)))(t, fmt.Sprintf("%.40q", in), amber.KindDamaged)
	}
}

// TestTheLastOfTwoMembersCounts is also so when there are many, and deep inside.
func TestTheLastOfTwoMembersCounts(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, `"m%02d":%d,`, i%50, i)
	}
	many := "{" + b.String() + `"last":0}`
	tests := map[string]bool{
		`{"a":1,"a":1}`: true, `[{"x":{"a":1,"a":2}}]`: true, many: true,
		`{"a":{"a":1},"b":{"a":1}}`: false, `[1,1]`: false, `{"a":1,"A":1}`: false, `{"é":1,"e\u0301":1}`: false, `{"é":1,"\u00e9":1}`: true,
	}
	for in, want := range tests {
		v := must.Get(colony.DecodeJSON([]byte(in)))(t)
		must.Equal(t, fmt.Sprintf("duplicates of %.40s", in), v.Duplicates(), want)
		must.Equal(t, fmt.Sprintf("%.40s", in), string(v.Canonical()), independent(t, []byte(in)))
	}
}

// independent makes the canonical bytes with nothing of the package under test.
func independent(t testing.TB, b []byte) string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", b, err)
	}
	return spell(v)
}

func spell(v any) string {
	var list []string
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.SortedFunc(maps.Keys(v), func(a, b string) int { return slices.Compare([]rune(a), []rune(b)) }) {
			list = append(list, spell(name)+":"+spell(v[name]))
		}
		return "{" + strings.Join(list, ",") + "}"
	case []any:
		for _, e := range v {
			list = append(list, spell(e))
		}
		return "[" + strings.Join(list, ",") + "]"
	case string:
		var b strings.Builder
		for _, r := range v {
			if short, ok := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}[r]; ok {
				b.WriteString(short)
			} else if r < ' ' {
				fmt.Fprintf(&b, `\u%04x`, r)
			} else {
				b.WriteRune(r)
			}
		}
		return `"` + b.String() + `"`
	case nil:
		return "null"
	default:
		return fmt.Sprint(v)
	}
}

var surrogate = regexp.MustCompile(`(?i)\\ud[89a-f]`)

// FuzzCanonical compares the decoder with another one, and both spellings with
// what they spell.
func FuzzCanonical(f *testing.F) {
	for _, v := range okVectors(f) {
		if v.ByteSize < 5000 {
			f.Add(v.plaintext(f))
			f.Add([]byte(v.files(f)[colony.ManifestName(v.Label, v.ID)]))
		}
	}
	f.Add([]byte(`{"\ud800\udc00":[-0.1e+7,null,true,false,{"\uffff":"\/"}],"a":1,"a":2}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		v, err := colony.DecodeJSON(b)
		if err != nil {
			strange := !utf8.Valid(b) || surrogate.Match(b) || bytes.Count(b, []byte("["))+bytes.Count(b, []byte("{")) > 64
			if json.Valid(b) && !strange {
				t.Fatalf("%q is JSON: %v", b, err)
			}
			return
		}
		if !json.Valid(b) {
			t.Fatalf("%q is not JSON", b)
		}
		canonical, want := v.Canonical(), independent(t, b)
		if string(canonical) != want {
			t.Fatalf("got %q, want %q", canonical, want)
		}
		again, err := colony.DecodeJSON(canonical)
		if err != nil || again.Duplicates() || !bytes.Equal(again.Canonical(), canonical) {
			t.Fatalf("%q is not its own spelling: %v", canonical, err)
		}
		plain := v.Plain()
		back, err := colony.DecodeJSON(plain)
		if err != nil || !bytes.Equal(back.Plain(), plain) || !bytes.Equal(back.Canonical(), canonical) {
			t.Fatalf("%q is not its own spelling: %v", plain, err)
		}
		if !v.Duplicates() && !reflect.DeepEqual(back, v) {
			t.Fatalf("%q does not keep the order", plain)
		}
		if i := bytes.IndexFunc(plain, func(r rune) bool { return r >= 0x7f || r < ' ' }); i >= 0 {
			t.Fatalf("%q is not printable", plain)
		}
	})
}
