#!/bin/sh
# Tests the package for Node: types, contract, servers, and its packages in a clean
# folder. $1 is the program. Needs Node 20 with npm, and the network once.
set -eu
cd "$(dirname "$0")/.."
amber=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")

leave() { # leave REASON: says that nothing was tested, which is an error where it has to be
  echo "NOT TESTED: the TypeScript package: $1" >&2
  [ "${AMBER_TYPESCRIPT:-}" = required ] && exit 1
  exit 0
}
if ! node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' 2>/dev/null; then
  leave "node (20 or newer) is missing"
fi
command -v npm >/dev/null 2>&1 || leave "npm is missing"
cd sdk/typescript
if ! cmp -s package-lock.json node_modules/.amber-lock; then
  npm ci --no-audit --no-fund --ignore-scripts --loglevel=error || leave "npm cannot install the compiler"
  cp package-lock.json node_modules/.amber-lock
fi
AMBER_BINARY="$amber" npm test --silent
echo "TypeScript package: tested"
