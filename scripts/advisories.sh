#!/bin/sh
# Looks for published advisories about the code that the program is built from: govulncheck and the vulnerability database of
# Go. It fails for an advisory about code that Amber calls. Where the database cannot be reached, nothing is checked: the
# last line says so, and AMBER_ADVISORIES=required makes that a failure.
#
# GOVULNDB names another database, as for govulncheck. AMBER_ADVISORIES_PACKAGES names other packages.
set -eu
cd "$(dirname "$0")/.."
database=${GOVULNDB:-https://vuln.go.dev}
version=v1.8.0

leave() { # leave REASON
  echo "NOT CHECKED: advisories of dependencies: $1" >&2
  [ "${AMBER_ADVISORIES:-}" = required ] && exit 1
  exit 0
}
case $database in
file://*) [ -e "${database#file://}/index/modules.json" ] || leave "there is no database in $database" ;;
*) curl -fsS --max-time 20 -o /dev/null "$database/index/modules.json" 2>/dev/null || leave "$database cannot be reached" ;;
esac
tool=bin/tools/govulncheck-$version
if [ ! -x "$tool" ]; then
  GOBIN=$PWD/bin/tools go install "golang.org/x/vuln/cmd/govulncheck@$version" || leave "govulncheck cannot be installed"
  mv bin/tools/govulncheck "$tool"
fi
said=$(mktemp)
trap 'rm -f "$said"' EXIT
code=0
# shellcheck disable=SC2086 # several packages
timeout -k 10 600 "$tool" -db "$database" ${AMBER_ADVISORIES_PACKAGES:-./cmd/amber} >"$said" 2>&1 || code=$?
cat "$said"
grep -q '^Your code is affected by' "$said" && exit 3 # also where it did not end by itself
case $code in
0) echo "advisories of dependencies: none about code that is called, by $database" ;;
124 | 137) leave "govulncheck did not end within 10 minutes" ;;
*) exit "$code" ;;
esac
