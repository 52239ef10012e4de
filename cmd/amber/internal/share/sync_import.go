package share

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/share/gitsync/githook"
	"github.com/amber-memory/amber/wire"
)

// syncImportFlags say what is imported.
type syncImportFlags struct {
	upstream      string
	requireSigned bool
	timeout       time.Duration
}

func (f *syncImportFlags) add(cmd *cobra.Command) {
	addUpstreamFlag(cmd, &f.upstream, "only files that this branch holds; without a name the branch that the current one tracks")
	cmd.Flags().BoolVar(&f.requireSigned, "require-signed", false, "only chunks that a trusted key has signed (default if sync.require_signed)")
}

func (a *app) syncImportCommand(f *syncFlags) *cobra.Command {
	var i syncImportFlags
	cmd := cli.Verb("import", func(cmd *cobra.Command, _ []string) error {
		stop, err := limited(cmd, i.timeout)
		if err != nil {
			return err
		}
		defer stop()
		return a.withFolder(cmd, f, func(ctx context.Context, s *cli.Opened, dir string) error {
			r, err := a.syncImport(ctx, cmd, s, f, i, dir, func(dir string) (func(string) bool, error) {
				return githook.Options{Environ: a.Environ}.UpstreamOnly(ctx, dir, i.upstream)
			})
			if err != nil {
				return err
			}
			err = a.showTakenIn(r)
			if r.Chunks > 0 && s.Local != nil {
				s.Local.SyncWithin(ctx, s.Config.Config.Search.Budget)
			}
			return err
		})
	})
	i.add(cmd)
	addTimeoutFlag(cmd, &i.timeout)
	return cmd
}

// syncImport imports from a folder the files that only lets through.
func (a *app) syncImport(ctx context.Context, cmd *cobra.Command, s *cli.Opened, f *syncFlags, i syncImportFlags, dir string, only func(dir string) (func(string) bool, error)) (wire.SyncImport, error) {
	none := wire.SyncImport{}
	config := s.Config.Config
	if err := config.Memory.CheckWrite(); err != nil {
		return none, err
	}
	if cmd.Flags().Changed("upstream") && i.upstream == "" {
		return none, cli.Usage("--upstream is empty")
	}
	o := gitsync.Options{RequireSigned: config.Sync.RequireSigned}
	if cmd.Flags().Changed("require-signed") {
		o.RequireSigned = i.requireSigned
	}
	g, err := a.syncOptions(ctx, s, f, o).Open(s.Store, dir)
	if err != nil {
		return none, err
	}
	files, err := only(g.Dir())
	if err != nil {
		return none, err
	}
	r, err := cli.Working(a.App, "importing", func() (wire.SyncImport, error) { return g.ImportOnly(ctx, files) })
	r.Quarantined = cli.OrEmpty(r.Quarantined)
	return r, err
}

// showTakenIn prints the report. Chunks that were not imported make it an
// error.
func (a *app) showTakenIn(r wire.SyncImport) error {
	if err := a.Out.Show(r, func(w io.Writer) { a.printImported(w, r) }); err != nil {
		return err
	}
	if r.Conflicts > 0 {
		a.Out.Note("%s changed at two places at once: amber sync status shows both texts", words.Count(int64(r.Conflicts), "memory was", "memories were"))
	}
	if len(r.Missing) > 0 {
		a.Out.Warn("%s that others need %s missing: %s", words.Count(int64(len(r.Missing)), "chunk", "chunks"), are(len(r.Missing)), shortChunks(r.Missing))
	}
	return a.Judged(gitsync.QuarantineError(r))
}

func (a *app) printImported(w io.Writer, r wire.SyncImport) {
	switch {
	case r.Chunks == 0 && len(r.Quarantined) == 0:
		fmt.Fprintf(w, "nothing new in %s, %s\n", cli.Flat(r.Dir), known(r.Skipped))
	case r.Chunks == 0:
		fmt.Fprintf(w, "imported nothing from %s, %s\n", cli.Flat(r.Dir), known(r.Skipped))
	default:
		fmt.Fprintf(w, "imported %s from %s: %s; %s\n", words.Count(int64(r.Chunks), "chunk", "chunks"), cli.Flat(r.Dir),
			countRows(r.Observations, r.Sessions, r.Prompts, r.Relations, 0), known(r.Skipped))
	}
	a.printQuarantined(w, r.Quarantined)
}

func known(chunks int) string {
	return words.Count(int64(chunks), "chunk was", "chunks were") + " known"
}

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// printQuarantined names the chunks that are not imported, and why.
func (a *app) printQuarantined(w io.Writer, bad []amber.QuarantinedChunk) {
	for _, q := range bad[:min(len(bad), cli.MaxWarnings)] {
		fmt.Fprintf(w, "  %s %s: %s: %s\n", a.Out.Style(cli.Amb, "NOT IMPORTED"), shortChunk(q.ID), q.Kind, cli.Flat(q.Reason))
	}
	if more := len(bad) - cli.MaxWarnings; more > 0 {
		fmt.Fprintf(w, "  %s %d more\n", a.Out.Style(cli.Amb, "NOT IMPORTED"), more)
	}
}

// shortChunk is the beginning of a chunk's id: unlike other ids it is random
// from its first digit.
func shortChunk(id string) string { return cli.Flat(id[:min(len(id), 16)]) }

func shortChunks(ids []string) string {
	const most = 5
	var short []string
	for _, id := range ids[:min(len(ids), most)] {
		short = append(short, shortChunk(id))
	}
	if more := len(ids) - most; more > 0 {
		short = append(short, fmt.Sprintf("%d more", more))
	}
	return strings.Join(short, ", ")
}
