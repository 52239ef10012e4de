package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// runOutside runs every sdk/*/release.sh of the sources. What it writes into $AMBER_DIST is a part of the release, with a
// checksum; the binaries for packages that carry one are in $AMBER_BINARIES/OS_ARCH.
func runOutside(ctx context.Context, r *release) error {
	scripts, err := filepath.Glob(filepath.Join(r.source, "sdk", "*", "release.sh"))
	if err != nil {
		return err
	}
	for _, script := range scripts {
		c := exec.CommandContext(ctx, "sh", script)
		c.Dir = filepath.Dir(script)
		c.Env = append(os.Environ(),
			"AMBER_VERSION="+r.Number, "AMBER_DIST="+r.dist, "AMBER_BINARIES="+filepath.Join(r.work, "bin"), r.epoch())
		c.Stdout, c.Stderr = r.out, r.out
		if err := c.Run(); err != nil {
			return fmt.Errorf("run %s: %w", script, err)
		}
	}
	return nil
}

// epoch is the time of the release, for programs that ask the environment.
func (r *release) epoch() string { return fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.Time.Unix()) }
