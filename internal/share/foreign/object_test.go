package foreign

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

func TestAMemberOfAnotherTypeCostsItselfAlone(t *testing.T) {
	t.Parallel()
	r := must.Get(ParseRecord([]byte(` {"a":"x","n":1.50,"b":true,"l":["x",2,{},null],"o":{"p":"q"},"t":"2026-01-02","z":null,"one":"y"} `)))(t)
	must.Equal(t, "texts", fmt.Sprintf("%q", []string{r.Text("a"), r.Text("n"), r.Text("b"), r.Text("l"), r.Text("o"), r.Text("none")}), `["x" "1.50" "true" "" "" ""]`)
	must.Equal(t, "lists", fmt.Sprint(r.Texts("l"), r.Texts("one"), r.Texts("o"), len(r.List("l")), r.List("a")), "[x 2] [y] [] 4 []")
	must.Equal(t, "object", r.Sub("o").Text("p")+r.Sub("a").Sub("b").Text("c"), "q")
	n, ok := r.Number("n")
	must.Equal(t, "number", fmt.Sprint(n, ok), "1.5 true")
	if _, ok := r.Number("a"); ok {
		t.Error("a text is a number, want none")
	}
	at := must.Get(r.Time("t"))(t)
	must.Equal(t, "time", at.String(), "2026-01-02T00:00:00.000Z")
	must.Equal(t, "no time", must.Get(r.Time("z"))(t).IsZero(), true)
	_, err := r.Time("a")
	must.Error(t, "a text that is no time", err)
	rest := must.Get(json.Marshal(r.Without("a", "b", "l", "o", "t", "one")))(t)
	must.Equal(t, "the rest", string(rest), `{"n":1.50}`)
	must.Equal(t, "nothing is left", r.Sub("o").Without("p") == nil, true)
	var m, empty Memory
	m.Keep(r.Without("a", "n", "b", "l", "o", "t", "one").With("none", nil).With("o", r.Sub("o")))
	must.Equal(t, "kept", string(Raw(m.Foreign)), `{"o":{"p":"q"}}`)
	empty.Keep(r.Sub("o").Without("p").With("none", nil))
	must.Equal(t, "nothing is kept", empty.Foreign, nil)
}

func TestWhatIsNoRecord(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "not valid JSON", "[1]": "found [1], want an object", "{} {}": "more follows", "{": "not valid JSON", "null": "want an object",
		"[" + strings.Repeat("1,", 3<<20) + "1]": "the limit is",
	} {
		_, err := ParseRecord([]byte(text))
		must.Error(t, text[:min(len(text), 20)], err)
		must.Says(t, "error", err.Error(), want)
	}
}
