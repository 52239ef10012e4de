package search

import (
	"slices"

	"github.com/amber-memory/amber/internal/recall/analyze"
)

// Source is a store that is asked, seen inside one transaction.
type Source interface {
	Rows
	// Passages returns what is known of rows. Those that are not there are left out.
	Passages(rows []int64) (map[int64]Passage, error)
	// Beside returns the rows of the passages that are at most so many steps away from places
	// of conversations, in any order.
	Beside(places []Place, steps int64) ([]int64, error)
	// Signs returns the signs of all vectors of a model.
	Signs(model string) ([]Signs, error)
	// Vectors returns the vectors of a model that there are of rows.
	Vectors(model string, rows []int64) (map[int64]Vector, error)
}

// Request is a question about the passages that pass a filter.
type Request struct {
	Text   string
	Filter Filter
	// Since and Until bound when a passage was said, in milliseconds: at or after, before.
	// 0 is no bound.
	Since, Until int64
	Now          int64
	// Meanings are what the question means in models; without any, words alone answer. A passage is compared in the first one
	// of which it has a vector, too.
	Meanings []Meaning
	// Prompt says that the text was said to an agent, and is no question to the index.
	Prompt bool
	// MeaningOnly ranks by meaning alone, for measuring. It needs a vector.
	MeaningOnly bool
	Limit       int
}

// Meaning is what a question means in a model.
type Meaning struct {
	Model  string
	Vector Vector
	// Later, where it is set, is called once for the vector instead, when the words have been looked up: it may wait for a
	// vector that is being made meanwhile.
	Later func() Vector
	// Level, where it is set, puts a cosine on the scale of the built-in model.
	Level func(cosine float64, question bool) float64
}

// Answer is the best passages, and how the question was understood.
type Answer struct {
	Ranked []Ranked
	// Asked are the words that were looked for, with their variants.
	Asked []Asked
}

// candidatesPer is how many passages words and meaning each bring at first.
const candidatesPer = 100

// Recall returns the passages that best answer a question.
func Recall(s Source, cache *Cache, q Request) (Answer, error) {
	r, err := newRecaller(s, cache, q)
	if err != nil {
		return Answer{}, err
	}
	out := Answer{Asked: r.asked}
	for n := max(candidatesPer, 2*q.Limit); ; n *= 8 {
		var all bool
		if out.Ranked, all, err = r.round(n); err != nil || all || len(out.Ranked) >= q.Limit {
			break
		}
	}
	if err == nil && len(out.Ranked) < q.Limit && !q.MeaningOnly {
		out.Ranked, err = r.related(out.Ranked)
	}
	return out, err
}

type recaller struct {
	Source
	*Asking
	q      Request
	parsed analyze.Query
	asked  []Asked
	// misspelt is how much of the question is in words for which others stand.
	misspelt float64
	// named are its words that are names of code and numbers.
	named uint64
	// vocabularies are the words of each part, read when the first unknown word comes.
	vocabularies []vocabulary
}

// newRecaller finds out what a question asks for.
func newRecaller(s Source, cache *Cache, q Request) (*recaller, error) {
	a, err := Ask(s, cache, q.Filter)
	if err != nil {
		return nil, err
	}
	q.Meanings = slices.Clone(q.Meanings)
	r := &recaller{Source: s, Asking: a, q: q, parsed: analyze.Parse(q.Text)}
	if q.MeaningOnly {
		r.settle()
	}
	if r.asked, err = r.words(r.parsed.Words); err != nil {
		return nil, err
	}
	if err := a.For(r.asked); err != nil {
		return nil, err
	}
	slips, named := uint64(0), analyze.Named(q.Text)
	timed := readTime(q.Text, q.Now).span != (span{}) // its numbers are those of the time
	for i, one := range r.asked[:len(r.Rarity)] {
		if len(one.Variants) > 0 && !slices.ContainsFunc(one.Variants, func(v Variant) bool { return v.Share >= shareForm }) {
			slips |= 1 << i
		}
		if named[one.Word] && len(one.Variants) > 0 && !(timed && isNumber(one.Word)) {
			r.named |= 1 << i
		}
	}
	r.misspelt = share(r.Rarity, slips)
	return r, nil
}

