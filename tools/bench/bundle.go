package main

import (
	"context"
	"os"
	"path/filepath"
)

// Measurements of bundles. Redaction is apart: no other tool does it.
const (
	bundleExport   = "bundle export --no-redact"
	bundleRedacted = "bundle export"
	bundleRestore  = "restore of a bundle"
)

// bundles measures the file that leaves the machine, at the level of the other
// tool.
func (l *lab) bundles(ctx context.Context, dir, id string) {
	exact, redacted := filepath.Join(dir, "exact.tar.zst"), filepath.Join(dir, "redacted.tar.zst")
	l.timed(ctx, bundleExport, "bundle", "export", id, "--no-redact", "-o", exact)
	l.timed(ctx, bundleRedacted, "bundle", "export", id, "-o", redacted)
	l.timed(ctx, bundleRestore, "snapshot", "restore", exact, "--no-safety-snapshot", "--yes")
	l.durableTar(ctx, dir)
	for _, file := range []string{exact, redacted} {
		check(os.Remove(file))
	}
}

// tarSynced is a restore with tar that returns when everything is on disk, as
// one of Amber does.
const tarSynced = "tar | zstd -3: restore and sync"

func (l *lab) durableTar(ctx context.Context, dir string) {
	file, out := filepath.Join(dir, "peer-zstd", "1.tar.zst"), filepath.Join(dir, "synced")
	if _, err := os.Stat(file); err != nil {
		return // it is not installed
	}
	took := get(command{
		program: "sh",
		args:    []string{"-c", `mkdir "$2" && zstd -q -dc "$1" | tar -xf - -C "$2" && sync -f "$2"`, "sh", file, out},
	}.run(ctx))
	l.costs[tarSynced] = append(l.costs[tarSynced], took)
	check(os.RemoveAll(out))
}

// bundled compares bundles with tar and zstd, measured in the same run.
func (l *lab) bundled() []line {
	var lines []line
	peer := tarZstd().name
	for _, pair := range []struct {
		ours, theirs string
		limit        float64
	}{{bundleExport, peer + ": first", limitBundle}, {bundleRestore, peer + ": restore", limitBundle}, {bundleRestore, tarSynced, 0}} {
		ours, theirs := l.costs[pair.ours], l.costs[pair.theirs]
		if len(ours) == 0 || len(theirs) == 0 {
			continue
		}
		lines = append(lines, line{
			name: pair.ours + " / " + pair.theirs, amount: float64(ours.wall()) / float64(theirs.wall()), unit: "x", limit: pair.limit,
			note: ms(ours.wall()) + " and " + ms(theirs.wall()),
		})
	}
	return lines
}
