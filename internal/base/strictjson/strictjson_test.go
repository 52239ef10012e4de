package strictjson_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/base/strictjson"
	"github.com/amber-memory/amber/internal/test/must"
)

type inner struct {
	N    int64           `json:"n"`
	Raw  json.RawMessage `json:"raw"`
	Self []inner         `json:"self"`
}

type outer struct {
	inner
	Name string         `json:"name"`
	Tags map[string]int `json:"tags"`
	Any  any            `json:"any"`
	Skip string         `json:"-"`
}

var shape = strictjson.Of(reflect.TypeFor[outer]())

const fine = strictjson.Reason(-1)

func TestStrictest(t *testing.T) {
	t.Parallel()
	rules := strictjson.Rules{MaxDepth: 5, MaxElements: 3}
	for text, want := range map[string]strictjson.Reason{
		`{}`: fine, `{"name":"é","n":1,"tags":{"a":1,"A":2},"raw":{"x":[1]}}`: fine, `{"raw":null,"self":null,"tags":null}`: fine,
		`{"self":[{"n":1},{"n":2},{"n":3}]}`: fine, `{"name":"\ud83c\udf75"}`: fine, `{"any":[1,2,3,4]}`: fine,
		`{"name":null}`: strictjson.Null, `{"n":null}`: strictjson.Null, `null`: strictjson.Null,
		`{"Name":"x"}`: strictjson.UnknownField, `{"x":1}`: strictjson.UnknownField, `{"Skip":""}`: strictjson.UnknownField, `{"\u006e":1}`: strictjson.UnknownField,
		`{"n":1,"n":1}`: strictjson.Twice, `{"tags":{"a":1,"\u0061":2}}`: strictjson.Twice, `{"raw":{"a":1,"a":2}}`: strictjson.Twice,
		`{"any":{"a":{"b":1,"b":2}}}`: strictjson.Twice, `{"self":[{"n":1,"n":2}]}`: strictjson.Twice,
		`{"any":[[[[1]]]]}`: strictjson.TooDeep, `{"self":[{},{},{},{}]}`: strictjson.TooLong, `{"tags":{"a":1,"b":1,"c":1,"d":1}}`: strictjson.TooLong,
		`{"name":"\ud83c"}`: strictjson.HalfPair, `{"name":"\udf75"}`: strictjson.HalfPair, `{"name":"\ud83cx"}`: strictjson.HalfPair,
		"{\"name\":\"\xff\"}": strictjson.BadUTF8, ` {}`: strictjson.Syntax, `{} `: strictjson.Syntax, `{}{}`: strictjson.Syntax,
		`{"n" :1}`: strictjson.Syntax, ``: strictjson.Syntax, `{"n":1`: strictjson.Syntax, `{"n"}`: strictjson.Syntax, `{n:1}`: strictjson.Syntax,
		`{"n":1,}`: strictjson.Syntax, `{"name":"x`: strictjson.Syntax, `{"name":"x\`: strictjson.Syntax, `[`: strictjson.Syntax,
	} {
		wants(t, text, rules.Check([]byte(text), shape), want)
	}
}

func TestLaxerRules(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rules strictjson.Rules
		shape *strictjson.Shape
		text  string
		want  strictjson.Reason
	}{
		{strictjson.Rules{Space: true}, shape, " { \"n\" : 1 ,\t\"self\" : [ ] } \r\n", fine},
		{strictjson.Rules{Space: true}, shape, `{"n":1} x`, strictjson.Syntax},
		{strictjson.Rules{Null: true}, shape, `{"name":null}`, fine},
		{strictjson.Rules{Unknown: true}, shape, `{"x":1,"y":{}}`, fine},
		{strictjson.Rules{Unknown: true}, shape, `{"x":1,"x":1}`, strictjson.Twice},
		{strictjson.Rules{Unknown: true}, shape, `{"n":1,"N":1}`, fine},
		{strictjson.Rules{AnyCase: true}, shape, `{"NAME":"x"}`, fine},
		{strictjson.Rules{AnyCase: true}, shape, `{"x":"x"}`, strictjson.UnknownField},
		{strictjson.Rules{AnyCase: true}, shape, `{"name":"x","NaME":"y"}`, strictjson.Twice},
		{strictjson.Rules{AnyCase: true}, shape, `{"n\u0061me":"x","NAME":"y"}`, strictjson.Twice},
		{strictjson.Rules{AnyCase: true}, shape, `{"tags":{"a":1,"A":2}}`, fine},
		{strictjson.Rules{AnyCase: true, Unknown: true}, shape, `{"x":1,"X":2}`, strictjson.Twice},
		{strictjson.Rules{AnyCase: true}, nil, `{"k":{"s":1,"ſ":2}}`, strictjson.Twice},
		{strictjson.Rules{Opaque: true}, shape, `{"raw":{"a":1,"a":2},"n":1}`, fine},
		{strictjson.Rules{Opaque: true}, shape, `{"raw":{"a":1},"n":1,"n":2}`, strictjson.Twice},
		{strictjson.Rules{Twice: true}, nil, `{"a":1,"a":{"b":1,"b":2}}`, fine},
		{strictjson.Rules{Halves: true}, nil, `"\ud83c"`, fine},
		{strictjson.Rules{}, nil, `{"a":1,"A":2}`, fine},
		{strictjson.Rules{}, nil, strings.Repeat("[", 1000) + strings.Repeat("]", 1000), fine},
	} {
		wants(t, c.text, c.rules.Check([]byte(c.text), c.shape), c.want)
	}
}

func wants(t *testing.T, text string, err error, want strictjson.Reason) {
	t.Helper()
	var got *strictjson.Error
	switch {
	case want == fine && err == nil:
	case !errors.As(err, &got):
		t.Errorf("%q: got %v, want reason %d", text, err, want)
	case got.Reason != want || got.Error() == "":
		t.Errorf("%q: got reason %d, %v; want %d", text, got.Reason, err, want)
	}
}

func TestDecodeReadsWhatItChecked(t *testing.T) {
	t.Parallel()
	var v outer
	if err := (strictjson.Rules{}).Decode([]byte(`{"n":7,"name":"x"}`), shape, &v); err != nil || v.N != 7 || v.Name != "x" {
		t.Errorf("got %+v, %v", v, err)
	}
	for _, bad := range []string{`{"n":1.5}`, `{"n":9223372036854775808}`, `{"n":01}`, `{"name":"\x"}`, `{"name":tru}`} {
		must.Error(t, bad, (strictjson.Rules{}).Decode([]byte(bad), shape, &v))
	}
}

func TestMembers(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	keep := func(name string, value json.RawMessage) error {
		got.WriteString(name + "=" + string(value) + ";")
		return nil
	}
	must.Do(t, strictjson.Members([]byte(" {\"a\" : [1, {\"b\":1,\"b\":2}] , \"\\u0041\":null} "), keep))
	must.Equal(t, "", got.String(), `a=[1, {"b":1,"b":2}];A=null;`)
	for text, want := range map[string]strictjson.Reason{
		`{}`: fine, `{"a":1,"a":2}`: strictjson.Twice, `{"a":1,"\u0061":2}`: strictjson.Twice, `[]`: strictjson.NotObject, ``: strictjson.NotObject,
		`{"a":1`: strictjson.Syntax, `{"a":1}{}`: strictjson.Syntax, `{"a":x}`: strictjson.Syntax, "{\"a\":\"\xff\"}": strictjson.BadUTF8,
	} {
		wants(t, text, strictjson.Members([]byte(text), func(string, json.RawMessage) error { return nil }), want)
	}
	mine := errors.New("mine")
	must.Is(t, "", strictjson.Members([]byte(`{"a":1}`), func(string, json.RawMessage) error { return mine }), mine)
}

// FuzzCheckedIsOneDocument reads what the strictest rules accept with encoding/json, and writes it again: the names are
// the same, none is lost.
func FuzzCheckedIsOneDocument(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"\ud83c\udf75"}]}`, `{"a":1,"\u0061":2}`, `[[]]`, `"\`, `{"a":"\u00`, `nul`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if (strictjson.Rules{}).Check([]byte(text), nil) != nil || !json.Valid([]byte(text)) {
			return
		}
		var v any
		if json.Unmarshal([]byte(text), &v) != nil {
			return // a number that is out of range
		}
		must.Equal(t, text, tokens(text), tokens(string(must.Get(json.Marshal(v))(t))))
	})
}

// tokens counts the names, values and brackets of a document.
func tokens(text string) (n int) {
	for d := json.NewDecoder(strings.NewReader(text)); ; n++ {
		if _, err := d.Token(); err != nil {
			return n
		}
	}
}
