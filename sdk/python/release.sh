#!/bin/sh
# Makes the wheels of a release: $AMBER_VERSION into $AMBER_DIST, one for each program of
# $AMBER_BINARIES/OS_ARCH. Needs Python 3.11.
set -eu
cd "$(dirname "$0")"
for platform in linux-amd64 linux-arm64 darwin-amd64 darwin-arm64 windows-amd64 windows-arm64; do
  program=$AMBER_BINARIES/$(echo "$platform" | tr - _)/amber
  [ -e "$program" ] || program=$program.exe
  python3 scripts/wheel.py --version "$AMBER_VERSION" --out "$AMBER_DIST" --platform "$platform" --binary "$program" >/dev/null
done
