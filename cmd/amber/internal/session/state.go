package session

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

func (a *app) stateCommand() *cobra.Command {
	return cli.Family("state",
		a.stateListCommand(), a.stateGetCommand(), a.stateSetCommand(), a.stateDeleteCommand())
}

func (a *app) stateListCommand() *cobra.Command {
	var jsonl bool
	cmd := cli.Verb("list", func(cmd *cobra.Command, _ []string) error {
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			return cli.Listing(s.Store.Documents.ListDocuments(ctx))(a.App, jsonl, a.printDocuments)
		})
	})
	cli.AddJSONL(cmd, &jsonl)
	return cmd
}

func (a *app) printDocuments(w io.Writer, list []amber.Document) {
	p := a.Out
	for _, d := range list {
		detail := fmt.Sprintf("%8d bytes  %s", d.Bytes, d.Revision[:min(len(d.Revision), 12)])
		if d.Damage != "" {
			detail = "damaged: " + cli.OneLine(d.Damage, 200)
		}
		fmt.Fprintf(w, "%s  %s\n", p.Style(cli.Bold, fmt.Sprintf("%-40s", d.Name)), p.Style(cli.Dim, detail))
	}
}

// withDocument is withStore for a verb about one document; a name that is not
// valid is refused before anything is opened.
func (a *app) withDocument(cmd *cobra.Command, name string, fn func(ctx context.Context, d amber.Documents) error) error {
	if err := amber.CheckDocumentName(name); err != nil {
		return err
	}
	return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error { return fn(ctx, s.Store.Documents) })
}

func (a *app) stateGetCommand() *cobra.Command {
	return cli.Verb("get", func(cmd *cobra.Command, args []string) error {
		return a.withDocument(cmd, args[0], func(ctx context.Context, d amber.Documents) error {
			return cli.Answer(d.ReadDocument(ctx, args[0]))(a.Out, func(w io.Writer, doc amber.Document) {
				a.PrintNote(w, string(doc.Document))
			})
		})
	})
}

func (a *app) stateSetCommand() *cobra.Command {
	var r amber.DocumentWrite
	cmd := cli.Verb("set", func(cmd *cobra.Command, args []string) error {
		r := r
		if cmd.Flags().Changed("if-revision") && r.IfRevision == "" {
			return cli.Usage("--if-revision is empty")
		}
		return a.withDocument(cmd, args[0], func(ctx context.Context, d amber.Documents) error {
			text, err := a.Text(args[1], amber.MaxStateBytes)
			if err != nil {
				return err
			}
			r.Name, r.Document = args[0], json.RawMessage(text)
			return cli.Answer(d.PutDocument(ctx, r))(a.Out, func(w io.Writer, doc amber.Document) {
				fmt.Fprintln(w, doc.Name, doc.Revision)
			})
		})
	})
	cmd.Flags().StringVar(&r.IfRevision, "if-revision", "", "store it only over this revision")
	cmd.Flags().BoolVar(&r.IfAbsent, "if-absent", false, "store it only if there is no document of that name")
	return cmd
}

// deletedDocument is the JSON of state delete.
type deletedDocument struct {
	Name    string `json:"name"`
	Deleted bool   `json:"deleted"`
}

func (a *app) stateDeleteCommand() *cobra.Command {
	var revision string
	cmd := cli.Verb("delete", func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("if-revision") && revision == "" {
			return cli.Usage("--if-revision is empty")
		}
		return a.withDocument(cmd, args[0], func(ctx context.Context, d amber.Documents) error {
			if err := d.DeleteDocument(ctx, args[0], revision); err != nil {
				return err
			}
			return a.Out.Show(deletedDocument{args[0], true}, func(w io.Writer) { fmt.Fprintln(w, args[0]) })
		})
	})
	cmd.Flags().StringVar(&revision, "if-revision", "", "delete only this revision")
	return cmd
}
