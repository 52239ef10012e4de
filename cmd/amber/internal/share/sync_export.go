package share

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/wire"
	"github.com/amber-memory/amber/wire/sign"
)

// syncExportFlags say what is exported, and how.
type syncExportFlags struct {
	projectFlags
	author        string
	refuseSecrets bool
	again         bool
	sign, noSign  bool
	prompts       bool
	timeout       time.Duration
}

func (f *syncExportFlags) add(cmd *cobra.Command) {
	f.projectFlags.add(cmd)
	fl := cmd.Flags()
	fl.StringVar(&f.author, "created-by", "", "who exports (default $USER, else $USERNAME, else the machine)")
	fl.BoolVar(&f.refuseSecrets, "refuse-secrets", false, "export nothing when a secret would have to be taken out")
	fl.BoolVar(&f.again, "again", false, "export everything that the folder does not hold, also what was exported before")
	fl.BoolVar(&f.sign, "sign", false, "sign it (default unless sync.sign is false)")
	fl.BoolVar(&f.noSign, "no-sign", false, "do not sign it")
	fl.BoolVar(&f.prompts, "prompts", false, "share what was typed to an agent, too (default if sync.prompts)")
}

func (a *app) syncExportCommand(f *syncFlags) *cobra.Command {
	var e syncExportFlags
	cmd := cli.Verb("export", func(cmd *cobra.Command, _ []string) error {
		stop, err := limited(cmd, e.timeout)
		if err != nil {
			return err
		}
		defer stop()
		project, err := a.exportProject(cmd, e.projectFlags)
		if err != nil {
			return err
		}
		return a.withFolder(cmd, f, func(ctx context.Context, s *cli.Opened, dir string) error {
			a.noteNameless(cmd, e.projectFlags)
			report, err := a.syncExport(ctx, cmd, s, f, e, dir, project)
			if err != nil && report.Also == nil {
				return err
			}
			if report.IsEmpty && report.Also == nil {
				if err := a.noteOtherProjects(ctx, s, project); err != nil {
					return err
				}
			}
			// If the second folder failed, the first is still reported.
			return errors.Join(a.showGivenOut(report, cmp.Or(wire.SyncFormat(f.format), gitsync.FormatOf(dir)) == wire.SyncEngram), a.Judged(err))
		})
	})
	e.add(cmd)
	addTimeoutFlag(cmd, &e.timeout)
	return cmd
}

// syncExport exports to a folder, and to the one beside it. With an error Also
// is set when it is that of the second.
func (a *app) syncExport(ctx context.Context, cmd *cobra.Command, s *cli.Opened, f *syncFlags, e syncExportFlags, dir, project string) (wire.SyncExport, error) {
	none := wire.SyncExport{}
	signs, err := cli.Either(cmd, "sign", "no-sign", s.Config.Config.Sync.Sign)
	if err != nil {
		return none, err
	}
	o := gitsync.ExportOptions{Project: project, RefuseSecrets: e.refuseSecrets, Again: e.again, NoRedact: !s.Config.Config.Export.Redact}
	if o.CreatedBy, err = a.author(cmd, e.author); err != nil {
		return none, err
	}
	prompts := s.Config.Config.Sync.Prompts
	if cmd.Flags().Changed("prompts") {
		prompts = e.prompts
	}
	signer := func(ctx context.Context) (sign.Signer, error) { return a.signer(ctx, s, signs) }
	return cli.Working(a.App, "exporting", func() (wire.SyncExport, error) {
		return a.syncOptions(ctx, s, f, gitsync.Options{Prompts: prompts}).ExportBoth(ctx, s.Store, dir, o, signer)
	})
}

// noteOtherProjects says, when nothing was exported, that all memories belong to
// other projects: the clone may have another name than expected.
func (a *app) noteOtherProjects(ctx context.Context, s *cli.Opened, project string) error {
	if project == "" {
		return nil
	}
	mine, err := s.Store.Memories.List(ctx, amber.ListQuery{
		Filter: amber.Filter{Scope: amber.ScopeProject, Identities: amber.Identities{ProjectID: project}}, Deleted: true, Limit: 1,
	})
	if err != nil || len(mine.Items) > 0 {
		return err
	}
	any, err := s.Store.Memories.List(ctx, amber.ListQuery{All: true, Limit: 1})
	if err == nil && len(any.Items) > 0 {
		a.Out.Note("no memory belongs to the project %s; --project NAME exports another project, --all every project", cli.Flat(project))
	}
	return err
}

func (a *app) showGivenOut(r wire.SyncExport, engram bool) error {
	err := a.Out.Show(r, func(w io.Writer) {
		printExported(w, r)
		if r.Also != nil {
			printExported(w, *r.Also)
		}
	})
	a.noteExported(r)
	a.notePrompts(r, engram)
	if r.Also != nil {
		a.notePrompts(*r.Also, false)
	}
	return err
}

func printExported(w io.Writer, r wire.SyncExport) {
	if r.IsEmpty {
		fmt.Fprintf(w, "nothing new for %s\n", cli.Flat(r.Dir))
		return
	}
	fmt.Fprintf(w, "exported %s to %s: %s\n", countRows(r.Observations, r.Sessions, r.Prompts, r.Relations, r.Deleted),
		cli.Flat(r.Dir), cli.Flat(strings.Join(r.ChunkIDs, " ")))
}

// countRows lists the kinds of records there were, with their numbers.
func countRows(memories, sessions, prompts, relations, deleted int) string {
	var parts []string
	for _, k := range []struct {
		n         int
		one, many string
	}{
		{memories, "memory", "memories"},
		{sessions, "session", "sessions"},
		{prompts, "prompt", "prompts"},
		{relations, "relation", "relations"},
		{deleted, "deletion", "deletions"},
	} {
		if k.n > 0 {
			parts = append(parts, words.Count(int64(k.n), k.one, k.many))
		}
	}
	if len(parts) == 0 {
		return "nothing that was not known"
	}
	return strings.Join(parts, ", ")
}

// noteExported reports what was taken out and what stayed, once for both folders.
func (a *app) noteExported(r wire.SyncExport) {
	a.noteRemoved(r.Redacted)
	for _, w := range r.Withheld[:min(len(r.Withheld), cli.MaxWarnings)] {
		a.Out.Warn("not exported: %s %s: %s", w.Ref.Scope, cli.ShortID(w.Ref.ID), w.Reason)
	}
	if more := len(r.Withheld) - cli.MaxWarnings; more > 0 {
		a.Out.Warn("not exported: %d more", more)
	}
	if r.Also != nil && r.IsEmpty {
		a.noteExported(*r.Also)
	}
}

// notePrompts reports what became of the prompts that were typed to an agent: that they stayed, or that they
// are in a folder of Engram.
func (a *app) notePrompts(r wire.SyncExport, engram bool) {
	var parts []string
	if r.PromptsKept > 0 {
		parts = append(parts, words.Count(int64(r.PromptsKept), "prompt", "prompts"))
	}
	if r.DigestsKept > 0 {
		parts = append(parts, words.Count(int64(r.DigestsKept), "digest of a session", "digests of sessions"))
	}
	if len(parts) > 0 {
		a.Out.Note("not shared: %s; amber sync export --prompts --again shares what was typed", strings.Join(parts, " and "))
	}
	if engram && r.Prompts > 0 {
		a.Out.Note("%s in %s: Engram shares what was typed to an agent, and so does this format", words.Count(int64(r.Prompts), "prompt is", "prompts are"), cli.Flat(r.Dir))
	}
}
