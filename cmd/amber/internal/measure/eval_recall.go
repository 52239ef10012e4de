package measure

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/internal/recall/eval"
)

// Values of --baseline and --layer.
const (
	BaselineBM25 = "bm25"
	LayerAll     = "all"
)

// evalRecallFlags are those of `eval recall`.
type evalRecallFlags struct {
	evalFlags
	minScore float64
	baseline string
	layers   []string
	plot     string
	compare  string
}

// RecallEvaluation is the answer of `eval recall`.
type RecallEvaluation struct {
	Model    string              `json:"model"`
	Models   string              `json:"models,omitempty"` // the folder of packs
	Only     string              `json:"only"`
	MinScore float64             `json:"min_score"`
	Baseline string              `json:"baseline,omitempty"`
	Layers   []amber.RecallLayer `json:"layers,omitempty"`
	// OpenViking is the server that stood beside the store; nil where none did.
	OpenViking *Server             `json:"openviking,omitempty"`
	Sets       []eval.RecallReport `json:"sets"`
	// Comparison is with the report of --compare, of each set that both have.
	Comparison []eval.Comparison `json:"comparison,omitempty"`
}

func (a *app) evalRecallCommand() *cobra.Command {
	var f evalRecallFlags
	cmd := cli.Verb("recall", func(cmd *cobra.Command, args []string) error {
		report, err := a.evalRecall(cmd, f, args)
		if err != nil {
			return err
		}
		return a.Out.Show(report, func(w io.Writer) { a.printRecallEvaluation(w, report) })
	})
	f.add(cmd)
	fl := cmd.Flags()
	fl.Float64Var(&f.minScore, "min-score", amber.AnswerScore, "the threshold to judge, 0 to 1")
	fl.StringVar(&f.baseline, "baseline", "", "also rank by this and compare: bm25")
	fl.StringArrayVar(&f.layers, "layer", nil, "ask this layer (repeat), or all (default exchange for conversations, else all)")
	fl.StringVar(&f.plot, "plot", "", "write how often scores are right into this file, as an SVG image")
	fl.StringVar(&f.compare, "compare", "", "compare with this report of the same sets, made with --each --json")
	return cmd
}

// evalRecall measures every set.
func (a *app) evalRecall(cmd *cobra.Command, f evalRecallFlags, sets []string) (out RecallEvaluation, err error) {
	o, server, err := a.recallOptions(cmd, &f)
	if err != nil {
		return out, err
	}
	out = RecallEvaluation{Model: f.model, Models: f.models, Only: f.only, MinScore: f.minScore, Baseline: f.baseline, Layers: o.Layers, OpenViking: server}
	var other RecallEvaluation
	if f.compare != "" {
		if other, err = a.readEvaluation(f.compare); err != nil {
			return out, err
		}
	}
	o.Each = f.each || f.compare != ""
	out.Sets, err = evalEach(a, cmd.Context(), sets, func(path string) (eval.RecallReport, error) { return a.evalRecallSet(cmd.Context(), path, o) })
	if err == nil && f.compare != "" {
		err = out.compare(other, f.each)
	}
	if err == nil && f.plot != "" {
		err = a.writePlot(f.plot, out.Sets)
	}
	return out, err
}

// readEvaluation reads a report of --json.
func (a *app) readEvaluation(path string) (out RecallEvaluation, err error) {
	if path, err = a.Absolute(path); err != nil {
		return out, err
	}
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		return out, &amber.Error{Op: "read report", Kind: amber.KindInvalid, ID: filepath.Base(path), Err: err}
	}
	return out, nil
}

// compare compares each set with the one at its place in the other report.
func (e *RecallEvaluation) compare(other RecallEvaluation, each bool) error {
	if len(other.Sets) != len(e.Sets) {
		return cli.Usage("the report of --compare has %d sets, want %d", len(other.Sets), len(e.Sets))
	}
	for i := range e.Sets {
		c, err := eval.Compare(other.Sets[i], e.Sets[i])
		if err != nil {
			return err
		}
		e.Comparison = append(e.Comparison, c)
		if !each {
			e.Sets[i].Outcomes = nil
		}
	}
	return nil
}

// writePlot writes the image of calibrations.
func (a *app) writePlot(path string, reports []eval.RecallReport) error {
	path, err := a.Absolute(path)
	if err == nil {
		err = fsx.Replace(fsx.OS(), path, 0o644, []byte(eval.Plot(reports)))
	}
	if err != nil {
		return &amber.Error{Op: "write plot", Kind: amber.KindInternal, ID: filepath.Base(path), Err: err}
	}
	return nil
}

func (a *app) evalRecallSet(ctx context.Context, path string, o eval.RecallOptions) (report eval.RecallReport, err error) {
	r, err := eval.Open(path)
	if err != nil {
		return report, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	o.Progress = func(done int64) { a.Meter.Set(r.Name(), done, 0) }
	return eval.Recall(ctx, r, o)
}

// recallOptions checks the flags and the configuration. The server is nil where none stands beside
// the store.
func (a *app) recallOptions(cmd *cobra.Command, f *evalRecallFlags) (o eval.RecallOptions, server *Server, err error) {
	settings, err := f.settings(cmd)
	if err != nil {
		return o, nil, err
	}
	configuration, err := a.evalConfig(settings)
	if err != nil {
		return o, nil, err
	}
	if f.models, err = f.packs(a); err != nil {
		return o, nil, err
	}
	if server, err = besideViking(configuration); err != nil {
		return o, nil, err
	}
	switch {
	case !(f.minScore >= 0 && f.minScore <= 1):
		return o, nil, cli.Usage("--min-score is %v, want 0 to 1", f.minScore)
	case f.baseline != "" && f.baseline != BaselineBM25:
		return o, nil, cli.Usage("--baseline is %q, want bm25", cli.OneLine(f.baseline, 40))
	case f.only == OnlyMeaning && server != nil:
		return o, nil, cli.Usage("--only meaning is the built-in model alone, and memory.backend is openviking")
	}
	o = eval.RecallOptions{
		Open: func(ctx context.Context, begin amber.Time) (eval.Agent, error) {
			return a.newEvalAgent(ctx, configuration, f.evalFlags, begin)
		},
		Clock: a.Clock, MinScore: f.minScore, BM25: f.baseline != "", Each: f.each,
	}
	o.Layers, err = evalLayers(f.layers)
	return o, server, err
}

// evalLayers reads --layer.
func evalLayers(names []string) (layers []amber.RecallLayer, err error) {
	for _, n := range names {
		if n == LayerAll {
			return amber.RecallLayers(), nil
		}
		if err := amber.CheckOneOf("layer", amber.RecallLayer(n), amber.RecallLayers()...); err != nil {
			return nil, err
		}
		layers = append(layers, amber.RecallLayer(n))
	}
	return layers, nil
}
