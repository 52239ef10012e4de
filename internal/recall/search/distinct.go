package search

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

// oneEach leaves the best passage of each owner.
func oneEach(ranked []Ranked) []Ranked {
	type owner struct{ source, id string }
	seen := map[owner]bool{}
	out := make([]Ranked, 0, len(ranked))
	for _, r := range ranked {
		if o := (owner{r.Source, r.Owner}); !seen[o] {
			seen[o] = true
			out = append(out, r)
		}
	}
	return out
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
