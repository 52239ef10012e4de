package memory

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// editFlags are the fields to change.
type editFlags struct {
	title, kind, summary string
	tags, meta           []string
	clearTags            bool
	ifRevision           int64
}

func (a *app) editCommand() *cobra.Command { return a.editing(false) }

// editing is a verb that changes a memory, and with keep also vouches for it.
func (a *app) editing(keep bool) *cobra.Command {
	var f editFlags
	cmd := cli.Verb("edit", func(cmd *cobra.Command, args []string) error {
		req, err := a.editRequest(cmd, f, args[1:])
		if err != nil {
			return err
		}
		return a.WithMemory(cmd, args[0], func(ctx context.Context, s *cli.Opened, id amber.MemoryID) error {
			req.ID, req.Keep = id, keep
			err := cli.Answer(s.Store.Editor.Edit(ctx, req))(a.Out, func(w io.Writer, m amber.Memory) {
				fmt.Fprintf(w, "%s revision %d\n", m.ID, m.Revision)
			})
			if err == nil {
				s.IndexWritten(ctx, cli.WriteBudget)
			}
			return err
		})
	})
	fl := cmd.Flags()
	fl.StringVar(&f.title, "title", "", "the new title")
	fl.StringVar(&f.kind, "kind", "", "the new kind")
	fl.StringVar(&f.summary, "summary", "", "the new summary")
	fl.StringArrayVar(&f.tags, "tag", nil, "a tag (repeat); these replace the tags it has")
	fl.BoolVar(&f.clearTags, "clear-tags", false, "remove every tag")
	fl.StringArrayVar(&f.meta, "meta", nil, "key=value (repeat); these replace the metadata it has")
	fl.Int64Var(&f.ifRevision, "if-revision", 0, "change the memory only if this is its revision")
	return cmd
}

// editRequest reads what to change. A flag that is given empty empties its
// field; one that is not given leaves it.
func (a *app) editRequest(cmd *cobra.Command, f editFlags, text []string) (r amber.EditRequest, err error) {
	given := cmd.Flags().Changed
	if given("if-revision") && f.ifRevision < 1 {
		return r, cli.Usage("--if-revision is %d; revisions count from 1", f.ifRevision)
	}
	if given("tag") && f.clearTags {
		return r, cli.Usage("--tag and --clear-tags exclude each other")
	}
	r.IfRevision = f.ifRevision
	if given("title") {
		r.Title = &f.title
	}
	if given("summary") {
		r.Summary = &f.summary
	}
	if given("kind") {
		kind := amber.MemoryKind(f.kind)
		r.Kind = &kind
	}
	if given("tag") || f.clearTags {
		r.Tags = &f.tags
	}
	if given("meta") {
		meta, err := cli.Pairs("meta", f.meta)
		if err != nil {
			return r, err
		}
		r.Metadata = &meta
	}
	if len(text) == 0 && r == (amber.EditRequest{IfRevision: r.IfRevision}) {
		return r, cli.Usage("there is nothing to change; give a text or a flag such as --title")
	}
	if len(text) > 0 {
		content, err := a.Text(text[0], amber.MaxContentBytes)
		if err != nil {
			return r, err
		}
		r.Content = &content
	}
	return r, nil
}
