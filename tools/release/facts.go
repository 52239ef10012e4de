package main

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// facts are what every package, unit, chart and image says of Amber. There is this one table of them.
type facts struct {
	Name        string // of the program, the packages, the user and the services
	Title       string // one line
	Description string // a few
	Licence     string // SPDX
	Homepage    string
	Maintainer  string
	Image       string // where the image lies, without a tag
	LocalImage  string // what an image is called that was built from the sources
	Port        int
	DataDir     string // of the system service
	ImageData   string // in the image
	UID         int    // in the image
	GoImage     string // what the Containerfile builds with
	BaseImage   string // and what it adds git from
	Postgres    string // the image in the compose file
	Storage     string
	StopSeconds int // a server finishes its requests within 30 s
}

func theFacts() facts {
	return facts{
		Name:  "amber",
		Title: "Amber, durable memory for AI agents",
		Description: "One program that keeps sessions, turns, long-term memories, notes, tasks and queues of AI agents.\n" +
			"What it has acknowledged is on disk and survives kill -9, power loss and a full disk.",
		Licence:     "Apache-2.0",
		Homepage:    "https://github.com/amber-memory/amber",
		Maintainer:  "The Amber authors <https://github.com/amber-memory/amber>",
		Image:       "ghcr.io/amber-memory/amber",
		LocalImage:  "localhost/amber",
		Port:        7411,
		DataDir:     "/var/lib/amber",
		ImageData:   "/data",
		UID:         10001,
		GoImage:     "docker.io/library/golang:1.26",
		BaseImage:   "docker.io/library/debian:stable-slim",
		Postgres:    "docker.io/library/postgres:17",
		Storage:     "docker.io/versity/versitygw:latest",
		StopSeconds: 45,
	}
}

// target is a system that Amber is built for.
type target struct{ OS, Arch string }

func (t target) String() string { return t.OS + "/" + t.Arch }

// Binary is the name of the program there.
func (t target) Binary() string {
	if t.OS == "windows" {
		return "amber.exe"
	}
	return "amber"
}

// theTargets are the systems of a release.
func theTargets() (out []target) {
	for _, os := range []string{"linux", "darwin", "windows"} {
		for _, arch := range []string{"amd64", "arm64"} {
			out = append(out, target{os, arch})
		}
	}
	return out
}

// parseTargets reads a list like linux/amd64,darwin/arm64; empty is all.
func parseTargets(list string) (out []target, err error) {
	if list == "" {
		return theTargets(), nil
	}
	for name := range strings.SplitSeq(list, ",") {
		found := false
		for _, t := range theTargets() {
			if t.String() == name {
				out, found = append(out, t), true
			}
		}
		if !found {
			return nil, fmt.Errorf("-targets has %q, want some of %v, joined by commas", name, theTargets())
		}
	}
	return out, nil
}

// version is the version of a release.
type version struct {
	Tag    string // as the program says it: v1.2.0, or what git describe has
	Number string // as packages want it: 1.2.0, 0.0.0-g9ed3f29 for a commit without a tag before it
	Commit string
	Time   time.Time // of the commit; everything in a release has this time
}

var (
	semver = regexp.MustCompile(`^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?$`)
	plain  = regexp.MustCompile(`^[0-9A-Za-z][0-9A-Za-z.-]*$`)
)

// parseVersion makes a version of what git describe says.
func parseVersion(tag string) (version, error) {
	number := strings.TrimPrefix(tag, "v")
	switch {
	case semver.MatchString(number):
		return version{Tag: tag, Number: number}, nil
	case plain.MatchString(tag): // git describe without a tag: the commit
		return version{Tag: tag, Number: "0.0.0-g" + strings.ReplaceAll(tag, ".", "-")}, nil
	}
	return version{}, fmt.Errorf("-version is %q, want one like v1.2.0 or the name of a commit", tag)
}
