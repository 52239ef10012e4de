package eval

import (
	"fmt"
	"math"
	"strings"
)

// bins is how many ranges of scores a calibration has.
const bins = 10

// Calibration says how well the scores of first hits tell how often these are right. A first hit for a question without an
// answer is wrong.
type Calibration struct {
	N     int     `json:"n"`     // questions with a hit
	Brier float64 `json:"brier"` // mean square of the difference between score and outcome
	ECE   float64 `json:"ece"`   // mean difference between the mean score of a range and the share that is right
	Bins  []Bin   `json:"bins"`  // ranges of a tenth that have hits
}

// Bin is a range of scores.
type Bin struct {
	From  float64 `json:"from"`
	N     int     `json:"n"`
	Score float64 `json:"score"` // their mean
	Right float64 `json:"right"` // the share that is
}

// calibrationOf judges the first hits of outcomes; nil where there are none.
func calibrationOf(outcomes []Outcome) *Calibration {
	var c Calibration
	var all [bins]Bin
	for _, o := range outcomes {
		if o.Best < 0 {
			continue
		}
		score, right := min(o.Best, 1), 0.0
		if o.First && !o.noAnswer {
			right = 1
		}
		b := &all[min(int(score*bins), bins-1)]
		b.N, b.Score, b.Right = b.N+1, b.Score+score, b.Right+right
		c.N, c.Brier = c.N+1, c.Brier+(score-right)*(score-right)
	}
	if c.N == 0 {
		return nil
	}
	for i, b := range all {
		if b.N == 0 {
			continue
		}
		c.ECE += math.Abs(b.Score - b.Right)
		n := float64(b.N)
		c.Bins = append(c.Bins, Bin{From: float64(i) / bins, N: b.N, Score: b.Score / n, Right: b.Right / n})
	}
	c.Brier, c.ECE = c.Brier/float64(c.N), c.ECE/float64(c.N)
	return &c
}

// Plot draws calibrations as an SVG image: a field for each report, a dot for each range, larger where there are more hits.
// On the line the scores are right.
func Plot(reports []RecallReport) string {
	const size, gap = 240, 40
	var s strings.Builder
	fmt.Fprintf(&s, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n", gap+len(reports)*(size+gap), size+2*gap)
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	for i, r := range reports {
		left := gap + i*(size+gap)
		fmt.Fprintf(&s, `<g transform="translate(%d %d)"><text y="-8">%s</text><rect width="%d" height="%d" fill="none" stroke="#888"/><path d="M0 %d L%d 0" stroke="#bbb"/>`+"\n", left, gap, escape.Replace(r.Set), size, size, size, size)
		if c := r.Calibration; c != nil {
			for _, b := range c.Bins {
				fmt.Fprintf(&s, `<circle cx="%.1f" cy="%.1f" r="%.1f" fill="#c70" fill-opacity=".7"><title>%d hits, score %.2f, right %.2f</title></circle>`+"\n",
					size*b.Score, size*(1-b.Right), 3+12*math.Sqrt(float64(b.N)/float64(c.N)), b.N, b.Score, b.Right)
			}
			fmt.Fprintf(&s, `<text x="0" y="%d">score 0 to 1, share right 0 to 1; Brier %.3f, ECE %.3f</text>`, size+16, c.Brier, c.ECE)
		}
		s.WriteString("</g>\n")
	}
	s.WriteString("</svg>\n")
	return s.String()
}
