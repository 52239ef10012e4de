#!/bin/sh
# Runs the real clients of MCP against Amber: the newest official Python client, as it
# negotiates by itself, and the newest inspector, in the eras "auto" and "modern". Each
# calls every default tool over stdio and over HTTP, and reads resources and prompts.
#
#   sh docs/python/mcp.sh             the newest Python client
#   sh docs/python/mcp.sh 2.3.0       that one
#   INSPECTOR=2.12.0 sh docs/python/mcp.sh
#
# AMBER is the program to use; without it it is built here, with Go. PYTHON is the
# interpreter (python3). npm is needed; where node is older than the inspector wants, a newer
# one is taken from npm. The network is needed for pip and npm alone. Everything is in a
# temporary folder that is removed at the end, however it ends.
set -eu

version=${1:-}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tmp=$(mktemp -d)
server=

cleanup() {
	code=$?
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
	fi
	if [ "$code" -ne 0 ]; then
		echo "FAILED (exit $code); the server said:" >&2
		tail -n 20 "$tmp/serve.log" >&2 || true
	fi
	rm -rf "$tmp"
	exit "$code"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

if [ -z "${AMBER:-}" ]; then
	AMBER="$tmp/amber"
	(cd "$here/../.." && CGO_ENABLED=0 go build -trimpath -o "$AMBER" ./cmd/amber)
fi
export AMBER

# Nothing of the caller's: no home, no configuration, no proxy, no catalogue of servers.
unset AMBER_HOME AMBER_REMOTE AMBER_TOKEN_FILE PYTHONPATH NODE_OPTIONS
export XDG_CONFIG_HOME="$tmp/config" MCP_CATALOG_PATH="$tmp/catalog.json" no_proxy=127.0.0.1 NO_PROXY=127.0.0.1

"${PYTHON:-python3}" -m venv "$tmp/venv"
python="$tmp/venv/bin/python"
"$python" -m pip install --quiet --disable-pip-version-check "mcp${version:+==$version}"

# npm would choose an old inspector that an old node can run, so the newest node comes first.
mkdir "$tmp/node"
(cd "$tmp/node" && npm init -y >/dev/null 2>&1)
if ! node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 22 || a === 22 && b >= 19 ? 0 : 1)' 2>/dev/null; then
	npm install --prefix "$tmp/node" --silent --no-audit --no-fund node@latest
	PATH="$tmp/node/node_modules/.bin:$PATH"
fi
npm install --prefix "$tmp/node" --silent --no-audit --no-fund "@modelcontextprotocol/inspector@${INSPECTOR:-latest}"
export PATH INSPECTOR_BIN="$tmp/node/node_modules/.bin/mcp-inspector"

"$AMBER" --home "$tmp/http" serve --listen 127.0.0.1:0 >"$tmp/url" 2>"$tmp/serve.log" &
server=$!
tries=0
until grep -q '^http://' "$tmp/url"; do
	tries=$((tries + 1))
	if [ "$tries" -gt 100 ] || ! kill -0 "$server" 2>/dev/null; then
		echo "amber serve did not start" >&2
		exit 1
	fi
	sleep 0.1
done
url=$(grep -m1 '^http://' "$tmp/url")/mcp

"$python" "$here/mcp_check.py" python stdio "$tmp/stdio"
"$python" "$here/mcp_check.py" python http "$url"
for era in auto modern; do
	"$python" "$here/mcp_check.py" "$era" stdio "$tmp/stdio"
	"$python" "$here/mcp_check.py" "$era" http "$url"
done

echo "amber:     $("$AMBER" version | head -n 1)"
echo "python:    $("$python" -c 'import sys; print(sys.version.split()[0])'), $("$python" -m pip list --disable-pip-version-check 2>/dev/null | grep -E '^mcp ' | tr -s ' ')"
echo "inspector: $("$INSPECTOR_BIN" --version), node $(node --version)"
echo "all good"
