package search

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

// at is a vector at an angle, in degrees, of a plane.
func at(degrees float64) Vector {
	s, c := math.Sincos(degrees / 180 * math.Pi)
	return Quantize([]float32{float32(c), float32(s), 0, 0, 0, 0, 0, 0})
}

func ownersOf(ranked []Ranked) (out []string) {
	for _, r := range ranked {
		out = append(out, r.Owner)
	}
	return out
}

func wantOrder(t *testing.T, ranked []Ranked, want ...string) {
	t.Helper()
	if got := ownersOf(ranked); !slices.Equal(got, want) {
		t.Errorf("the order is %v, want %v", got, want)
	}
}

// The newer of two facts about the same is first; where the question is about a moment, the one
// that held then is first.
func TestNewerFactFirst(t *testing.T) {
	facts := []Candidate{
		{Passage: Passage{Owner: "old", At: 100 * oneDay}, Vector: at(10)},
		{Passage: Passage{Owner: "new", At: 200 * oneDay}, Vector: at(30)},
		{Passage: Passage{Owner: "else", At: 300 * oneDay}, Vector: at(-75)},
	}
	q := question{meant: true}
	wantOrder(t, rank(q, compared(facts)), "new", "old", "else")
	if !rank(q, compared(facts))[0].Parts.Newer {
		t.Error("nothing says that the newer took the place of the older")
	}
	q.then = 150 * oneDay
	wantOrder(t, rank(q, compared(facts)), "old", "new", "else")
}

// Where meaning is not known, two facts that have the same words of the question are about the same.
func TestNewerFactFirstByWords(t *testing.T) {
	q := question{rarity: []float64{1, 1, 1}}
	facts := []Candidate{
		{Passage: Passage{Owner: "old", At: 100 * oneDay}, Match: Match{Words: .7, Has: 3}},
		{Passage: Passage{Owner: "new", At: 200 * oneDay}, Match: Match{Words: .6, Has: 3}},
	}
	wantOrder(t, rank(q, compared(facts)), "new", "old")
	facts[1].Has = 5
	wantOrder(t, rank(q, compared(facts)), "old", "new")
	facts[1].Has, facts[1].Words = 3, .4
	wantOrder(t, rank(q, compared(facts)), "old", "new")
}

// A fact that was said within a day of another one adds to it, unless it is nearly the same.
func TestSameDayIsNoChange(t *testing.T) {
	facts := []Candidate{
		{Passage: Passage{Owner: "first", At: oneDay}, Vector: at(10)},
		{Passage: Passage{Owner: "second", At: oneDay + 1000}, Vector: at(55)},
	}
	wantOrder(t, rank(question{meant: true}, compared(facts)), "first", "second")
	facts[1].Vector = at(30)
	wantOrder(t, rank(question{meant: true}, compared(facts)), "second", "first")
}

// A question that says it is about now expects a change.
func TestNowExpectsChange(t *testing.T) {
	facts := []Candidate{
		{Passage: Passage{Owner: "old", At: oneDay}, Vector: at(5)},
		{Passage: Passage{Owner: "new", At: 100 * oneDay}, Vector: at(58)},
	}
	wantOrder(t, rank(question{meant: true}, compared(facts)), "old", "new")
	wantOrder(t, rank(question{meant: true, now: true}, compared(facts)), "new", "old")
	facts[0].Vector, facts[1].Vector = facts[1].Vector, facts[0].Vector
	wantOrder(t, rank(question{meant: true}, compared(facts)), "new", "old")
	wantOrder(t, rank(question{meant: true, past: true}, compared(facts)), "old", "new")
}

// A fact from after the time that a question names is less likely to answer it.
func TestLateFactLoses(t *testing.T) {
	facts := []Candidate{
		{Passage: Passage{Owner: "late", At: 300 * oneDay}, Vector: Quantize([]float32{.6, .8, 0, 0, 0, 0, 0, 0})},
		{Passage: Passage{Owner: "then", At: 100 * oneDay}, Vector: Quantize([]float32{.59, 0, .807, 0, 0, 0, 0, 0})},
	}
	wantOrder(t, rank(question{meant: true}, compared(facts)), "late", "then")
	wantOrder(t, rank(question{meant: true, then: 200 * oneDay}, compared(facts)), "then", "late")
}

