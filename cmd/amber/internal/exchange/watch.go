package exchange

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/internal/share/foreign"
	"github.com/amber-memory/amber/internal/share/foreign/transfer"
)

// watchEvery is how often files are looked at.
const watchEvery = 2 * time.Second

// watch imports, and again whenever the names, sizes or times of files change, until it is interrupted.
func (a *app) watch(cmd *cobra.Command, paths []string, f importFlags, o transfer.Options) error {
	if f.dryRun {
		return cli.Usage("--watch and --dry-run exclude each other")
	}
	ctx := cmd.Context()
	last := ""
	for {
		now, err := outline(paths)
		if err != nil {
			return err
		}
		if now != last {
			if err := a.importAll(cmd, paths, f, o); err != nil {
				return err
			}
			last = now
			a.Out.Note("watching %s; interrupt to stop", words.Count(int64(len(paths)), "path", "paths"))
		}
		if !a.pause(ctx, watchEvery) {
			return nil
		}
	}
}

// pause waits, and reports false when the command is to stop.
func (a *app) pause(ctx context.Context, d time.Duration) bool {
	after := a.After
	if after == nil {
		after = time.After
	}
	select {
	case <-ctx.Done():
		return false
	case <-after(d):
		return true
	}
}

// outline lists the files at paths with their sizes and times, in one text.
func outline(paths []string) (text string, err error) {
	for _, p := range paths {
		t, err := foreign.Open(p)
		if err != nil {
			return "", err
		}
		for _, f := range t.Files() {
			text += fmt.Sprintf("%s %d %d\n", f.Name, f.Size, f.Modified.UnixNano())
		}
		if err := t.Close(); err != nil {
			return "", err
		}
	}
	return text, nil
}
