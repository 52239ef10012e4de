package eval

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/amber-memory/amber/internal/test/must"
)

// ranking is keys "1" to "n" in order, with falling scores.
func ranking(n int) (keys []string, scores []float64) {
	for i := range n {
		keys, scores = append(keys, fmt.Sprint(i+1)), append(scores, 1-float64(i)/100)
	}
	return keys, scores
}

// Each case stands at the border of a rank: 1, 5, 10.
func TestJudgeKnowsTheBordersOfEveryScore(t *testing.T) {
	t.Parallel()
	keys, scores := ranking(12)
	for name, c := range map[string]struct {
		rule               Rule
		keys               []string
		first, any5, any10 bool
		frac               float64
		rank               int
	}{
		"first":                     {RuleOne, []string{"1"}, true, true, true, 1, 1},
		"second":                    {RuleOne, []string{"2"}, false, true, true, 1, 2},
		"fifth":                     {RuleOne, []string{"5"}, false, true, true, 1, 5},
		"sixth":                     {RuleOne, []string{"6"}, false, false, true, 1, 6},
		"tenth":                     {RuleOne, []string{"10"}, false, false, true, 1, 10},
		"eleventh":                  {RuleOne, []string{"11"}, false, false, false, 0, 11},
		"missing":                   {RuleOne, []string{"x"}, false, false, false, 0, 0},
		"an alternative":            {RuleOne, []string{"11", "3"}, false, true, true, 1, 3},
		"half of the evidence":      {RuleEach, []string{"11", "3"}, false, true, true, .5, 3},
		"both at the border":        {RuleAll, []string{"5", "1"}, true, true, true, 1, 1},
		"one beyond five":           {RuleAll, []string{"6", "1"}, true, false, true, 1, 1},
		"one beyond ten":            {RuleAll, []string{"1", "11"}, true, false, false, .5, 1},
		"right one first":           {RuleFirst, []string{"1", "2"}, true, true, true, 1, 1},
		"right one before":          {RuleFirst, []string{"5", "6"}, false, true, true, 1, 5},
		"right one behind":          {RuleFirst, []string{"2", "1"}, false, false, false, 1, 2},
		"wrong one missing":         {RuleFirst, []string{"5", "x"}, false, true, true, 1, 5},
		"right one at the sixth":    {RuleFirst, []string{"6", "x"}, false, false, true, 1, 6},
		"right one missing":         {RuleFirst, []string{"x", "1"}, false, false, false, 0, 0},
		"right one at the eleventh": {RuleFirst, []string{"11", "12"}, false, false, false, 0, 11},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := judge(Question{Rule: c.rule, Keys: c.keys}, keys, scores)
			must.Equal(t, "first", o.First, c.first)
			must.Equal(t, "any@5", o.Any5, c.any5)
			must.Equal(t, "any@10", o.Any10, c.any10)
			must.Equal(t, "frac@10", o.Frac, c.frac)
			must.Equal(t, "rank", o.Rank, c.rank)
			found := -1.0
			if c.rank > 0 {
				found = scores[c.rank-1]
			}
			must.Equal(t, "score of the right one", o.Found, found)
			must.Equal(t, "best score", o.Best, 1.0)
		})
	}
}

func TestJudgeOfAnAnswerWithoutHits(t *testing.T) {
	t.Parallel()
	for _, rule := range []Rule{RuleOne, RuleEach, RuleAll, RuleFirst, RuleNone} {
		q := Question{Rule: rule, Keys: []string{"a", "b"}}
		o := judge(q, nil, nil)
		must.Hold(t, !o.First && !o.Any5 && !o.Any10 && o.Frac == 0 && o.Rank == 0 && o.Best == -1 && o.Found == -1, "%s: %+v", rule, o)
	}
}

