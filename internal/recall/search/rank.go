package search

import (
	"cmp"
	"slices"

	"github.com/amber-memory/amber"
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
	Near   float64                                     // how near it is in meaning, on the scale of the built-in model
	Vector Vector                                      // in the model that says so; nil where it has none yet
	Level  func(cosine float64, question bool) float64 // of that model, see [Meaning]
	Named  bool                                        // the question names who spoke
	Wanted bool                                        // it is of the kind that the question asks for
	Trust  amber.Trust                                 // "" is the owner's
	Doubt  bool                                        // it came from elsewhere, and no trusted key has signed it
}

// near is how near two candidates are, on the scale of the built-in model; 0 where their vectors are of different models.
func (c *Candidate) near(other *Candidate) float64 {
	cosine := Cosine(c.Vector, other.Vector)
	if c.Level == nil || c.Vector.Dim() != other.Vector.Dim() {
		return cosine
	}
	return c.Level(cosine, false)
}

// Ranked is a candidate with its score and the parts of that.
type Ranked struct {
	Candidate
	Score float64
	Parts Parts
	Told  float64 // the likelihood that an asker is told, until it is the score
}

// Parts are what a score is made of.
type Parts struct {
	Words      float64 // how much of the question its words answer
	Meaning    float64 // how near it is in meaning
	Neighbours float64 // what the passages beside it add
	Session    float64 // what the rest of its session adds
	Speaker    float64 // that the question names who spoke, less what a mere question loses
	Time       float64 // that it is of the time the question names, or came after that
	Kind       float64 // that it is of the kind the question asks for
	Trust      float64 // what it loses where it came from elsewhere unsigned
	Feedback   float64 // how near it is to the best one
	Wording    float64 // what the wording of the question adds to the odds of all, as a logarithm
	Newer      bool    // it took the place of an older one that says otherwise
}

// question is what candidates are ranked for.
type question struct {
	meant    bool      // what it means is known; else words alone
	rarity   []float64 // of its words
	terse    bool      // it has no function words
	misspelt float64   // how much of it is in words that no passage has as they stand
	told     span      // when people speak about the time that the question names
	then     int64     // the moment it asks about, 0 for now
	now      bool      // it says that it asks about now
	past     bool      // or about what no longer holds
	named    uint64    // its words that are names of code, numbers and versions, and that a passage has
	prompt   bool      // it was said to an agent, and does not ask for memories
}

// leastMeaning is how near a passage has to be that has none of the words.
const leastMeaning = 0.17

// Each product that is added to something is rounded on its own, here and wherever scores are
// made: some platforms would round but once.

// rank orders candidates, best first. Single passages and those of conversations are scored
// apart, and meet as likelihoods.
func rank(q question, candidates []Candidate) []Ranked {
	var facts, talk []Ranked
	for _, c := range candidates {
		r := Ranked{Candidate: c, Parts: Parts{Words: c.Words, Meaning: c.Near}}
		switch {
		case c.Session == "" && c.Has == 0 && r.Parts.Meaning < leastMeaning: // it has nothing to do with the question
		case c.Session == "":
			facts = append(facts, r)
		default:
			talk = append(talk, r)
		}
	}
	scoreFacts(q, facts)
	scoreTalk(q, talk)
	all := append(facts, talk...)
	slices.SortStableFunc(all, better)
	return all
}

// better orders the likeliest first; of equals, the newest.
func better(a, b Ranked) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.At, a.At), cmp.Compare(b.Owner, a.Owner), cmp.Compare(a.Part, b.Part))
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

// feedback is what a candidate gains that is as near as can be to the best one.
const feedback = 0.15

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
			r.Parts.Feedback = float64(feedback * first.near(&r.Candidate))
			r.Score += r.Parts.Feedback
		}
	}
}
