#!/bin/sh
# Runs the real program Engram against Amber in one folder, and checks that each side takes in every
# row the other wrote, relations among them. Every row is counted on both sides.
#
#   sh docs/oracle/engram.sh                  Engram 1.20.0
#   sh docs/oracle/engram.sh 1.20.0 1.7.0     both; a version that cannot be had is a failure
#
# AMBER is the program to use; without it it is built here, with Go, and so is Engram, from the module
# proxy. ENGRAM_1_20_0=/path/to/engram (dots become underscores) names a program that is there
# already. PYTHON is the interpreter (python3), which needs no packages. Nothing else uses the
# network: Engram's look for a newer release is sent to a port where nobody listens. Everything is in
# a temporary folder that is removed at the end, however it ends.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM

[ "$#" -gt 0 ] || set -- 1.20.0

if [ -z "${AMBER:-}" ]; then
	AMBER="$tmp/amber"
	(cd "$here/../.." && CGO_ENABLED=0 go build -trimpath -o "$AMBER" ./cmd/amber)
fi

# get names the program of a version in $engram, and builds it where it is not given.
get() {
	engram=$(printenv "ENGRAM_$(printf %s "$1" | tr . _)" || true)
	[ -z "$engram" ] || return 0
	engram="$tmp/engram-$1"
	mkdir "$tmp/build-$1"
	(
		export GOFLAGS=-mod=mod GOWORK=off CGO_ENABLED=0
		cd "$tmp/build-$1" && go mod init oracle &&
			go get "github.com/Gentleman-Programming/engram@v$1" &&
			go build -trimpath -ldflags "-X main.version=$1" -o "$engram" github.com/Gentleman-Programming/engram/cmd/engram
	) >"$tmp/build.log" 2>&1
}

failed=
for version; do
	if ! get "$version"; then
		echo "FAILED: engram $version cannot be built:" >&2
		tail -n 3 "$tmp/build.log" >&2
		failed="$failed $version"
		continue
	fi
	mkdir "$tmp/$version"
	if ! "${PYTHON:-python3}" "$here/engram.py" "$AMBER" "$engram" "$version" "$tmp/$version"; then
		failed="$failed $version"
	fi
done
if [ -n "$failed" ]; then
	echo "FAILED:$failed" >&2
	exit 1
fi
echo "amber: $("$AMBER" version | head -n 1)"
echo "all good"
