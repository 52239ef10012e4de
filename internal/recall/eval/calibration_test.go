package eval

import (
	"math"
	"strings"
	"testing"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/internal/test/must"
)

func TestCalibrationOfFirstHits(t *testing.T) {
	t.Parallel()
	c := calibrationOf([]Outcome{{Best: 0.95, First: true}, {Best: 0.91, First: true}, {Best: 0.25}, {Best: 0.25, First: true}, {Best: -1}})
	must.Equal(t, "questions with a hit", c.N, 4)
	must.Equal(t, "ranges", len(c.Bins), 2)
	if want := (0.07 + 0.25) / 2; math.Abs(c.ECE-(0.14+0.5)/4) > 1e-9 || math.Abs(c.ECE-want) > 1e-9 {
		t.Errorf("the error is %v, want %v", c.ECE, want)
	}
	if want := (0.05*0.05 + 0.09*0.09 + 0.25*0.25 + 0.75*0.75) / 4; math.Abs(c.Brier-want) > 1e-9 {
		t.Errorf("the Brier score is %v, want %v", c.Brier, want)
	}
	if calibrationOf([]Outcome{{Best: -1}}) != nil {
		t.Error("without a hit there is a calibration")
	}
	must.Says(t, "plot", Plot([]RecallReport{{Set: "a<b", Calibration: c}}), "<svg ", "a&lt;b", "</svg>")
	must.Equal(t, "dots", strings.Count(Plot([]RecallReport{{Calibration: c}}), "<circle"), 2)
}

func TestReportsAreComparedByQuestion(t *testing.T) {
	t.Parallel()
	report := func(first ...bool) (r RecallReport) {
		for i, f := range first {
			r.Outcomes = append(r.Outcomes, Outcome{Question: string(rune('a' + i)), First: f, Any5: true})
		}
		return r
	}
	c := must.Get(Compare(report(true, false, false, false, false, false), report(true, true, true, true, true, true)))(t)
	must.Equal(t, "gained", c.First.Gained, 5)
	must.Equal(t, "lost", c.First.Lost, 0)
	if math.Abs(c.First.P-0.0625) > 1e-9 || c.Any5.P != 1 {
		t.Errorf("p is %v and %v, want 0.0625 and 1", c.First.P, c.Any5.P)
	}
	_, err := Compare(report(true), report(true, true))
	must.Equal(t, "kind", amber.KindOf(err), amber.KindInvalid)
}
