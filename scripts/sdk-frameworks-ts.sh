#!/bin/sh
# Tests the adapters of the package for Node with the newest packages of the frameworks, and runs
# its examples. $1 is the program. Needs Node 20 with npm, and the network. The frameworks
# are installed in a temporary folder, and with them a newer Node where they want one.
# FRAMEWORKS_DIR names a folder that stays, for a second run without an install.
set -eu
cd "$(dirname "$0")/.."
amber=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
sdk=$PWD/sdk/typescript
dir=${FRAMEWORKS_DIR:-$(mktemp -d)}
[ -n "${FRAMEWORKS_DIR:-}" ] || trap 'rm -rf "$dir"' EXIT
packages="@anthropic-ai/sdk ai @mastra/core @mastra/memory"

cd "$sdk"
cmp -s package-lock.json node_modules/.amber-lock || {
  npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
  cp package-lock.json node_modules/.amber-lock
}
npm run build --silent

mkdir -p "$dir"
cd "$dir"
if [ ! -f installed ]; then
  echo '{"name":"frameworks","private":true,"type":"module"}' >package.json
  want=
  for p in $packages zod; do want="$want $p@latest"; done
  node -e 'process.exit(Number(process.versions.node.split(".")[0]) < 22 ? 1 : 0)' ||
    want="$want $(node -p '`node-${process.platform}-${process.arch}@24`')"
  # shellcheck disable=SC2086 # they are words
  npm install --no-audit --no-fund --ignore-scripts --loglevel=error $want
  touch installed
fi
node=node
for n in node_modules/node-*/bin/node; do [ -x "$n" ] && node=$dir/$n; done

echo "node $("$node" --version)"
for p in $packages; do
  echo "$p $(node -p 'JSON.parse(require("fs").readFileSync(process.argv[1])).version' "node_modules/$p/package.json")"
done

# The package as npm gets it, and the tests beside the frameworks.
rm -rf packed node_modules/amber-memory dist examples types snippets homes
node "$sdk/scripts/pack.mjs" --out packed >/dev/null
mkdir node_modules/amber-memory
tar -xzf packed/amber-memory-*.tgz -C node_modules/amber-memory --strip-components=1
cp -r "$sdk/dist" dist
AMBER_FRAMEWORKS=required AMBER_BINARY="$amber" "$node" --test --test-reporter=spec --test-timeout=120000 dist/test/integrations/*.test.js

# The examples, and what the documents show, compiled with the types of the frameworks.
cp -r "$sdk/examples" examples
cp -r "$sdk/test/types" types
node "$sdk/scripts/snippets.mjs" snippets "$sdk/../../docs/frameworks-ts.md" "$sdk/../../docs/typescript.md" "$sdk/README.md"
cat >tsconfig.json <<END
{"compilerOptions": {"target": "es2022", "module": "nodenext", "lib": ["es2022", "dom", "dom.iterable", "dom.asynciterable", "esnext.disposable"],
  "types": ["node"], "typeRoots": ["$sdk/node_modules/@types"], "strict": true, "exactOptionalPropertyTypes": false, "skipLibCheck": true}, "include": ["examples", "types", "snippets"]}
END
node "$sdk/node_modules/typescript/bin/tsc" -p .
for expected in examples/*.expected; do
  name=$(basename "$expected" .expected)
  AMBER_HOME="$dir/homes/$name" AMBER_BINARY="$amber" timeout 60 "$node" "examples/$name.js" >"examples/$name.out"
  diff -u "$expected" "examples/$name.out"
  echo "example $name: as expected"
done
echo "Adapters for TypeScript: tested"
