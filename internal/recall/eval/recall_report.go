package eval

import "slices"

// RecallReport is how well a set was recalled.
type RecallReport struct {
	Set       string `json:"set"`
	Format    Format `json:"format"`
	Cases     int    `json:"cases"`
	Memories  int    `json:"memories"`
	Turns     int    `json:"turns"`
	Questions int    `json:"questions"` // that were asked
	Skipped   int    `json:"skipped"`   // that cannot be scored
	Degraded  int    `json:"degraded"`  // answers that could not take everything into account
	// DegradedWhy is what the first of them could not take into account.
	DegradedWhy string `json:"degraded_why,omitempty"`

	Classes []ClassReport `json:"classes"`
	All     ClassReport   `json:"all"` // every question that names an answer
	// Answerable is All without questions that have evidence but no answer; nil where
	// the set has none.
	Answerable *ClassReport `json:"answerable,omitempty"`

	// Calibration is of the scores of first hits; nil where no question has a hit.
	Calibration *Calibration `json:"calibration,omitempty"`

	// Silence is at the threshold that was given, and Best at the best one for this
	// set, for information; nil where every question has an answer.
	Silence *Silence `json:"silence,omitempty"`
	Best    *Silence `json:"silence_best,omitempty"`
	// BaselineBest is Best for the scores of the baseline.
	BaselineBest *Silence `json:"baseline_silence_best,omitempty"`

	Latency         Latency  `json:"latency"`
	BaselineLatency *Latency `json:"baseline_latency,omitempty"`
	Load            Load     `json:"load"`

	Outcomes []Outcome `json:"outcomes,omitempty"`
}

// ClassReport is how well the questions of a class were answered.
type ClassReport struct {
	Class string `json:"class"`
	Scores
	Calibration *Calibration `json:"calibration,omitempty"`
	Baseline    *Scores      `json:"baseline,omitempty"`
	Ratio       *Ratios      `json:"ratio,omitempty"`
}

// Load is what loading cost.
type Load struct {
	Seconds      float64 `json:"seconds"`       // writing memories and sessions
	IndexSeconds float64 `json:"index_seconds"` // what the index had left for later
	Bytes        int64   `json:"bytes"`         // the agents on disk
}

// finish turns outcomes into scores.
func (r *run) finish() {
	p := &r.report
	p.All = r.class("all", func(o Outcome) bool { return o.rule != RuleNone })
	if slices.ContainsFunc(r.outcomes, func(o Outcome) bool { return o.noAnswer }) {
		some := r.class("answerable", func(o Outcome) bool { return o.rule != RuleNone && !o.noAnswer })
		p.Answerable = &some
	}
	p.Classes = []ClassReport{}
	for _, name := range r.classes {
		c := r.class(name, func(o Outcome) bool { return o.rule != RuleNone && o.Class == name })
		if c.N > 0 {
			p.Classes = append(p.Classes, c)
		}
	}
	p.Calibration = calibrationOf(r.outcomes)
	p.Latency = latencyOf(r.took)
	p.Load.Seconds, p.Load.IndexSeconds = r.load.Seconds(), r.index.Seconds()
	if s := silenceOf(r.outcomes); len(s.best) > 0 && len(s.found) > 0 {
		given, best := s.at(r.o.MinScore), s.bestThreshold()
		p.Silence, p.Best = &given, &best
	}
	if r.o.BM25 {
		took := latencyOf(r.baseTook)
		p.BaselineLatency = &took
		if s := silenceOf(r.base); p.Silence != nil {
			best := s.bestThreshold()
			p.BaselineBest = &best
		}
	}
	if r.o.Each {
		p.Outcomes = r.outcomes
	}
}

// class scores the outcomes that belong to a class.
func (r *run) class(name string, belongs func(Outcome) bool) ClassReport {
	var own, base []Outcome
	for i, o := range r.outcomes {
		if !belongs(o) {
			continue
		}
		if own = append(own, o); r.o.BM25 {
			base = append(base, r.base[i])
		}
	}
	report := ClassReport{Class: name, Scores: scoresOf(own), Calibration: calibrationOf(own)}
	if r.o.BM25 {
		s := scoresOf(base)
		report.Baseline, report.Ratio = &s, report.over(s)
	}
	return report
}
