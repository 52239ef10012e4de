#!/bin/sh
# Runs real programs against amber import and amber export: each reads what Amber writes, and Amber
# imports what each wrote. No model is asked and no account is needed.
#
#   sh docs/oracle/import.sh                          all of them, about 3 GB and some minutes
#   sh docs/oracle/import.sh mcp-memory langgraph     these
#   DIR=/var/tmp/amber-import sh docs/oracle/import.sh
#
# Each program is the newest that its registry has for this machine, in a folder of its own; letta is
# 0.16.8, the last that is a server. DIR keeps the programs for the next run, which then needs no
# network; remove DIR to have newer ones. Without DIR everything is in a temporary folder that is
# removed at the end, however it ends.
#
# AMBER is the program to use; without it it is built here, with Go. Needed are Python 3 with venv, and
# npm with node 20 for mcp-memory and claude-mem. Most packages want Python 3.12 or later: PYTHON names
# one, otherwise it is looked for, and uv fetches one where there is none. The network is needed for
# the registries alone.
set -eu

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 130' INT TERM
dir=${DIR:-$tmp/programs}
mkdir -p "$dir"
dir=$(CDPATH='' cd -- "$dir" && pwd)
log="$tmp/log"
export PYTHONDONTWRITEBYTECODE=1

all="mcp-memory basic-memory cogx claude-mem mem0 langgraph openai-agents letta mcp-memory-service"
# shellcheck disable=SC2086
[ "$#" -gt 0 ] || set -- $all

if [ -z "${AMBER:-}" ]; then
	AMBER="$tmp/amber"
	(cd "$here/../.." && CGO_ENABLED=0 go build -trimpath -o "$AMBER" ./cmd/amber)
fi

# fits tells whether a program is a Python that the packages want.
fits() { "$1" -c 'import sys; sys.exit(not (3, 12) <= sys.version_info < (3, 14))' >/dev/null 2>&1; }

python=3.12
for candidate in ${PYTHON:-} python3.13 python3.12 python3 "$HOME"/.pyenv/versions/3.1[23].*/bin/python3; do
	if fits "$candidate"; then
		python=$(command -v "$candidate")
		break
	fi
done

# with_uv runs uv, which installs the packages, and fetches it where there is none.
uv=$(command -v uv || echo "$dir/uv/bin/uv")
with_uv() {
	[ -x "$uv" ] || { python3 -m venv "$dir/uv" && "$dir/uv/bin/python" -m pip install --quiet --disable-pip-version-check uv; } || return 1
	"$uv" "$@"
}

# packages makes a folder with packages of Python, once.
packages() {
	name=$1
	shift
	[ ! -e "$dir/$name/complete" ] || return 0
	rm -rf "${dir:?}/$name"
	with_uv venv --quiet --python "$python" "$dir/$name" &&
		with_uv pip install --quiet --python "$dir/$name/bin/python" "$@" &&
		touch "$dir/$name/complete"
}

# modules makes a folder with packages of npm, once.
modules() {
	name=$1
	shift
	[ ! -e "$dir/$name/complete" ] || return 0
	rm -rf "${dir:?}/$name"
	mkdir "$dir/$name" &&
		npm install --prefix "$dir/$name" --silent --no-audit --no-fund "$@" &&
		touch "$dir/$name/complete"
}

# claude_mem unpacks claude-mem without running a script of it, with bun, which it runs in, and the
# packages that its worker loads. The grammars that it has beside them are for searching code.
claude_mem() {
	modules claude-mem bun zod@4 shell-quote || return 1
	[ ! -e "$dir/claude-mem/package/package.json" ] || return 0
	(cd "$dir/claude-mem" && npm pack --silent claude-mem && tar xzf claude-mem-*.tgz)
}

install() {
	case $1 in
	mcp-memory) modules mcp-memory @modelcontextprotocol/server-memory ;;
	basic-memory) packages basic-memory basic-memory ;;
	cogx) packages cogx cognee ;;
	claude-mem) claude_mem ;;
	mem0) packages mem0 mem0ai ;;
	langgraph) packages langgraph langgraph langgraph-checkpoint-sqlite ;;
	openai-agents) packages openai-agents openai-agents ;;
	letta) packages letta letta==0.16.8 asyncpg pgvector ;;
	mcp-memory-service)
		# Only a Python that cannot load extensions of SQLite needs the second, which not every machine can have.
		packages mcp-memory-service mcp-memory-service pysqlite3-binary || packages mcp-memory-service mcp-memory-service
		;;
	*)
		echo "want one of: $all" >&2
		return 1
		;;
	esac
}

# run runs a check: the name, the Python to run it with, the script, and what else that wants.
run() {
	name=$1 with=$2 script=$3
	shift 3
	mkdir "$tmp/$name"
	"$with" "$here/import/$script" "$AMBER" "$tmp/$name" "$name" "$@"
}

check() {
	case $1 in
	mcp-memory) run "$1" python3 mcp_memory.py "$dir/mcp-memory/node_modules/@modelcontextprotocol/server-memory" ;;
	basic-memory) run "$1" "$dir/$1/bin/python" basic_memory_notes.py ;;
	cogx) run "$1" "$dir/$1/bin/python" cognee_cogx.py ;;
	claude-mem) run "$1" python3 claude_mem.py "$dir/claude-mem/node_modules/.bin/bun" "$dir/claude-mem/package" ;;
	mem0) run "$1" "$dir/$1/bin/python" mem0_items.py ;;
	langgraph) run "$1" "$dir/$1/bin/python" langgraph_store.py ;;
	openai-agents) run "$1" "$dir/$1/bin/python" openai_agents.py ;;
	letta) run "$1" "$dir/$1/bin/python" letta_file.py ;;
	mcp-memory-service) run "$1" "$dir/$1/bin/python" memory_service.py ;;
	esac
}

failed=
for name; do
	if ! install "$name" >"$log" 2>&1; then
		echo "FAILED $name: cannot be installed:"
		tail -n 5 "$log"
		failed="$failed $name"
	elif ! check "$name" 2>"$log"; then
		tail -n 20 "$log" >&2
		failed="$failed $name"
	fi
done

cat <<END
not run mem0: add with a model that infers; its store got the memories with infer=False and a stand-in for the embedder
not run cogx: what cognee makes of texts with a model; its reader, its writer, its graph and its exporter are run, with stand-ins for the embedder and the encoding
not run claude-mem: what it makes of a session, which needs a model; its store, its worker and its importer are run
not run letta: the server, which needs a database and a model; its schema and the checks of its importer are run
not run: ChatGPT, Claude.ai, Codex, Gemini, Graphiti, MemOS, Memobase, supermemory, which have no program that reads or writes their files without a model or an account
END
echo "amber: $("$AMBER" version | head -n 1)"
if [ -n "$failed" ]; then
	echo "FAILED:$failed" >&2
	exit 1
fi
echo "all good"
