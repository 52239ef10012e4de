#!/bin/sh
# Makes the packages for npm of a release: $AMBER_VERSION into $AMBER_DIST, with the programs of
# $AMBER_BINARIES/OS_ARCH. Needs Node 20 with npm, and the network for the compiler.
set -eu
cd "$(dirname "$0")"
npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
npm run --silent build
node scripts/pack.mjs --version "$AMBER_VERSION" --out "$AMBER_DIST" --binaries "$AMBER_BINARIES"
