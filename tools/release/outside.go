package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

// cannot is how a release.sh ends that lacks a program on this machine; the last line it printed says which.
const cannot = 69

// runOutside runs every sdk/*/release.sh of the sources. Files that a script writes into $AMBER_DIST are a part of the
// release, with a checksum; the binaries for packages that carry one are in $AMBER_BINARIES/OS_ARCH. A release with a
// real key is whole or is not made; one with a key for one run says what it lacks.
func runOutside(ctx context.Context, r *release) error {
	scripts, err := filepath.Glob(filepath.Join(r.source, "sdk", "*", "release.sh"))
	if err != nil {
		return err
	}
	for _, script := range scripts {
		if err := r.script(ctx, filepath.Base(filepath.Dir(script)), script); err != nil {
			return err
		}
	}
	if len(r.missing) == 0 || r.signer == nil {
		return nil
	}
	return r.write(throwawayName, []byte(throwawayText+"\nAnd it lacks packages:\n\n  "+strings.Join(r.missing, "\n  ")+"\n"))
}

// runPacks makes the packs of models beside the built-in one, with the program for this machine.
func runPacks(ctx context.Context, r *release) error {
	program := filepath.Join(r.work, "bin", runtime.GOOS+"_"+runtime.GOARCH, "amber")
	if _, err := os.Stat(program); err != nil {
		if !r.trial {
			return fmt.Errorf("the packs are made by the program for this machine: %w", err)
		}
		r.missing = append(r.missing, "packs: there is no program for this machine")
		return nil
	}
	return r.script(ctx, "packs", filepath.Join(r.source, "scripts", "packs.sh"), program, r.dist)
}

// script runs a script that makes files of the release.
func (r *release) script(ctx context.Context, name, script string, args ...string) error {
	c := exec.CommandContext(ctx, "sh", append([]string{script}, args...)...)
	c.Dir = filepath.Dir(script)
	c.Env = append(os.Environ(),
		"AMBER_VERSION="+r.Number, "AMBER_DIST="+r.dist, "AMBER_BINARIES="+filepath.Join(r.work, "bin"), r.epoch())
	var said bytes.Buffer
	both := io.MultiWriter(r.out, &said)
	c.Stdout, c.Stderr = both, both // one and the same, so that nothing is written at the same time
	err := c.Run()
	if c.ProcessState != nil && c.ProcessState.ExitCode() == cannot && r.trial {
		lines := strings.Split(strings.TrimSpace(said.String()), "\n")
		r.missing = append(r.missing, name+": "+lines[len(lines)-1])
		return nil
	}
	if err != nil {
		return fmt.Errorf("run %s: %w", script, err)
	}
	return nil
}

// epoch is the time of the release, for programs that ask the environment.
func (r *release) epoch() string { return fmt.Sprintf("SOURCE_DATE_EPOCH=%d", r.Time.Unix()) }
