#!/bin/sh
# Runs the real Python client, colony-memory with colony-sdk, against `amber serve`, and
# checks that each side reads what the other wrote.
#
#   sh docs/python/vault.sh             the newest colony-memory
#   sh docs/python/vault.sh 0.1.0       that one
#
# AMBER is the program to use; without it it is built here, with Go. PYTHON is the
# interpreter (python3). The network is needed for pip alone. Everything is in a temporary
# folder that is removed at the end, however it ends.
set -eu

version=${1:-}
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tmp=$(mktemp -d)
server=

stop() {
	if [ -n "$server" ]; then
		kill "-$1" "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
		server=
	fi
}

cleanup() {
	code=$?
	stop TERM
	if [ "$code" -ne 0 ]; then
		echo "FAILED (exit $code); the server said:" >&2
		tail -n 20 "$tmp/serve.log" >&2 || true
	fi
	rm -rf "$tmp"
	exit "$code"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# start serves the home on a free port, or on the one it had before, and waits for its URL.
listen=127.0.0.1:0
start() {
	: >"$tmp/url"
	"$AMBER" --home "$tmp/home" serve --listen "$listen" >"$tmp/url" 2>>"$tmp/serve.log" &
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
	url=$(grep -m1 '^http://' "$tmp/url")
	listen=${url#http://}
}

# Nothing of the caller's: no home, no configuration, no cached token, no proxy.
unset AMBER_HOME AMBER_REMOTE AMBER_TOKEN_FILE COLONY_SDK_NO_TOKEN_CACHE PYTHONPATH
export XDG_CONFIG_HOME="$tmp/config" COLONY_SDK_TOKEN_CACHE_DIR="$tmp/tokens"
export no_proxy=127.0.0.1 NO_PROXY=127.0.0.1

if [ -z "${AMBER:-}" ]; then
	AMBER="$tmp/amber"
	(cd "$here/../.." && CGO_ENABLED=0 go build -trimpath -o "$AMBER" ./cmd/amber)
fi
export AMBER

"${PYTHON:-python3}" -m venv "$tmp/venv"
python="$tmp/venv/bin/python"
"$python" -m pip install --quiet --disable-pip-version-check "colony-memory[sign]${version:+==$version}" colony-sdk

# It asks more in a minute than the bound for one agent allows. The others stay as they are.
mkdir -p "$XDG_CONFIG_HOME/amber"
# 0.1.0 takes a vault that has not told its quota yet for a full one.
printf 'server:\n  vault:\n    requests_per_minute: 0\n    provisioned: %s\n' "$([ "$version" = 0.1.0 ] && echo true || echo false)" >"$XDG_CONFIG_HOME/amber/config.yaml"

# 1. The example of docs/vault.md as it stands there, but for the port, before any token is made.
start
sed -n '/^<!-- run by docs\/python\/vault.sh -->$/,/^```$/p' "$here/../vault.md" | sed -e '1,2d' -e '/^```$/d' \
	-e "s#http://127.0.0.1:7411#$url#" >"$tmp/example.py"
grep -q 'ColonyMemory(' "$tmp/example.py"
mkdir "$tmp/agent"
printf '# Memory\nWe chose PostgreSQL for JSONB.\n' >"$tmp/agent/MEMORY.md"
(cd "$tmp/agent" && AMBER_VAULT_KEY=anything "$python" "$tmp/example.py")
echo "ok: the example of docs/vault.md, without a token"

# 2. With a token for one agent. A key that is none is refused from now on.
"$AMBER" --home "$tmp/home" --agent writer token create python --scope read,write --secret-file "$tmp/writer.key" >/dev/null
"$AMBER" --home "$tmp/home" --agent other token create other --scope read,write --secret-file "$tmp/other.key" >/dev/null
run() {
	"$python" "$here/vault.py" "$1" "$url/api/v1" "$tmp"
}
run python
run other

# 3. The server is killed and comes back: what was acknowledged is there, and the token that
# the client keeps is no longer good, which it notices by itself.
stop KILL
start
run restarted

# 4. Each side reads what the other wrote.
run amber

# 5. A vault that is away is not an empty one.
stop TERM
run away

echo "amber:  $("$AMBER" version | head -n 1)"
"$python" -c 'import sys; print("python:", sys.version.split()[0])'
"$python" -m pip list --disable-pip-version-check 2>/dev/null | grep -E '^(colony|cryptography)'
echo "all good"
