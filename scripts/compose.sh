#!/bin/sh
# Starts what the compose file of a release starts, with a real engine, uses it, and removes it.
#
#   sh scripts/compose.sh dist/compose.yaml [IMAGE]
#
# IMAGE is the one to take instead of that in the file, such as one that was loaded from the release. COMPOSE names the
# program (default what is here of podman-compose, podman compose and docker compose). It needs ports 7411 and 7412.
set -eu
file=$1
[ $# -lt 2 ] || export AMBER_IMAGE="$2"
if [ -z "${COMPOSE:-}" ]; then
  if command -v podman-compose >/dev/null; then COMPOSE=podman-compose
  elif podman compose version >/dev/null 2>&1; then COMPOSE="podman compose"
  else COMPOSE="docker compose"; fi
fi
compose() { $COMPOSE -p amber-test -f "$file" "$@"; }
work=$(mktemp -d)
ended() {
  code=$?
  [ $code -eq 0 ] || compose logs >&2 || true
  compose down --volumes >/dev/null 2>&1 || true
  rm -rf "$work"
  exit $code
}
trap ended EXIT
compose down --volumes >/dev/null 2>&1 || true
compose up -d >"$work/up" 2>&1 || { cat "$work/up" >&2; exit 1; }

ask() { # ask PORT PATH [JSON]
  curl -fsS --max-time 30 -H "Authorization: Bearer $token" -H "Content-Type: application/json" ${3:+-d "$3"} "http://127.0.0.1:$1$2"
}
expect() { # expect WHAT TEXT < ANSWER
  tr -d '\n' >"$work/answer"
  grep -q "$2" "$work/answer" || { echo "$1: want $2, found $(cat "$work/answer")" >&2; exit 1; }
  echo "$1: as expected"
}
for port in 7411 7412; do
  for i in $(seq 60); do
    curl -fsS --max-time 5 -o "$work/health" "http://127.0.0.1:$port/livez" 2>/dev/null && break
    [ "$i" -lt 60 ] || { echo "the server at port $port does not answer" >&2; exit 1; }
    sleep 1
  done
done
token=$(compose run --rm secrets 'cat /token/ops.token' 2>/dev/null | grep -o 'amber_[0-9a-z_]*' | tail -1)
[ -n "$token" ] || { echo "there is no token in /token/ops.token" >&2; exit 1; }
ask 7411 /v1/tenants/default/agents/default/memories '{"content":"We chose PostgreSQL for JSONB"}' | expect "a memory by the first server" '"id"'
ask 7412 /v1/tenants/default/agents/default/recall '{"text":"which database did we pick"}' | expect "a question to the second" 'PostgreSQL for JSONB'
ask 7412 /v1/tenants/default/agents/default/snapshots '{}' | expect "a snapshot in the S3 server" '"id"'
compose stop amber-a >/dev/null 2>&1
ask 7412 /v1/tenants/default/agents/default/recall '{"text":"which database did we pick"}' | expect "a question while the first is stopped" 'PostgreSQL for JSONB'
compose start amber-a >/dev/null 2>&1
compose up -d >"$work/up" 2>&1 || { cat "$work/up" >&2; exit 1; }
echo "compose file: tested with $($COMPOSE version 2>/dev/null | head -1)"