// Between two facts that are equally near, the one of the kind that is asked for is first.
func TestWantedKindFirst(t *testing.T) {
	facts := []Candidate{
		{Passage: Passage{Owner: "any"}, Vector: at(50)},
		{Passage: Passage{Owner: "rule"}, Vector: at(-52), Wanted: true},
	}
	wantOrder(t, rank(question{meant: true}, compared(facts)), "rule", "any")
	for question, want := range map[string]amber.MemoryKind{
		"May I merge on Fridays?":              amber.Constraint,
		"is it OK to merge on Fridays":         amber.Constraint,
		"what went wrong with the release?":    amber.HistoricalCase,
		"how do I flash the board":             amber.WorkflowInsight,
		"which editor does Ada prefer":         amber.UserPreference,
		"where can I find the logs":            "",
		"how can I find the logs":              amber.WorkflowInsight,
		"how long may the cable be":            amber.Constraint,
		"did we ship in May 2025":              "",
		"which port does the server listen on": "",
		"maybe in May":                         "",
	} {
		if got := kindAsked(question); got != want {
			t.Errorf("%q asks for the kind %q, want %q", question, got, want)
		}
	}
}

// Between two passages that are equally near, the one that came from elsewhere unsigned is second.
func TestDoubtLoses(t *testing.T) {
	for _, session := range []string{"", "s"} {
		all := []Candidate{
			{Passage: Passage{Owner: "foreign", Session: session, At: 2}, Vector: at(50), Doubt: true},
			{Passage: Passage{Owner: "own", Session: session, At: 1}, Vector: at(-50)},
		}
		wantOrder(t, rank(question{meant: true}, compared(all)), "own", "foreign")
		all[0].Doubt = false
		wantOrder(t, rank(question{meant: true}, compared(all)), "foreign", "own")
	}
}

// Passages of a conversation count more where the question names their time.
func TestTimeOfTalk(t *testing.T) {
	said := []Candidate{
		{Passage: Passage{Owner: "may", Session: "s1", At: 100 * oneDay}, Vector: at(40)},
		{Passage: Passage{Owner: "june", Session: "s2", At: 130 * oneDay}, Vector: at(50)},
	}
	wantOrder(t, rank(question{meant: true}, compared(said)), "may", "june")
	wantOrder(t, rank(question{meant: true, told: span{120 * oneDay, 140 * oneDay}}, compared(said)), "june", "may")
}

// Scores are likelihoods: between 0 and 1, in the order of what they were, and lower where
// one passage is far behind another.
func TestScoresAreLikelihoods(t *testing.T) {
	var facts []Candidate
	for i := range 90 {
		facts = append(facts, Candidate{Passage: Passage{Owner: string(rune('0' + i))}, Vector: at(float64(i))})
	}
	ranked := rank(question{meant: true}, compared(facts))
	for i, r := range ranked {
		if !(r.Score > 0 && r.Score < 1) || i > 0 && r.Score > ranked[i-1].Score {
			t.Fatalf("hit %d scores %v", i, r.Score)
		}
	}
	alone := rank(question{meant: true}, compared(facts[40:41]))
	if behind := ranked[slices.IndexFunc(ranked, func(r Ranked) bool { return r.Owner == facts[40].Owner })]; behind.Score >= alone[0].Score {
		t.Errorf("a passage far behind another scores %v, alone %v", behind.Score, alone[0].Score)
	}
}

// A passage that has some words of a question and lacks others is less likely its answer than
// a passage that has none and is as near in all. A long question is more likely to have found its
// answer than a short one that is as near. A text that was said to an agent is no question. The
// order of the passages stays.
func TestWordingOfAQuestion(t *testing.T) {
	score := func(q question, has uint64, words float64) (Ranked, []string) {
		ranked := rank(q, compared([]Candidate{
			{Passage: Passage{Owner: "first"}, Match: Match{Has: has, Words: words}, Vector: at(60)},
			{Passage: Passage{Owner: "second"}, Vector: at(-70)},
		}))
		return ranked[0], ownersOf(ranked)
	}
	five, two := question{meant: true, rarity: []float64{2, 2, 2, 2, 2}}, question{meant: true, rarity: []float64{2, 2}}
	none, order := score(five, 0, 0)
	if !slices.Equal(order, []string{"first", "second"}) || none.Parts.Wording != 0 {
		t.Fatalf("order %v, wording %v of a question of five words that none has", order, none.Parts.Wording)
	}
	some, order := score(five, 3, .4)
	if some.Score >= none.Score || some.Parts.Wording >= 0 || !slices.Equal(order, []string{"first", "second"}) {
		t.Errorf("with two words of five the hit scores %v, wording %v, with none %v; order %v", some.Score, some.Parts.Wording, none.Score, order)
	}
	if all, _ := score(five, 31, .4); all.Parts.Wording != 0 || all.Score <= none.Score {
		t.Errorf("with all words the hit scores %v, wording %v", all.Score, all.Parts.Wording)
	}
	if short, _ := score(two, 0, 0); short.Score >= none.Score {
		t.Errorf("a question of two words scores %v, of five %v", short.Score, none.Score)
	}
	five.prompt, two.prompt = true, true
	prompt, _ := score(five, 3, .4)
	short, _ := score(two, 0, 0)
	if long, _ := score(five, 0, 0); prompt.Parts.Wording != 0 || prompt.Score < long.Score || short.Score != long.Score {
		t.Errorf("a prompt of five words scores %v, with two of them %v; of two words %v", long.Score, prompt.Score, short.Score)
	}
	many := question{meant: true, rarity: make([]float64, maxAsked)}
	eight := question{meant: true, rarity: make([]float64, 8)}
	a, _ := score(many, 0, 0)
	if b, _ := score(eight, 0, 0); a.Score != b.Score {
		t.Errorf("a question of %d words scores %v, of eight %v", maxAsked, a.Score, b.Score)
	}
}

