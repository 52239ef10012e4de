package share

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/gitsync"
	"github.com/amber-memory/amber/internal/share/gitsync/githook"
	"github.com/amber-memory/amber/wire"
)

func (a *app) syncWatchCommand(f *syncFlags) *cobra.Command {
	var e syncExportFlags
	var i syncImportFlags
	var interval time.Duration
	cmd := cli.Verb("watch", func(cmd *cobra.Command, _ []string) error {
		if interval < gitsync.MinInterval {
			return cli.Usage("--interval is %s, want at least %s", interval, gitsync.MinInterval)
		}
		return a.watch(cmd, f, e, i, interval)
	})
	e.add(cmd)
	i.add(cmd)
	cli.SpanVar(cmd.Flags(), &interval, "interval", 5*time.Second, "how often to look")
	return cmd
}

func (a *app) watch(cmd *cobra.Command, f *syncFlags, e syncExportFlags, i syncImportFlags, interval time.Duration) error {
	dir, err := a.syncDir(cmd, f)
	if err != nil {
		return err
	}
	project, err := a.exportProject(cmd, e.projectFlags)
	if err != nil {
		return err
	}
	w, err := gitsync.NewWatch(cmd.Context(), gitsync.WatchOptions{
		Dir: dir, Interval: interval, Upstream: i.upstream, Git: githook.Options{Environ: a.Environ}, Clock: a.Clock, Tell: a.tellWatched,
		With: func(_ context.Context, fn func(context.Context, gitsync.Round) error) error {
			err := a.WithStore(cmd, func(ctx context.Context, s *cli.Opened) error {
				return fn(ctx, watchRound{a, cmd, s, f, e, i, dir, project})
			})
			a.Out.Quiet = true // notes about opening are printed once
			return err
		},
	})
	if err != nil {
		return err
	}
	if w.NoUpstream {
		a.Out.Note("the current branch tracks no other branch: nothing is imported until it does; --upstream=BRANCH names one")
	}
	a.Out.Note("watching %s every %s; end it with Ctrl-C", cli.Flat(dir), interval)
	return w.Run(cmd.Context())
}

// watchRound is one round of sync watch.
type watchRound struct {
	a            *app
	cmd          *cobra.Command
	s            *cli.Opened
	f            *syncFlags
	e            syncExportFlags
	i            syncImportFlags
	dir, project string
}

// Export implements [gitsync.Round].
func (r watchRound) Export(ctx context.Context) (wire.SyncExport, error) {
	return r.a.syncExport(ctx, r.cmd, r.s, r.f, r.e, r.dir, r.project)
}

// Import implements [gitsync.Round].
func (r watchRound) Import(ctx context.Context, only func(string) bool) (wire.SyncImport, error) {
	return r.a.syncImport(ctx, r.cmd, r.s, r.f, r.i, r.dir, func(string) (func(string) bool, error) { return only, nil })
}

// tellWatched prints one line, or one object.
func (a *app) tellWatched(w gitsync.Watched) error {
	if w.Error != nil {
		w.Error.Message = cli.Flat(w.Error.Message)
	}
	if a.Out.JSON {
		return cli.Lines(a.Out, []gitsync.Watched{w})
	}
	_, err := fmt.Fprintf(a.Out.Out, "%s %s\n", a.Clock().Format("15:04:05"), describeWatched(w))
	return err
}

func describeWatched(w gitsync.Watched) string {
	switch {
	case w.Export != nil:
		r := w.Export
		text := "exported " + countRows(r.Observations, r.Sessions, r.Prompts, r.Relations, r.Deleted)
		if n := len(r.Withheld); n > 0 {
			text += fmt.Sprintf("; %d withheld", n)
		}
		return text
	case w.Import != nil:
		r := w.Import
		text := fmt.Sprintf("imported %s: %s", words.Count(int64(r.Chunks), "chunk", "chunks"), countRows(r.Observations, r.Sessions, r.Prompts, r.Relations, 0))
		if n := len(r.Quarantined); n > 0 {
			text += fmt.Sprintf("; %d NOT IMPORTED: amber sync status", n)
		}
		if r.Conflicts > 0 {
			text += fmt.Sprintf("; %d changed at two places: amber sync status", r.Conflicts)
		}
		return text
	}
	return "FAILED: " + w.Error.Message
}
