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
# The tests depend on the files of the package, the program and this Node: with all as they were, make test does not repeat them.
tested="$(find . ../contract -type f ! -path './node_modules/*' ! -path './dist/*' | sort | xargs cat | cksum) $(cksum <"$amber") $(node -v)"
if [ "${AMBER_TYPESCRIPT:-}" != required ] && [ "$tested" = "$(cat node_modules/.amber-tested 2>/dev/null)" ]; then
  echo "TypeScript package: tested before with this program"
  exit 0
fi
AMBER_BINARY="$amber" npm test --silent

# The packages with the program itself, as npm puts them into a clean folder: the README's example
# runs there with nothing else of Amber in reach. It packs for seconds, so not with make test.
if [ "${AMBER_TYPESCRIPT:-}" = required ]; then
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  node=$(command -v node)
  platform=$(node -p 'process.platform + "-" + process.arch')
  mkdir "$dir/binaries" "$dir/program" "$dir/user" "$dir/empty"
  cp "$amber" "$dir/binaries/amber-$platform"
  node scripts/pack.mjs --version 0.0.1 --out "$dir/out" --binaries "$dir/binaries"
  sed -n '/^```js$/,/^```$/p' README.md | sed '/^```/d' >"$dir/program/main.mjs"
  cd "$dir/program"
  echo '{"name":"program","private":true,"type":"module"}' >package.json
  npm_config_cache="$dir/cache" npm install --offline --no-audit --no-fund --ignore-scripts --loglevel=error \
    "$dir/out/amber-memory-0.0.1.tgz" "$dir/out/amber-memory-$platform-0.0.1.tgz"
  cmp "$amber" "node_modules/amber-memory-$platform/bin/amber"
  said=$(timeout 60 env -i HOME="$dir/user" PATH="$dir/empty" "$node" main.mjs)
  [ "$said" = "Ada prefers short answers" ] || { echo "README.md in a clean folder: want Ada prefers short answers, found: $said" >&2; exit 1; }
  echo "README.md in a clean folder with the program from npm: as expected"
fi
echo "TypeScript package: tested"
echo "$tested" >node_modules/.amber-tested
