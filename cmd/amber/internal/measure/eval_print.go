package measure

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/term"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/recall/eval"
)

// score prints a share with three decimals.
func score(v float64) string { return strings.TrimPrefix(fmt.Sprintf("%.3f", v), "0") }

func (a *app) printRecallEvaluation(w io.Writer, e RecallEvaluation) {
	if e.OpenViking != nil {
		e.OpenViking.print(w)
	}
	for i, r := range e.Sets {
		if i > 0 {
			fmt.Fprintln(w)
		}
		a.printRecallReport(w, r)
		if i < len(e.Comparison) {
			printComparison(w, e.Comparison[i])
		}
		if e.OpenViking != nil && r.Memories == 0 {
			fmt.Fprintln(w, "openviking: the set has no memories, so the server has no part in these figures")
		}
	}
}

func (a *app) printRecallReport(w io.Writer, r eval.RecallReport) {
	fmt.Fprintln(w, a.Out.Style(cli.Bold, cli.Flat(r.Set))+fmt.Sprintf(" (%s): %s, %s, %s, %s", r.Format,
		words.Count(r.Cases, "case", "cases"), words.Count(r.Memories, "memory", "memories"), words.Count(r.Turns, "turn", "turns"), words.Count(r.Questions, "question", "questions")))
	rows := append(append([]eval.ClassReport{}, r.Classes...), r.All)
	if r.Answerable != nil {
		rows = append(rows, *r.Answerable)
	}
	recallTable(rows).Write(w, a.Out.Columns)
	for _, s := range []struct {
		what string
		*eval.Silence
	}{{"silence", r.Silence}, {"silence, best threshold", r.Best}, {"silence of bm25, best threshold", r.BaselineBest}} {
		if s.Silence != nil {
			fmt.Fprintf(w, "%s: none-precision %s of %d, kept %s, shown %s, mean %s at %.4g\n", s.what, score(s.NonePrecision), s.None, score(s.Kept), score(s.Shown), score(s.Mean), s.MinScore)
		}
	}
	if c := r.Calibration; c != nil {
		fmt.Fprintf(w, "calibration of %s: Brier %s, ECE %s\n", words.Count(c.N, "first hit", "first hits"), score(c.Brier), score(c.ECE))
	}
	printLatency(w, "question", r.Latency)
	fmt.Fprintf(w, "load: %.1f s, index: %.1f s, %s\n", r.Load.Seconds, r.Load.IndexSeconds, cli.ByteSize(r.Load.Bytes))
	if r.Skipped > 0 {
		fmt.Fprintf(w, "not asked, since no evidence is known: %d\n", r.Skipped)
	}
	if r.Degraded > 0 {
		fmt.Fprintf(w, "degraded answers: %d of %d, the first: %s\n", r.Degraded, r.Questions, cli.OneLine(r.DegradedWhy, 200))
	}
	for _, o := range r.Outcomes {
		rank := "-"
		if o.Rank > 0 {
			rank = fmt.Sprint(o.Rank)
		}
		fmt.Fprintf(w, "%4s  %.3f  %s  %s\n", rank, o.Best, cli.Flat(o.Class), cli.Flat(o.Question))
	}
}

func printComparison(w io.Writer, c eval.Comparison) {
	for _, p := range []struct {
		what string
		eval.Paired
	}{{"first", c.First}, {"any@5", c.Any5}} {
		fmt.Fprintf(w, "compared, %s: %d of %d, before %d; %d gained, %d lost, p %.3f\n", p.what, p.After, c.N, p.Before, p.Gained, p.Lost, p.P)
	}
}

// recallTable has a row for each class, and with a baseline two more.
func recallTable(rows []eval.ClassReport) term.Table {
	t := term.Table{Heading: []string{"class", "n", "first", "any@5", "any@10", "frac@10", "mrr"}}
	for _, c := range rows {
		t.Rows = append(t.Rows, scoreRow(cli.Flat(c.Class), c.Scores))
		if c.Baseline != nil {
			t.Rows = append(t.Rows, scoreRow("- bm25", *c.Baseline), ratioRow("- ratio", *c.Ratio))
		}
	}
	return t
}

func scoreRow(name string, s eval.Scores) []string {
	return []string{name, fmt.Sprint(s.N), score(s.First), score(s.Any5), score(s.Any10), score(s.Frac), score(s.MRR)}
}

func ratioRow(name string, r eval.Ratios) []string {
	row := []string{name, ""}
	for _, v := range []*float64{r.First, r.Any5, r.Any10, r.Frac, r.MRR} {
		cell := "-"
		if v != nil {
			cell = fmt.Sprintf("%.2f", *v)
		}
		row = append(row, cell)
	}
	return row
}

func printLatency(w io.Writer, what string, l eval.Latency) {
	fmt.Fprintf(w, "%s: p50 %.1f ms, p95 %.1f ms, p99 %.1f ms\n", what, l.P50, l.P95, l.P99)
}

func (a *app) printContextEvaluation(w io.Writer, e contextEvaluation) {
	for i, r := range e.Sets {
		if i > 0 {
			fmt.Fprintln(w)
		}
		a.printContextReport(w, r, time.Duration(e.BudgetMS*float64(time.Millisecond)))
	}
}

func (a *app) printContextReport(w io.Writer, r eval.ContextReport, budget time.Duration) {
	fmt.Fprintln(w, a.Out.Style(cli.Bold, cli.Flat(r.Set))+fmt.Sprintf(": %s, %s", words.Count(r.Projects, "project", "projects"), words.Count(r.Sessions, "session", "sessions")))
	t := term.Table{Heading: []string{"injection", "n", "prompt", "prompt+start"}}
	for _, i := range append(append([]eval.Injection{}, r.Classes...), r.From, r.All) {
		t.Rows = append(t.Rows, []string{cli.Flat(i.Class), fmt.Sprint(i.N), score(i.Prompt), score(i.WithStart)})
	}
	t.Write(w, a.Out.Columns)
	fmt.Fprintf(w, "quiet: %s of %d prompts\n", score(r.Quiet.Share), r.Quiet.N)
	fmt.Fprintf(w, "precision: %s of %d contexts\n", score(r.Precision.Share), r.Precision.Injected)
	fmt.Fprintf(w, "start: %s of %d strings\n", score(r.Start.Share), r.Start.N)
	printBytes(w, "prompt", r.PromptBytes)
	printBytes(w, "start", r.StartBytes)
	printLatency(w, "prompt", r.Latency)
	if r.OverBudget > 0 {
		fmt.Fprintf(w, "over the budget of %s: %s\n", budget, words.Count(r.OverBudget, "prompt", "prompts"))
	}
	for _, o := range r.Outcomes {
		found := "quiet"
		if o.Class != "" {
			found = map[bool]string{true: "found", false: "-"}[o.Found]
		}
		fmt.Fprintf(w, "%5s  %5d  %s  %s  %s\n", found, o.Bytes, cli.Flat(o.Session), cli.Flat(o.Class), cli.Flat(o.Prompt))
	}
}

func printBytes(w io.Writer, what string, b eval.Bytes) {
	fmt.Fprintf(w, "bytes per %s: mean %.0f, median %.0f, p95 %.0f, of %d that are not empty\n", what, b.Mean, b.Median, b.P95, b.N)
}
