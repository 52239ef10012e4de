package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/amber-memory/amber/internal/test/must"
)

func TestRecallShowsHitsWithTheirReasons(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.remember("We chose PostgreSQL for JSONB")
	b := r.visitor("")
	p := b.get("recall?q=which+database+did+we+choose")
	must.Equal(t, "status", p.status, http.StatusOK)
	for _, want := range []string{"1 hit", "We chose PostgreSQL for JSONB", "Why", "how much of the question its words answer", "amber recall 'which database did we choose' --explain"} {
		if !strings.Contains(p.text(), want) {
			t.Errorf("the page does not show %q: %s", want, p.text())
		}
	}
	p = b.get("recall?q=which+database+did+we+choose&context=1")
	if !strings.Contains(p.text(), "What an agent would get") {
		t.Errorf("the page does not show the block: %s", p.text())
	}
}

func TestAScreenAsJSONIsTheAnswerOfTheAPI(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	m := r.remember("We chose PostgreSQL for JSONB")
	p := r.visitor("").get("recall?q=which+database&as=json")
	must.Equal(t, "type", p.header.Get("Content-Type"), "application/json")
	if !strings.Contains(p.body, `"hits":[{"id":"`+string(m.ID)) {
		t.Errorf("the answer is %s", p.body)
	}
}
