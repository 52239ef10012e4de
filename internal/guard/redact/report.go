package redact

// Report says what was removed from a text, never the text itself. The zero
// Report is an empty one.
type Report struct {
	Counts map[string]int `json:"counts,omitempty"` // removals by rule; nil when there were none
	Total  int            `json:"total"`            // removals
	Bytes  int            `json:"bytes"`            // bytes removed, markers not counted
}

// Add counts what other counts as well. It does not keep other.Counts.
func (r *Report) Add(other Report) {
	if r.Counts == nil && len(other.Counts) > 0 {
		r.Counts = make(map[string]int, len(other.Counts))
	}
	for rule, n := range other.Counts {
		r.Counts[rule] += n
	}
	r.Total += other.Total
	r.Bytes += other.Bytes
}

// reportOf counts spans.
func reportOf(spans []span) Report {
	r := Report{Counts: make(map[string]int)}
	for _, s := range spans {
		r.Counts[s.rule]++
		r.Total++
		r.Bytes += s.end - s.start
	}
	return r
}
