package search

import (
	"cmp"
	"math"
	"slices"
)

// Passage is what a store knows of a document beside its words.
type Passage struct {
	Source string // what kind of owner it has
	Owner  string // what it was taken from
	Part   int    // of its owner
	At     int64  // when it was said, in milliseconds
	// Session is the conversation it is part of, "" where it is none, and Place where:
	// neighbours differ by 1.
	Session string
	Place   int64
	Speaker string
	Asks    bool // it is nothing but a short question
}

// Candidate is a passage that may answer a question, and what is known of it.
type Candidate struct {
	Match
	Passage
	Vector Vector // nil where it has none yet
	Named  bool   // the question names who spoke
}

// Question is what candidates are ranked for.
type Question struct {
	Vector Vector    // nil: words alone
	Rarity []float64 // of its words
	Then   int64     // the moment it asks about, 0 for now
}

// Ranked is a candidate with its score and the parts of that.
type Ranked struct {
	Candidate
	Score float64
	Parts Parts
}

// Parts are what a score is made of.
type Parts struct {
	Words      float64 // how much of the question its words answer
	Meaning    float64 // how near it is in meaning
	Neighbours float64 // what the passages beside it add
	Session    float64 // what the rest of its session adds
	Speaker    float64 // that the question names who spoke, less what a mere question loses
	Feedback   float64 // how near it is to the best one
	Newer      bool    // it took the place of an older one that says otherwise
}

// Weights of the parts, chosen on development data; docs/recall.md has the figures.
const (
	// A single passage: its meaning counts, and its words where they answer most of
	// the question. Few common words in common would do more harm than good.
	wordsPower = 4
	wordsCap   = 1.2
	wordsShare = 0.5
	wordsAlone = 0.8

	// A passage of a conversation: words count at once, and so do those around it.
	talkPower   = 1.5
	talkMeaning = 1.5
	talkSession = 0.9
	talkNamed   = 0.3
	talkAsks    = 0.8

	feedback = 0.15

	// A passage that has none of the words has to be as near as this.
	leastMeaning = 0.17

	// Two passages that are as near as this say the same or contradict each other.
	sameNear  = 0.65
	sameScore = 0.5
	sameAmong = 8
)

// How scores become likelihoods, with a model and without.
var (
	factCurve      = curve{0.62, 12}
	factWordsCurve = curve{0.5, 6}
	talkCurve      = curve{3.2, 1.6}
	talkWordsCurve = curve{1.6, 1.8}
)

// What the passages one and two places before and behind one add of their own.
var (
	besideWords   = map[int64]float64{-1: 0.4, 1: 0.3, -2: 0.2, 2: 0.2}
	besideMeaning = map[int64]float64{-1: 0.3, 1: 0.22, -2: 0.15, 2: 0.15}
)

// Rank orders candidates, best first.
func Rank(q Question, candidates []Candidate) []Ranked {
	var facts, talk []Ranked
	for _, c := range candidates {
		r := Ranked{Candidate: c, Parts: Parts{Words: c.Words}}
		if q.Vector != nil && c.Vector != nil {
			r.Parts.Meaning = Cosine(q.Vector, c.Vector)
		}
		if c.Has == 0 && r.Parts.Meaning < leastMeaning {
			continue // it has nothing to do with the question
		}
		if c.Session == "" {
			r.Score = factScore(q, r)
			facts = append(facts, r)
		} else {
			talk = append(talk, r)
		}
	}
	rankTalk(q, talk)
	addFeedback(facts)
	addFeedback(talk)
	slices.SortFunc(facts, better)
	newerFirst(q, facts[:min(len(facts), sameAmong)])
	for i := range facts {
		facts[i].Score = likely(facts[i].Score, q.Vector != nil, factCurve, factWordsCurve)
	}
	for i := range talk {
		talk[i].Score = likely(talk[i].Score, q.Vector != nil, talkCurve, talkWordsCurve)
	}
	all := append(facts, talk...)
	slices.SortStableFunc(all, better)
	return all
}

// better orders the likeliest first; of equals, the newest.
func better(a, b Ranked) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.At, a.At), cmp.Compare(b.Owner, a.Owner), cmp.Compare(a.Part, b.Part))
}

