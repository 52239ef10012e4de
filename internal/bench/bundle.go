package main

import (
	"context"
	"os"
	"path/filepath"
)

// What is measured of bundles. Redaction is apart: nothing else does it.
const (
	bundleExport   = "bundle export --no-redact"
	bundleRedacted = "bundle export"
	bundleRestore  = "restore of a bundle"
)

// bundles measures the file that leaves the machine, at the level of the other
// tool.
func (l *lab) bundles(ctx context.Context, dir, id string) error {
	exact, redacted := filepath.Join(dir, "exact.tar.zst"), filepath.Join(dir, "redacted.tar.zst")
	if err := l.timed(ctx, bundleExport, "bundle", "export", id, "--no-redact", "-o", exact); err != nil {
		return err
	}
	if err := l.timed(ctx, bundleRedacted, "bundle", "export", id, "-o", redacted); err != nil {
		return err
	}
	if err := l.timed(ctx, bundleRestore, "snapshot", "restore", exact, "--no-safety-snapshot", "--yes"); err != nil {
		return err
	}
	for _, file := range []string{exact, redacted} {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	return nil
}

// bundled compares bundles with tar and zstd, measured in the same run.
func (l *lab) bundled() []line {
	var lines []line
	peer := tarZstd().name
	for _, pair := range [][2]string{{bundleExport, peer + ": first"}, {bundleRestore, peer + ": restore"}} {
		ours, theirs := l.costs[pair[0]], l.costs[pair[1]]
		if len(ours) == 0 || len(theirs) == 0 {
			continue
		}
		lines = append(lines, line{
			name: pair[0] + " against " + peer, amount: float64(ours.wall()) / float64(theirs.wall()), unit: "x", limit: limitBundle,
			note: ms(ours.wall()) + " and " + ms(theirs.wall()),
		})
	}
	return lines
}
