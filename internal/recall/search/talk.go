package search

// The weights of passages of conversations, chosen on development data. Words count at
// once, and so do the passages around one.
const (
	talkMeaning = 1.5
	talkSession = 0.5
	talkNamed   = 0.3
	talkAsks    = 0.8
	talkTime    = 1.0
	talkDoubt   = 0.15
)

// besideSteps is how far away passages count as beside.
const besideSteps = 2

// A passage one or two places before or behind another one adds these shares of its own score to it.
var (
	besideWords   = map[int64]float64{-1: 0.4, 1: 0.3, -2: 0.2, 2: 0.2}
	besideMeaning = map[int64]float64{-1: 0.15, 1: 0.11, -2: 0.075, 2: 0.075}
)

// talk is passages of conversations that are being scored.
type talk struct {
	all  []Ranked
	at   map[Place]int     // where each stands in all
	had  map[string]uint64 // the words that the passages of a session have together
	most float64           // the best score by words
}

// Place is a place in a conversation.
type Place struct {
	Session string
	At      int64
}

// scoreTalk scores passages of conversations.
func scoreTalk(q question, all []Ranked) {
	t := talk{all: all, at: map[Place]int{}, had: map[string]uint64{}}
	for i, r := range all {
		t.at[Place{r.Session, r.Place}] = i
		t.had[r.Session] |= r.Has
		t.most = max(t.most, r.Words)
	}
	for i := range all {
		r := &all[i]
		r.Parts.Neighbours = t.beside(r)
		r.Parts.Session = float64(talkSession * share(q.rarity, t.had[r.Session]))
		if r.Named {
			r.Parts.Speaker += talkNamed
		}
		if r.Asks {
			r.Parts.Speaker -= talkAsks
		}
		if q.told.has(r.At) {
			r.Parts.Time = talkTime
		}
		if r.Doubt {
			r.Parts.Trust = -talkDoubt
		}
		r.Score = t.words(r) + float64(talkMeaning*max(0, r.Parts.Meaning)) + r.Parts.Neighbours + r.Parts.Session + r.Parts.Speaker + r.Parts.Time + r.Parts.Trust
	}
	addFeedback(all)
	calibrate(q, all, talkCurve, talkWordsCurve, talkLikely)
}

// words is what the words of a passage count, the best 1.
func (t *talk) words(r *Ranked) float64 {
	if t.most == 0 {
		return 0
	}
	share := r.Words / t.most
	return float64(share * share)
}

// beside is what the passages beside one add.
func (t *talk) beside(r *Ranked) (sum float64) {
	for step := int64(-besideSteps); step <= besideSteps; step++ {
		if k, ok := t.at[Place{r.Session, r.Place + step}]; ok && step != 0 {
			other := &t.all[k]
			sum += float64(besideWords[step]*t.words(other)) + float64(talkMeaning*besideMeaning[step]*max(0, other.Parts.Meaning))
		}
	}
	return sum
}
