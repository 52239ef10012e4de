package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/amber-memory/amber/internal/base/fsx"
	"github.com/amber-memory/amber/wire/sign"
)

// options are the flags.
type options struct {
	source, dist, version, key, targets, base, nfpm, certificates, deploy string

	packages bool
}

// release is a release that is being made.
type release struct {
	facts
	version
	source       string // the sources, absolute
	dist         string // what is released, absolute
	work         string // what is not, absolute
	base         string // where dist will be downloaded from
	nfpm         string
	certificates []byte
	targets      []target
	signer       sign.Signer
	trial        bool     // it is not for others: its key is thrown away, or nothing is signed
	missing      []string // packages that could not be made, and why
	out          io.Writer
}

// step makes files of a release. A step sees what those before it have made.
type step struct {
	name string
	do   func(context.Context, *release) error
}

// steps are the steps that were asked for.
func (o options) steps() []step {
	if o.packages {
		return []step{{"program", buildBinaries}, {"packages", runOutside}}
	}
	return theSteps()
}

// theSteps are the steps of a release, in their order. Packages of other languages come from release.sh files, see outside.
func theSteps() []step {
	return []step{
		{"binaries", buildBinaries},
		{"lists of contents", writeSBOMs},
		{"archives", writeArchives},
		{"units, compose file and chart", writeDeploy},
		{"deb and rpm", writePackages},
		{"formula", writeFormula},
		{"image", writeImage},
		{"install script", writeInstallScript},
		{"packs of models", runPacks},
		{"packages of other languages", runOutside},
		{"checksums and signature", writeSums},
	}
}

func (o options) run(ctx context.Context, out io.Writer) error {
	if o.deploy != "" {
		return deployFromSource(o.deploy)
	}
	r, done, err := o.prepare(ctx, out)
	if err != nil {
		return err
	}
	defer done()
	for _, s := range o.steps() {
		fmt.Fprintln(out, "==", s.name)
		if err := s.do(ctx, r); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
	}
	return r.tell()
}

// prepare finds out what is released, and empties its folder.
func (o options) prepare(ctx context.Context, out io.Writer) (r *release, done func(), err error) {
	r = &release{facts: theFacts(), out: out, nfpm: o.nfpm, base: o.base, trial: o.key == ""}
	if r.source, err = filepath.Abs(o.source); err != nil {
		return nil, nil, err
	}
	if r.dist, err = filepath.Abs(o.dist); err != nil {
		return nil, nil, err
	}
	if r.targets, err = parseTargets(o.targets); err != nil {
		return nil, nil, err
	}
	if err := r.findVersion(ctx, o.version); err != nil {
		return nil, nil, err
	}
	if r.base == "" {
		r.base = r.Homepage + "/releases/download/" + r.Tag
	}
	if o.certificates != "" {
		if r.certificates, err = os.ReadFile(o.certificates); err != nil {
			return nil, nil, fmt.Errorf("read the certificates of the image: %w; -certificates names another file", err)
		}
	}
	if r.work, err = os.MkdirTemp("", "amber-release-"); err != nil {
		return nil, nil, err
	}
	done = func() { _ = os.RemoveAll(r.work) }
	if err = r.empty(); err == nil && !o.packages {
		err = r.findKey(o.key)
	}
	if err != nil {
		done()
	}
	return r, done, err
}

// empty removes an earlier release. A folder with files of another kind is left alone.
func (r *release) empty() error {
	entries, err := os.ReadDir(r.dist)
	if err != nil && !os.IsNotExist(err) {
		return err
	}
	if len(entries) > 0 {
		if _, err := os.Stat(filepath.Join(r.dist, madeName)); err != nil {
			return fmt.Errorf("%s has files that no release has made: move them away, or name another folder with -dist", r.dist)
		}
	}
	if err := os.RemoveAll(r.dist); err != nil {
		return err
	}
	if err := os.MkdirAll(r.dist, 0o755); err != nil {
		return err
	}
	return r.write(madeName, []byte("make release has made this folder, and removes it before it makes it again.\n"))
}

// madeName is a file that says that a folder is one of releases. It is not a part of the release.
const madeName = ".made-by-release"

// findVersion asks git, unless the version was named, and the environment, for a tree without git.
func (r *release) findVersion(ctx context.Context, tag string) (err error) {
	if tag == "" {
		if tag, err = r.git(ctx, "describe", "--tags", "--always", "--dirty"); err != nil {
			return fmt.Errorf("find the version: %w; -version names one", err)
		}
	}
	if r.version, err = parseVersion(tag); err != nil {
		return err
	}
	r.Commit, _ = r.git(ctx, "rev-parse", "HEAD") // a tree without git has none
	seconds := os.Getenv("SOURCE_DATE_EPOCH")
	if seconds == "" {
		if seconds, err = r.git(ctx, "log", "-1", "--format=%ct"); err != nil {
			return fmt.Errorf("find the time of the commit: %w; SOURCE_DATE_EPOCH names one", err)
		}
	}
	n, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH is %q, want seconds since 1970", seconds)
	}
	r.Time = time.Unix(n, 0).UTC()
	return nil
}

func (r *release) git(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "git", append([]string{"-C", r.source}, args...)...).Output()
	return strings.TrimSpace(string(out)), err
}

// write makes a file of the release.
func (r *release) write(name string, data []byte) error { return put(r.dist, name, 0o644, data) }

// put makes a file below a folder, and the folders between.
func put(dir, name string, perm os.FileMode, data []byte) error {
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return fsx.Replace(fsx.OS(), path, perm, data)
}

// read reads a file of the sources.
func (r *release) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(r.source, filepath.FromSlash(name)))
}

// binary is where the program for a system was built.
func (r *release) binary(t target) string {
	return filepath.Join(r.work, "bin", t.OS+"_"+t.Arch, t.Binary())
}

// stem is how the names of the files for a system begin.
func (r *release) stem(t target) string { return r.Name + "_" + r.Number + "_" + t.OS + "_" + t.Arch }

// of returns the targets of one system.
func (r *release) of(os string) (out []target) {
	for _, t := range r.targets {
		if t.OS == os {
			out = append(out, t)
		}
	}
	return out
}

// buildBinaries builds the program for every system: static, without symbols, without the paths of this machine.
func buildBinaries(ctx context.Context, r *release) error {
	for _, t := range r.targets {
		c := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=auto", "-ldflags", "-s -w -X main.version="+r.Tag, "-o", r.binary(t), "./cmd/amber")
		c.Dir = r.source
		c.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.OS, "GOARCH="+t.Arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT=")
		var said bytes.Buffer
		c.Stdout, c.Stderr = &said, &said
		if err := c.Run(); err != nil {
			return fmt.Errorf("build for %s: %w: %s", t, err, said.String())
		}
		info, err := os.Stat(r.binary(t))
		if err != nil {
			return err
		}
		fmt.Fprintf(r.out, "   %-14s %5.1f MiB\n", t, float64(info.Size())/(1<<20))
	}
	return nil
}

// digestOf is the SHA-256 of bytes, in hexadecimal.
func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
