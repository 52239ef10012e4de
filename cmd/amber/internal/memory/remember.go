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
	cmd := &cobra.Command{
		Use:   "remember TEXT|-",
		Short: "Store a memory",
		Long: `Store a memory and print its id. It is on disk when the id is printed.

Without --scope a memory belongs to what --session, --user, --project or --workspace
names, the first of them in this order. Without any of them it belongs to the project of
the git repository of the working directory; outside a repository it is global.

The same text of the same kind, scope and title is stored once: tags, metadata and a
summary that the memory lacks are added to it, and those that it has stay. The answer
says which (--json: added, not_taken). With --topic a new text becomes a new revision of
the memory on that topic.

With --jsonl each line of stdin is one memory as JSON. The fields of a line are:

  content          the text; the one field that every line needs
  title            as --title
  summary          as --summary
  topic            as --topic
  kind             as --kind
  scope            session, user, project, workspace or global
  session_id       as --session
  user_id          as --user
  project_id       as --project
  workspace_id     as --workspace
  tags             ["database", "decision"]
  metadata         {"key": "value"}
  source_refs      [{"kind": "file", "value": "main.go"}]
  trust            own, signed, imported or derived (default own)
  idempotency_key  as --idempotency-key
  created_at       when it was made: 2026-01-02T15:04:05Z or 2026-01-02 (default now)
  updated_at       when it was last changed (default created_at)

A line of "amber list --jsonl" is taken as it is, a forgotten memory too: it keeps its
id, dates, revision and all else, and no flag applies to it. If a memory with its id is
stored and says the same, nothing is written; if it says something else, the command
fails and that memory stays. Lines are written in batches, all or nothing per batch.`,
		Example: `  amber remember "We chose PostgreSQL for JSONB" --kind project_fact --tag database
  git log -1 --format=%B | amber remember - --title "last commit"
  amber list --all --jsonl | amber --agent copy --new-agent remember --jsonl`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.jsonl && len(args) == 0 {
				return nil
			}
			return cli.Exactly("a text, or - for stdin")(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
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
		},
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
