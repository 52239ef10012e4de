package search

import "slices"

// Among the first few hits, a third passage of one conversation gives way to one of another
// that is nearly as likely. To let it give way to any other would cost more answers than it
// brings: one place of a conversation often has several passages that answer a question. The
// passage that gives way scores no more than the one that took its place.
const (
	firstFew   = 5
	perSession = 2
	nearlyAs   = 0.8
)

// distinct leaves the best passage of each owner, and lets no conversation fill the first
// places alone where another is as good.
func distinct(ranked []Ranked, limit int) []Ranked {
	out := oneEach(ranked)
	sessions := map[string]int{}
	for i := range out[:min(len(out), firstFew, limit)] {
		if s := out[i].Session; s != "" && sessions[s] >= perSession {
			if k := otherwise(out[i:], sessions); k > 0 {
				other := out[i+k]
				copy(out[i+1:], out[i:i+k])
				out[i] = other
				for j := range k {
					out[i+1+j].Score = min(out[i+1+j].Score, other.Score)
				}
			}
		}
		sessions[out[i].Session]++
	}
	return out[:min(len(out), limit)]
}

// oneEach leaves the best passage of each owner, and one of the memories that say the same.
func oneEach(ranked []Ranked) []Ranked {
	type owner struct{ source, id string }
	seen := map[owner]bool{}
	out := make([]Ranked, 0, len(ranked))
	for _, r := range ranked {
		if o := (owner{r.Source, r.Owner}); !seen[o] {
			seen[o] = true
			if !repeats(out, r) {
				out = append(out, r)
			}
		}
	}
	return out
}

// Memories that are as near as this say the same in the same words, but for case, spaces and stops.
const (
	sameText = 0.995
	repeated = 10 // of the best are compared
)

// repeats reports whether a memory says again what one before it says, which is newer: a memory that is older, or trusted less,
// gives way. Two that differ in a number or a word are farther apart.
func repeats(before []Ranked, r Ranked) bool {
	if r.Source != SourceMemory || r.Vector == nil {
		return false
	}
	return slices.ContainsFunc(before[:min(len(before), repeated)], func(b Ranked) bool {
		return b.Source == r.Source && b.Has == r.Has && b.Part == r.Part && b.At >= r.At && !r.Trust.Outranks(b.Trust) &&
			b.Vector.Dim() == r.Vector.Dim() && Cosine(b.Vector, r.Vector) >= sameText
	})
}

// otherwise returns where the first passage stands that is nearly as likely as the first of
// all and not of a conversation that has its share; 0 where there is none.
func otherwise(rest []Ranked, sessions map[string]int) int {
	for k, r := range rest {
		if r.Score < nearlyAs*rest[0].Score {
			return 0
		}
		if r.Session == "" || sessions[r.Session] < perSession {
			return k
		}
	}
	return 0
}
