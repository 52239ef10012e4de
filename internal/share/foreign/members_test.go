package foreign_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestMembers(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{}`: "whole",
		` { "a" : 1 , "b":"x\"}\\" , "c":{"d":[1,{"e":"]"}]},"f":null} `: `a=1 b="x\"}\\" c={"d":[1,{"e":"]"}]} f=null whole`,
		`{"a":"ä","\u0062":[[]],"":true}`:                                `a="ä" b=[[]] =true whole`,
		`{"a":1,"b":"cut`:                                                "a=1",
		`{"a":1,"b":{"c":1}`:                                             `a=1 b={"c":1}`,
		`{"a":1} more`:                                                   "a=1",
		`{"a" 1}`:                                                        "",
		`{a:1}`:                                                          "",
		`{"a":}`:                                                         "",
		`{"a":1 2}`:                                                      "a=1",
		`[1]`:                                                            "", `null`: "", ``: "", `{`: "", `{"`: "", `{"a"`: "", `{"a":`: "",
	} {
		var got []string
		if foreign.Members([]byte(in), func(name string, value []byte) { got = append(got, name+"="+string(value)) }) {
			got = append(got, "whole")
		}
		must.Equal(t, in, strings.Join(got, " "), want)
	}
}

// Members finds in every object that is valid what encoding/json finds.
func FuzzMembers(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":"x\"}\\","c":{"d":[1,{"e":"]"}]}}`))
	f.Add([]byte(`{"a":1.5e3 , "b" : false}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		got := map[string]json.RawMessage{}
		whole := foreign.Members(b, func(name string, value []byte) { got[name] = append(json.RawMessage{}, value...) })
		var want map[string]json.RawMessage
		if json.Unmarshal(b, &want) != nil || want == nil {
			return
		}
		must.Equal(t, "whole", whole, true)
		must.Equal(t, "members", got, want)
	})
}
