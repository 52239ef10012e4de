package redact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/guard/redact"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestFindIsWhatStringRemoves(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for _, s := range samples(t, 1) {
		text := "a\n" + s.Text() + "\nb"
		found := r.Find(text)
		if len(found) != 1 || text[found[0].Start:found[0].End] != s.Value || found[0].Rule != s.Rule {
			t.Errorf("%s: found %+v in %q", s.Rule, found, text)
			continue
		}
		want, _ := r.String(text)
		must.Equal(t, "Replace", redact.Replace(text, found), want)
	}
	if found := r.Find("nothing to find here"); found != nil {
		t.Errorf("found %v", found)
	}
}

func TestMarkersAreNoSecrets(t *testing.T) {
	t.Parallel()
	r := redact.New()
	for _, rule := range redact.Rules() {
		text := "token=" + redact.Marker(rule)
		if got, _ := r.String(text); got != text || !redact.IsMarked(text) {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestJSONReadsEscapes(t *testing.T) {
	t.Parallel()
	gh := key("github-token")
	escaped := `\u0067\u0068p_` + gh[4:]
	const gone = "[REDACTED:github-token]"
	for _, c := range []struct{ name, in, want string }{
		{"escaped letters", `{"a":"x ` + escaped + `","n":1.50}`, `{"a":"x ` + gone + `","n":1.50}`},
		{"escaped letters in a key", `{ "` + escaped + `" : [ 1e5 ] }`, `{ "` + gone + `" : [ 1e5 ] }`},
		{"plain", `["` + gh + `"]`, `["` + gone + `"]`},
		{"no JSON", "x " + gh, "x " + gone},
		{"nothing", `{"a":"\u003cb\u003e"}`, `{"a":"\u003cb\u003e"}`},
		{"a name gives it away", `{"password":"Tr0ub4dor"}`, `{"password":"[REDACTED:password-assignment]"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var seen []string
			got, report := redact.New().JSON(c.in, func(rule, secret string) { seen = append(seen, rule+" "+secret) })
			must.Equal(t, "", got, c.want)
			if report.Total != len(seen) || (report.Total > 0) != (c.in != c.want) {
				t.Errorf("%d removals, seen %q", report.Total, seen)
			}
			if json.Valid([]byte(c.in)) && !json.Valid([]byte(got)) {
				t.Errorf("%s is not JSON", got)
			}
			if strings.Contains(c.name, "escaped") {
				must.Equal(t, "seen", seen, []string{"github-token " + gh})
			}
		})
	}
}

func FuzzJSON(f *testing.F) {
	for _, s := range samples(f, 1) {
		b := must.Get(json.Marshal(map[string]string{"a": s.Text()}))(f)
		f.Add(string(b))
	}
	f.Add(`{"\u0067hp_":"\ud800","b":"\\u0067"}`)
	r := redact.New()
	f.Fuzz(func(t *testing.T, doc string) {
		out, report := r.JSON(doc, nil)
		if json.Valid([]byte(doc)) && !json.Valid([]byte(out)) {
			t.Errorf("%q became %q", doc, out)
		}
		if (report.Total == 0) != (out == doc) {
			t.Errorf("%d removals, and %q became %q", report.Total, doc, out)
		}
	})
}