// settle waits for the vectors of the question that are still being made.
func (r *recaller) settle() {
	for i := range r.q.Meanings {
		if m := &r.q.Meanings[i]; m.Later != nil {
			m.Vector, m.Later = m.Later(), nil
		}
	}
}

// meant reports whether it is known what the question means.
func (r *recaller) meant() bool {
	return slices.ContainsFunc(r.q.Meanings, func(m Meaning) bool { return m.Vector != nil })
}

// words says what each word of a question is looked for by. Words that no passage has are
// looked for inside words, as misspelt, and taken apart.
func (r *recaller) words(words []string) (asked []Asked, err error) {
	w, err := r.widen(words)
	if err != nil {
		return nil, err
	}
	for _, word := range words {
		more, err := w.asked(word)
		if err != nil {
			return nil, err
		}
		for _, one := range more {
			if !slices.ContainsFunc(asked, func(a Asked) bool { return a.Word == one.Word }) {
				asked = append(asked, one)
			}
		}
	}
	for _, run := range r.parsed.Runs {
		for _, part := range analyze.Grams(run, 2) {
			if !slices.ContainsFunc(asked, func(a Asked) bool { return a.Word == part }) {
				asked = append(asked, Asked{Word: part, Variants: []Variant{{pairMark + part, 1}}})
			}
		}
	}
	return asked, nil
}

// variants returns what an unknown word may have meant.
func (r *recaller) variants(word string) ([]Variant, error) {
	if err := r.readVocabularies(); err != nil {
		return nil, err
	}
	return variants(word, r.vocabularies), nil
}

func (r *recaller) readVocabularies() error {
	if r.vocabularies != nil {
		return nil
	}
	for _, o := range r.parts {
		v, err := r.wordsOf(o)
		if err != nil {
			return err
		}
		r.vocabularies = append(r.vocabularies, v)
	}
	return nil
}

func (r *recaller) wordsOf(o *opened) (vocabulary, error) {
	if o.segment.ID != 0 {
		return r.cache.words(r.rows, o.segment)
	}
	var terms []string
	for _, d := range o.tail {
		for _, t := range d.Terms {
			terms = append(terms, t.Text)
		}
	}
	return newVocabulary(terms), nil
}

// round ranks the best n passages by words and the best n by meaning, and reports whether
// there are no others.
func (r *recaller) round(n int) (ranked []Ranked, all bool, err error) {
	if r.q.MeaningOnly {
		return r.byMeaning(n)
	}
	candidates, all, err := r.gather(n)
	if err != nil {
		return nil, false, err
	}
	ranked = distinct(r.rank(candidates), r.q.Limit)
	if !r.q.Prompt {
		ranked = tell(ranked)
	}
	return ranked, all, nil
}

// rank orders candidates for the question.
func (r *recaller) rank(candidates []Candidate) []Ranked {
	when := readTime(r.q.Text, r.q.Now)
	q := question{meant: r.meant(), rarity: r.Rarity, terse: r.parsed.Terse, misspelt: r.misspelt, now: when.now, past: when.past, told: when.span.told(), prompt: r.q.Prompt, named: r.named}
	if when.to <= r.q.Now {
		q.then = when.to
	}
	return rank(q, candidates)
}

// related appends what related words find behind what the question's own have found.
func (r *recaller) related(best []Ranked) ([]Ranked, error) {
	// Vectors know related words, but those that are not made yet do not.
	if r.meant() && len(best) > 0 || len(r.parsed.Related) == 0 {
		return best, nil
	}
	var asked []Asked
	for _, w := range r.parsed.Related {
		asked = append(asked, Asked{Word: w, Variants: []Variant{{analyze.Stem(w), 1}}})
	}
	if err := r.For(asked); err != nil {
		return nil, err
	}
	more, _, err := r.round(max(candidatesPer, 2*r.q.Limit))
	if err != nil || len(more) == 0 {
		return best, err
	}
	behind := more[0].Score
	if len(best) > 0 {
		behind = best[len(best)-1].Score
	}
	top := more[0].Score
	for _, m := range more {
		if !slices.ContainsFunc(best, func(b Ranked) bool { return b.Row == m.Row }) {
			m.Score = behind / 2 * m.Score / top
			best = append(best, m)
		}
	}
	return distinct(best, r.q.Limit), nil
}
