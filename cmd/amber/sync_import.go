package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/gitsync"
)

// syncImportFlags say what is imported.
type syncImportFlags struct {
	upstream      string
	requireSigned bool
	timeout       time.Duration
}

func (f *syncImportFlags) add(cmd *cobra.Command) {
	addUpstreamFlag(cmd, &f.upstream, "only what this branch holds; without a name the one that the current branch tracks")
	cmd.Flags().BoolVar(&f.requireSigned, "require-signed", false, "only what a trusted key has signed (default if sync.require_signed)")
}

func (a *app) syncImportCommand(f *syncFlags) *cobra.Command {
	var i syncImportFlags
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Take in what others wrote to the folder",
		Long: `Take in every chunk of the folder that was not taken in before. Each one is checked, its bytes,
its counts and each record, and goes in as a whole or not at all. One that is damaged, too new or
refused goes to quarantine and is named; the others go in, and it exits 5. Doing it again changes
nothing.

The later version of a memory wins wherever it arrives; when two people changed it without knowing
of each other, sync status shows both texts. What was deleted stays deleted.

What is imported has the trust "imported", or "signed" where a trusted key has signed it: see key
trust. With --require-signed, or sync.require_signed, nothing else is imported.

With --upstream only files count that the branch holds, whatever is checked out.
--format engram --dir FILE takes in a JSON backup of Engram.`,
		Example: `  git pull && amber sync import
  amber sync import --upstream --require-signed
  amber sync import --format engram --dir backup.json`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			stop, err := limited(cmd, i.timeout)
			if err != nil {
				return err
			}
			defer stop()
			return a.withFolder(cmd, f, func(ctx context.Context, s *opened, dir string) error {
				r, err := a.syncImport(ctx, cmd, s, f, i, dir)
				if err != nil {
					return err
				}
				return a.showTakenIn(r)
			})
		},
	}
	i.add(cmd)
	addTimeoutFlag(cmd, &i.timeout)
	return cmd
}

// syncImport imports from a folder.
func (a *app) syncImport(ctx context.Context, cmd *cobra.Command, s *opened, f *syncFlags, i syncImportFlags, dir string) (amber.SyncImport, error) {
	none := amber.SyncImport{}
	config := s.config.Config
	if err := config.Memory.CheckWrite(); err != nil {
		return none, err
	}
	if cmd.Flags().Changed("upstream") && i.upstream == "" {
		return none, usage("--upstream is empty")
	}
	o := gitsync.Options{RequireSigned: config.Sync.RequireSigned}
	if cmd.Flags().Changed("require-signed") {
		o.RequireSigned = i.requireSigned
	}
	g, err := a.openSync(s, f, o, dir)
	if err != nil {
		return none, err
	}
	if o.RequireSigned && g.Format() == amber.SyncEngram {
		e := amber.Errorf(amber.KindRefused, "import", g.Dir(), "what Engram writes is not signed, and signatures are required")
		e.Hint = "what Amber exports is signed: have it shared with amber sync export"
		return none, e
	}
	only, err := a.upstreamOnly(ctx, g.Dir(), i.upstream)
	if err != nil {
		return none, err
	}
	r, err := working(a, "importing", func() (amber.SyncImport, error) { return g.ImportOnly(ctx, only) })
	r.Quarantined = orEmpty(r.Quarantined)
	return r, err
}

// showTakenIn prints the report. Chunks that were not imported make it an
// error.
func (a *app) showTakenIn(r amber.SyncImport) error {
	if err := a.out.show(r, func(w io.Writer) { a.printImported(w, r) }); err != nil {
		return err
	}
	if r.Conflicts > 0 {
		a.out.note("%s changed at two places at once: amber sync status shows both texts", count(int64(r.Conflicts), "memory was", "memories were"))
	}
	if len(r.Missing) > 0 {
		a.out.warn("%s that others build on %s not here: %s", count(int64(len(r.Missing)), "chunk", "chunks"), are(len(r.Missing)), shortChunks(r.Missing))
	}
	return a.judged(quarantineError(r.Quarantined))
}

// quarantineError says that chunks were not imported; nil when all were.
func quarantineError(bad []amber.QuarantinedChunk) error {
	if len(bad) == 0 {
		return nil
	}
	n := int64(len(bad))
	e := amber.Errorf(amber.KindDamaged, "import", "", "%s not imported, the first because: %s", count(n, "chunk was", "chunks were"), flat(bad[0].Reason))
	e.Hint = quarantineHints[bad[0].Kind]
	if e.Hint == "" {
		e.Hint = "amber sync status names them"
	}
	return e
}

// quarantineHints tell what helps against a chunk that is not imported.
var quarantineHints = map[amber.Kind]string{
	amber.KindDamaged:  "git checkout or git pull brings the files back; a broken manifest of Engram is mended by amber sync repair",
	amber.KindTooNew:   "update amber, and import again",
	amber.KindRefused:  "amber key trust, if you know who signed it",
	amber.KindNotFound: "git checkout or git pull brings the files back",
}

func (a *app) printImported(w io.Writer, r amber.SyncImport) {
	switch {
	case r.Chunks == 0 && len(r.Quarantined) == 0:
		fmt.Fprintf(w, "nothing new in %s, %s\n", flat(r.Dir), known(r.Skipped))
	case r.Chunks == 0:
		fmt.Fprintf(w, "imported nothing from %s, %s\n", flat(r.Dir), known(r.Skipped))
	default:
		fmt.Fprintf(w, "imported %s from %s: %s; %s\n", count(int64(r.Chunks), "chunk", "chunks"), flat(r.Dir),
			countRows(r.Observations, r.Sessions, r.Prompts, r.Relations, 0), known(r.Skipped))
	}
	a.printQuarantined(w, r.Quarantined)
}

func known(chunks int) string { return count(int64(chunks), "chunk was", "chunks were") + " known" }

func are(n int) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

// printQuarantined names the chunks that are not imported, and why.
func (a *app) printQuarantined(w io.Writer, bad []amber.QuarantinedChunk) {
	for _, q := range bad[:min(len(bad), maxWarnings)] {
		fmt.Fprintf(w, "  %s %s: %s: %s\n", a.out.style(amb, "NOT IMPORTED"), shortChunk(q.ID), q.Kind, flat(q.Reason))
	}
	if more := len(bad) - maxWarnings; more > 0 {
		fmt.Fprintf(w, "  %s %d more\n", a.out.style(amb, "NOT IMPORTED"), more)
	}
}

// shortChunk is the beginning of a chunk's id: unlike other ids it is random
// from its first digit.
func shortChunk(id string) string { return flat(id[:min(len(id), 16)]) }

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
