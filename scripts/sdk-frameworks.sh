#!/bin/sh
# Tests the adapters of the Python package with the newest packages of the frameworks from PyPI: types, tests,
# examples, and the frameworks' own suites. $1 is the program. Needs Python 3.11 with venv, and the network.
set -eu
cd "$(dirname "$0")/.."
amber=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
venv=$PWD/bin/frameworks
crew=$PWD/bin/frameworks-crewai # CrewAI wants older packages than others do
package=$PWD/sdk/python
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -d "$venv" ] || python3 -m venv "$venv"
[ -d "$crew" ] || python3 -m venv "$crew"
"$venv/bin/pip" install -q --disable-pip-version-check -U -r "$package/requirements-test.txt" langgraph langgraph-checkpoint langgraph-checkpoint-sqlite \
  langgraph-checkpoint-conformance openai-agents langchain-core langchain-tests anthropic pydantic-ai-slim pytest-asyncio pytest-mock pytest-timeout aiosqlite cryptography hatchling hatch-fancy-pypi-readme
"$crew/bin/pip" install -q --disable-pip-version-check -U crewai pytest pytest-asyncio pytest-timeout qdrant-edge-py hatchling mypy pyright
"$venv/bin/pip" list 2>/dev/null | grep -E '^(langgraph|langchain-core|langchain-tests|openai-agents|anthropic|pydantic-ai-slim)' || true
"$crew/bin/pip" list 2>/dev/null | grep -E '^crewai ' || true

version() { # version VENV PACKAGE: what is installed
  "$1/bin/pip" show "$2" 2>/dev/null | sed -n 's/^Version: //p'
}
cd "$package"
export PYTHONPATH="$package/src:$package/tests" PYTHONDONTWRITEBYTECODE=1 AMBER_BINARY="$amber" CREWAI_DISABLE_TELEMETRY=true OTEL_SDK_DISABLED=true
"$venv/bin/ruff" check --no-cache -q .
files=$(ls src/amber_memory/integrations/*.py tests/integrations/*.py examples/*.py | grep -v crewai)
MYPYPATH="$package/tests:$package/src" "$venv/bin/mypy" --cache-dir "$work/mypy" --explicit-package-bases --python-version 3.11 $files
MYPYPATH="$package/tests:$package/src" "$crew/bin/mypy" --cache-dir "$work/mypy-crewai" --explicit-package-bases --python-version 3.11 src/amber_memory/integrations/crewai.py tests/integrations/test_crewai.py tests/integrations/swap_crewai.py
"$venv/bin/pyright" -p frameworks.pyright.json --pythonpath "$venv/bin/python"
"$crew/bin/pyright" -p crewai.pyright.json --pythonpath "$crew/bin/python"

for name in langgraph openai_agents langchain anthropic pydantic_ai crewai; do
  python=$venv/bin/python more="-o asyncio_mode=auto"
  [ $name = crewai ] && python=$crew/bin/python more=
  echo "== $name"
  "$python" -m pytest -q -s -W ignore -p no:cacheprovider $more "tests/integrations/test_$name.py"
  AMBER_HOME="$work/home-$name" "$python" -W ignore "examples/${name}_agent.py" >/dev/null
done

echo "== docs"
"$venv/bin/python" -m pytest -q -W ignore -p no:cacheprovider -k "not CrewAI" tests/integrations/test_docs.py
"$crew/bin/python" -m pytest -q -W ignore -p no:cacheprovider -k CrewAI tests/integrations/test_docs.py

# LangGraph's own tests of stores and savers, with Amber in the place of what they test. Those in langgraph_left_out.txt
# must fail, for the reasons given there; everything else must pass.
cd "$work"
"$venv/bin/pip" download -q --disable-pip-version-check --no-deps --no-build-isolation --no-binary :all: langgraph-checkpoint langgraph-checkpoint-sqlite
for f in *.tar.gz; do tar xzf "$f"; done
own() { # own SUITE FOLDER FILE...
  (export AMBER_SUITE=$1 && cd $2 && shift 2 && echo "== own tests of langgraph-$AMBER_SUITE" && PYTHONPATH="$package/src:$package/tests/integrations" AMBER_HOME="$work/own-$AMBER_SUITE" timeout 900 "$venv/bin/python" -m pytest -q -W ignore -p no:cacheprovider \
    -p swap_langgraph -o asyncio_mode=auto --timeout 120 "$@" >"$work/said" || { cat "$work/said"; exit 1; }; tail -1 "$work/said")
}
own checkpoint "langgraph_checkpoint-*/" tests/test_store.py tests/test_memory.py
own checkpoint-sqlite "langgraph_checkpoint_sqlite-*/" tests

# The own tests of others, with Amber in the place of what they test. What is left out is listed with its reason, is run,
# and has to fail: see sdk/python/tests/integrations/left_out.py. Of the SDK's sessions those with more than the interface
# (AdvancedSQLiteSession), or whose tests are about a client of their own (Redis, MongoDB, Dapr, SQLAlchemy), are not tried.
swapped() { # swapped NAME VENV FOLDER FILE...
  (name=$1 python=$2/bin/python && cd $3 && shift 3 && echo "== own tests: $name" && PYTHONPATH="$package/src:$package/tests" AMBER_HOME="$work/own-$name" AMBER_LEFT_OUT="$package/tests/integrations/left_out_$name.txt" \
    timeout 900 "$python" -m pytest -q -W ignore -p no:cacheprovider -p integrations.left_out -p "integrations.swap_$name" -o asyncio_mode=auto --timeout 60 "$@" >"$work/said" || { cat "$work/said"; exit 1; }; sed -n '/^own tests:/,$p' "$work/said")
}
"$venv/bin/pip" download -q --disable-pip-version-check --no-deps --no-build-isolation --no-binary :all: "openai-agents==$(version "$venv" openai-agents)" "anthropic==$(version "$venv" anthropic)" "langchain-core==$(version "$venv" langchain-core)"
for f in openai_agents-*.tar.gz anthropic-*.tar.gz langchain_core-*.tar.gz; do tar xzf "$f"; done
swapped openai_agents "$venv" "openai_agents-*" $(cd openai_agents-*/ && grep -lE '\bSQLiteSession\(|AsyncSQLiteSession\(' tests/*.py tests/memory/*.py tests/extensions/memory/*.py | grep -v -e advanced_sqlite -e sqlalchemy) tests/memory/test_compaction_suffix.py
swapped langchain "$venv" "langchain_core-*" -c /dev/null --rootdir . --noconftest tests/unit_tests/runnables/test_history.py tests/unit_tests/chat_history
swapped anthropic "$venv" "anthropic-*" -c /dev/null --rootdir . --noconftest tests/lib/tools/memory_tools
"$crew/bin/pip" download -q --disable-pip-version-check --no-deps --no-build-isolation --no-binary :all: "crewai==$(version "$crew" crewai)"
tar xzf crewai-*.tar.gz
swapped crewai "$crew" "crewai-*" -c /dev/null --rootdir . tests/memory
echo "adapters: tested"
