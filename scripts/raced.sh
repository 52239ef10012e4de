#!/bin/sh
# Prints a pattern for go test -run of the tests that are marked with race.Lane in these packages.
#
#	sh scripts/raced.sh agent internal/serve/httpapi
set -eu
names=$(for dir in "$@"; do
	awk '/^func Test/ { sub(/^func /, ""); sub(/\(.*/, ""); name = $0 } /^\trace\.Lane\(t\)$/ { print name }' "$dir"/*_test.go
done | sort -u | paste -sd '|' -)
test -n "$names" || { echo "no test in $* is marked with race.Lane" >&2; exit 1; }
echo "^($names)\$"
