package search

import (
	"cmp"
	"slices"
	"strings"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/recall/analyze"
)

// gather returns the best n passages by words and the best n by meaning.
func (r *recaller) gather(n int) (out []Candidate, all bool, err error) {
	nearest, err := r.nearestMeanwhile(n)
	if err != nil {
		return nil, false, err
	}
	rows, err := r.Best(n)
	near, allNear, nearErr := nearest()
	if err = cmp.Or(err, nearErr); err != nil {
		return nil, false, err
	}
	all = len(rows) < n
	if out, err = r.candidates(append(rows, near...)); err != nil {
		return nil, false, err
	}
	out, err = r.beside(out)
	return out, all && allNear, err
}

// nearestMeanwhile begins to look for the n rows that are nearest in meaning where the signs
// were read before, and returns who waits for them: words are looked up meanwhile. Where
// reading them would take long, that is done when the vector is there.
func (r *recaller) nearestMeanwhile(n int) (wait func() (rows []int64, all bool, err error), err error) {
	after := func() ([]int64, bool, error) {
		r.settle()
		return r.nearest(n)
	}
	signs := make([][]Signs, len(r.q.Meanings))
	for i, m := range r.q.Meanings {
		if !r.cache.hasSigns(m.Model) {
			return after, nil
		}
		if signs[i], err = r.Signs(m.Model); err != nil {
			return nil, err
		}
	}
	var rows []int64
	found := make(chan any) // what the search panicked with
	go func() {
		defer func() { found <- recover() }()
		r.settle()
		rows = r.nearestOf(signs, n)
	}()
	return func() ([]int64, bool, error) {
		if p := <-found; p != nil {
			panic(p) // where the caller can catch it
		}
		return rows, len(rows) < n, nil
	}, nil
}

// nearest returns the n rows that are nearest in meaning, and reports whether there are no
// others.
func (r *recaller) nearest(n int) (rows []int64, all bool, err error) {
	signs := make([][]Signs, len(r.q.Meanings))
	for i, m := range r.q.Meanings {
		if m.Vector == nil {
			continue
		}
		if signs[i], err = r.Signs(m.Model); err != nil {
			return nil, false, err
		}
	}
	rows = r.nearestOf(signs, n)
	return rows, len(rows) < n, nil
}

// nearestOf returns the n rows of each model that are nearest in meaning.
func (r *recaller) nearestOf(signs [][]Signs, n int) (rows []int64) {
	for i, m := range r.q.Meanings {
		for _, x := range Nearest(m.Vector, signs[i], r.Passes, n) {
			rows = append(rows, x.Row)
		}
	}
	return rows
}

// The passages beside this many of the best passages of conversations are candidates too.
const besideOf = 20

// beside adds the passages beside the best ones of conversations: what answers a question
// often has none of its words, but follows or precedes one that has.
func (r *recaller) beside(found []Candidate) ([]Candidate, error) {
	had := map[int64]bool{}
	for _, c := range found {
		had[c.Row] = true
	}
	var places []Place
	for _, c := range r.rank(found) {
		if c.Session != "" && len(places) < besideOf {
			places = append(places, Place{c.Session, c.Place})
		}
	}
	if len(places) == 0 {
		return found, nil
	}
	rows, err := r.Beside(places, besideSteps)
	if err != nil {
		return nil, err
	}
	more, err := r.candidates(slices.DeleteFunc(rows, func(row int64) bool { return had[row] }))
	return append(found, more...), err
}

// candidates reads what is known of rows.
func (r *recaller) candidates(rows []int64) ([]Candidate, error) {
	matches, err := r.Look(rows)
	if err != nil {
		return nil, err
	}
	passages, err := r.Passages(rows)
	if err != nil {
		return nil, err
	}
	vectors := make([]map[int64]Vector, len(r.q.Meanings))
	for i, m := range r.q.Meanings {
		if m.Vector == nil {
			continue
		}
		if vectors[i], err = r.Vectors(m.Model, rows); err != nil {
			return nil, err
		}
	}
	wanted, err := r.ofKind(rows)
	if err != nil {
		return nil, err
	}
	trusts, err := r.trusts(rows)
	if err != nil {
		return nil, err
	}
	question := strings.Fields(analyze.Fold(r.q.Text))
	out := make([]Candidate, 0, len(matches))
	for _, m := range matches {
		p, ok := passages[m.Row]
		if !ok || r.q.Since != 0 && p.At < r.q.Since || r.q.Until != 0 && p.At >= r.q.Until {
			continue
		}
		c := Candidate{Match: m, Passage: p, Named: names(question, p.Speaker), Wanted: wanted[m.Row], Doubt: trusts[m.Row] == amber.TrustImported, Trust: trusts[m.Row]}
		r.compare(&c, vectors)
		out = append(out, c)
	}
	return out, nil
}

// compare notes how near a candidate is in meaning, in the first model that has a vector of the question and of it.
func (r *recaller) compare(c *Candidate, vectors []map[int64]Vector) {
	for i, m := range r.q.Meanings {
		v := vectors[i][c.Row]
		if v == nil || v.Dim() != m.Vector.Dim() {
			continue
		}
		if c.Near, c.Vector, c.Level = Cosine(m.Vector, v), v, m.Level; m.Level != nil {
			c.Near = m.Level(c.Near, true)
		}
		return
	}
}

// trusts returns the trust of rows that are not the owner's.
func (r *recaller) trusts(rows []int64) (map[int64]amber.Trust, error) {
	out := map[int64]amber.Trust{}
	for _, t := range amber.Trusts()[1:] {
		has, err := r.Having(Facet(facetTrust, string(t)), rows)
		if err != nil {
			return nil, err
		}
		for row, is := range has {
			if is {
				out[row] = t
			}
		}
	}
	return out, nil
}

// ofKind returns which rows are memories of the kind that the question asks for.
func (r *recaller) ofKind(rows []int64) (map[int64]bool, error) {
	kind := kindAsked(r.q.Text)
	if kind == "" {
		return nil, nil
	}
	return r.Having(Facet(facetKind, string(kind)), rows)
}

// names reports whether a question names a speaker: by name, or as I where it is the user.
func names(question []string, speaker string) bool {
	if speaker == "" {
		return false
	}
	for _, w := range question {
		w = strings.Trim(w, ".,;:!?'\"()")
		w = strings.TrimSuffix(w, "'s")
		switch w {
		case speaker:
			return true
		case "i", "my", "me", "we", "our":
			if speaker == UserSpeaker {
				return true
			}
		}
	}
	return false
}

// UserSpeaker is the speaker of what the user said.
const UserSpeaker = "user"
