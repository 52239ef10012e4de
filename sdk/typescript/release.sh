#!/bin/sh
# Makes the packages for npm of a release: $AMBER_VERSION into $AMBER_DIST, with the programs of
# $AMBER_BINARIES/OS_ARCH. Needs Node 20 with npm, and the network for the compiler; ends with 69 where one is missing.
set -eu
cd "$(dirname "$0")"
node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 20 ? 1 : 0)' 2>/dev/null && command -v npm >/dev/null 2>&1 || {
  echo "node (20 or newer) with npm is missing"
  exit 69
}
cmp -s package-lock.json node_modules/.amber-lock || {
  npm ci --no-audit --no-fund --ignore-scripts --loglevel=error || {
    echo "npm cannot install the compiler"
    exit 69
  }
  cp package-lock.json node_modules/.amber-lock
}
npm run --silent build
node scripts/pack.mjs --version "$AMBER_VERSION" --out "$AMBER_DIST" --binaries "$AMBER_BINARIES"
