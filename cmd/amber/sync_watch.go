package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
)

// minInterval keeps somebody from spinning.
const minInterval = 100 * time.Millisecond

func (a *app) syncWatchCommand(f *syncFlags) *cobra.Command {
	w := watcher{app: a, folder: f}
	var interval time.Duration
	cmd := &cobra.Command{
		Use:   "watch",
		Short: "Export and import as things change, until interrupted",
		Long: `Export what is new, and import what appeared in the folder, again and again until interrupted.
One line tells of each; with --json one object. A round that fails is told and does not end it.

Inside of a git work tree only what the upstream branch holds is imported, the one that the branch
tracks which is checked out when watching begins, or the one --upstream names: whoever looks at the
branch of a stranger does not import from it. Commit, push and pull stay yours.`,
		Example: `  amber sync watch --interval 30s
  amber sync watch --upstream=origin/main`,
		Args: exactly(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if interval < minInterval {
				return usage("--interval is %s; it must be at least %s", interval, minInterval)
			}
			w.cmd = cmd
			return w.run(interval)
		},
	}
	w.export.add(cmd)
	w.imports.add(cmd)
	cmd.Flags().DurationVar(&interval, "interval", 5*time.Second, "how often to look")
	return cmd
}

// watcher is one run of `sync watch`.
type watcher struct {
	*app
	cmd     *cobra.Command
	folder  *syncFlags
	export  syncExportFlags
	imports syncImportFlags
	dir     string
	project string
	seen    string // what the folder looked like at the last import
	failed  string // what was told last
}

// watched is one line of what happened.
type watched struct {
	At     amber.Time        `json:"at"`
	Export *amber.SyncExport `json:"export,omitempty"`
	Import *amber.SyncImport `json:"import,omitempty"`
	Error  *watchError       `json:"error,omitempty"`
}

type watchError struct {
	Kind    amber.Kind `json:"kind"`
	Message string     `json:"message"`
}

// run works until the context ends, which is no error: that is how one stops it.
func (w *watcher) run(interval time.Duration) error {
	ctx := w.cmd.Context()
	if err := w.prepare(ctx); err != nil {
		return err
	}
	w.out.note("watching %s every %s; end it with Ctrl-C", flat(w.dir), interval)
	for {
		if err := w.round(); ctx.Err() == nil {
			if err := w.tellError(err); err != nil {
				return err
			}
		}
		timer := time.NewTimer(interval)
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-timer.C:
		}
	}
}

// prepare finds out once what every round needs. A branch that is checked out
// later does not change what is imported.
func (w *watcher) prepare(ctx context.Context) error {
	err := w.folder.check(w.cmd)
	if err == nil {
		w.dir, err = w.syncDir(w.folder)
	}
	if err == nil {
		w.project, err = w.exportProject(w.cmd, w.export.projectFlags)
	}
	if err != nil {
		return err
	}
	if w.imports.upstream != "" && w.imports.upstream != trackedBranch {
		return nil
	}
	tree, err := w.workTree(ctx, w.dir)
	switch {
	case err == nil:
	case amber.KindOf(err) == amber.KindNotFound && w.imports.upstream == "":
		return nil // no work tree: everything in the folder counts
	default:
		return err
	}
	ref, err := tree.Upstream(ctx)
	if amber.KindOf(err) == amber.KindNotFound && w.imports.upstream == "" {
		w.out.note("the current branch tracks no other one: nothing is imported until it does; --upstream=BRANCH names one")
		w.imports.upstream = trackedBranch
		return nil
	}
	w.imports.upstream = ref
	return err
}

// round opens the store anew: somebody may have restored a snapshot meanwhile.
func (w *watcher) round() error {
	err := w.withStore(w.cmd, func(ctx context.Context, s *opened) error {
		return errors.Join(w.exportNew(ctx, s), w.importNew(ctx, s))
	})
	w.out.quiet = true // what opening had to say is known now
	return err
}

func (w *watcher) exportNew(ctx context.Context, s *opened) error {
	r, err := w.syncExport(ctx, w.cmd, s, w.folder, w.export, w.dir, w.project)
	if err != nil || r.IsEmpty && (r.Also == nil || r.Also.IsEmpty) {
		return err
	}
	return w.tell(watched{Export: &r}, func() string {
		text := "exported " + countRows(r.Observations, r.Sessions, r.Prompts, r.Relations, r.Deleted)
		if n := len(r.Withheld); n > 0 {
			text += fmt.Sprintf("; %d withheld", n)
		}
		return text
	})
}

func (w *watcher) importNew(ctx context.Context, s *opened) error {
	now, err := w.look(ctx)
	if err != nil || now == w.seen || now == "" {
		return err
	}
	r, err := w.syncImport(ctx, w.cmd, s, w.folder, w.imports, w.dir)
	if err != nil {
		return err
	}
	w.seen = now
	if r.Chunks == 0 && len(r.Quarantined) == 0 {
		return nil
	}
	return w.tell(watched{Import: &r}, func() string {
		text := fmt.Sprintf("imported %s: %s", count(int64(r.Chunks), "chunk", "chunks"), countRows(r.Observations, r.Sessions, r.Prompts, r.Relations, 0))
		if n := len(r.Quarantined); n > 0 {
			text += fmt.Sprintf("; %d NOT IMPORTED: amber sync status", n)
		}
		if r.Conflicts > 0 {
			text += fmt.Sprintf("; %d changed at two places: amber sync status", r.Conflicts)
		}
		return text
	})
}

// look returns what the folder looks like: names, sizes and times, and where the
// upstream branch is; "" when there is nothing to import.
func (w *watcher) look(ctx context.Context) (string, error) {
	var b strings.Builder
	for _, dir := range []string{w.dir, filepath.Join(w.dir, "chunks")} {
		entries, err := os.ReadDir(dir)
		if errors.Is(err, os.ErrNotExist) {
			return "", nil
		}
		if err != nil {
			return "", &amber.Error{Op: "look at folder", Kind: amber.KindInternal, ID: dir, Err: err}
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || e.IsDir() {
				continue
			}
			fmt.Fprintf(&b, "%s %d %d\n", e.Name(), info.Size(), info.ModTime().UnixNano())
		}
	}
	if w.imports.upstream == "" {
		return b.String(), nil
	}
	tree, err := w.workTree(ctx, w.dir)
	if err != nil {
		return "", err
	}
	if w.imports.upstream == trackedBranch {
		// There was none when watching began: the first that appears is it.
		ref, err := tree.Upstream(ctx)
		if amber.KindOf(err) == amber.KindNotFound {
			return "", nil
		}
		if err != nil {
			return "", err
		}
		w.imports.upstream = ref
	}
	commit, err := tree.Commit(ctx, w.imports.upstream)
	return b.String() + commit, err
}

// tell prints one line, or one object.
func (w *watcher) tell(what watched, text func() string) error {
	what.At = amber.At(w.clock())
	if w.out.json {
		return lines(w.out, []watched{what})
	}
	_, err := fmt.Fprintf(w.out.out, "%s %s\n", w.clock().Format("15:04:05"), text())
	return err
}

// tellError tells why a round failed, once as long as it is the same.
func (w *watcher) tellError(err error) error {
	message := ""
	if err != nil {
		message = flat(strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	same := message == w.failed
	w.failed = message
	if err == nil || same {
		return nil
	}
	return w.tell(watched{Error: &watchError{amber.KindOf(err), message}}, func() string { return "FAILED: " + message })
}
