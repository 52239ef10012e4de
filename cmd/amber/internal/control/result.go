package control

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) resultCommand() *cobra.Command {
	return cli.Family("result",
		a.resultSaveCommand(), a.resultShowCommand(), a.resultListCommand(),
	)
}

func (a *app) resultSaveCommand() *cobra.Command {
	var r amber.Result
	var status string
	var evidence []string
	cmd := cli.Verb("save", func(cmd *cobra.Command, args []string) error {
		r := r
		r.Status = amber.ResultStatus(status)
		var err error
		if r.Payload, err = a.Text(args[0], amber.MaxStateBytes); err != nil {
			return err
		}
		if r.Evidence, err = evidences(evidence); err != nil {
			return err
		}
		return a.withTask(cmd, r.TaskID, func(ctx context.Context, s *cli.Opened) error {
			return cli.Answer(s.Store.Results.SaveResult(ctx, r))(a.Out, func(w io.Writer, saved amber.Result) {
				fmt.Fprintf(w, "saved the result of %s\n", cli.Flat(saved.NodeID))
			})
		})
	})
	fl := cmd.Flags()
	fl.StringVar(&r.TaskID, "task", "", "the task")
	fl.StringVar(&r.NodeID, "node", "", "the node")
	fl.StringVar(&r.Producer, "producer", "", "who produced it")
	fl.StringVar(&status, "status", string(amber.ResultOK), "ok or error")
	fl.Int64Var(&r.Fence, "fence", 0, "the fence of the lease; 0 for work that came from no queue")
	fl.Float64Var(&r.Confidence, "confidence", 0, "how sure the producer is, 0 to 1")
	fl.StringVar(&r.SchemaVersion, "schema-version", "", "the format of the payload (default result.v1)")
	fl.StringArrayVar(&evidence, "evidence", nil, "kind:value, what backs it (repeat)")
	return cmd
}

// evidences reads repeated kind:value flags.
func evidences(values []string) ([]amber.Evidence, error) {
	var out []amber.Evidence
	for _, v := range values {
		kind, value, ok := strings.Cut(v, ":")
		if !ok {
			return nil, cli.Usage("--evidence takes kind:value, not %q", cli.OneLine(v, 40))
		}
		out = append(out, amber.Evidence{Kind: kind, Value: value})
	}
	return out, nil
}

func (a *app) resultShowCommand() *cobra.Command {
	var task, node string
	cmd := cli.Verb("show", func(cmd *cobra.Command, _ []string) error {
		if err := amber.CheckID("node id", node); err != nil {
			return err
		}
		return a.withTask(cmd, task, func(ctx context.Context, s *cli.Opened) error {
			return cli.Answer(s.Store.Results.Result(ctx, task, node))(a.Out, a.printResult)
		})
	})
	cmd.Flags().StringVar(&task, "task", "", "the task")
	cmd.Flags().StringVar(&node, "node", "", "the node")
	return cmd
}

func (a *app) printResult(w io.Writer, r amber.Result) {
	fmt.Fprintf(w, "%s %s\n", a.Out.Style(cli.Bold, cli.Flat(r.TaskID+" "+r.NodeID)), cli.Flat(string(r.Status)))
	a.Out.Fact(w, "producer", r.Producer)
	a.Out.Fact(w, "schema version", r.SchemaVersion)
	a.Out.Fact(w, "confidence", fmt.Sprint(r.Confidence))
	a.Out.Fact(w, "fence", fmt.Sprint(r.Fence))
	for _, e := range r.Evidence {
		a.Out.Fact(w, "evidence", e.Kind+":"+e.Value)
	}
	a.Out.Fact(w, "saved", a.Out.When(r.UpdatedAt))
	fmt.Fprintf(w, "\n%s\n", cli.Safe(r.Payload))
}

func (a *app) resultListCommand() *cobra.Command {
	var task string
	var jsonl bool
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		return a.withTask(cmd, task, func(ctx context.Context, s *cli.Opened) error {
			return cli.Listing(amber.All(ctx, s.Store.Results.ListResults, task))(a.App, jsonl, a.printResults)
		})
	})
	cmd.Flags().StringVar(&task, "task", "", "the task")
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

func (a *app) printResults(w io.Writer, items []amber.Result) {
	cli.TableOf(w, []string{"NODE", "STATUS", "PRODUCER", "FENCE", "SAVED", "PAYLOAD"}, items, func(r amber.Result) []string {
		return []string{r.NodeID, string(r.Status), r.Producer, fmt.Sprint(r.Fence), a.Out.When(r.UpdatedAt), cli.OneLine(r.Payload, 60)}
	})
}
