#!/bin/sh
# Runs every shell block of the README in order, as a new user would paste them: in a
# fresh clone, with a home of its own, and from the third block on in another folder.
# The line "make test" is left out. It needs Go, git, bash, curl, and port 7411 free.
set -eu
repo=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT INT TERM

mkdir "$work/home" "$work/elsewhere"
gopath=$(go env GOPATH) gomodcache=$(go env GOMODCACHE) gocache=$(go env GOCACHE)
git clone -q "$repo" "$work/amber"

awk '
	/^```sh$/ { inside = 1; block++; print "echo \"== README block " block "\""; if (block == 3) print "cd \"$WORK/elsewhere\""; next }
	/^```$/   { inside = 0; next }
	inside && !/^make test/ { print }
' "$repo/README.md" >"$work/blocks.sh"

cd "$work/amber"
env -i HOME="$work/home" WORK="$work" PATH="$PATH" \
	GOPATH="$work/go" GOMODCACHE="$gomodcache" GOCACHE="$gocache" GOFLAGS="${GOFLAGS:-}" GOPROXY="$(go env GOPROXY)" \
	GIT_AUTHOR_NAME=new GIT_AUTHOR_EMAIL=new@example.org GIT_COMMITTER_NAME=new GIT_COMMITTER_EMAIL=new@example.org \
	bash -em "$work/blocks.sh"
echo "every block of the README works"
