package measure

import (
	"context"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
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
	return cmd
}

// evalRecall measures every set.
func (a *app) evalRecall(cmd *cobra.Command, f evalRecallFlags, sets []string) (out RecallEvaluation, err error) {
	o, server, err := a.recallOptions(cmd, &f)
	if err != nil {
		return out, err
	}
	out = RecallEvaluation{Model: f.model, Models: f.models, Only: f.only, MinScore: f.minScore, Baseline: f.baseline, Layers: o.Layers, OpenViking: server}
	out.Sets, err = evalEach(a, cmd.Context(), sets, func(path string) (eval.RecallReport, error) { return a.evalRecallSet(cmd.Context(), path, o) })
	return out, err
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
