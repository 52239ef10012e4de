// Command release makes a release of Amber from one table of facts (facts.go) and one folder of templates: binaries for
// six systems, archives, deb and rpm, a Homebrew formula, an OCI image, a compose file, a Helm chart, systemd units, an
// install script, a list of what is in each binary, checksums and their signature. See docs/releasing.md.
//
// With -packages it makes only the packages of other languages, to try them on this machine. With -deploy it writes only
// the files of docs/deploy, which are made from the same templates.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	o := options{}
	flag.StringVar(&o.source, "source", ".", "the sources")
	flag.StringVar(&o.dist, "dist", "dist", "where the release goes; what is there is removed first")
	flag.StringVar(&o.version, "version", "", "the version (default what git describe says)")
	flag.StringVar(&o.key, "key", "", "the seed of the key that signs, as amber key new makes it (default a key for this run alone)")
	flag.StringVar(&o.targets, "targets", "", "systems to build for, such as linux/amd64,darwin/arm64 (default all six)")
	flag.StringVar(&o.base, "base", "", "where the files will be downloaded from (default those of the tag at GitHub)")
	flag.StringVar(&o.nfpm, "nfpm", "bin/tools/nfpm", "the program that makes deb and rpm")
	flag.StringVar(&o.certificates, "certificates", "/etc/ssl/certs/ca-certificates.crt", "the certificates that the image trusts, in PEM; empty: none")
	flag.BoolVar(&o.packages, "packages", false, "make only the packages of other languages, unsigned")
	flag.StringVar(&o.deploy, "deploy", "", "write the files of docs/deploy into this folder, and make no release")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := o.run(ctx, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}
