package memory

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
)

// rememberFlags describe the memory.
type rememberFlags struct {
	cli.IdentityFlags
	title, kind, summary, topic, key string
	tags, meta, sources              []string
	jsonl                            bool
}

func (a *app) rememberCommand() *cobra.Command {
	var f rememberFlags
	cmd := cli.Verb("remember", func(cmd *cobra.Command, args []string) error {
		return a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
			if f.jsonl {
				err := a.rememberLines(ctx, s, f)
				s.IndexWritten(ctx, s.Config.Config.Search.Budget)
				return err
			}
			err := a.rememberOne(ctx, s, f, args[0])
			if err == nil {
				s.IndexWritten(ctx, cli.WriteBudget)
			}
			return err
		})
	})
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if f.jsonl && len(args) == 0 {
			return nil
		}
		return cli.Exactly("a text, or - for stdin")(cmd, args)
	}
	f.IdentityFlags.Add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.title, "title", "", "a title; it counts more than the text when recalling")
	fl.StringVar(&f.kind, "kind", "", "user_preference, user_fact, project_fact, workspace_fact, historical_case, constraint, workflow_insight or session_summary, or a common name such as decision or bugfix (default workspace_fact)")
	fl.StringVar(&f.summary, "summary", "", "a summary")
	fl.StringVar(&f.topic, "topic", "", "one memory per topic; writing again revises it")
	fl.StringArrayVar(&f.tags, "tag", nil, "a tag (repeat)")
	fl.StringArrayVar(&f.meta, "meta", nil, "key=value (repeat)")
	fl.StringArrayVar(&f.sources, "source", nil, "kind:value, where it comes from (repeat)")
	fl.StringVar(&f.key, "idempotency-key", "", "the same key returns the first answer for 7 days")
	fl.BoolVar(&f.jsonl, "jsonl", false, "read one memory per line of stdin as JSON")
	return cmd
}

func (a *app) rememberOne(ctx context.Context, s *cli.Opened, f rememberFlags, arg string) error {
	content, err := a.Text(arg, amber.MaxContentBytes)
	if err != nil {
		return err
	}
	meta, err := cli.Pairs("meta", f.meta)
	if err != nil {
		return err
	}
	refs, err := cli.Sources(f.sources)
	if err != nil {
		return err
	}
	req := amber.WriteRequest{
		Kind: amber.MemoryKind(f.kind), Scope: amber.Scope(f.Scope), Title: f.title, Content: content, Summary: f.summary,
		Topic: f.topic, Tags: f.tags, Metadata: meta, SourceRefs: refs, IdempotencyKey: f.key,
	}
	if req, err = a.Place(ctx, s, req, f.IdentityFlags); err != nil {
		return err
	}
	return cli.Answer(s.Store.LongTerm.Write(ctx, req))(a.Out, func(w io.Writer, ack amber.WriteAck) {
		fmt.Fprintln(w, ack.ID)
		a.tellStored(ack)
		if amber.Review(s.Config.Config.Write.Review).Waits(ack.Trust, ack.Scope, ack.Kind) {
			a.Out.Note("the memory is an agent's, and is not put before other agents until its owner keeps it: amber review")
		}
	})
}

// tellStored says what became of a memory that was stored already.
func (a *app) tellStored(ack amber.WriteAck) {
	if !ack.Deduplicated {
		return
	}
	a.Out.Note("the memory was stored already")
	if len(ack.Added) > 0 {
		a.Out.Note("added to the memory: %s", cli.Flat(strings.Join(ack.Added, ", ")))
	}
	if len(ack.NotTaken) > 0 {
		a.Out.Note("not taken, the memory keeps what it has: %s; amber edit changes it", cli.Flat(strings.Join(ack.NotTaken, ", ")))
	}
}
