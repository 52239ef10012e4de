package memobase_test

import (
	"os"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/foreigntest"
	"github.com/amber-memory/amber/internal/share/foreign/memobase"
	"github.com/amber-memory/amber/internal/test/must"
)

func document(t testing.TB, text string) string {
	return foreigntest.Files(t, map[string]string{"x.json": text})
}

func TestSample(t *testing.T) {
	r := foreigntest.Read(t, memobase.Format, "testdata")
	must.Equal(t, "skipped", r.Skips, nil)
	at := must.Get(foreign.Text("2026-01-02T03:04:05.678Z"))(t)
	must.Equal(t, "memories", r.Memories, []foreign.Memory{{
		Place: foreign.Place{File: "profiles.json", At: "profile 1"}, Key: foreign.Key{"66666666-6666-4666-8666-666666666666"},
		Kind: amber.UserFact, Scope: amber.ScopeUser, Content: "Prefers tabs", Topic: "style-indent", CreatedAt: at, UpdatedAt: at,
	}}, foreigntest.Times)
}

func TestOtherShapes(t *testing.T) {
	const one = `{"id":"1","content":"a","attributes":{"topic":"t","sub_topic":"","more":1},"score":2}`
	for _, text := range []string{"[" + one + "]", `{"data":{"profiles":[` + one + `]},"errno":0}`, `{"profiles":[` + one + `]}`} {
		r := foreigntest.Read(t, memobase.Format, document(t, text))
		must.Equal(t, text, len(r.Memories), 1)
		must.Equal(t, "topic", r.Memories[0].Topic, "t")
		must.Equal(t, "foreign", string(foreign.Raw(r.Memories[0].Foreign)), `{"attributes":{"more":1},"score":2}`)
	}
	r := foreigntest.Read(t, memobase.Format, document(t, `{"profiles":[`+one+`,`+one+`,7,{},{"id":"2","content":[]},{"id":"3","content":"c","created_at":"12"}],"x":[1],"data":null}`))
	must.Equal(t, "skipped", r.Skips, []string{
		"x.json: profile 2: id 1 is there before", "x.json: profile 3: profile found JSON that is no object", "x.json: profile 4: profile has no id",
		"x.json: profile 5: profile is empty", `x.json: profile 6: time of creation: time is "12", want a date and time as in 2026-01-02T03:04:05Z`,
	})
}

func TestDetect(t *testing.T) {
	foreigntest.Detects(t, memobase.Format, map[string]foreign.Match{
		"testdata": foreign.Sure, "testdata/profiles.json": foreign.Sure, t.TempDir(): foreign.No,
		document(t, `{"memories":[{"id":"1","content":"x"}]}`):                             foreign.No,
		document(t, `[{"id":"1","content":"x","metadata":{"topic":"x","sub_topic":"y"}}]`): foreign.No,
	})
}

func TestDamage(t *testing.T) {
	foreigntest.Damage(t, memobase.Format, "testdata", "profiles.json", -1)
}

func FuzzProfiles(f *testing.F) {
	foreigntest.Fuzz(f, memobase.Format, "x.json", must.Get(os.ReadFile("testdata/profiles.json"))(f), []byte(`{"data":{"profiles":[{"id":1}]}}`))
}
