package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/amber-memory/amber"
)

// RecallOptions say how recall is measured. Open and Clock are required.
type RecallOptions struct {
	// Open makes an empty agent. Its clock begins at a time.
	Open func(ctx context.Context, begin amber.Time) (Agent, error)
	// Clock measures how long loading and questions take.
	Clock amber.Clock
	// MinScore is the threshold that silence is judged at.
	MinScore float64
	// Layers are asked; none: exchange for conversations, all for memories.
	Layers []amber.RecallLayer
	// BM25 ranks the same texts by plain BM25, to compare with.
	BM25 bool
	// Each keeps the outcome of every question.
	Each bool
	// Progress is told how many cases and questions are done; nil: not told.
	Progress func(done int64)
}

// run is one measurement of a set.
type run struct {
	o        RecallOptions
	report   RecallReport
	outcomes []Outcome // of the agent
	base     []Outcome // of the baseline, in the same order
	took     []time.Duration
	baseTook []time.Duration
	load     time.Duration
	index    time.Duration
	done     int64
	classes  []string // in the order they were asked
}

// Recall loads every case of a set into an agent of its own and asks its questions.
// Errors: those of the reader and of the agent.
func Recall(ctx context.Context, set *Reader, o RecallOptions) (RecallReport, error) {
	r := &run{o: o, report: RecallReport{Set: set.Name()}}
	for {
		c, err := set.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return r.report, err
		}
		if err := r.play(ctx, c); err != nil {
			return r.report, err
		}
	}
	if r.report.Cases == 0 {
		return r.report, amber.Errorf(amber.KindInvalid, readOp, set.Name(), "the file holds no case")
	}
	r.finish()
	return r.report, nil
}

// play measures one case.
func (r *run) play(ctx context.Context, c *Case) (err error) {
	if r.report.Format != "" && r.report.Format != c.Format {
		return amber.Errorf(amber.KindInvalid, readOp, r.report.Set, "the file mixes cases of %s and %s", r.report.Format, c.Format)
	}
	r.report.Format = c.Format
	r.report.Cases++
	r.report.Skipped += c.Skipped
	agent, err := r.o.Open(ctx, c.begin())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, agent.Close()) }()
	owners, err := r.fill(ctx, agent, c)
	if err != nil {
		return err
	}
	size, err := agent.Size()
	if err != nil {
		return err
	}
	r.report.Load.Bytes += size
	var base *bm25
	if r.o.BM25 {
		base = newBM25(c, owners)
	}
	for _, q := range c.Questions {
		if err := r.note(q.Class); err != nil {
			return err
		}
		if err := r.ask(ctx, agent, base, c, q.owned(owners)); err != nil {
			return err
		}
	}
	return nil
}

// maxClasses bounds the rows of a report.
const maxClasses = 64

// note remembers a class.
func (r *run) note(class string) error {
	if slices.Contains(r.classes, class) {
		return nil
	}
	if len(r.classes) == maxClasses {
		return amber.Errorf(amber.KindInvalid, readOp, r.report.Set, "the questions have more than %d classes", maxClasses)
	}
	r.classes = append(r.classes, class)
	return nil
}

// ask asks the agent one question, and the baseline.
func (r *run) ask(ctx context.Context, agent Agent, base *bm25, c *Case, q Question) error {
	layers := r.o.Layers
	if len(layers) == 0 && len(c.Sessions) > 0 {
		layers = []amber.RecallLayer{amber.LayerExchange}
	}
	begin := r.o.Clock()
	answer, err := agent.Ask(ctx, q.Text, cmp.Or(q.At, c.Now), layers, amber.MaxTopK)
	if err != nil {
		return fmt.Errorf("ask question %d: %w", r.report.Questions+1, err)
	}
	r.took = append(r.took, r.o.Clock().Sub(begin))
	r.report.Questions++
	if answer.Degraded != "" {
		r.report.Degraded++
		r.report.DegradedWhy = cmp.Or(r.report.DegradedWhy, answer.Degraded)
	}
	r.outcomes = append(r.outcomes, judgeHits(q, answer.Hits))
	r.progress()
	if base != nil {
		begin = r.o.Clock()
		hits := base.ask(q.Text, amber.MaxTopK)
		r.baseTook = append(r.baseTook, r.o.Clock().Sub(begin))
		r.base = append(r.base, judgeHits(q, hits))
	}
	return nil
}

// judgeHits scores hits. From several hits with one key it counts the first.
func judgeHits(q Question, hits []Hit) Outcome {
	var ranked []string
	var scores []float64
	seen := map[string]bool{}
	for _, h := range hits {
		key := h.Owner
		if q.BySession {
			key = h.Session
		}
		if !seen[key] {
			seen[key] = true
			ranked, scores = append(ranked, key), append(scores, h.Score)
		}
	}
	return judge(q, ranked, scores)
}
