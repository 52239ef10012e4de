package freeze

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/amber-memory/amber"
	"github.com/amber-memory/amber/agent"
	"github.com/amber-memory/amber/cmd/amber/internal/cli"
	"github.com/amber-memory/amber/internal/base/words"
	"github.com/amber-memory/amber/wire"
)

// restoreSource writes a source into a folder of its own. It does not ask:
// nothing is overwritten.
func (a *app) restoreSource(cmd *cobra.Command, arg string, f restoreFlags) error {
	dir, err := a.Absolute(f.to)
	if err != nil {
		return err
	}
	return a.WithSnapshot(cmd, cli.MayBeAbsent, arg, func(ctx context.Context, _ *cli.Opened, e cli.SnapshotEngine, ref wire.SnapshotRef) error {
		if err := checkEmptyFolder(dir); err != nil {
			return err
		}
		plan, err := planExtraction(ctx, e, ref, f.source)
		if err != nil {
			return err
		}
		plan.To, plan.DryRun = dir, true
		if !f.dryRun {
			plan, err = cli.Working(a.App, "writing", func() (agent.Extraction, error) { return e.ExtractSource(ctx, ref, f.source, dir) })
			if err != nil {
				return err
			}
		}
		plan.Checks, plan.Skipped = cli.OrEmpty(plan.Checks), cli.OrEmpty(plan.Skipped)
		err = a.Out.Show(plan, func(w io.Writer) { a.printExtraction(w, plan) })
		a.WarnSkipped(plan.Skipped, nil)
		return err
	})
}

// checkEmptyFolder refuses a place where something could be overwritten.
func checkEmptyFolder(dir string) error {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return &amber.Error{Op: "look into folder", Kind: amber.KindInvalid, Err: err}
	case len(entries) > 0:
		return amber.Errorf(amber.KindInvalid, "look into folder", dir, "the folder is not empty")
	}
	return nil
}

// planExtraction returns what a snapshot holds of a source.
func planExtraction(ctx context.Context, e cli.SnapshotEngine, ref wire.SnapshotRef, name string) (agent.Extraction, error) {
	d, err := e.ShowSnapshot(ctx, ref)
	if err != nil {
		return agent.Extraction{}, err
	}
	var names []string
	for _, s := range d.Sources {
		if s.Name != name {
			names = append(names, s.Name)
			continue
		}
		plan := agent.Extraction{From: ref.ID, Source: name, Files: s.Files, Bytes: s.Bytes, Fenced: s.Fenced}
		for _, skipped := range d.Skipped {
			if skipped.Part == "source:"+name {
				plan.Skipped = append(plan.Skipped, skipped)
			}
		}
		return plan, nil
	}
	holds := "it holds none"
	if len(names) > 0 {
		holds = "it holds " + cli.Flat(strings.Join(names, ", "))
	}
	return agent.Extraction{}, amber.Errorf(amber.KindNotFound, "find source", string(ref.ID), "the snapshot has no source %s; %s", cli.OneLine(name, 64), holds)
}

func (a *app) printExtraction(w io.Writer, x agent.Extraction) {
	did := "wrote"
	if x.DryRun {
		did = "would write"
	}
	fmt.Fprintf(w, "%s source %s, %s, %s, to %s\n", did, cli.Flat(x.Source), words.Count(x.Files, "file", "files"), cli.ByteSize(x.Bytes), cli.Flat(x.To))
	if !x.Fenced {
		fmt.Fprintln(w, "its parts were captured at slightly different instants")
	}
	a.PrintChecks(w, x.Checks)
}