// factScore is the score of a single passage. Where nothing is known of its meaning, words
// count for what they are, and more of the question's more than the same ones often.
func factScore(q Question, r Ranked) float64 {
	if r.Parts.Meaning == 0 {
		return wordsAlone * min(r.Words, wordsCap) * (1 + share(q.Rarity, r.Has)) / 2
	}
	return r.Parts.Meaning + wordsShare*math.Pow(min(r.Words, wordsCap), wordsPower)
}

// A curve turns a score into how likely a passage is relevant: half at middle.
type curve struct{ middle, steepness float64 }

func likely(score float64, meaning bool, with, without curve) float64 {
	if !meaning {
		with = without
	}
	return 1 / (1 + math.Exp(-with.steepness*(score-with.middle)))
}

// rankTalk scores passages of conversations.
func rankTalk(q Question, all []Ranked) {
	type place struct {
		session string
		at      int64
	}
	at, had := map[place]int{}, map[string]uint64{}
	most := 0.0
	for i := range all {
		if c := &all[i]; c.Session != "" {
			at[place{c.Session, c.Place}] = i
			had[c.Session] |= c.Has
			most = max(most, c.Words)
		}
	}
	if len(at) == 0 {
		return
	}
	words := func(i int) float64 {
		if most == 0 {
			return 0
		}
		return math.Pow(all[i].Words/most, talkPower)
	}
	for i := range all {
		r := &all[i]
		if r.Session == "" {
			continue
		}
		for step := int64(-2); step <= 2; step++ {
			share := besideWords[step]
			if k, ok := at[place{r.Session, r.Place + step}]; ok {
				r.Parts.Neighbours += share*words(k) + talkMeaning*besideMeaning[step]*max(0, all[k].Parts.Meaning)
			}
		}
		r.Parts.Session = talkSession * share(q.Rarity, had[r.Session])
		if r.Named {
			r.Parts.Speaker += talkNamed
		}
		if r.Asks {
			r.Parts.Speaker -= talkAsks
		}
		r.Score = words(i) + talkMeaning*max(0, r.Parts.Meaning) + r.Parts.Neighbours + r.Parts.Session + r.Parts.Speaker
	}
}

// share is how much of a question some of its words are.
func share(rarity []float64, has uint64) float64 {
	sum, all := 0.0, 0.0
	for i, r := range rarity {
		all += r
		if has&(1<<i) != 0 {
			sum += r
		}
	}
	if all == 0 {
		return 0
	}
	return sum / all
}

// addFeedback lifts what is near the best candidate: what answers a question is often
// said twice, or in parts.
func addFeedback(all []Ranked) {
	if len(all) == 0 {
		return
	}
	first := slices.MaxFunc(all, func(a, b Ranked) int { return cmp.Compare(a.Score, b.Score) })
	if first.Vector == nil {
		return
	}
	for i := range all {
		if r := &all[i]; r.Vector != nil {
			r.Parts.Feedback = feedback * Cosine(first.Vector, r.Vector)
			r.Score += r.Parts.Feedback
		}
	}
}

// newerFirst puts the newer of two that are about the same before the older one; asked
// about a moment, the last one that was said by then before every other.
func newerFirst(q Question, best []Ranked) {
	before := make([]float64, len(best))
	for i := range best {
		before[i] = best[i].Score
	}
	order := make([]int, len(best))
	for i := range order {
		order[i] = i
	}
	for _, i := range order {
		for _, j := range order {
			a, b := &best[i], &best[j]
			if i == j || a.Session != "" || b.Session != "" || before[j] < sameScore*before[i] || b.Score > a.Score {
				continue
			}
			if !holds(q.Then, a.At, b.At) || a.Vector == nil || b.Vector == nil || Cosine(a.Vector, b.Vector) < sameNear {
				continue
			}
			a.Score, b.Score = b.Score, a.Score
			b.Parts.Newer = true
		}
	}
	slices.SortStableFunc(best, func(a, b Ranked) int { return cmp.Compare(b.Score, a.Score) })
}

// holds reports whether what was said at b rather holds then than what was said at a.
func holds(then, a, b int64) bool {
	if then == 0 {
		return b > a
	}
	return b <= then && (a > then || b > a)
}