// A third passage of a conversation gives way to one of another that is nearly as likely,
// and to no other.
func TestConversationsShareTheFirstPlaces(t *testing.T) {
	hit := func(owner, session string, score float64) Ranked {
		return Ranked{Candidate: Candidate{Passage: Passage{Owner: owner, Session: session}}, Score: score}
	}
	ranked := []Ranked{hit("a", "s", .5), hit("b", "s", .5), hit("c", "s", .5), hit("d", "s", .49), hit("e", "t", .45), hit("f", "", .3)}
	shared := distinct(slices.Clone(ranked), 10)
	wantOrder(t, shared, "a", "b", "e", "c", "d", "f")
	if !slices.IsSortedFunc(shared, func(a, b Ranked) int { return cmp.Compare(b.Score, a.Score) }) {
		t.Error("a hit scores more than one before it")
	}
	ranked[4].Score = .2
	ranked[5].Score = .1
	wantOrder(t, distinct(slices.Clone(ranked), 10), "a", "b", "c", "d", "e", "f")
	wantOrder(t, distinct(slices.Clone(ranked), 3), "a", "b", "c")
	ranked[1].Owner = "a"
	wantOrder(t, distinct(slices.Clone(ranked), 10), "a", "c", "d", "e", "f")
}

// compared notes how near candidates are to at(0).
func compared(all []Candidate) []Candidate {
	for i, c := range all {
		if c.Vector != nil {
			all[i].Near = Cosine(at(0), c.Vector)
		}
	}
	return all
}

// A memory that repeats another one word by word is shown once, with the newest.
func TestRepeatsGiveWay(t *testing.T) {
	t.Parallel()
	near, far := Quantize([]float32{1, 0, 0, 0}), Quantize([]float32{0.9, 0.43, 0, 0})
	memory := func(owner string, at int64, v Vector, trust amber.Trust) Ranked {
		return Ranked{Candidate: Candidate{Passage: Passage{Source: SourceMemory, Owner: owner, At: at}, Vector: v, Trust: trust}}
	}
	var got []string
	for _, r := range distinct([]Ranked{
		memory("new", 3, near, amber.TrustAgent), memory("old", 1, near, amber.TrustAgent), memory("other", 2, far, amber.TrustAgent),
		memory("owner's", 1, near, amber.TrustOwn), memory("newer", 4, near, amber.TrustAgent),
	}, 10) {
		got = append(got, r.Owner)
	}
	must.Equal(t, "shown", got, []string{"new", "other", "owner's", "newer"})
}

// A newer memory about the same does not go before the one that has the number of the question.
func TestNumbersOutrankNewer(t *testing.T) {
	t.Parallel()
	v := Quantize([]float32{1, 0, 0, 0})
	all := []Ranked{
		{Candidate: Candidate{Match: Match{Has: 3}, Passage: Passage{Owner: "asked", At: oneDay}, Vector: v}, Score: 1},
		{Candidate: Candidate{Match: Match{Has: 1}, Passage: Passage{Owner: "newer", At: 90 * oneDay}, Vector: v}, Score: 0.9},
	}
	newerFirst(question{named: 2}, all)
	must.Equal(t, "first", all[0].Owner, "asked")
	newerFirst(question{}, all)
	must.Equal(t, "first, without a number", all[0].Owner, "newer")
}
