package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// writePackages makes deb and rpm for every Linux that is built for.
func writePackages(ctx context.Context, r *release) error {
	for _, t := range r.of("linux") {
		config, err := r.packageFiles(t)
		if err != nil {
			return err
		}
		for _, kind := range []string{"deb", "rpm"} {
			c := exec.CommandContext(ctx, r.nfpm, "package", "--config", config, "--packager", kind, "--target", filepath.Join(r.dist, r.stem(t)+"."+kind))
			c.Dir = r.source
			c.Env = append(os.Environ(), r.epoch())
			var said bytes.Buffer
			c.Stdout, c.Stderr = &said, &said
			if err := c.Run(); err != nil {
				return fmt.Errorf("make the %s for %s: %w: %s", kind, t, err, said.String())
			}
		}
	}
	return nil
}

// packageFiles writes what goes into a package, and returns the configuration of nfpm.
func (r *release) packageFiles(t target) (string, error) {
	dir := filepath.Join(r.work, "package", t.Arch)
	w := where{Program: "/usr/bin/" + r.Name, UserProgram: "/usr/bin/" + r.Name, Arch: t.Arch, Binary: r.binary(t), Folder: dir, Source: r.source}
	for _, name := range []string{"amber.service", "amber-user.service", "sysusers.conf", "postinstall.sh", "preremove.sh", "postremove.sh", "nfpm.yaml"} {
		b, err := r.render(name, w)
		if err == nil {
			err = put(dir, name, 0o644, b)
		}
		if err != nil {
			return "", err
		}
	}
	return filepath.Join(dir, "nfpm.yaml"), nil
}
