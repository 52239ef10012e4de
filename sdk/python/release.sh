#!/bin/sh
# Makes the wheels of a release: $AMBER_VERSION into $AMBER_DIST, one for each program of
# $AMBER_BINARIES/OS_ARCH. Needs Python 3.11; ends with 69 where that is missing.
set -eu
cd "$(dirname "$0")"
python3 -c 'import tomllib' 2>/dev/null || {
  echo "python3 (3.11 or newer) is missing"
  exit 69
}
for platform in linux-amd64 linux-arm64 darwin-amd64 darwin-arm64 windows-amd64 windows-arm64; do
  program=$AMBER_BINARIES/$(echo "$platform" | tr - _)/amber
  [ -e "$program" ] || program=$program.exe
  [ -e "$program" ] || continue # not a part of this release
  python3 scripts/wheel.py --version "$AMBER_VERSION" --out "$AMBER_DIST" --platform "$platform" --binary "$program" >/dev/null
done