// Several passages of one turn are one hit.
func TestHitsWithOneOwnerCountOnce(t *testing.T) {
	t.Parallel()
	var hits []Hit
	for range 5 {
		hits = append(hits, Hit{Owner: "a", Session: "s", Score: .9})
	}
	hits = append(hits, Hit{Owner: "b", Session: "t", Score: .5})
	must.Equal(t, "rank of the turn", judgeHits(Question{Rule: RuleEach, Keys: []string{"b"}}, hits).Rank, 2)
	must.Equal(t, "rank of the session", judgeHits(Question{Rule: RuleEach, Keys: []string{"t"}, BySession: true}, hits).Rank, 2)
}

func TestScoresAreMeans(t *testing.T) {
	t.Parallel()
	got := scoresOf([]Outcome{
		{Rank: 1, First: true, Any5: true, Any10: true, Frac: 1},
		{Rank: 4, Any5: true, Any10: true, Frac: .5},
		{Rank: 8, Any10: true, Frac: .5},
		{},
	})
	must.Equal(t, "scores", got, Scores{N: 4, First: .25, Any5: .5, Any10: .75, Frac: .5, MRR: (1 + .25 + .125) / 4})
	must.Equal(t, "scores of nothing", scoresOf(nil), Scores{})
	r := got.over(Scores{First: .5, Any5: .25})
	must.Hold(t, *r.First == .5 && *r.Any5 == 2 && r.Any10 == nil && r.MRR == nil, "ratios %+v", r)
}

// A hit at the threshold itself is shown.
func TestSilenceAtAThreshold(t *testing.T) {
	t.Parallel()
	s := silenceOf([]Outcome{
		{rule: RuleNone, Best: .4},
		{rule: RuleNone, Best: .5},
		{rule: RuleNone, Best: .6},
		{rule: RuleNone, Best: -1},
		{rule: RuleOne, Found: .5, Best: .5},
		{rule: RuleOne, Found: .49, Best: .6},
		{rule: RuleOne, Found: -1, Best: -1},
		{rule: RuleEach, Found: .9, Best: .9},
		{rule: RuleEach, Found: .9, Best: .9, noAnswer: true},
	})
	must.Equal(t, "at .5", s.at(.5), Silence{MinScore: .5, None: 4, NonePrecision: .5, Kept: .5, Shown: .75, Mean: .5})
	must.Equal(t, "at 0", s.at(0), Silence{MinScore: 0, None: 4, NonePrecision: .25, Kept: .75, Shown: .75, Mean: .5})
}

func TestBestThreshold(t *testing.T) {
	t.Parallel()
	s := silenceOf([]Outcome{
		{rule: RuleNone, Best: .2},
		{rule: RuleNone, Best: .3},
		{rule: RuleOne, Found: .25},
		{rule: RuleOne, Found: .6},
		{rule: RuleOne, Found: .7},
		{rule: RuleOne, Found: .8},
	})
	got := s.bestThreshold()
	must.Hold(t, got.MinScore > .3 && got.MinScore <= .6 && got.NonePrecision == 1 && got.Kept == .75, "best %+v", got)
	must.Equal(t, "the threshold just above the best wrong hit", got.MinScore, math.Nextafter(.3, 1))
}

func TestPercentilesAreValuesThatWereMeasured(t *testing.T) {
	t.Parallel()
	var took []time.Duration
	for i := 100; i > 0; i-- {
		took = append(took, time.Duration(i)*time.Millisecond)
	}
	must.Equal(t, "of 100", latencyOf(took), Latency{N: 100, P50: 50, P95: 95, P99: 99})
	must.Equal(t, "of one", latencyOf(took[:1]), Latency{N: 1, P50: 100, P95: 100, P99: 100})
	must.Equal(t, "of none", latencyOf(nil), Latency{})
}

func TestBytesLeaveOutWhatIsEmpty(t *testing.T) {
	t.Parallel()
	must.Equal(t, "bytes", bytesOf([]string{"", "ab", "", "abcd", "é"}), Bytes{N: 3, Mean: 8. / 3, Median: 2, P95: 4})
	must.Equal(t, "bytes of nothing", bytesOf([]string{""}), Bytes{})
}
