package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/gitsync"
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
	fl.BoolVar(&f.again, "again", false, "export everything that the folder does not hold, whatever was exported before")
	fl.BoolVar(&f.sign, "sign", false, "sign it (default unless sync.sign is false)")
	fl.BoolVar(&f.noSign, "no-sign", false, "do not sign it")
	fl.BoolVar(&f.prompts, "prompts", false, "share what was typed to an agent, too (default if sync.prompts)")
}

func (a *app) syncExportCommand(f *syncFlags) *cobra.Command {
	var e syncExportFlags
	cmd := &cobra.Command{
		Use:   "export",
		Short: "Write what is new to the folder",
		Long: `Write what is new since the last export to the folder, as a file that nobody ever changes:
memories with their edits and deletions, sessions and relations of the project. It is durable when
it is reported. Nothing new writes nothing. Commit the folder to share it.

Prompts, which is what was typed to an agent, and the digests that Amber makes of sessions, which
quote them, stay here unless --prompts or sync.prompts says otherwise; the report tells how many.
Those of before follow with --prompts --again. Engram itself writes prompts to its folder, and so
does --format engram.

Memories of scope user, what stands between <private> tags, and deleted text never leave.
Secrets are taken out, and what was is told, unless export.redact is false; with
--refuse-secrets nothing is exported instead.

With --format engram a folder .amber beside the .engram one is exported to as well, if there is
one, so that both hold the same.`,
		Example: `  amber sync export && git add .amber && git commit -m "share memory"
  amber sync export --all --refuse-secrets
  amber sync export --format engram`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			stop, err := limited(cmd, e.timeout)
			if err != nil {
				return err
			}
			defer stop()
			project, err := a.exportProject(cmd, e.projectFlags)
			if err != nil {
				return err
			}
			return a.withFolder(cmd, f, func(ctx context.Context, s *opened, dir string) error {
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
				// The sibling failed: what was written is reported all the same.
				return errors.Join(a.showGivenOut(report, f.isEngram(dir)), a.judged(err))
			})
		},
	}
	e.add(cmd)
	addTimeoutFlag(cmd, &e.timeout)
	return cmd
}

// syncExport exports to a folder, and to the one beside it. With an error Also
// is set when it is that of the second.
func (a *app) syncExport(ctx context.Context, cmd *cobra.Command, s *opened, f *syncFlags, e syncExportFlags, dir, project string) (amber.SyncExport, error) {
	none := amber.SyncExport{}
	sign, err := either(cmd, "sign", "no-sign", s.config.Config.Sync.Sign)
	if err != nil {
		return none, err
	}
	o := gitsync.ExportOptions{Project: project, RefuseSecrets: e.refuseSecrets, Again: e.again, NoRedact: !s.config.Config.Export.Redact}
	if o.CreatedBy, err = a.author(cmd, e.author); err != nil {
		return none, err
	}
	prompts := s.config.Config.Sync.Prompts
	if cmd.Flags().Changed("prompts") {
		prompts = e.prompts
	}
	export := func(f *syncFlags, dir string) (amber.SyncExport, error) {
		signer, err := a.signer(ctx, s, sign && !f.isEngram(dir))
		if err != nil {
			return none, err
		}
		g, err := a.openSync(s, f, gitsync.Options{Signer: signer, Prompts: prompts}, dir)
		if err != nil {
			return none, err
		}
		return working(a, "exporting", func() (amber.SyncExport, error) { return g.Export(ctx, o) })
	}
	report, err := export(f, dir)
	sibling := filepath.Join(filepath.Dir(dir), amberFolder)
	if err != nil || !f.isEngram(dir) || !isSyncFolder(sibling) {
		return report, err
	}
	also, err := export(&syncFlags{dir: sibling, format: string(amber.SyncAmber)}, sibling)
	report.Also = &also
	return report, err
}

// isSyncFolder reports whether there is a folder to export to. One that holds
// nothing but the name of the project is there for that name.
func isSyncFolder(path string) bool {
	if !isFolder(path) {
		return false
	}
	entries, err := os.ReadDir(path)
	return err != nil || len(entries) != 1 || entries[0].Name() != projectFile
}

func isFolder(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.IsDir()
}

// noteOtherProjects tells somebody who exports nothing that what there is
// belongs elsewhere: then a clone has another name than they think.
func (a *app) noteOtherProjects(ctx context.Context, s *opened, project string) error {
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
		a.out.note("no memory belongs to the project %s, and there are others: --project names another, --all takes every one", flat(project))
	}
	return err
}

func (a *app) showGivenOut(r amber.SyncExport, engram bool) error {
	err := a.out.show(r, func(w io.Writer) {
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

func printExported(w io.Writer, r amber.SyncExport) {
	if r.IsEmpty {
		fmt.Fprintf(w, "nothing new for %s\n", flat(r.Dir))
		return
	}
	fmt.Fprintf(w, "exported %s to %s: %s\n", countRows(r.Observations, r.Sessions, r.Prompts, r.Relations, r.Deleted),
		flat(r.Dir), flat(strings.Join(r.ChunkIDs, " ")))
}

// countRows tells what kinds of records there were.
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
			parts = append(parts, count(int64(k.n), k.one, k.many))
		}
	}
	if len(parts) == 0 {
		return "nothing that was not known"
	}
	return strings.Join(parts, ", ")
}

// noteExported tells what was taken out and what stayed, once for both folders.
func (a *app) noteExported(r amber.SyncExport) {
	total := 0
	for _, n := range r.Redacted {
		total += n
	}
	if total > 0 {
		a.out.note("redacted: %s taken out (%s)", count(int64(total), "passage", "passages"), flat(strings.Join(slices.Sorted(maps.Keys(r.Redacted)), ", ")))
	}
	for _, w := range r.Withheld[:min(len(r.Withheld), maxWarnings)] {
		a.out.warn("not exported: %s %s: %s", w.Ref.Scope, shortID(w.Ref.ID), w.Reason)
	}
	if more := len(r.Withheld) - maxWarnings; more > 0 {
		a.out.warn("not exported: %d more", more)
	}
	if r.Also != nil && r.IsEmpty {
		a.noteExported(*r.Also)
	}
}

// notePrompts tells of what was typed to an agent: that it stayed, or that it is
// in a folder of Engram.
func (a *app) notePrompts(r amber.SyncExport, engram bool) {
	var parts []string
	if r.PromptsKept > 0 {
		parts = append(parts, count(int64(r.PromptsKept), "prompt", "prompts"))
	}
	if r.DigestsKept > 0 {
		parts = append(parts, count(int64(r.DigestsKept), "digest of a session", "digests of sessions"))
	}
	if len(parts) > 0 {
		a.out.note("not shared: %s; amber sync export --prompts --again shares what was typed", strings.Join(parts, " and "))
	}
	if engram && r.Prompts > 0 {
		a.out.note("%s in %s: Engram shares what was typed to an agent, and so does this format", count(int64(r.Prompts), "prompt is", "prompts are"), flat(r.Dir))
	}
}
