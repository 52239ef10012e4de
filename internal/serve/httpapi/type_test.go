package httpapi_test

import (
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// A value of another type is named in words of JSON: who sends it may know no Go.
func TestAValueOfAnotherTypeIsNamedInWordsOfJSON(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	for _, c := range []struct{ path, body, words string }{
		{"recall", `{"text":5}`, "text is a number where a string is wanted"},
		{"recall", `{"text":"x","kinds":"fact"}`, "kinds is a string where a list is wanted"},
		{"recall", `{"text":"x","limit":"3"}`, "limit is a string where a whole number is wanted"},
		{"recall", `{"text":"x","min_score":[]}`, "min_score is a list where a number is wanted"},
		{"memories", `{"content":"x","tags":{}}`, "tags is an object where a list is wanted"},
		{"memories", `{"content":"x","metadata":[]}`, "metadata is a list where an object is wanted"},
		{"context", `{"goal":true}`, "goal is true or false where a string is wanted"},
		{"memories", `[]`, "the value is a list where an object is wanted"},
	} {
		a := r.ask(call{method: "POST", path: c.path, body: c.body}).failed(amber.KindInvalid)
		must.Says(t, c.body, string(a.body), c.words)
	}
}
