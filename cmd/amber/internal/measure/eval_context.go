package measure

import (
	"context"
	"errors"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/config"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/recall/eval"
)

// evalContextFlags are those of `eval context`.
type evalContextFlags struct {
	evalFlags
	budget time.Duration
}

// evalPatience is how long hooks may look for memories in an evaluation that does not measure whether they find
// them in time.
const evalPatience = time.Minute

// contextEvaluation is the answer of `eval context`.
type contextEvaluation struct {
	Model    string  `json:"model"`
	Models   string  `json:"models,omitempty"` // the folder of packs
	Only     string  `json:"only"`
	BudgetMS float64 `json:"budget_ms"`
	// Complaints counts hooks that printed an error, and Complaint is the first of them.
	Complaints int                  `json:"complaints"`
	Complaint  string               `json:"complaint,omitempty"`
	Sets       []eval.ContextReport `json:"sets"`
}

func (a *app) evalContextCommand() *cobra.Command {
	var f evalContextFlags
	cmd := cli.Verb("context", func(cmd *cobra.Command, args []string) error {
		report, err := a.evalContext(cmd, f, args)
		if err != nil {
			return err
		}
		if report.Complaints > 0 {
			a.Out.Note("%s printed an error, the first: %s", words.Count(report.Complaints, "hook", "hooks"), report.Complaint)
		}
		return a.Out.Show(report, func(w io.Writer) { a.printContextEvaluation(w, report) })
	})
	f.add(cmd)
	cli.SpanVar(cmd.Flags(), &f.budget, "context-timeout", config.Default().Context.Budget, "how long a hook may look for memories; the default is only judged")
	return cmd
}

// evalContext measures every set.
func (a *app) evalContext(cmd *cobra.Command, f evalContextFlags, sets []string) (out contextEvaluation, err error) {
	settings, err := f.settings(cmd)
	if err != nil {
		return out, err
	}
	if f.only == OnlyMeaning {
		return out, cli.Usage("--only meaning is for amber eval recall: hooks rank by words and by meaning")
	}
	if f.models, err = f.packs(a); err != nil {
		return out, err
	}
	configuration, err := a.evalConfig(settings)
	if err != nil {
		return out, err
	}
	if withoutViking(configuration, settings) {
		a.Out.Note("the OpenViking server of the configuration is not used: what hooks put before an agent is measured with the primary alone")
	}
	allowed := evalPatience
	if cmd.Flags().Changed("context-timeout") {
		allowed = f.budget
	}
	out = contextEvaluation{Model: f.model, Models: f.models, Only: f.only, BudgetMS: float64(f.budget) / float64(time.Millisecond)}
	o := eval.ContextOptions{
		Budget: f.budget, Each: f.each,
		Home: func(ctx context.Context, project string) (eval.Home, error) {
			h, err := NewHome(a.App, a.run, project, settings, allowed, func(text string) {
				if out.Complaints++; out.Complaint == "" {
					out.Complaint = cli.OneLine(text, 200)
				}
			})
			if err != nil {
				return nil, err
			}
			if err := withPacks(h.Main(), f.models); err != nil {
				return nil, errors.Join(err, h.Close())
			}
			return h, nil
		},
	}
	out.Sets, err = evalEach(a, cmd.Context(), sets, func(path string) (eval.ContextReport, error) { return a.evalContextSet(cmd.Context(), path, o) })
	return out, err
}

func (a *app) evalContextSet(ctx context.Context, path string, o eval.ContextOptions) (eval.ContextReport, error) {
	projects, err := eval.ReadSessions(path)
	if err != nil {
		return eval.ContextReport{}, err
	}
	name := filepath.Base(path)
	o.Progress = func(done int64) { a.Meter.Set(name, done, 0) }
	return eval.Context(ctx, name, projects, o)
}
